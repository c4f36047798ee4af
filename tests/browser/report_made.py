"""Reports for the browser tests: two aspects, a log of verdicts with reasons, made as `nlgauge run --quick` makes them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example


def two_aspects() -> Dataset:
    data = example()
    noise = np.random.default_rng(0).integers(-1, 2, data.ratings.height)
    second = data.ratings.with_columns(pl.lit("charm").alias("aspect"), (pl.col("value") + pl.Series(noise)).clip(1, 5))
    return replace(data, ratings=pl.concat([data.ratings, second]))


def verdict_rows(flip: float = 0.0) -> list[dict[str, Any]]:
    """120 outputs of which 80 have a human label; the judge gives reasons, and flips a share of its verdicts."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(120):
        good = rng.random() < 0.7
        verdict = good if rng.random() < 0.8 else not good
        verdict ^= bool(np.random.default_rng(i).random() < flip)
        rows.append(
            {
                "id": f"q{i}",
                "topic": ["refund", "parcel", "invoice"][i % 3],
                "question": f"What about case {i}?",
                "answer": f"Case {i} is {'settled' if good else 'unclear'}.",
                "label": ["fail", "pass"][good] if i % 3 else None,
                "judge": ["fail", "pass"][verdict],
                "judge_reason": f"{'Complete' if verdict else 'Incomplete'}, see case {i}.",
            }
        )
    return rows


def verdicts(flip: float = 0.0) -> Dataset:
    return ng.load(verdict_rows(flip), name="verdicts", human=["label"], metrics=["judge"])


def report_of(data: Dataset, path: Path, **options: Any) -> Path:
    made = ng.report(data, out=path, quick=True, **options)
    assert made.path == path
    return path
