"""Confusion matrix of human ratings and a judge's ratings."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.classes import confusion_counts
from nlgauge.table import Layout, Row, Table, Title

MAX_POINTS = 20  # a judge with more distinct ratings is binned into ten steps


@analysis(
    "confusion",
    paper="gao2025",
    question="What is the confusion matrix of human ratings and a judge's ratings?",
    classes=True,
)
def confusion(panel: Panel, *, judge: str | None = None) -> Table:
    """Count outputs by human rating and judge's rating (confusion matrix).

    Parameters
    ----------
    judge : str, optional
        Judge to evaluate; the first one by default.

    Returns
    -------
    Table
        One row per human rating and judge's rating, both rounded to whole points (halves up): number of
        outputs. A judge with more than 20 distinct points is binned into ten equal steps.
    """
    name = judge or (panel.names[0] if panel.names else "")
    if name not in panel.metrics:
        raise NeedsMissing(
            f"judge '{name}' not found; the data have {', '.join(panel.names) or 'no scores'}.", code="unknown_name"
        )
    values, people = panel.metrics[name], panel.human
    both = np.isfinite(values) & np.isfinite(people)
    if not both.any():
        raise NeedsMissing(f"no output has both a human rating and a score of {name}.", code="no_scores_of_rated")
    if panel.scale.unordered:
        return _of_classes(panel, name)
    z, (x, starts) = np.floor(people[both] + 0.5), _points(values[both])
    rows: list[Row] = [
        {
            "metric": name,
            "aspect": panel.aspect,
            "human": float(level),
            "judge": starts.get(point, float(point)),
            "n": int(((z == level) & (x == point)).sum()),
        }
        for level in np.unique(z)
        for point in np.unique(x)
    ]
    return Table(
        title=Title(panel.name, f"confusion matrix of {reference(panel)} and {name}, {panel.aspect}"),
        rows=rows,
        layout=Layout(
            "human",
            "judge",
            "n",
            line=lambda level: f"{level:g}",
            heads={p: _head(p, starts) for p in {r["judge"] for r in rows}},
        ),
        method=f"Rows: mean of {reference(panel)}; columns: {name}; both rounded to whole points (halves up). "
        f"n = {int(both.sum())} outputs.",
        notes=human_note(panel),
        signature=signature(panel, judge=name),
    )


def _of_classes(panel: Panel, name: str) -> Table:
    """Cross-tabulate outputs by the human class and the judge's class; sets of labels are compared as whole sets."""
    names = panel.scale.names
    both = np.isfinite(panel.metrics[name]) & np.isfinite(panel.human)
    z, x = (values[both].astype(np.int64) for values in (panel.human, panel.metrics[name]))
    counts = confusion_counts(z, x, len(names)).sum(axis=0)
    rows: list[Row] = [
        {"metric": name, "aspect": panel.aspect, "human": names[i], "judge": names[j], "n": int(counts[i, j])}
        for i in np.flatnonzero(counts.sum(axis=1))
        for j in np.flatnonzero(counts.sum(axis=0))
    ]
    return Table(
        title=Title(panel.name, f"classes of {name} and of {panel.rated_by} on {panel.aspect}"),
        rows=rows,
        layout=Layout("human", "judge", "n"),
        method=f"{len(z):,} outputs; lines: the commonest human class; columns: that of the judge.",
        notes=human_note(panel),
        signature=signature(panel, judge=name),
    )


def _head(point: float, starts: dict[float, float]) -> str:
    return f"from {point:.3g}" if starts else f"{point:g}"


def _points(values: np.ndarray) -> tuple[np.ndarray, dict[float, float]]:
    """Return the judge's points, and the lower limit of each bin if its scores are binned."""
    whole = np.floor(values + 0.5)
    if 1 < len(np.unique(whole)) <= MAX_POINTS:
        return whole, {}
    low, width = float(values.min()), float(np.ptp(values)) or 1.0
    steps = np.minimum(np.floor((values - low) / width * 10), 9)
    return steps, {k: low + k * width / 10 for k in map(float, range(10))}
