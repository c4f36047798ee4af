"""Is a judge good enough? Limits for its agreement with people: passed, failed, or undecided with these labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nlgauge.analyses.verdicts.verdicts import CEILING, CELLS, WORDS
from nlgauge.door.questions import select
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import interval, number
from nlgauge.registry import did_you_mean
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    from nlgauge.session import Selection
    from nlgauge.types import Names

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
# Other names of figures of pass and fail: pass is the positive one.
ALSO = {
    "tnr": "fail_recall", "specificity": "fail_recall", "tpr": "pass_recall", "sensitivity": "pass_recall",
    "recall": "pass_recall", "ppv": "pass_precision", "precision": "pass_precision", "npv": "fail_precision",
    "accuracy": "agreement", "f1": "pass_f1",
}  # fmt: skip
FIGURES = [m for m in WORDS if m not in CELLS and not m.startswith(("people_", "always_")) and m != "judge_pass"]
MOST = 1000  # times the labels at hand, beyond which a value lies at the limit


def gate(data: Any, minimum: Mapping[str, float] | str, aspect: Names = None, metrics: Names = None) -> Table:
    """Is the agreement of a judge with people above the limits? Passed, failed or undecided, by intervals.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    minimum : mapping or str
        The least value of each figure: {'kappa': .6, 'tnr': .8}, or 'kappa=.6,tnr=.8'. Figures of pass and fail (kappa,
        mcc, agreement, fail_recall or tnr, pass_recall or tpr, …) and correlations ('input/kendall').
    aspect, metrics : str or sequence of str, optional
        All by default; `metrics` are the judges, and each of them must pass.

    Returns
    -------
    Table
        One row a judge and limit; `facts["verdict"]` is 'failed' where one failed, else 'undecided' where one is, else
        'passed'. `labels` is about how many would decide.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.gate(ng.example(), {"input/kendall": 0.3}, metrics=["unigram_f1", "random"])
    >>> [(row["metric"], row["verdict"]) for row in table], table.facts["verdict"]
    ([('unigram_f1', 'passed'), ('random', 'failed')], 'failed')
    """
    limits = _limits(minimum)
    chosen = select(data, aspect, metrics)
    figures = {name: limit for name, limit in limits.items() if name in FIGURES}
    measures = {name: limit for name, limit in limits.items() if name not in FIGURES}
    rows = []
    if figures:
        found = _rows(chosen, "verdicts")
        labels = {(r["metric"], r["aspect"]): r["n"] for r in found if r["measure"] == "agreement"}
        for r in found:
            if r["measure"] in figures:
                rows.append(_row(r, figures[r["measure"]], labels.get((r["metric"], r["aspect"]))))
    if measures:
        rows += [_row(r, measures[r["measure"]]) for r in _rows(chosen, "intervals", measures=list(measures))]
    if not rows:
        raise NeedsMissing(f"{chosen.data.name}: none of {', '.join(limits)} can be computed.")
    said = {row["verdict"] for row in rows}
    verdict = next(v for v in (FAILED, UNDECIDED, PASSED) if v in said)
    return Table(
        title=f"{chosen.data.name}: gate {verdict}",
        rows=rows,
        shown=["metric", "aspect", "measure", "limit", "value", "verdict", "labels"],
        heads={"metric": "judge", "measure": "figure", "limit": "at least", "labels": "labels that decide"},
        cells={"value": lambda r: interval(r["value"], r["low"], r["high"], 2),
               "limit": lambda r: number(r["limit"], 2), "labels": _labels},
        method="passed: the 95 % interval lies at or above the limit; failed: below it; undecided: the limit lies "
        "inside. A judge below its limit passes, and one above it fails, in at most about 4 % of data sets (simulated: "
        "docs/gate.md; coverage of correlations: docs/trust.md). Labels that decide: intervals shrink with the square "
        "root of their number, if the value stays.",
        answers=[f"The gate {'is ' * (verdict == UNDECIDED)}{verdict}: {_words(rows, verdict)}."],
        facts={"verdict": verdict},
        signature="min:" + ",".join(f"{name}={limit:g}" for name, limit in limits.items()),
    )  # fmt: skip


def _limits(minimum: Mapping[str, float] | str) -> dict[str, float]:
    from nlgauge.stats.correlation.measure import Measure

    if isinstance(minimum, str):
        pairs = [part.partition("=") for part in minimum.split(",") if part.strip()]
    else:
        pairs = [(name, "=", str(limit)) for name, limit in minimum.items()]
    found: dict[str, float] = {}
    for given, _, text in pairs:
        name = ALSO.get(given.strip(), given.strip())
        if name not in FIGURES:
            try:
                name = str(Measure.parse(name))
            except NameUnknown:
                known = [*FIGURES, *ALSO]
                raise NameUnknown(
                    f"no figure '{name}'.{did_you_mean(name, known)} Figures: {', '.join(known)}, or a measure such as "
                    "input/kendall."
                ) from None
        try:
            found[name] = float(text)
        except ValueError:
            raise NameUnknown(f"limit '{given.strip()}={text}': write a number, as in kappa=.6.") from None
    if not found:
        raise NameUnknown("no limit given: write one as kappa=.6, several as kappa=.6,tnr=.8.")
    return found


def _rows(chosen: Selection, analysis: str, **options: Any) -> list[Row]:
    return [row for table in chosen.each(analysis, **options) for row in table if row["metric"] != CEILING]


def decided(value: float, low: float, high: float, limit: float) -> str:
    """By the interval; without one nothing is decided."""
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return UNDECIDED
    return PASSED if low >= limit else FAILED if high < limit else UNDECIDED


def _row(row: Row, limit: float, labels: int | None = None) -> Row:
    """`labels`: labelled rows behind all figures of this judge."""
    value, low, high = (math.nan if row[c] is None else float(row[c]) for c in ("value", "low", "high"))
    known = not (math.isnan(value) or math.isnan(low) or math.isnan(high))
    verdict = decided(value, low, high, limit)
    times = None
    if known and verdict == UNDECIDED and value != limit:
        half = value - low if value > limit else high - value
        times = (half / abs(value - limit)) ** 2
        times = times if times <= MOST else None
    return {
        "metric": row["metric"], "aspect": row["aspect"], "measure": row["measure"], "limit": limit, "value": value,
        "low": low, "high": high,
        "n": labels if labels is not None else row.get("n"), "verdict": verdict, "times": times,
        "labels": None if times is None or labels is None else math.ceil(labels * times),
        "reason": row.get("reason") or (None if known else "no interval"),
    }  # fmt: skip


def _labels(row: Row) -> str:
    if row["verdict"] != UNDECIDED:
        return ""
    if row["labels"] is not None:
        return f"about {row['labels']:,} instead of {row['n']:,}"
    return f"about {row['times']:.1f} times as much data" if row["times"] else row["reason"] or "too near the limit"


def _words(rows: list[Row], verdict: str) -> str:
    mine = [r for r in rows if r["verdict"] == verdict]
    told = "; ".join(
        f"{r['metric']} {r['measure']} {interval(r['value'], r['low'], r['high'], 2)} (limit {number(r['limit'], 2)})"
        for r in mine[:4]
    )
    return told + (f"; and {len(mine) - 4} more" if len(mine) > 4 else "")
