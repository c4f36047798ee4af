"""Correlation of the errors of judges, and the effective number of independent judges."""

from __future__ import annotations

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, signature
from nlgauge.analyses.judges._jury_rows import jury_rows
from nlgauge.data.panel import Panel
from nlgauge.number import interval, number
from nlgauge.stats.agreement.jury import CLUSTERS, errors_alike
from nlgauge.table import Row, Table, Title

ALL = "all"


@analysis("jury-errors", question="How correlated are the errors of the judges, and what is their effective number?")
def jury_errors(
    panel: Panel, *, human_pass_from: float | None = None, judge_pass_from: float | None = None, level: float = 0.95
) -> Table:
    """Compute the correlation of the errors of judges, and the effective number of independent judges.

    Returns
    -------
    Table
        One row per pair of judges: partial correlation of their values given the human label; then the mean over all
        pairs, and the effective number of judges.

    Notes
    -----
    Effective number = k / (1 + (k − 1) · mean error correlation) of k judges. Noise in the human labels is shared
    by all judges and biases the correlation upward. Intervals are jackknife intervals over inputs.
    """
    rows = jury_rows(panel, None, human_pass_from, judge_pass_from)
    errors = errors_alike(rows.labels, rows.scores, rows.clusters, level)
    few = int(rows.clusters.max()) + 1 < CLUSTERS
    reason = f"a confidence interval requires at least {CLUSTERS} inputs" if few else None
    k = len(rows.judges)

    def row(pair: tuple[str, str], measure: str, value: float, low: float, high: float) -> Row:
        line: Row = {"metric": pair[0], "other": pair[1], "aspect": panel.aspect, "measure": measure}
        line |= {"value": float(value), "low": float(low), "high": float(high)}
        return {**line, "n": len(rows.labels), "reason": reason}

    lines = [
        row(
            (rows.judges[i], rows.judges[j]),
            "error_correlation",
            *(a[i, j] for a in (errors.value, errors.low, errors.high)),
        )
        for i in range(k)
        for j in range(i + 1, k)
    ]
    lines.sort(key=lambda line: -line["value"])
    value, low, high = errors.effective
    lines += [
        row((ALL, ALL), "mean_error_correlation", *errors.mean),
        row((ALL, ALL), "effective_judges", value, low, min(high, k)),
    ]
    return Table(
        title=Title(panel.name, f"correlation of the judges' errors, {panel.aspect}"),
        rows=lines,
        shown=["metric", "other", "measure", "value"],
        heads={"metric": "judge"},
        cells={
            "value": lambda line: interval(line["value"], line["low"], line["high"], 2),
            "measure": lambda line: line["measure"].replace("_", " "),
        },
        answers=[
            f"The effective number of independent judges is {interval(value, low, min(high, k), 1)} (of {k} judges)."
        ],
        definitions={
            "error correlation": "partial correlation of two judges' values given the human label; 0: independent "
            "errors, "
            "1: errors on the same outputs. Noise in the labels is shared by all judges and biases it upward",
            "effective judges": "k / (1 + (k − 1) × mean error correlation)",
        },
        method=f"{rows.size_text(panel)}; {level:.0%} confidence intervals: jackknife over inputs, Fisher's z, "
        "Student's t "
        "(coverage: docs/jury.md).",
        notes=[*rows.notes, *human_note(panel), *flipped_note(panel)],
        signature=signature(panel, level=number(level, 2)),
    )
