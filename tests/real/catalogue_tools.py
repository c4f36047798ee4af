"""What the tests of published sets share: each set loaded once, ratings beside metrics, correlations by scipy."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
from scipy.stats import kendalltau, pearsonr, spearmanr

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.datasets import load_set


@cache
def loaded(folder: Path, name: str) -> Dataset:
    return load_set(name, folder)


def joined(data: Dataset, aspect: str) -> pl.DataFrame:
    """One row an output: the mean rating and every metric, people among the systems included."""
    mean = (
        data.ratings.filter(pl.col("aspect") == aspect).group_by(KEY, maintain_order=True).agg(pl.col("value").mean())
    )
    return mean.join(data.samples, on=KEY).join(data.scores, on=KEY)


def coefficients(frame: pl.DataFrame, metric: str) -> list[float]:
    pairs = frame.select("value", metric).drop_nulls()
    x, y = pairs["value"].to_numpy(), pairs[metric].to_numpy()
    return [float(f(x, y).statistic) for f in (pearsonr, spearmanr, kendalltau)]


def mean_of(data: Dataset, system: str, aspect: str) -> float:
    """The mean over outputs of the mean over raters, as the organisers compute it."""
    return float(joined(data, aspect).filter(pl.col("system") == system)["value"].mean())  # type: ignore[arg-type]
