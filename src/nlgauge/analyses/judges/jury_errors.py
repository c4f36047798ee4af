"""Do judges err on the same outputs? Correlation of their errors, and how many independent judges they are worth."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature, turned_note
from nlgauge.analyses.judges._jury_rows import jury_rows
from nlgauge.data.panel import Panel
from nlgauge.number import interval, number
from nlgauge.stats.agreement.jury import CLUSTERS, errors_alike
from nlgauge.table import Row, Table, Title

ALL = "all"


@analysis("jury-errors", question="Do the judges err on the same outputs; how many independent ones are they worth?")
def jury_errors(
    panel: Panel, *, people_pass_from: float | None = None, judge_pass_from: float | None = None, level: float = 0.95
) -> Table:
    """Correlation of every two judges' values with people's label held fixed; the mean of all pairs; the number of
    judges with independent errors whose mean vote would be as good.
    """
    rows = jury_rows(panel, None, people_pass_from, judge_pass_from)
    found = errors_alike(rows.labels, rows.scores, rows.clusters, level)
    few = int(rows.clusters.max()) + 1 < CLUSTERS
    reason = f"an interval needs at least {CLUSTERS} inputs" if few else None
    k, n = len(rows.judges), len(rows.labels)
    lines: list[Row] = [
        {"metric": rows.judges[i], "other": rows.judges[j], "aspect": panel.aspect, "measure": "error_correlation",
         "value": float(found.value[i, j]), "low": float(found.low[i, j]), "high": float(found.high[i, j]), "n": n,
         "reason": reason}
        for i in range(k) for j in range(i + 1, k)
    ]  # fmt: skip
    lines.sort(key=lambda row: -row["value"])
    for name, (value, low, high) in (("mean_error_correlation", found.mean), ("effective_judges", found.effective)):
        ends = {"low": float(low), "high": float(min(high, k) if name == "effective_judges" else high)}
        lines.append(
            {"metric": ALL, "other": ALL, "aspect": panel.aspect, "measure": name, "value": float(value), **ends,
             "n": n, "reason": reason}
        )  # fmt: skip
    value, low, high = found.effective
    between = "" if not np.isfinite(low) else f" (between {number(low, 1)} and {number(min(high, k), 1)})"
    return Table(
        title=Title(panel.name, f"errors of the judges beside {panel.rated_by} on {panel.aspect}"),
        rows=lines,
        shown=["metric", "other", "measure", "value"],
        heads={"metric": "judge"},
        cells={
            "value": lambda row: interval(row["value"], row["low"], row["high"], 2),
            "measure": lambda row: row["measure"].replace("_", " "),
        },
        answers=[f"{k} judges are worth about {number(value, 1)} with independent errors{between}."],
        definitions={
            "error correlation": "of two judges' values, people's label held fixed (partial correlation); 0: "
            "they err independently, 1: on the same rows. Noise in people's labels is shared by all judges and counts "
            "as correlation: with noisy labels it is too high",
            "effective judges": "k / (1 + (k − 1) × mean error correlation)",
        },
        method=f"{rows.size_text(panel)}; {level:.0%} intervals: "
        "whole inputs left out in turn, Fisher's z, Student's t (coverage: docs/jury.md).",
        notes=[*rows.notes, *people_note(panel), *turned_note(panel)],
        signature=signature(panel, level=number(level, 2)),
    )
