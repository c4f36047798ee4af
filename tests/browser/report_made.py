"""Reports for the browser tests: a small data set with two aspects, made as `nlgauge run --quick` makes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example
from nlgauge.report.answer import answer_of
from nlgauge.report.page import write_page
from nlgauge.report.sections import Answered, ReportContext, answer_all
from nlgauge.session import Session


def two_aspects() -> Dataset:
    data = example()
    noise = np.random.default_rng(0).integers(-1, 2, data.ratings.height)
    second = data.ratings.with_columns(pl.lit("charm").alias("aspect"), (pl.col("value") + pl.Series(noise)).clip(1, 5))
    return replace(data, ratings=pl.concat([data.ratings, second]))


def answered(data: Dataset, quick: bool = True) -> tuple[ReportContext, list[Answered]]:
    pick = Session(data)
    run = ReportContext(pick, quick)
    return run, answer_all(run)


def report_of(data: Dataset, path: Path) -> Path:
    run, found = answered(data)
    return write_page(path, data.name, found, ["run", data.name], answer_of(run))
