"""Which biases has a judge? Effects on its scores that people's ratings do not explain, beside people's own effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, turned_note
from nlgauge.analyses.judges._position import position_rows
from nlgauge.analyses.judges.judge_rows import (
    LAYOUT,
    LEAST_EACH,
    JudgeColumn,
    family_of_systems,
    judge_columns,
    parse_family,
    ratings_beside,
    same_scale,
    text_features,
)
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, Note, code_of
from nlgauge.number import interval, number, some
from nlgauge.options import call, option
from nlgauge.stats.estimation.judge_bias import (
    FEWEST,
    Codes,
    Effect,
    TwoAspects,
    feature_effects,
    halo,
    leniency,
    rater_products,
    spread,
)
from nlgauge.stats.tests.corrections import holm
from nlgauge.table import Row, Table, Title, grouped
from nlgauge.types import Array

FOUND, NOT_FOUND, CANNOT_TELL = "found", "not found", "cannot tell"
UNITS = {
    "length": "SD per doubling",
    "leniency": "points",
    "spread": "points",
    "halo": "correlation",
    "position": "log-odds",
}
WORDS = {"position": "first place", "headers": "headings", "bold": "bold words", "family": "own family"}
SENTENCES = {
    "position": ("prefers what it is shown first", "prefers what it is shown second"),
    "length": ("favours longer outputs", "favours shorter outputs"),
    "lists": ("favours lists", "marks down lists"), "headers": ("favours headings", "marks down headings"),
    "bold": ("favours bold words", "marks down bold words"), "emoji": ("favours emoji", "marks down emoji"),
    "family": ("favours its own family", "marks down its own family"),
    "leniency": ("is more lenient than people", "is more severe than people"),
    "spread": ("", "keeps to the middle of the scale"), "halo": ("lets one aspect color the others", ""),
}  # fmt: skip
ONE_SIDED = {"spread": -1, "halo": 1}
LAID_OUT = "outputs with them less outputs without, in SDs of the judge's scores, at equal quality as people see it"
DEFINITIONS = {
    "position": "log-odds to be chosen for being shown first, against an equally good output",
    "length": "per doubling of the number of words, in SDs of the judge's scores, at equal quality as people see it "
    "and with the other features of the text held fixed",
    "lists": LAID_OUT, "headers": LAID_OUT, "bold": LAID_OUT, "emoji": LAID_OUT,
    "family": "outputs of systems of the judge's family less others, in SDs of the judge's scores, at equal quality",
    "leniency": "mean of the judge less mean of people, in points of the scale",
    "spread": "SD of the judge's scores less SD of what people agree on, in points; found only where it is smaller, "
    "as noise makes it larger",
    "halo": "correlation between errors on two aspects of an output, features of the text held fixed, beside that of "
    "one person; found only where it is larger",
}  # fmt: skip


@analysis("bias", takes="dataset", question="Which biases has a judge that people do not have?")
def bias(
    choice: Choice,
    *,
    family: str | Sequence[str] | Mapping[str, str] | None = None,
    reliability: float | None = None,
    level: float = 0.95,
) -> Table:
    """Test a judge for biases beyond human ones: position, length, formatting, self-preference and others.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    family : str, sequence of str or mapping, optional
        Systems of a judge's own family: 'gpt-*=gpt-4o' says that systems gpt-* are of the family of the judge
        gpt-4o.
    reliability : float, optional
        Reliability of the human ratings, where each output was rated once and it is known; between 0 and 1.
    level : float, default 0.95
        A judge without any bias raises no alarm in this share of data sets, over all its checks (Holm).

    Returns
    -------
    Table
        One row per judge, aspect and check: effect on the judge, the part that a judge who follows human
        ratings would show, the difference (the bias) with interval and p, verdict, and the minimum detectable
        bias at 80% power. `reason` says why a check was not possible.

    Notes
    -----
    The checks are position, length, lists, headings, bold words, emoji, own family, leniency, spread and halo.
    Intervals leave out whole inputs in turn; docs/bias.md shows the error rates.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rng = __import__("random").Random(1)
    >>> rows = []
    >>> for k in range(60):
    ...     good, words = rng.gauss(3, 1), rng.choice([5, 10, 20, 40])
    ...     rows.append({"id": k, "output": "word " * words, "human_1": good + rng.gauss(0, 0.3),
    ...                  "human_2": good + rng.gauss(0, 0.3), "judge": good + words / 20 + rng.gauss(0, 0.3)})
    >>> table = ng.analyze("bias", ng.load(rows, human={"quality": ["human_1", "human_2"]}, metrics=["judge"]))
    >>> [(row["measure"], row["verdict"]) for row in table]
    [('length', 'found')]

    $ nlgauge analyze bias judged.csv --metrics gpt-4o --family "gpt-*=gpt-4o"
    """
    data = choice.data
    columns = judge_columns(choice.metrics or data.metrics, choice.wanted if data.aspects else [])
    families = parse_family(family, [c.judge for c in columns], data.systems) if family else {}
    rows, notes = position_rows(replace(choice, metrics=None))
    panels = [choice.panel(a, canonical=True) for a in choice.wanted] if data.aspects and columns else []
    if panels:
        rows += _score_checks(panels, columns, families, reliability, text_features(data, panels[0]))
        notes += [*_untold(rows), *_notes(panels, bool(families), rows, reliability)]
    if not rows:
        raise NeedsMissing(
            "biases of a judge need its scores (or choices) and people's ratings of the same outputs; "
            f"{call('judge FILE')} makes scores, {option('human')} names the columns of ratings.",
            data=data.name,
            code="no_scores",
        )
    judges = grouped(rows, "judge_name")
    for mine in judges.values():
        _judged(mine, 1 - level)
    rows = [row for mine in judges.values() for row in mine]
    return Table(
        title=Title(data.name, f"biases of the judge beside {data.rated_by}"),
        rows=rows,
        shown=["judge_name", "aspect", "measure", "judge", "people", "value", "p_corrected", "verdict", "detectable"],
        heads={
            "judge_name": "judge",
            "judge": "effect",
            "measure": "check",
            "value": "bias",
            "p_corrected": "p (Holm)",
            "detectable": "least found",
        },
        cells={
            "measure": lambda r: check_name(r["measure"]),
            "judge": lambda r: number(r["judge"], 2),
            "people": lambda r: number(r["people"], 2),
            "detectable": lambda r: number(r["detectable"], 2),
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
        },
        definitions={
            "effect, people, bias": "effect on the judge's scores; the part of it that a judge who follows people "
            "would show (people like longer answers too); the difference, which is the bias",
            **{check_name(name): text for name, text in DEFINITIONS.items() if any(r["measure"] == name for r in rows)},
            "least found": "the smallest bias that these labels would show in four of five such data sets",
        },
        method=f"95 % intervals, whole inputs left out in turn, Student's t. A judge without bias has any check found "
        f"in at most {number(1 - level, 2)} of data sets (Holm over all checks of a judge; simulated: docs/bias.md). "
        "Not found is not absent: see least found.",
        answers=_answers(rows),
        notes=[*notes, *(text for p in panels[:1] for text in (*people_note(p), *turned_note(p)))],
        signature=f"nlgauge:{__version__}|level:{level:g}" + (f"|reliability:{reliability:g}" if reliability else ""),
    )


def _score_checks(
    panels: list[Panel],
    columns: list[JudgeColumn],
    families: Mapping[str, str],
    reliability: float | None,
    features: dict[str, Array],
) -> list[Row]:
    """Return the checks of scores, of every judge on every aspect; all panels have the grid of the features."""
    rows: list[Row] = []
    for panel in panels:
        for column in columns:
            if panel.aspect in column.aspects:
                rows += _checks(panel, column, _usable_features(panel, column, features, families), reliability)
    return rows + _halo_rows(panels, columns, features, families)


def _checks(
    panel: Panel, column: JudgeColumn, features: list[tuple[str, Array]], reliability: float | None
) -> list[Row]:
    """Length, layout, family; leniency and spread where both use one scale."""
    every, there = ratings_beside(panel, column.metric)
    base = {"metric": column.metric, "judge_name": column.judge, "aspect": panel.aspect}
    n = len(every.judge)
    inputs = len(np.unique(every.clusters))
    few = f"{inputs} inputs with a score and a rating; {FEWEST} are needed" if inputs < FEWEST else ""
    if not few and (np.ptp(every.judge) == 0 or np.ptp(every.people) == 0):
        few = "all scores, or all ratings, are the same"
    rows = []
    used: dict[str, Array] = {}
    for name, values in features:
        x = values[there]
        why = few or _varies(x, every.clusters, name)
        if why:
            rows.append(_row(base, name, None, int(np.isfinite(x).sum()), inputs, why))
        else:
            used[name] = x
    known = np.isfinite(np.stack(list(used.values()))).all(axis=0) if used else np.ones(n, bool)
    if used:
        part = replace(every, **{f: getattr(every, f)[known] for f in ("judge", "people", "pairs", "clusters")})
        table = np.column_stack([x[known] for x in used.values()])
        flat = np.linalg.matrix_rank(np.column_stack([np.ones(known.sum()), table])) <= len(used)
        found = [None] * len(used) if flat else feature_effects(part, table, reliability)
        why = "moves with the other features: cannot be told apart" if flat else ""
        rows += [_row(base, k, e, int(known.sum()), inputs, why) for k, e in zip(used, found, strict=True)]
    if same_scale(panel, column.metric):
        for name, make in (("leniency", leniency), ("spread", spread)):
            rows.append(_row(base, name, None if few else make(every), n, inputs, few))
    return rows


def _usable_features(
    panel: Panel, column: JudgeColumn, features: Mapping[str, Array], families: Mapping[str, str]
) -> list[tuple[str, Array]]:
    """Return the features that outputs of these systems differ in, and whether a system is of the judge's family."""
    found = [(name, features[name]) for name in ("length", *LAYOUT) if name in features]
    own = family_of_systems(families, panel.systems, column.judge)
    if own is not None:
        found.append(("family", np.broadcast_to(own[:, None], panel.human.shape)))
    return [(name, v) for name, v in found if name in ("length", "family") or np.nansum(v) > 0]  # nobody uses headings


def _varies(x: Array, clusters: Codes, name: str) -> str:
    """Why a feature has no effect to be seen; nothing where it has."""
    known = np.isfinite(x)
    if not known.any():
        return Note("no texts of the outputs", "no_texts")
    if name == "length":
        return "" if np.ptp(x[known]) > 0 else "all outputs have the same length"
    sides = [len(np.unique(clusters[known & (x == side)])) for side in (1, 0)]
    return (
        ""
        if min(sides) >= LEAST_EACH
        else (f"inputs with such outputs: {sides[0]}, with others: {sides[1]}; {LEAST_EACH} of each are needed")
    )


def _halo_rows(
    panels: list[Panel], columns: list[JudgeColumn], features: Mapping[str, Array], families: Mapping[str, str]
) -> list[Row]:
    """One row a judge that has a column for each of several aspects."""
    rows = []
    at = {p.aspect: p for p in panels}
    for judge, mine in grouped([{"judge": c.judge, "c": c} for c in columns if len(c.aspects) == 1], "judge").items():
        named = {row["c"].aspects[0]: row["c"].metric for row in mine}
        if len(named) < 2:
            continue
        controls = [
            v.ravel() for _, v in _usable_features(panels[0], mine[0]["c"], features, families) if np.isfinite(v).any()
        ]
        held = np.column_stack([np.ones(panels[0].human.size), *controls])
        pairs = []
        for a, b in combinations(named, 2):
            cubes = [at[x].raters[x].reshape(-1, len(held)) for x in (a, b) if x in at[x].raters]
            if len(cubes) == 2:
                scores = [at[x].oriented()[at[x].names.index(named[x])].reshape(1, -1) for x in (a, b)]
                (ya, yb), (za, zb) = ([_beside_features(v, held) for v in both] for both in (scores, cubes))
                units = np.tile(at[a].unit_codes(np.arange(at[a].n_inputs)), at[a].n_systems)
                pairs.append(TwoAspects((ya[0], yb[0]), (za, zb), units))
        used = [
            np.isfinite(p.judge[0] + p.judge[1]) & (np.isfinite(p.raters[0] + p.raters[1]).sum(0) > 1) for p in pairs
        ]
        inputs = min((len(np.unique(p.clusters[rows])) for p, rows in zip(pairs, used, strict=True)), default=0)
        why = f"{inputs} inputs whose outputs two people rated on two aspects; {FEWEST} are needed"
        found = halo(pairs) if inputs >= FEWEST else None
        if found is not None:
            why = "" if np.isfinite(found.value) else "people agree too little on an aspect"
        base = {"metric": judge, "judge_name": judge, "aspect": f"{len(named)} aspects"}
        rows.append(_row(base, "halo", None if why else found, int(sum(u.sum() for u in used)), inputs, why))
    return rows


def _beside_features(values: Array, features: Array) -> Array:
    """Lines of values less what the features explain of their mean: a taste for length is no halo."""
    there = np.isfinite(values)
    mean = np.where(there, values, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    known = there.any(axis=0) & np.isfinite(features).all(axis=1)
    slopes = np.linalg.lstsq(features[known], mean[known], rcond=None)[0]
    return np.asarray(values - features @ slopes)


def _row(base: Row, measure: str, found: Effect | None, n: int, inputs: int, reason: str = "") -> Row:
    nothing = float("nan")
    side = ONE_SIDED.get(measure)
    p = nothing if found is None else found.p
    if found is not None and side:
        p = p / 2 if found.value * side > 0 else 1 - p / 2
    return {
        **base,
        "measure": measure,
        "unit": UNITS.get(measure, "SD"),
        "judge": found.judge if found else nothing,
        "judge_se": found.se[0] if found else nothing,
        "people": found.people if found else nothing,
        "people_se": found.se[1] if found else nothing,
        "value": found.value if found else nothing,
        "low": found.low if found else nothing,
        "high": found.high if found else nothing,
        "p": p,
        "n": n,
        "inputs": inputs,
        "reason": reason or None,
    }


def _judged(rows: list[Row], alpha: float) -> None:
    """p over all checks of one judge, and what they say."""
    from scipy.special import ndtri

    checks = sum(np.isfinite(r["p"]) for r in rows)
    for row, p in zip(rows, holm([r["p"] for r in rows]), strict=True):
        side = ONE_SIDED.get(row["measure"])
        row["p_corrected"] = float(p)
        row["verdict"] = CANNOT_TELL if np.isnan(p) else FOUND if p < alpha else NOT_FOUND
        far = -ndtri(alpha / max(1, checks) / (1 if side else 2)) + ndtri(0.8)
        row["detectable"] = (row["high"] - row["low"]) / 2 / 1.96 * far


def check_name(measure: str) -> str:
    """Return the name of a check as people read it."""
    return WORDS.get(measure, measure)


def _answers(rows: list[Row]) -> list[str]:
    lines = []
    for judge, mine in grouped(rows, "judge_name").items():
        tested = [r for r in mine if r["verdict"] != CANNOT_TELL]
        found = [{**r, "says": SENTENCES[r["measure"]][r["value"] < 0]} for r in tested if r["verdict"] == FOUND]
        told = []
        for says, those in grouped(found, "says").items():
            each = ", ".join(f"{r['aspect']} {number(r['value'], 2, sign=True)}" for r in those)
            told.append(f"{says} ({each}; {those[0]['unit']})")
        if found:
            lines.append(f"{judge}, beyond people: {'; '.join(told)}.")
        else:
            none = f"none of {len(tested)} checks found a bias" if tested else "too few labels to tell a bias"
            lines.append(f"{judge}: {none}.")
    return lines


def _notes(panels: list[Panel], told: bool, rows: list[Row], reliability: float | None) -> list[str]:
    notes = []
    if any(code_of(r["reason"]) == "no_texts" for r in rows) or not any(r["measure"] == "length" for r in rows):
        notes.append(f"length and layout not checked: no texts of the outputs ({option('output')} names their column).")
    if not told and len(panels[0].systems) > 1:
        notes.append(f"own family not checked: say {option('family', 'gpt-*=gpt-4o')} (systems=judge).")
    if not any(r["measure"] == "leniency" for r in rows):
        notes.append("leniency and spread not checked: judge and people do not use one scale.")
    if single := [p.aspect for p in panels if np.isnan(_products(p)).all()]:
        held = (
            f"taken as {reliability:g}"
            if reliability
            else f"unknown: intervals hold for .3 to 1 ({option('reliability', 0.6)} where you know it)"
        )
        notes.append(
            f"{some(single)}: one rating an output, so its reliability is {held}; two ratings of some outputs tell it."
        )
    notes.append(
        "changes that should not matter (synonyms, spelling, order): "
        f"{call('analyze robustness FILE', metrics='judge(…)')} asks the model again."
    )
    return notes


def _untold(rows: list[Row]) -> list[str]:
    """Why a check cannot tell, and what it needs; checks with the same reason together."""
    why: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"] and code_of(row["reason"]) != "no_texts":
            why.setdefault(row["reason"], []).append(
                f"{check_name(row['measure'])} of {row['judge_name']}, {row['aspect']}"
            )
    return [f"cannot tell {some(which, 4)}: {reason}." for reason, which in why.items()]


def _products(panel: Panel) -> Array:
    cube = panel.raters.get(panel.aspect)
    return np.array([np.nan]) if cube is None else rater_products(cube)
