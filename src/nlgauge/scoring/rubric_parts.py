"""Data for a judge of rubrics: the items of a rubric as parts of outputs, and the total of each output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tables.vocabulary import POINTS, plain
from nlgauge.data.units import PART, PART_OF, PART_ORDER, has_parts, part_input
from nlgauge.errors import DataError
from nlgauge.metrics.judge.rubric import RubricItem, load_rubric
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.scoring.score import add_columns
from nlgauge.stats.estimation.rubric_totals import rubric_totals

IN_DATA = "data"  # as the name of a rubric: the criteria are those of the data
CRITERION = "criterion"
TOTAL = "-total"  # end of the name of the column of totals


def with_rubric(data: Dataset, rubric: str | Path) -> Dataset:
    """Return the data with a row per output and item of a rubric: columns `part`, `criterion` and `points`.

    Parameters
    ----------
    data : Dataset
        Outputs, or outputs in parts that are the items of the rubric (by name or by text).
    rubric : str or path
        Name of a shipped rubric, path of a file, or 'data': the criteria are those of the data.

    Returns
    -------
    Dataset
        Ratings and scores of an output are those of each of its items.
    """
    if not has_parts(data.samples):
        if str(rubric) == IN_DATA:
            raise DataError(
                f"{data.name}: no items of a rubric; {option('part')} names their column, {option('rubric')} a file."
            )
        return _expanded(data, load_rubric(rubric))
    texts = data.samples[CRITERION if CRITERION in data.samples.columns else PART].cast(pl.String)
    if str(rubric) == IN_DATA:
        return replace(data, samples=data.samples.with_columns(texts.alias(CRITERION)))
    return _matched(data, load_rubric(rubric), texts)


def _expanded(data: Dataset, items: Sequence[RubricItem]) -> Dataset:
    """Repeat each output for each item."""
    table = pl.DataFrame(
        {
            PART: [item.name for item in items],
            PART_ORDER: list(range(1, len(items) + 1)),
            CRITERION: [item.text for item in items],
            "points": [item.points for item in items],
        }
    )
    taken = [c for c in table.columns if c in data.samples.columns]
    if taken:
        raise DataError(f"{data.name}: column '{taken[0]}' has the name of a column of rubric items; rename it.")
    whole = data.samples.select(KEY)
    names = [part_input(given, item.name) for given in whole["input"] for item in items]
    parts = whole.with_row_index("__output__").join(table.select(PART), how="cross", maintain_order="left_right")
    parts = parts.with_columns(pl.Series("__part__", names))

    def repeated(frame: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(parts.select(*KEY, "__part__"), on=KEY, how="inner", maintain_order="left_right")
        return joined.with_columns(pl.col("__part__").alias("input")).select(frame.columns)

    samples = data.samples.join(table, how="cross", maintain_order="left_right")
    samples = samples.with_columns(pl.col("input").alias(PART_OF), pl.Series("input", names))
    return replace(
        data,
        samples=samples,
        ratings=repeated(data.ratings),
        scores=repeated(data.scores),
        failures=repeated(data.failures),
        spans=data.spans.clear(),
        comparisons=data.comparisons.clear(),
    )


def _matched(data: Dataset, items: Sequence[RubricItem], texts: pl.Series) -> Dataset:
    """Assign the text and the points of its rubric item to each part of the data."""
    by_name = {_common(value): item for item in items for value in (item.name, item.text)}
    chosen = [
        by_name.get(_common(name), by_name.get(_common(text)))
        for name, text in zip(data.samples[PART].cast(pl.String), texts, strict=True)
    ]
    unknown = list(dict.fromkeys(t for t, item in zip(data.samples[PART], chosen, strict=True) if item is None))
    if unknown:
        raise DataError(
            f"{data.name}: parts that are not items of the rubric: {some([str(t) for t in unknown], 4)}. Items: "
            f"{some([item.name for item in items], 8)}."
        )
    columns = [pl.Series(CRITERION, [item.text if item else None for item in chosen], pl.String)]
    if not any(plain(c) in POINTS for c in data.samples.columns):
        columns.append(pl.Series("points", [item.points if item else None for item in chosen], pl.Float64))
    return replace(data, samples=data.samples.with_columns(columns))


def _common(text: str | None) -> str:
    return " ".join(str(text or "").lower().split())


def add_totals(data: Dataset, judge: str, signature: str) -> Dataset:
    """Return the data with the total of each output by this judge, on each of its items: column `JUDGE-total`."""
    column = next((c for c in data.samples.columns if plain(c) in POINTS), None)
    points = (
        np.ones(len(data.samples))
        if column is None
        else data.samples[column].cast(pl.Float64, strict=False).fill_null(0.0).to_numpy()
    )
    outputs = (
        data.samples.select(pl.struct("system", PART_OF).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    )
    scores = data.samples.select(KEY).join(data.scores, on=KEY, how="left", maintain_order="left")
    met = scores[judge].cast(pl.Float64).fill_null(np.nan).to_numpy()
    totals = rubric_totals(met, points, outputs)[outputs]
    why = {int(i): "an item of the output has no verdict" for i in np.flatnonzero(np.isnan(totals))}
    name = f"{judge}{TOTAL}"
    return add_columns(data, {name: totals}, {name: why}, {name: signature})
