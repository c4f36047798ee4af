"""Summaries of the tables of verdicts and thresholds: one sentence or two per judge."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.number import count, missing, number, percent, row_interval
from nlgauge.table import Row, Table

MIN_LABELS = 10  # human passes, and failures, below which the summary asks for more labels
MAX_JUDGES = 3  # judges with a summary; the table has all


def two_valued_aspects(data: Dataset, aspects: Sequence[str]) -> list[str]:
    """Return the aspects whose human ratings have two distinct values."""
    values = dict(data.ratings.group_by("aspect").agg(pl.col("value").n_unique()).rows())
    return [aspect for aspect in aspects if values.get(aspect) == 2 and aspect not in data.unordered]


def lines_of(table: Table) -> list[str]:
    """Return a summary of each judge, the best judges first."""
    judges: dict[str, dict[str, Row]] = {}
    for row in table:
        judges.setdefault(row["metric"], {})[row["measure"]] = row
    summarize, by = (judge_words, "agreement") if table.kind == "verdicts" else (threshold_words, "roc_area")
    order = sorted((n for n in judges if by in judges[n]), key=lambda n: -_or_last(judges[n][by]["value"]))
    lines = [text for name in order[:MAX_JUDGES] if (text := summarize(name, judges[name]))]
    hidden = len(order) - MAX_JUDGES
    return [*lines, *([f"The table has {count(hidden, 'more judge')}."] if hidden > 0 else [])]


def _or_last(value: float) -> float:
    return -1.0 if missing(value) else value


def judge_words(name: str, rows: dict[str, Row]) -> str:
    """Summarize a judge: recall on failures and passes, accuracy and the majority-class baseline; empty without "
    "them."""
    if "fail_recall" not in rows:
        return ""
    failed, passed, accuracy = rows["fail_recall"], rows["pass_recall"], rows["agreement"]
    majority = max((rows[k] for k in ("always_pass", "always_fail") if k in rows), key=lambda r: r["value"])
    recalls = (
        f"{name}: recall on failures {_share(failed)} (n = {failed['n']:,}), recall on passes {_share(passed)} "
        f"(n = {passed['n']:,})."
    )
    verdict = _improvement(rows.get(f"gain_over_{majority['measure']}"))
    compared = (
        f"Accuracy {_share(accuracy)}; always answering {majority['measure'].removeprefix('always_')} would reach "
        f"{percent(majority['value'])}: {verdict}."
    )
    few = [kind for kind, row in (("fail", failed), ("pass", passed)) if row["n"] < MIN_LABELS]
    need = f" Fewer than {MIN_LABELS} outputs have the human label {few[0]}: label more of them." if few else ""
    return f"{recalls} {compared}{need}"


def threshold_words(name: str, rows: dict[str, Row]) -> str:
    """Summarize a judge's area under the ROC curve and what its threshold saves; empty without an area."""
    area, cut = rows.get("roc_area"), rows.get("threshold")
    if area is None or missing(area["value"]):
        return ""
    if missing(area["low"]):
        return f"Too few labels for a confidence interval of the area under the ROC curve of {name}: {area['reason']}."
    text = (
        f"{name}: area under the ROC curve {row_interval(area)} (how often an output that passed scores higher than "
        "one "
        "that failed)."
    )
    costs = [rows[k]["value"] for k in ("cost", "cost_pass_all", "cost_fail_all") if k in rows]
    if cut is None or missing(cut["value"]) or len(costs) < 3 or any(missing(c) for c in costs):
        return text
    if costs[0] >= min(costs[1:]):
        return f"{text} On held-out labels, no threshold costs less than one verdict for all outputs."
    return (
        f"{text} The threshold of least cost is {number(cut['value'], 2)}; on held-out labels its recall on failures "
        f"is {_share(rows['fail_recall'])}."
    )


def _share(row: Row) -> str:
    if missing(row["value"]):
        return "–"
    ends = "" if missing(row["low"]) else f" [{percent(row['low'])}, {percent(row['high'])}]"
    return percent(row["value"]) + ends


def _improvement(row: Row | None) -> str:
    """State whether the judge is more accurate than the majority class: whether the interval excludes 0."""
    if row is None or missing(row["value"]) or missing(row["low"]):
        return "too few labels to compare the two"
    points = f"{100 * row['value']:+.0f} percentage points"
    if row["low"] > 0:
        return f"the judge is significantly better ({points})"
    if row["high"] < 0:
        return f"the judge is significantly worse ({points})"
    return f"the difference is not significant ({points})"
