"""Tables of the checklist's analyses, for their figures: the built-in example with a second, noisier aspect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.table import Table

PANELS = ("discrimination", "aspect-preference")
DATASETS = (
    "system-discrimination",
    "system-preference",
    "inter-aspect",
    "aspect-disagreement",
    "joint-aspects",
    "checklist",
)


def checklist_tables(data: Dataset) -> Iterator[Table]:
    noise = np.random.default_rng(0).integers(-1, 2, data.ratings.height)
    second = data.ratings.with_columns(pl.lit("charm").alias("aspect"), (pl.col("value") + pl.Series(noise)).clip(1, 5))
    both = replace(data, ratings=pl.concat([data.ratings, second]))
    for name in PANELS:
        yield both.panel("charm").analyze(name)
    for name in DATASETS:
        yield registry.get("analysis", name)(both)
    yield registry.get("analysis", "wins")(both, aspect="charm")
    yield registry.get("analysis", "transfer")([both, replace(data, name="other")])
