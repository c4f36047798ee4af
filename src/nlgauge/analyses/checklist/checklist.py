"""The metric preference checklist on one page: which of the five assessments of nimah2023 (Table 1) a metric passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, known_mean, measures_of, people_note, signature, turned_note
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
from nlgauge.number import number
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.ranking.preference import chance_similarity
from nlgauge.stats.ranking.quality_levels import Bins
from nlgauge.table import Layout, Row, Table, Title

VERDICTS = {None: "", True: " pass", False: " no"}
MIN_HUMAN_KS = 0.2  # KS of the other raters below which people are no measure
DEFINITIONS = {
    "aspect KS": "distance between the scores of low and high rated rows, mean over aspects; people: the other raters, "
    "or other aspects",
    "aspect order": "similarity of the order of low, moderate, high with people's, mean over aspects",
    "system KS": "distance between the scores of two systems, mean over the easy pairs; people: mean over aspects",
    "system order": "similarity of the order of two systems with people's, mean over the easy pairs and aspects",
}


@dataclass(frozen=True)
class Criteria:
    """What counts as passing. KS: significant (p < level) in more than half of the aspects or pairs, and at least
    `of_human` of what people reach. Order: at least `beyond` of the way from chance to people's order. Transfer: the
    lowest correlation at least `kept` of the mean."""

    level: float = 0.05
    of_human: float = 0.5
    beyond: float = 0.5
    kept: float = 0.5


@dataclass(frozen=True)
class Assessment:
    """One assessment: a number and a verdict per metric, what people reach, and why there is nothing."""

    value: dict[str, float]
    passes: dict[str, bool | None]
    human: float = float("nan")
    reason: str = ""


@analysis(
    "checklist",
    trials="mean",
    paper="nimah2023",
    takes="groups",
    question="Which of the five assessments of the checklist does a metric pass?",
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
    """Assess each metric by the five assessments of the metric preference checklist.

    The assessment of transfer needs more than one data set: several files, or parts of this one (`by`).

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    bins : str or pair of float, default 'thirds'
        How ratings become the levels low, moderate and high: `thirds` of the scale (terciles where the scale
        has no bounds), `terciles`, `paper` (below 3, 3, above 3) or two cut points.
    scale : pair of float or mapping, optional
        Lowest and highest possible rating, or these two for each aspect; inferred from the ratings by default.
    unit : {'rater', 'output'}, default 'rater'
        What one observation is: a `rater`'s rating of an output (the metric's score is repeated), or an
        `output` with its mean rating.
    pairs : str, sequence or mapping, optional
        Pairs of systems to compare: `all`, a list of pairs, or pairs by group, as in {'easy': [('A', 'B')]}.
        By default the pairs that human ratings hold furthest apart are easy, and the closest ones are hard.
    share : float, default 1/3
        Share of all pairs of systems that count as easy, and as hard; above 0, at most 0.5.
    measure : str or Measure, default 'global/spearman'
        Measure of agreement that should transfer.
    families : mapping, optional
        Families of metrics, as family -> metrics or metric -> family; without it they are inferred from the
        names (`rouge-1` and `rouge-l` belong to `rouge`). Metrics that are not named are left out.
    level : float, default 0.05
        Significance level of a Kolmogorov–Smirnov test.
    of_human : float, default 0.5
        Share of the human Kolmogorov–Smirnov distance that a metric must reach.
    beyond : float, default 0.5
        How far a metric's order must be on the way from chance to the human order, from 0 to 1.
    kept : float, default 0.5
        Share of its mean correlation that a metric must keep on the worst data set.
    draws : int, default 499
        Draws of the permutation tests; more than 1 / level.

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
            f"checklist: with {draws} draws p cannot fall below {1 / (draws + 1):.3g}; use more than {1 / level:.0f}."
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
        title=Title(panel.name, f"the checklist, {len(panel.humans)} aspect{'s' if len(panel.humans) > 1 else ''}"),
        rows=[row for name in order for row in _rows(name, family[name], results)] + _human_rows(results),
        layout=Layout("metric", "assessment", "value", extra={"passes": _passed}),
        cells={"value": lambda row: number(row["value"]) + VERDICTS[row["passes"]]},
        definitions=_transfer_definition(chosen, len(sets)) | DEFINITIONS,
        method=_criteria_words(rule) + f" p of the aspects: {rows.words}; of two systems: their outputs of each "
        f"input change places; {draws} draws. "
        + f"{rows.description().capitalize()}; levels: {rows.level_words(bins, scale)}.",
        answers=["passes most: " + ", ".join(f"{name} ({_score(name, results)})" for name in order[:3]) + "."],
        notes=[
            *(f"{a} not assessed: {r.reason}." for a, r in results.items() if r.reason),
            *_low_bar(results["aspect KS"].human, bool(panel.raters) and unit == "rater"),
            *people_note(panel),
            *turned_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, draws=draws, seed=choice.seed),
    )


def _human_rows(results: dict[str, Assessment]) -> list[Row]:
    """Return a row per assessment with what human ratings reach."""
    shared = {"metric": HUMAN, "family": HUMAN, "passes": None, "reason": None}
    return [{**shared, "assessment": name, "value": r.human, "human": r.human} for name, r in results.items()]


def _transfer_definition(measure: Measure, sets: int) -> dict[str, str]:
    """Define the assessment of transfer; nothing where there is one data set."""
    return {"transfer": f"lowest {measure} with people over {sets} data sets, mean over aspects"} if sets > 1 else {}


def _transfer(sets: Sequence[Choice], names: list[str], measure: Measure, rule: Criteria) -> Assessment:
    values: dict[str, list[float]] = {name: [] for name in names}
    if len(sets) < 2:
        return Assessment(
            {}, {}, reason=(f"it needs a second data set (more files) or parts of this one ({option('by')})")
        )
    for part in sets:
        for row in data_rows(replace(part, metrics=names), measure, dict.fromkeys(names, ""))[0]:
            if not np.isnan(row["value"]):
                values[row["metric"]].append(row["value"])
    usable = {name: some for name, some in values.items() if len(some) > 1}
    return Assessment(
        {name: min(some) for name, some in usable.items()},
        {
            name: bool(known_mean(some) > 0 and min(some) >= rule.kept * known_mean(some))
            for name, some in usable.items()
        },
        reason="" if usable else "no metric has a correlation on two data sets",
    )


def _aspect_ks(rows: RaterRows, bins: Bins, scale: Scales, rule: Criteria, draws: int, seed: int) -> Assessment:
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in rows.panel.names}
    people: list[float] = []
    for aspect in rows.human:
        values = contrast_ks(rows, aspect, rows.levels(aspect, bins, scale), CONTRASTS["Lo-Hi"], draws, seed)
        for name, pair in values.items():
            if name in seen and not np.isnan(pair[0]):
                seen[name].append(pair)
        peers = values.get(human_name(OTHER_RATERS))
        people.append(peers[0] if peers else known_mean([d for n, (d, _) in values.items() if n not in seen]))
    return _judged(seen, known_mean(people), rule, "no aspect has both low and high ratings")


def _judged(seen: dict[str, list[tuple[float, float]]], human: float, rule: Criteria, reason: str) -> Assessment:
    """KS distances with their p: clear in more than half, and not far below people."""
    known = {name: some for name, some in seen.items() if some}
    value = {name: known_mean([d for d, _ in some]) for name, some in known.items()}
    enough = 0.0 if np.isnan(human) else rule.of_human * human
    passes: dict[str, bool | None] = {
        name: bool(np.mean([p < rule.level for _, p in some]) > 0.5 and value[name] >= enough)
        for name, some in known.items()
    }
    return Assessment(value, passes, human, "" if known else reason)


def _aspect_order(rows: RaterRows, bins: Bins, scale: Scales, rule: Criteria) -> Assessment:
    value: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    beyond: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    for aspect in rows.human:
        for name, means in level_means(rows, rows.levels(aspect, bins, scale)).items():
            levels = int((~np.isnan(means)).sum())
            if levels > 1:
                value[name].append(level_similarity(means))
                beyond[name].append(_beyond(value[name][-1], chance_similarity(levels)))
    known = [name for name, some in value.items() if some]
    return Assessment(
        {name: known_mean(value[name]) for name in known},
        {name: known_mean(beyond[name]) >= rule.beyond for name in known},
        1.0 if known else np.nan,
        "" if known else "no aspect has two levels",
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
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in rows.panel.names}
    people: list[float] = []
    for row in pair_rows(rows, only, family, draws, seed):
        if row["metric"] not in seen:
            people.append(row["value"])
        elif not np.isnan(row["value"]):
            seen[row["metric"]].append((row["value"], row["p"]))
    order: dict[str, list[float]] = {name: [] for name in rows.panel.names}
    for row in preference_rows(rows, only, family):
        if not np.isnan(row["value"]):
            order[row["metric"]].append(row["value"])
    known = {name: known_mean(some) for name, some in order.items() if some}
    chance, none = chance_similarity(2), "no pair of systems has scores"
    passes: dict[str, bool | None] = {name: _beyond(value, chance) >= rule.beyond for name, value in known.items()}
    return {
        "system KS": _judged(seen, known_mean(people), rule, none),
        "system order": Assessment(known, passes, 1.0, "" if known else none),
    }


def _low_bar(human: float, raters: bool) -> list[str]:
    if not raters or not human < MIN_HUMAN_KS:
        return []
    return [
        f"the raters hardly agree with each other (aspect KS {number(human)}), so passing beside them says "
        "little; see the analysis agreement."
    ]


def _beyond(similarity: float, chance: float) -> float:
    """How far from chance (0) to people's order (1); a hair of rounding forgiven."""
    return (similarity - chance) / (1 - chance) + 1e-12


def _rows(name: str, family: str, results: dict[str, Assessment]) -> list[Row]:
    found: list[Row] = []
    for assessment, r in results.items():
        value, passes = r.value.get(name, float("nan")), r.passes.get(name)
        found.append(
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
    return found


def _passed(rows: list[Row]) -> str:
    known = [row["passes"] for row in rows if row["passes"] is not None]
    return f"{sum(known)} of {len(known)}" if known else ""


def _score(name: str, results: dict[str, Assessment]) -> str:
    return _passed([{"passes": r.passes.get(name)} for r in results.values()])


def _order(names: list[str], results: dict[str, Assessment]) -> list[str]:
    """Metrics that pass most first, of these those that fail least, then by the sum of their numbers."""

    def key(name: str) -> tuple[float, ...]:
        passes = [r.passes.get(name) for r in results.values()]
        size = np.nansum([r.value.get(name, np.nan) for r in results.values()])
        return -sum(p is True for p in passes), sum(p is False for p in passes), -float(size)

    return sorted(names, key=key)


def _criteria_words(rule: Criteria) -> str:
    return (
        f"Passes: KS with p < {rule.level:g} in more than half of the aspects or pairs and at least {rule.of_human:g} "
        f"of people's; order at least {rule.beyond:g} of the way from chance to people's; transfer lowest at least "
        f"{rule.kept:g} of the mean, which is above 0."
    )
