"""Equivalence audit: whether the judge's error on labeled outputs transfers to other systems, languages or slices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.estimates._partly_labeled import Rows, predictor, rows_of
from nlgauge.analyses.estimates.system_labels import MARGIN, MAX_LISTED
from nlgauge.data.choice import Choice
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import interval, number
from nlgauge.options import option
from nlgauge.stats.estimation.systems import PROBE_LABELS, TRANSFER_LEVEL, predict_mean, transfer_test
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Mask

OUTSIDE, UNDECIDED, TRANSFERS = "outside the calibrated range", "undecided", "transfers"
MAX_OUTSIDE = 0.05  # share of scores beyond the labeled ones of the reference above which nothing is carried over


@analysis(
    "transport",
    question="Does the judge's error carry over to other systems, languages or slices?",
    takes="groups",
    declared=True,
)
def transport(
    choice: Choice,
    *,
    aspect: str | None = None,
    reference: str | None = None,
    human_pass_from: float | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Table:
    """Test whether labels of one part of the data (a system, a language, a slice) may be used to correct the judge's
    scores of another part.

    The labels of the reference part are regressed on the judge's score. A probe of 20 to 50 labels of the other part
    is used to test whether the same regression holds there. The verdict is that it transfers, that it does not, or
    that the test is inconclusive; then the number of labels needed is given.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts (`by`) to use; the parts are the systems by default.
    reference : str, optional
        Part whose labels are to be used. Default: the part with the most labels.
    human_pass_from : float, optional
        Lowest human rating that is a pass. Without it, mean ratings are compared.
    margin : float, optional
        Equivalence margin for the difference of the judge's mean error, in units of the ratings. Default: 5% of their
        range.

    Returns
    -------
    Table
        One row per part: difference of the judge's mean error with its 90% interval, verdict, labels that would decide,
        and where the error transfers the mean of the part by the labels of the reference, with an interval that is
        longer by the margin.

    Notes
    -----
    The audit is an equivalence test (two one-sided tests at 5%, Schuirmann 1987; `stats.transfer_test`): a judge whose
    error differs by the margin or more is said to transfer in at most 5% of audits. Scores beyond the labeled ones of
    the reference are refused: if significantly more than 5% of the part lie there, nothing is carried over.

    Examples
    --------
    $ nlgauge analyze transport log.csv --labels probes.csv --metrics judge

    $ nlgauge analyze transport log.csv --by language --reference en
    """
    aspect = choice.data.aspect(aspect or (choice.aspects[0] if choice.aspects else None))
    rows = rows_of(choice.data, aspect, choice.metrics, cut=human_pass_from, keep_human=choice.keep_human)
    judge, score, notes = predictor(_ordered(rows))
    if score is None:
        raise NeedsMissing(
            f"no score of a judge to carry over: {option('metrics', choice=True)}.", data=rows.name, code="no_scores"
        )
    names = _part_names(choice, rows)
    parts = {name: names == name for name in dict.fromkeys(names.tolist())}
    counts = {name: int(rows.labeled[inside].sum()) for name, inside in parts.items()}
    # Of parts with equally many labels the one with the highest ratings, whatever the order of the file.
    means = {name: float(np.nansum(rows.labels[inside])) for name, inside in parts.items()}
    start = _reference(dict(sorted(counts.items(), key=lambda each: -means[each[0]])), reference)
    span = 1.0 if rows.share else max(rows.levels) - min(rows.levels)
    allowed = MARGIN * span if margin is None else margin
    found = [
        _row(rows, score, (parts[start], inside), allowed, level)
        | {"metric": judge, "aspect": aspect, "part": name, "reference": start}
        for name, inside in parts.items()
        if name != start
    ]
    if not found:
        raise NeedsMissing(
            f"one part only: the audit compares systems, or the values of a column ({option('by', 'language')}).",
            data=rows.name,
            code="too_few_systems",
        )
    return Table(
        title=Title(rows.name, f"does the error of {judge} on '{start}' carry over, {aspect}"),
        rows=found,
        shown=["part", "n", "value", "verdict", "labels_needed", "carried"],
        heads={
            "value": "difference, 90% CI",
            "n": "labels",
            "labels_needed": "labels needed",
            "carried": "carried mean",
        },
        cells={
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
            "carried": lambda r: interval(r["carried"], r["carried_low"], r["carried_high"], 2),
            "labels_needed": lambda r: number(r["labels_needed"], 0),
        },
        answers=[_sentence(row, allowed) for row in found[:MAX_LISTED]],
        method=f"Difference: mean by the judge, corrected with the {counts[start]:,} labels of '{start}', minus mean "
        f"of the part's own labels; {TRANSFER_LEVEL:.0%} CI, margin ±{allowed:.2g}. Carried mean: {level:.0%} CI, "
        "longer by the margin at both ends.",
        notes=[*notes, *rows.notes],
        facts={"reference": start, "margin": allowed, "labels": counts},
        signature=f"nlgauge:{__version__}|aspect:{aspect}|margin:{allowed:g}|level:{number(level, 2)}",
    )


def _ordered(rows: Rows) -> Rows:
    """Return the rows with the judges ordered by content, so that the folds do not depend on the file's order."""
    held = rows.labeled
    off = rows.labels[held] - rows.labels[held].mean()

    def agreement(name: str) -> float:
        score = rows.scores[name][held]
        return -abs(float(off @ (score - score.mean())) / (float(score.std()) or 1.0))

    return replace(rows, scores={name: rows.scores[name] for name in sorted(rows.scores, key=agreement)})


def _part_names(choice: Choice, rows: Rows) -> np.ndarray:
    """Return the part of each row: its system, or the values of the columns `by`."""
    if not choice.by:
        return rows.system
    part: dict[tuple[Any, ...], str] = {}
    for group, data in choice.data.by(*choice.by):
        name = ", ".join(map(str, group.values()))
        part |= dict.fromkeys(data.samples.select("system", "input").iter_rows(), name)
    return np.array([part[key] for key in zip(rows.system.tolist(), rows.input.tolist(), strict=True)])


def _reference(counts: dict[str, int], requested: str | None) -> str:
    if requested is not None and requested not in counts:
        raise NameUnknown(f"part '{requested}' not found; the data have {', '.join(counts)}.")
    start = requested or max(counts, key=counts.__getitem__)
    if counts[start] < PROBE_LABELS:
        raise NeedsMissing(
            f"the reference '{start}' has {counts[start]} labels; at least {PROBE_LABELS} are needed.",
            code="too_few_labels",
            needed=PROBE_LABELS,
            available=counts[start],
        )
    return start


def _row(rows: Rows, score: Array, masks: tuple[Mask, Mask], margin: float, level: float) -> Row:
    """Return the audit of one part, and its mean by the labels of the reference if the judge's error transfers."""
    nothing = float("nan")
    base, own = rows.of(masks[0]), rows.of(masks[1])
    base_score, own_score = score[masks[0]], score[masks[1]]
    labels = int(own.labeled.sum())
    row: Row = dict.fromkeys(
        ("value", "low", "high", "labels_needed", "carried", "carried_low", "carried_high"), nothing
    )
    row |= {"measure": "error_difference", "n": labels, "rows": len(own.labels), "verdict": UNDECIDED, "reason": None}
    known = base_score[base.labeled]
    slack = 1e-9 * max(float(np.ptp(known)), 1e-300)  # scores that tie up to rounding lie inside
    beyond = int(((own_score < known.min() - slack) | (own_score > known.max() + slack)).sum())
    row["beyond"] = beyond / len(own_score)
    if labels >= PROBE_LABELS and not own.lacking():
        result = transfer_test(base.sample(base_score), own.sample(own_score), margin)
        row |= {"value": float(result.difference), "low": float(result.low), "high": float(result.high)}
        enough = float(result.labels) <= len(own.labels)
        row |= {"verdict": str(result.outcome), "labels_needed": float(result.labels) if enough else nothing}
    else:
        row |= {
            "labels_needed": float(PROBE_LABELS),
            "reason": own.lacking() or f"needs {PROBE_LABELS} labels, found {labels}",
        }
    if row["verdict"] != "does not transfer" and _more_than(MAX_OUTSIDE, beyond, len(own_score)):
        row |= {"verdict": OUTSIDE, "reason": f"{beyond:,} of {len(own_score):,} scores lie beyond the labeled ones"}
    if row["verdict"] == TRANSFERS:
        value, se, freedom = (float(v) for v in predict_mean(base.sample(base_score), float(own_score.mean())))
        half = _student(freedom, level) * se + margin
        row |= {"carried": value, "carried_low": value - half, "carried_high": value + half}
    return row


def _more_than(share: float, count: int, n: int) -> bool:
    """Return whether the count is significantly more than this share of n (at 1%)."""
    from scipy.special import betainc

    return count > 0 and bool(betainc(count, n - count + 1, share) < 0.01)


def _student(freedom: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + level) / 2))


def _sentence(row: Row, margin: float) -> str:
    """State the outcome for one part."""
    start = f"{row['part']}: the error of {row['metric']} on '{row['reference']}'"
    ends = f"difference {interval(row['value'], row['low'], row['high'], 2)} (90% CI, margin ±{margin:.2g})"
    if row["verdict"] == TRANSFERS:
        return f"{start} transfers, {ends}."
    if row["verdict"] == OUTSIDE:
        return f"{start} is not carried over: {row['reason']}."
    if row["verdict"] != UNDECIDED:
        return f"{start} does not transfer, {ends}: label this part itself."
    needed = row["labels_needed"]
    if np.isfinite(row["value"]):
        more = (
            f"about {needed:,.0f} labels of it would decide"
            if np.isfinite(needed)
            else "more labels of it alone would not decide"
        )
        return f"{start}: undecided, {ends}; {more}."
    return f"{start}: undecided, {row['n']} labels; label at least {needed:.0f} outputs drawn at random."
