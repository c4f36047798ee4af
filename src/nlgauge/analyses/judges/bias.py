"""Biases of a judge: effects on its scores beyond those on human ratings (position, length, formatting, and others)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, reference
from nlgauge.analyses.judges._position import position_rows
from nlgauge.analyses.judges.judge_rows import (
    LAYOUT,
    LEAST_EACH,
    JudgeColumn,
    family_of_systems,
    judge_columns,
    parse_family,
    rated_and_scored,
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

FOUND, NOT_FOUND, INCONCLUSIVE = "found", "not found", "inconclusive"
UNITS = {
    "length": "SD per doubling",
    "leniency": "points",
    "spread": "points",
    "halo": "correlation",
    "position": "log-odds",
}
CHECK_NAMES = {
    "position": "position bias",
    "length": "length bias",
    "headers": "headings",
    "bold": "bold text",
    "family": "self-preference",
    "spread": "central tendency",
    "halo": "halo effect",
}
SENTENCES = {
    "position": ("prefers the output shown first", "prefers the output shown second"),
    "length": ("favors longer outputs", "favors shorter outputs"),
    "lists": ("favors lists", "penalizes lists"), "headers": ("favors headings", "penalizes headings"),
    "bold": ("favors bold text", "penalizes bold text"), "emoji": ("favors emoji", "penalizes emoji"),
    "family": ("favors its own family", "penalizes its own family"),
    "leniency": ("is more lenient than annotators", "is more severe than annotators"),
    "spread": ("", "avoids the ends of the scale"), "halo": ("has a halo effect between aspects", ""),
}  # fmt: skip
ONE_SIDED = {"spread": -1, "halo": 1}
FORMATTING = "outputs with them minus outputs without, in SDs of the judge's scores, at equal human ratings"
DEFINITIONS = {
    "position": "log-odds of the output shown first over an equally good output shown second",
    "length": "per doubling of the number of words, in SDs of the judge's scores, at equal human ratings and "
    "controlling "
    "for the other features of the text",
    "lists": FORMATTING, "headers": FORMATTING, "bold": FORMATTING, "emoji": FORMATTING,
    "family": "outputs of the judge's own family minus others, in SDs of the judge's scores, at equal human ratings",
    "leniency": "mean of the judge minus mean of the annotators, in points of the scale",
    "spread": "SD of the judge's scores minus SD of the true human scores, in points; one-sided, since noise makes it "
    "larger",
    "halo": "correlation between errors on two aspects of an output, controlling for features of the text, minus "
    "that of "
    "an annotator; one-sided",
}  # fmt: skip


@analysis("bias", takes="dataset", question="Which biases does a judge have beyond those of annotators?")
def bias(
    choice: Choice,
    *,
    family: str | Sequence[str] | Mapping[str, str] | None = None,
    reliability: float | None = None,
    level: float = 0.95,
) -> Table:
    """Test a judge for biases that human annotators do not have: position, length, formatting, self-preference and
    others.

    Parameters
    ----------
    family : str, sequence of str or mapping, optional
        Systems of a judge's own family: 'gpt-*=gpt-4o' declares that the systems gpt-* belong to the family of the
        judge gpt-4o.
    reliability : float, optional
        Reliability of the human ratings, between 0 and 1. Use it if it is known and each output has only one rating.
    level : float, default 0.95
        1 minus the family-wise error rate over all checks of a judge (Holm).

    Returns
    -------
    Table
        One row per judge, aspect and check: effect on the judge, the effect expected of a judge who follows the human
        ratings, the difference (the bias) with interval and p, verdict, and the minimum detectable bias at 80% power.
        `reason` explains why a check was not possible.

    Notes
    -----
    The checks are position, length, lists, headings, bold text, emoji, self-preference, leniency, central tendency and
    halo effect. Intervals are jackknife intervals over inputs; docs/bias.md reports the error rates.

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
        notes += [*_inconclusive_notes(rows), *_notes(panels, bool(families), rows, reliability)]
    if not rows:
        raise NeedsMissing(
            "tests of biases require scores (or comparisons) of a judge and human ratings of the same outputs; "
            f"{call('judge FILE')} computes scores, {option('human')} names the columns of human ratings.",
            code="no_scores",
        )
    judges = grouped(rows, "judge_name")
    for of_judge in judges.values():
        _decide(of_judge, 1 - level)
    rows = [row for of_judge in judges.values() for row in of_judge]
    return Table(
        title=Title(data.name, f"biases of the judge, compared with {reference(data)}"),
        rows=rows,
        shown=["judge_name", "aspect", "measure", "judge", "human", "value", "p_corrected", "verdict", "detectable"],
        heads={
            "judge_name": "judge",
            "judge": "effect",
            "measure": "check",
            "value": "bias",
            "p_corrected": "p (Holm)",
            "detectable": "minimum detectable",
        },
        cells={
            "measure": lambda r: check_name(r["measure"]),
            "judge": lambda r: number(r["judge"], 2),
            "human": lambda r: number(r["human"], 2),
            "detectable": lambda r: number(r["detectable"], 2),
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
        },
        definitions={
            "effect, human, bias": "effect on the judge's scores; the effect expected of a judge who follows the "
            "human "
            "ratings (annotators may prefer longer outputs too); their difference, the bias",
            **{check_name(name): text for name, text in DEFINITIONS.items() if any(r["measure"] == name for r in rows)},
            "minimum detectable": "smallest bias that is found with 80% power",
        },
        method="95% confidence intervals: jackknife over inputs, Student's t. Family-wise error rate over all checks "
        "of "
        f"a judge: {number(1 - level, 2)} (Holm; simulated in docs/bias.md). A bias that is not found may still exist: "
        "see the minimum detectable bias.",
        answers=_answers(rows),
        notes=[*notes, *(text for p in panels[:1] for text in (*human_note(p), *flipped_note(p)))],
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
    """Return the rows of length, formatting and family; and of leniency and spread if both use the same scale."""
    every, rated = rated_and_scored(panel, column.metric)
    base = {"metric": column.metric, "judge_name": column.judge, "aspect": panel.aspect}
    n = len(every.judge)
    inputs = len(np.unique(every.clusters))
    few = f"requires at least {FEWEST} inputs with a score and a rating; found {inputs}" if inputs < FEWEST else ""
    if not few and (np.ptp(every.judge) == 0 or np.ptp(every.people) == 0):
        few = "all scores or all ratings are equal"
    rows = []
    used: dict[str, Array] = {}
    for name, values in features:
        x = values[rated]
        why = few or _varies(x, every.clusters, name)
        if why:
            rows.append(_row(base, name, None, int(np.isfinite(x).sum()), inputs, why))
        else:
            used[name] = x
    complete = np.isfinite(np.stack(list(used.values()))).all(axis=0) if used else np.ones(n, bool)
    if used:
        part = replace(every, **{f: getattr(every, f)[complete] for f in ("judge", "people", "pairs", "clusters")})
        table = np.column_stack([x[complete] for x in used.values()])
        collinear = np.linalg.matrix_rank(np.column_stack([np.ones(complete.sum()), table])) <= len(used)
        effects = [None] * len(used) if collinear else feature_effects(part, table, reliability)
        why = "collinear with the other features" if collinear else ""
        rows += [_row(base, k, e, int(complete.sum()), inputs, why) for k, e in zip(used, effects, strict=True)]
    if same_scale(panel, column.metric):
        for name, make in (("leniency", leniency), ("spread", spread)):
            rows.append(_row(base, name, None if few else make(every), n, inputs, few))
    return rows


def _usable_features(
    panel: Panel, column: JudgeColumn, features: Mapping[str, Array], families: Mapping[str, str]
) -> list[tuple[str, Array]]:
    """Return the features that occur in these outputs, and whether a system is of the judge's family."""
    present = [(name, features[name]) for name in ("length", *LAYOUT) if name in features]
    own = family_of_systems(families, panel.systems, column.judge)
    if own is not None:
        present.append(("family", np.broadcast_to(own[:, None], panel.human.shape)))
    return [(name, v) for name, v in present if name in ("length", "family") or np.nansum(v) > 0]


def _varies(x: Array, clusters: Codes, name: str) -> str:
    """Return why the effect of a feature cannot be estimated; empty if it can."""
    defined = np.isfinite(x)
    if not defined.any():
        return Note("there are no output texts", "no_texts")
    if name == "length":
        return "" if np.ptp(x[defined]) > 0 else "all outputs have the same length"
    sides = [len(np.unique(clusters[defined & (x == side)])) for side in (1, 0)]
    if min(sides) >= LEAST_EACH:
        return ""
    return f"requires {LEAST_EACH} inputs with such outputs and {LEAST_EACH} without; found {sides[0]} and {sides[1]}"


def _halo_rows(
    panels: list[Panel], columns: list[JudgeColumn], features: Mapping[str, Array], families: Mapping[str, str]
) -> list[Row]:
    """Return a row per judge that has a column for each of several aspects."""
    rows = []
    by_aspect = {p.aspect: p for p in panels}
    single = [{"judge": c.judge, "c": c} for c in columns if len(c.aspects) == 1]
    for judge, of_judge in grouped(single, "judge").items():
        named = {row["c"].aspects[0]: row["c"].metric for row in of_judge}
        if len(named) < 2:
            continue
        usable = _usable_features(panels[0], of_judge[0]["c"], features, families)
        controls = [v.ravel() for _, v in usable if np.isfinite(v).any()]
        pairs = _aspect_pairs(by_aspect, named, np.column_stack([np.ones(panels[0].human.size), *controls]))
        used = [
            np.isfinite(p.judge[0] + p.judge[1]) & (np.isfinite(p.raters[0] + p.raters[1]).sum(0) > 1) for p in pairs
        ]
        inputs = min((len(np.unique(p.clusters[rows])) for p, rows in zip(pairs, used, strict=True)), default=0)
        why = f"requires at least {FEWEST} inputs with two annotators on two aspects; found {inputs}"
        effect = halo(pairs) if inputs >= FEWEST else None
        if effect is not None:
            why = "" if np.isfinite(effect.value) else "inter-annotator agreement is too low on an aspect"
        base = {"metric": judge, "judge_name": judge, "aspect": f"{len(named)} aspects"}
        rows.append(_row(base, "halo", None if why else effect, int(sum(u.sum() for u in used)), inputs, why))
    return rows


def _aspect_pairs(panels: Mapping[str, Panel], metrics: Mapping[str, str], controls: Array) -> list[TwoAspects]:
    """Return the errors of judge and annotators on every pair of aspects, controlling for features of the text."""
    pairs = []
    for a, b in combinations(metrics, 2):
        cubes = [panels[x].raters[x].reshape(-1, len(controls)) for x in (a, b) if x in panels[x].raters]
        if len(cubes) == 2:
            scores = [panels[x].oriented()[panels[x].names.index(metrics[x])].reshape(1, -1) for x in (a, b)]
            (ya, yb), (za, zb) = ([_controlled(v, controls) for v in both] for both in (scores, cubes))
            units = np.tile(panels[a].unit_codes(np.arange(panels[a].n_inputs)), panels[a].n_systems)
            pairs.append(TwoAspects((ya[0], yb[0]), (za, zb), units))
    return pairs


def _controlled(values: Array, features: Array) -> Array:
    """Subtract what the features explain of the mean of the lines: a preference for length is not a halo effect."""
    defined = np.isfinite(values)
    mean = np.where(defined, values, 0.0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    complete = defined.any(axis=0) & np.isfinite(features).all(axis=1)
    slopes = np.linalg.lstsq(features[complete], mean[complete], rcond=None)[0]
    return np.asarray(values - features @ slopes)


def _row(base: Row, measure: str, effect: Effect | None, n: int, inputs: int, reason: str = "") -> Row:
    missing = float("nan")
    side = ONE_SIDED.get(measure)
    p = missing if effect is None else effect.p
    if effect is not None and side:
        p = p / 2 if effect.value * side > 0 else 1 - p / 2
    return {
        **base,
        "measure": measure,
        "unit": UNITS.get(measure, "SD"),
        "judge": effect.judge if effect else missing,
        "judge_se": effect.se[0] if effect else missing,
        "human": effect.people if effect else missing,
        "human_se": effect.se[1] if effect else missing,
        "value": effect.value if effect else missing,
        "low": effect.low if effect else missing,
        "high": effect.high if effect else missing,
        "p": p,
        "n": n,
        "inputs": inputs,
        "reason": reason or None,
    }


def _decide(rows: list[Row], alpha: float) -> None:
    """Add corrected p-values over all checks of a judge, verdicts and minimum detectable biases."""
    from scipy.special import ndtri

    checks = sum(np.isfinite(r["p"]) for r in rows)
    for row, p in zip(rows, holm([r["p"] for r in rows]), strict=True):
        side = ONE_SIDED.get(row["measure"])
        row["p_corrected"] = float(p)
        row["verdict"] = INCONCLUSIVE if np.isnan(p) else FOUND if p < alpha else NOT_FOUND
        quantiles = -ndtri(alpha / max(1, checks) / (1 if side else 2)) + ndtri(0.8)
        row["detectable"] = (row["high"] - row["low"]) / 2 / 1.96 * quantiles


def check_name(measure: str) -> str:
    """Return the printed name of a check."""
    return CHECK_NAMES.get(measure, measure)


def _answers(rows: list[Row]) -> list[str]:
    lines = []
    for judge, of_judge in grouped(rows, "judge_name").items():
        tested = [r for r in of_judge if r["verdict"] != INCONCLUSIVE]
        biases = [{**r, "says": SENTENCES[r["measure"]][r["value"] < 0]} for r in tested if r["verdict"] == FOUND]
        findings = []
        for sentence, same in grouped(biases, "says").items():
            each = ", ".join(f"{r['aspect']} {number(r['value'], 2, sign=True)}" for r in same)
            findings.append(f"{sentence} ({each}; {same[0]['unit']})")
        if findings:
            lines.append(f"{judge}, compared with annotators: {'; '.join(findings)}.")
        else:
            none = f"none of {len(tested)} checks found a bias" if tested else "too few labels to test for biases"
            lines.append(f"{judge}: {none}.")
    return lines


def _notes(panels: list[Panel], families: bool, rows: list[Row], reliability: float | None) -> list[str]:
    notes = []
    if any(code_of(r["reason"]) == "no_texts" for r in rows) or not any(r["measure"] == "length" for r in rows):
        notes.append(
            f"length and formatting are not tested: there are no output texts ({option('output')} names their column)."
        )
    if not families and len(panels[0].systems) > 1:
        notes.append(f"self-preference is not tested: declare {option('family', 'gpt-*=gpt-4o')} (systems=judge).")
    if not any(r["measure"] == "leniency" for r in rows):
        notes.append("leniency and central tendency are not tested: judge and annotators use different scales.")
    if single := [p.aspect for p in panels if np.isnan(_products(p)).all()]:
        assumed = (
            f"assumed to be {reliability:g}"
            if reliability
            else f"unknown, and intervals are valid for any value from 0.3 to 1 (set {option('reliability', 0.6)} if "
            "it is known)"
        )
        notes.append(
            f"{some(single)}: one rating per output, so the reliability of the ratings is {assumed}; second ratings of "
            "some outputs would estimate it."
        )
    notes.append(
        "invariance to synonyms, spelling and word order: "
        f"{call('analyze robustness FILE', metrics='judge(…)')} queries the model again."
    )
    return notes


def _inconclusive_notes(rows: list[Row]) -> list[str]:
    """List the inconclusive checks, one note per reason."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row["reason"] and code_of(row["reason"]) != "no_texts":
            by_reason.setdefault(row["reason"], []).append(
                f"{check_name(row['measure'])} of {row['judge_name']}, {row['aspect']}"
            )
    return [f"inconclusive: {some(checks, 4)} ({reason})." for reason, checks in by_reason.items()]


def _products(panel: Panel) -> Array:
    cube = panel.raters.get(panel.aspect)
    return np.array([np.nan]) if cube is None else rater_products(cube)
