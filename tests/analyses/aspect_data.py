"""Small data sets with several aspects, from arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset


def data_of(
    aspects: Mapping[str, np.ndarray],
    metrics: Mapping[str, np.ndarray],
    lower: Iterable[str] = (),
    systems: list[str] | None = None,
) -> Dataset:
    """Arrays systems × inputs; NaN is missing."""
    n, m = next(iter(aspects.values())).shape
    keys = pl.DataFrame(
        {
            "system": np.repeat(systems or [f"s{i}" for i in range(n)], m),
            "input": np.tile([f"i{j}" for j in range(m)], n),
        }
    )
    ratings = [
        keys.with_columns(
            pl.lit(a).alias("aspect"), pl.lit(None, pl.String).alias("rater"), pl.Series("value", h.ravel())
        )
        for a, h in aspects.items()
    ]
    scores = keys.with_columns(pl.Series(k, v.ravel()).fill_nan(None) for k, v in metrics.items())
    rated = pl.concat(ratings).filter(pl.col("value").is_not_nan())
    return Dataset.of("test", keys, ratings=rated, scores=scores, lower=lower)


def made(seed: int = 0, systems: int = 6, inputs: int = 40, aspects: int = 2, holes: float = 0.0) -> Dataset:
    """Aspects that share a truth; metrics good, fair, noise, and error (of which less is better)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    humans = {f"a{k}": np.round(truth + rng.normal(0, 0.5, truth.shape), 1) for k in range(aspects)}
    metrics = {
        "good": truth + rng.normal(0, 0.7, truth.shape),
        "fair": truth + rng.normal(0, 2.0, truth.shape),
        "noise": rng.normal(size=truth.shape),
        "error": -truth + rng.normal(0, 1.0, truth.shape),
    }
    if holes:
        metrics = {k: np.where(rng.random(v.shape) < holes, np.nan, v) for k, v in metrics.items()}
        humans = {k: np.where(rng.random(v.shape) < holes, np.nan, v) for k, v in humans.items()}
    return data_of(humans, metrics, lower=["error"])
