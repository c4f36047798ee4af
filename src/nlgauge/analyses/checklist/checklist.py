"""The metric preference checklist: which of the five assessments of Nimah et al. (2023, Table 1) a metric passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, finite_mean, flipped_note, human_note, measures_of, signature
from nlgauge.analyses.checklist.aspect_preference import level_means, level_similarity
from nlgauge.analyses.checklist.discrimination import contrast_ks
from nlgauge.analyses.checklist.easy_hard_pairs import EASY, HUMAN, Pairs, system_pairs
from nlgauge.analyses.checklist.rater_rows import (
    CONTRASTS,
    OTHER_RATERS,
    RaterRows,
    Scales,
    Unit,
    chosen_panel,
    human_name,
    rated_rows,
)
from nlgauge.analyses.checklist.system_discrimination import pair_rows
from nlgauge.analyses.checklist.system_preference import preference_rows
from nlgauge.analyses.checklist.transfer import data_rows
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import count, number
from nlgauge.options import call, option
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.ranking.preference import chance_similarity
from nlgauge.stats.ranking.quality_levels import Bins
from nlgauge.table import Layout, Row, Table, Title

VERDICTS = {None: "", True: " pass", False: " no"}
MIN_HUMAN_KS = 0.2  # KS of the other annotators below which human ratings are not a useful reference
DEFINITIONS = {
    "aspect KS": "distance between the scores of low and high rated outputs, mean over aspects; human: the other "
    "annotators, or other aspects",
    "aspect order": "similarity of the order of low, moderate, high with the human order, mean over aspects",
    "system KS": "distance between the scores of two systems, mean over the easy pairs; human: mean over aspects",
    "system order": "similarity of the order of two systems with the human order, mean over the easy pairs and aspects",
}


@dataclass(frozen=True)
class Criteria:
    """Criteria of the assessments.

    KS: significant (p < level) in more than half of the aspects or pairs, and at least `of_human` of the human value.
    Order: at least `beyond` of the way from chance to the human order. Transfer: the lowest correlation is at least
    `kept` of the mean.
    """

    level: float = 0.05
    of_human: float = 0.5
    beyond: float = 0.5
    kept: float = 0.5


@dataclass(frozen=True)
class Assessment:
    """An assessment: value and verdict per metric, the human value, and the reason if it is not available."""

    value: dict[str, float]
    passes: dict[str, bool | None]
    human: float = float("nan")
    reason: str = ""


@analysis(
    "checklist",
    trials="mean",
    paper="nimah2023",
    takes="groups",
    question="Which of the five assessments of the metric preference checklist does a metric pass?",
)
def checklist(
    choice: Choice,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: Unit = "rater",
    pairs: Pairs | None = None,
    share: float = 1 / 3,
    measure: Named = "global/spearman",
    families: Families | None = None,
    level: float = 0.05,
    of_human: float = 0.5,
    beyond: float = 0.5,
    kept: float = 0.5,
    draws: int = 499,
) -> Table:
    """Evaluate each metric by the five assessments of the metric preference checklist.

    The assessment of transfer needs more than one data set: several files, or parts of one file (`by`).

    Parameters
    ----------
    share : float, default 1/3
        Share of all pairs of systems that are easy, and share that are hard; above 0, at most 0.5.
    measure : str or Measure, default 'global/spearman'
        Measure of agreement that should transfer.
    level : float, default 0.05
        Significance level of a Kolmogorov–Smirnov test.
    of_human : float, default 0.5
        Share of the human Kolmogorov–Smirnov distance that a metric must reach.
    beyond : float, default 0.5
        Minimum agreement of a metric's order with the human order, rescaled so that 0 is chance and 1 is perfect
        agreement.
    kept : float, default 0.5
        Share of its mean correlation that a metric must keep on the worst data set.
    draws : int, default 499
        Number of permutations of each test; must exceed 1 / level.

    Returns
    -------
    Table
        One row per metric and assessment: the number, the human value, and whether the metric passes; then the
        human rows.

    Notes
    -----
    The assessments are transfer, discrimination of levels and of systems (Kolmogorov–Smirnov distance: significant
    in more than half of the aspects or pairs, and at least `of_human` of the human distance), and order of levels
    and of systems.

    References
    ----------
    Nimah et al. (2023), Table 1.
    """
    if 1 / (draws + 1) >= level:
        raise NlgaugeError(
            f"{option('draws')} must be above {1 / level:.0f}, since p is at least 1 / (draws + 1); got {draws}."
        )
    panel = chosen_panel(choice)
    panel.require_metrics()
    rows = rated_rows(panel, unit)
    rule, family = Criteria(level, of_human, beyond, kept), families_of(panel.names, families)
    sets = choice.parts if choice.by else [replace(choice, data=data) for data in choice.datasets]
    chosen = measures_of(measure)[0]
    results = {
        "transfer": _transfer(sets, panel.names, chosen, rule),
        "aspect KS": _aspect_ks(rows, bins, scale, rule, draws, choice.seed),
        "aspect order": _aspect_order(rows, bins, scale, rule),
        **_systems(rows, pairs, share, family, rule, draws, choice.seed),
    }
    order = _order(panel.names, results)
    return Table(
        title=Title(panel.name, f"metric preference checklist, {count(len(panel.humans), 'aspect')}"),
        rows=[row for name in order for row in _rows(name, family[name], results)] + _human_rows(results),
        layout=Layout("metric", "assessment", "value", extra={"passes": _passed}),
        cells={"value": lambda row: number(row["value"]) + VERDICTS[row["passes"]]},
        definitions=_transfer_definition(chosen, len(sets)) | DEFINITIONS,
        method=_criteria_words(rule) + f" p of the aspects: {rows.words}; of two systems: their outputs of each input "
        f"are swapped; {draws} permutations. "
        + f"{rows.description().capitalize()}; levels: {rows.level_words(bins, scale)}.",
        answers=[
            "Most assessments passed: " + ", ".join(f"{name} ({_score(name, results)})" for name in order[:3]) + "."
        ],
        notes=[
            *(f"{a} is not assessed: {r.reason}." for a, r in results.items() if r.reason),
            *_low_bar(results["aspect KS"].human, bool(panel.raters) and unit == "rater"),
            *human_note(panel),
            *flipped_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, draws=draws, seed=choice.seed),
    )


def _human_rows(results: dict[str, Assessment]) -> list[Row]:
    """Return a row per assessment with the human value."""
    shared = {"metric": HUMAN, "family": HUMAN, "passes": None, "reason": None}
    return [{**shared, "assessment": name, "value": r.human, "human": r.human} for name, r in results.items()]


def _transfer_definition(measure: Measure, sets: int) -> dict[str, str]:
    """Define the assessment of transfer; empty with one data set."""
    if sets < 2:
        return {}
    return {"transfer": f"lowest {measure} with the human ratings over {sets} data sets, mean over aspects"}


def _transfer(sets: Sequence[Choice], names: list[str], measure: Measure, rule: Criteria) -> Assessment:
    values: dict[str, list[float]] = {name: [] for name in names}
    if len(sets) < 2:
        return Assessment(
            {}, {}, reason=f"it requires a second data set (more files) or parts of this one ({option('by')})"
        )
    for part in sets:
        for row in data_rows(replace(part, metrics=names), measure, dict.fromkeys(names, ""))[0]:
            if not np.isnan(row["value"]):
                values[row["metric"]].append(row["value"])
    usable = {name: some for name, some in values.items() if len(some) > 1}
    return Assessment(
        {name: min(some) for name, some in usable.items()},
        {
            name: bool(finite_mean(some) > 0 and min(some) >= rule.kept * finite_mean(some))
            for name, some in usable.items()
        },
        reason="" if usable else "no metric has a correlation on two data sets",
    )


def _aspect_ks(rows: RaterRows, bins: Bins, scale: Scales, rule: Criteria, draws: int, seed: int) -> Assessment:
    tests: dict[str, list[tuple[float, float]]] = {name: [] for name in rows.panel.names}
    people: list[float] = []
    for aspect in rows.human:
        values = contrast_ks(rows, aspect, rows.levels(aspect, bins, scale), CONTRASTS["Lo-Hi"], draws, seed)
        for name, pair in values.items():
            if name in tests and not np.isnan(pair[0]):
                tests[name].append(pair)
        peers = values.get(human_name(OTHER_RATERS))
        people.append(peers[0] if peers else finite_mean([d for n, (d, _) in values.items() if n not in tests]))
    return _ks_assessment(tests, finite_mean(people), rule, "no aspect has both low and high ratings")


def _ks_assessment(
    tests: dict[str, list[tuple[float, float]]], human: float, rule: Criteria, reason: str
) -> Assessment:
    """Assess KS distances: significant in more than half of the tests, and a sufficient share of the human value."""
    defined = {name: some for name, some in tests.items() if some}
    value = {name: finite_mean([d for d, _ in some]) for name, some in defined.items()}
    required = 0.0 if np.isnan(human) else rule.of_human * human
    passes: dict[str, bool | None] = {
        name: bool(np.mean([p < rule.level for _, p in some]) > 0.5 and value[name] >= required)
        for name, some in defined.items()
    }
    return Assessment(value, passes, human, "" if defined else reason)


def _aspect_order(rows: RaterRows, bins: Bins, scale: Scales, rule: Criteria) -> Assessment:
    value: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    beyond: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    for aspect in rows.human:
        for name, means in level_means(rows, rows.levels(aspect, bins, scale)).items():
            levels = int((~np.isnan(means)).sum())
            if levels > 1:
                value[name].append(level_similarity(means))
                beyond[name].append(_beyond(value[name][-1], chance_similarity(levels)))
    defined = [name for name, some in value.items() if some]
    return Assessment(
        {name: finite_mean(value[name]) for name in defined},
        {name: finite_mean(beyond[name]) >= rule.beyond for name in defined},
        1.0 if defined else np.nan,
        "" if defined else "no aspect has two levels",
    )


def _systems(
    rows: RaterRows, pairs: Pairs | None, share: float, family: dict[str, str], rule: Criteria, draws: int, seed: int
) -> dict[str, Assessment]:
    try:
        chosen = system_pairs(rows, pairs, share)
    except NeedsMissing as error:
        missing = Assessment({}, {}, reason=error.refusals[0].reason.rstrip("."))
        return {"system KS": missing, "system order": missing}
    group = EASY if EASY in chosen.groups else next(iter(chosen.groups))
    only = type(chosen)({group: chosen.groups[group]}, chosen.words)
    tests: dict[str, list[tuple[float, float]]] = {name: [] for name in rows.panel.names}
    people: list[float] = []
    for row in pair_rows(rows, only, family, draws, seed):
        if row["metric"] not in tests:
            people.append(row["value"])
        elif not np.isnan(row["value"]):
            tests[row["metric"]].append((row["value"], row["p"]))
    order: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    for row in preference_rows(rows, only, family):
        if not np.isnan(row["value"]):
            order[row["metric"]].append(row["value"])
    similarity = {name: finite_mean(some) for name, some in order.items() if some}
    chance, none = chance_similarity(2), "no pair of systems has scores"
    passes: dict[str, bool | None] = {n: _beyond(value, chance) >= rule.beyond for n, value in similarity.items()}
    return {
        "system KS": _ks_assessment(tests, finite_mean(people), rule, none),
        "system order": Assessment(similarity, passes, 1.0, "" if similarity else none),
    }


def _low_bar(human: float, raters: bool) -> list[str]:
    if not raters or not human < MIN_HUMAN_KS:
        return []
    return [
        f"inter-annotator agreement is low (aspect KS {number(human)}), so the human values are a weak reference; see "
        f"{call('analyze agreement FILE')}."
    ]


def _beyond(similarity: float, chance: float) -> float:
    """Return the position between chance (0) and the human order (1), with a tolerance for rounding."""
    return (similarity - chance) / (1 - chance) + 1e-12


def _rows(name: str, family: str, results: dict[str, Assessment]) -> list[Row]:
    rows: list[Row] = []
    for assessment, r in results.items():
        value, passes = r.value.get(name, float("nan")), r.passes.get(name)
        rows.append(
            {
                "metric": name,
                "family": family,
                "assessment": assessment,
                "value": value,
                "human": r.human,
                "passes": passes,
                "reason": (r.reason or "no scores") if passes is None else None,
            }
        )
    return rows


def _passed(rows: list[Row]) -> str:
    assessed = [row["passes"] for row in rows if row["passes"] is not None]
    return f"{sum(assessed)} of {len(assessed)}" if assessed else ""


def _score(name: str, results: dict[str, Assessment]) -> str:
    return _passed([{"passes": r.passes.get(name)} for r in results.values()])


def _order(names: list[str], results: dict[str, Assessment]) -> list[str]:
    """Sort metrics by assessments passed, then by those failed, then by the sum of their values."""

    def key(name: str) -> tuple[float, ...]:
        passes = [r.passes.get(name) for r in results.values()]
        size = np.nansum([r.value.get(name, np.nan) for r in results.values()])
        return -sum(p is True for p in passes), sum(p is False for p in passes), -float(size)

    return sorted(names, key=key)


def _criteria_words(rule: Criteria) -> str:
    return (
        f"Criteria: KS with p < {rule.level:g} in more than half of the aspects or pairs and at least "
        f"{rule.of_human:g} "
        f"of the human value; order at least {rule.beyond:g} of the way from chance to the human order; lowest "
        f"correlation of transfer at least {rule.kept:g} of the mean, which must be above 0."
    )
