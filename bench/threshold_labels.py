"""Is a judge's threshold chosen better from labels that `nlgauge label --goal threshold` draws than from random ones?

A table of docs/labels_saved.md (`python -m bench.labels_saved --write docs/labels_saved.md`).
1,000 outputs, a judge's normal scores of those that people pass and fail (distance 0.7, 1.5 or 3), labels of n of them.
The threshold has least errors (or cost: passing what people fail costs 5) on the labels, unweighted as `threshold` takes
them; excess cost is that over the best threshold of all outputs. Below 1: better than as many random labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from nlgauge.analyses.design.next_labels import Population, draw_rows
from nlgauge.stats.agreement.curves import cheapest, sweep

Row = dict[str, Any]
ROWS, TRIALS = 1000, 400
CASES = [
    (apart, share, miss, n)
    for n in (100, 200)
    for apart in (0.7, 1.5, 3.0)
    for share, miss in ((0.5, 1.0), (0.8, 1.0), (0.8, 5.0))
]


def excess(score: np.ndarray, passed: np.ndarray, rows: np.ndarray, miss: float) -> float:
    swept = sweep(score[rows], passed[rows])
    chosen = float(swept.thresholds[cheapest(swept, miss, 1.0)])
    best = sweep(score, passed)
    return _cost(score, passed, chosen, miss) - _cost(
        score, passed, float(best.thresholds[cheapest(best, miss, 1.0)]), miss
    )


def _cost(score: np.ndarray, passed: np.ndarray, threshold: float, miss: float) -> float:
    above = score >= threshold
    return float((miss * (above & ~passed) + (~above & passed)).mean())


def measured(apart: float, share: float, miss: float, n: int) -> list[Row]:
    """Excess cost of random labels, of labels in steps along the score, and of half so, half near the cut they give."""
    rng = np.random.default_rng([n, round(10 * apart), round(10 * share), round(miss)])
    found: list[list[float]] = []
    for _ in range(TRIALS):
        passed = rng.random(ROWS) < share
        score = rng.standard_normal(ROWS) + apart * passed
        row = [excess(score, passed, rng.permutation(ROWS)[:n], miss)]
        for halves in (1, 2):
            labels, one = np.full(ROWS, np.nan), np.zeros(ROWS, np.int64)
            people = Population(pl.DataFrame(), [], score[None], labels, np.ones(ROWS), 1, one, np.arange(ROWS), [])
            for half in range(halves):
                free = np.flatnonzero(np.isnan(labels))
                how = "optimal" if half else "stratified"
                drawn, _ = draw_rows(people, free, n // halves, "threshold", how, None, rng)  # type: ignore[arg-type]
                labels[free[drawn.rows]] = passed[free[drawn.rows]]
            row.append(excess(score, passed, np.flatnonzero(np.isfinite(labels)), miss))
        found.append(row)
    return [{"apart": apart, "share": share, "miss": miss, "n": n, "excess": np.array(found).T.tolist()}]


def table(rows: Sequence[Row]) -> str:
    """Mean excess of random labels, and what is left of it, with its standard error over data sets."""
    lines = [
        "| labels | judge's separation | human pass rate | cost of a miss | excess cost, random | stratified | then near the cut |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        plain, *others = np.array(row["excess"])
        left = []
        for other in others:
            ratio = other.mean() / plain.mean()
            left.append(f"{ratio:.2f} ± {(other - ratio * plain).std(ddof=1) / np.sqrt(len(plain)) / plain.mean():.2f}")
        lines.append(
            f"| {row['n']} | {row['apart']} | {row['share']} | {row['miss']:.0f} | {plain.mean():.4f} | {left[0]} | {left[1]} |"
        )
    return "\n".join(lines)
