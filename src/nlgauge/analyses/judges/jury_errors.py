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
    """Compute how far judges err on the same outputs, and how many independent judges they are worth.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    judge_pass_from : float, optional
        Lowest score of a judge that counts as pass; required where it gave more than two values.
    level : float, default 0.95
        Level of the confidence intervals.

    Returns
    -------
    Table
        One row per pair of judges: correlation of their values with the human label held fixed; then the mean
        over all pairs, and the effective number of judges.

    Notes
    -----
    Effective number = k / (1 + (k − 1) · mean error correlation) of k judges. Noise in the human labels is shared
    by all judges and makes the correlation too high. Intervals leave out whole inputs in turn.
    """
    rows = jury_rows(panel, None, people_pass_from, judge_pass_from)
    found = errors_alike(rows.labels, rows.scores, rows.clusters, level)
    few = int(rows.clusters.max()) + 1 < CLUSTERS
    reason = f"an interval needs at least {CLUSTERS} inputs" if few else None
    k = len(rows.judges)

    def row(pair: tuple[str, str], measure: str, value: float, low: float, high: float) -> Row:
        line: Row = {"metric": pair[0], "other": pair[1], "aspect": panel.aspect, "measure": measure}
        line |= {"value": float(value), "low": float(low), "high": float(high)}
        return {**line, "n": len(rows.labels), "reason": reason}

    lines = [
        row(
            (rows.judges[i], rows.judges[j]),
            "error_correlation",
            *(a[i, j] for a in (found.value, found.low, found.high)),
        )
        for i in range(k)
        for j in range(i + 1, k)
    ]
    lines.sort(key=lambda line: -line["value"])
    value, low, high = found.effective
    lines += [
        row((ALL, ALL), "mean_error_correlation", *found.mean),
        row((ALL, ALL), "effective_judges", value, low, min(high, k)),
    ]
    between = "" if not np.isfinite(low) else f" (between {number(low, 1)} and {number(min(high, k), 1)})"
    return Table(
        title=Title(panel.name, f"errors of the judges beside {panel.rated_by} on {panel.aspect}"),
        rows=lines,
        shown=["metric", "other", "measure", "value"],
        heads={"metric": "judge"},
        cells={
            "value": lambda line: interval(line["value"], line["low"], line["high"], 2),
            "measure": lambda line: line["measure"].replace("_", " "),
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
