"""Systems that answer the same inputs, with the truth of outputs like these: for correlations by input, by system (item)
and over system means, of which `nlgauge estimate --agreement` gives intervals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.estimation.grouped_correlation import (
    correlations,
    input_correlation,
    item_correlation,
    system_correlation,
)
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.sparse_correlation import SparseCorrelation

Floats = NDArray[np.float64]
Row = dict[str, Any]
COEFFICIENTS = ("pearson", "spearman", "kendall")
MANY = 20_000  # inputs that stand for all inputs like these
SCALE = (1.0, 5.0)
SAME = 20  # data sets of the same systems, where their truth takes long


def outputs(rng: np.random.Generator, ability: Floats, seen: Floats, inputs: int) -> tuple[Floats, Floats]:
    """People's ratings and the metric's scores, systems × inputs."""
    hard, own = rng.standard_normal(inputs), rng.standard_normal((len(ability), inputs))
    y = np.clip(np.round(3 + 1.1 * (0.5 * ability[:, None] + 0.6 * hard + 0.8 * own)), *SCALE)
    return y, 0.5 * seen[:, None] + 0.5 * hard + 0.5 * own + 0.6 * rng.standard_normal(y.shape)


def truths(grouping: str, rng: np.random.Generator, ability: Floats, seen: Floats) -> dict[str, float]:
    """The coefficients of these systems over all inputs like these."""
    from scipy import stats
    from scipy.special import ndtr

    if grouping == "system":
        means = 1 + sum(1 - ndtr((k - 0.5 - 3) / 1.1 - 0.5 * ability) for k in (2, 3, 4, 5))
        return {c: float(correlations(seen, means, c)) for c in COEFFICIENTS}
    y, f = outputs(rng, ability, seen, MANY)
    if grouping == "input":
        return {c: float(np.nanmean(correlations(f.T, y.T, c))) for c in COEFFICIENTS}
    tests = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    return {c: float(np.mean([tests[c](a, b)[0] for a, b in zip(f, y, strict=True)])) for c in COEFFICIENTS}


def estimated(grouping: str, labels: Floats, f: Floats, coefficient: Any) -> SparseCorrelation:
    if grouping == "input":
        return input_correlation(PartlyLabeled(labels.T, f.T), coefficient)[0]
    samples = [PartlyLabeled(y, x, bounds=SCALE) for y, x in zip(labels, f, strict=True)]
    one = item_correlation if grouping == "item" else system_correlation
    return one(samples, [np.arange(labels.shape[1])] * len(labels), coefficient)


def grouped_coverage(
    grouping: str, n: int, rho: float, trials: int, systems: int = 8, inputs: int = 400, seed: int = 81
) -> list[Row]:
    """Abilities of systems as people and the metric see them are correlated by `rho`; n labelled inputs with all their
    outputs. The interval is for these systems and inputs like these, so that is the truth it is compared with."""
    rng = np.random.default_rng([n, round(100 * rho), len(grouping), seed])
    held: dict[str, list[tuple[bool, bool, float, float, float]]] = {c: [] for c in COEFFICIENTS}
    for t in range(trials):
        if grouping == "system" or t % SAME == 0:
            ability = rng.standard_normal(systems)
            seen = rho * ability + np.sqrt(1 - rho**2) * rng.standard_normal(systems)
            truth = truths(grouping, rng, ability, seen)
        y, f = outputs(rng, ability, seen, inputs)
        labels = np.where(np.arange(inputs) < n, y, np.nan)
        for c in COEFFICIENTS:
            found = estimated(grouping, labels, f, c)
            held[c].append(
                (
                    found.low <= truth[c] <= found.high,
                    found.plain_low <= truth[c] <= found.plain_high,
                    found.high - found.low,
                    found.plain_high - found.plain_low,
                    found.value - truth[c],
                )
            )
    rows = []
    for c, each in held.items():
        covered, plain, width, plain_width, bias = np.array(each, float).mean(axis=0).tolist()
        rows.append(
            {
                "n": n,
                "grouping": grouping,
                "coefficient": c,
                "true": rho,
                "coverage": covered,
                "plain": plain,
                "width": width / plain_width,
                "mean width": width,
                "bias": bias,
                "data sets": trials,
            }
        )
    return rows
