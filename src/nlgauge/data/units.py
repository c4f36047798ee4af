"""The independent unit of an output: its document or conversation, or the input that it is a trial of.

`units_of` is the only place that decides which outputs are not independent, for intervals, tests, estimates and gates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from nlgauge.data.tables.means import mean_ratings, means_by
from nlgauge.errors import DataError
from nlgauge.number import count

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

KEY = ["system", "input"]  # of a sample

# Columns of samples that say what the `input` of a row was derived from. The key (system, input) names one output, so
# further trials are called 'q1 #2', …, and TRIAL_OF holds 'q1'. PART_OF is reserved for parts of an output: it holds
# the `input` of the whole output ('q1 #2').
TRIAL_OF, PART_OF = "trial_of", "part_of"
PART, PART_ORDER = "part", "part_order"  # name of a part (step, turn, claim, rubric item), and its place in the output
DOCUMENTS = frozenset(
    f"{word}{end}"
    for word in ("doc", "document", "conversation", "dialogue", "dialog", "thread", "session")
    for end in ("", "id", "name")
)

MIN_SOURCES = 10  # clusters; fewer give no confidence interval


class Units(NamedTuple):
    """The unit of each input and the column that names it; both are empty if inputs are independent."""

    column: str = ""
    names: tuple[str, ...] = ()


def has_unique_keys(frame: pl.DataFrame, keys: Sequence[str] = KEY) -> bool:
    """Return whether no two rows have the same key; rows are compared only if hashes are equal."""
    rows = frame.select(keys)
    return bool(rows.hash_rows().n_unique() == rows.height or rows.is_unique().all())


def base_inputs(samples: pl.DataFrame) -> pl.Series:
    """Return the input of each row of `samples`, without the number of its trial or part."""
    columns = [pl.col(c).cast(pl.String) for c in (TRIAL_OF, PART_OF) if c in samples.columns]
    return samples.select(pl.coalesce(*columns, "input").alias("input")).to_series()


def units_of(data: Dataset, inputs: Sequence[str]) -> Units:
    """Return the unit of each input; inputs of one unit are not independent.

    Parameters
    ----------
    data : Dataset
    inputs : sequence of str
        Names as in the key (system, input).

    Returns
    -------
    Units
        From the column declared with `Dataset.clustered`, else from a column named after documents or conversations,
        else from source texts that are repeated (`shared_sources`), else the input of the trials. Trials of one input
        always belong to one unit.
    """
    requested = pl.DataFrame({"input": list(inputs)}, schema={"input": pl.String})
    rows = data.samples.select("input", base_inputs(data.samples).alias("base"))
    for column in [data.cluster] if data.cluster else _document_columns(data.samples):
        of = rows.with_columns(data.samples[column].cast(pl.String).alias("unit"))
        of = of.join(requested, on="input", how="semi").unique()
        if of["unit"].null_count() or of.select("base", "unit").n_unique() != of["base"].n_unique():
            if data.cluster:
                raise DataError(
                    f"{data.name}: column '{column}' cannot be the independent unit: it is empty for some rows, or "
                    "differs between the outputs of an input."
                )
            continue  # unknown for some, or not the same for all outputs of an input
        if 1 < of["unit"].n_unique() < len(inputs):
            return _named(column, of.select("input", "unit"), inputs)
    if not data.cluster and shared_sources(data.samples):
        texts = data.samples.select("input", pl.format("source {}", pl.col("source").hash().rank("dense")))
        return _named("source", texts.join(requested, on="input", how="semi").unique("input"), inputs)
    if not {TRIAL_OF, PART_OF} & set(data.samples.columns):
        return Units()
    of = rows.join(requested, on="input", how="semi").unique("input")
    if of["base"].n_unique() < of.height:
        return _named("input", of, inputs)
    return Units()


def shared_sources(samples: pl.DataFrame) -> int:
    """Return the number of different source texts if several inputs share each of them, as edits of one document do.

    Zero where sources are missing, differ within an input, are mostly different, or are fewer than `MIN_SOURCES`: one
    text for nearly all inputs is an instruction.
    """
    if "source" not in samples.columns or samples["source"].null_count():
        return 0
    of = samples.select(pl.col("source").hash(), base_inputs(samples)).unique()
    inputs, sources = of["input"].n_unique(), of["source"].n_unique()
    return sources if of.height == inputs and MIN_SOURCES <= sources <= inputs / 2 else 0


def unit_by_input(data: Dataset) -> dict[str, str]:
    """Map each input to its independent unit."""
    inputs = data.inputs
    return dict(zip(inputs, units_of(data, inputs).names or inputs, strict=True))


def _document_columns(samples: pl.DataFrame) -> list[str]:
    """Return the columns that are named after documents or conversations."""
    flat = [c for c, kind in samples.schema.items() if not kind.is_nested()]
    return [c for c in flat if re.sub(r"[^a-z]", "", c.lower()) in DOCUMENTS]


def _named(column: str, of: pl.DataFrame, inputs: Sequence[str]) -> Units:
    unit = dict(of.iter_rows())
    return Units(column, tuple(unit[i] for i in inputs))


def has_parts(samples: pl.DataFrame) -> bool:
    """Return whether outputs are judged in parts."""
    return PART_OF in samples.columns


def part_input(given: str, part: str) -> str:
    """Return the `input` of a part of the output for an input.

    >>> part_input("q1 #2", "step 3")
    'q1 #2 / step 3'
    """
    return f"{given} / {part}"


def trial_counts(samples: pl.DataFrame) -> tuple[int, int, int] | None:
    """Return the number of base inputs and the fewest and most trials or parts of one; None if none has several."""
    if TRIAL_OF not in samples.columns and not has_parts(samples):
        return None
    outputs = samples.select("system", base_inputs(samples)).group_by("system", "input").len()
    most = int(outputs["len"].max() or 0)  # type: ignore[arg-type]
    return (outputs["input"].n_unique(), int(outputs["len"].min() or 0), most) if most > 1 else None  # type: ignore[arg-type]


def trials_text(samples: pl.DataFrame) -> str:
    """Return the counts of inputs and trials as in '40 inputs × 5 trials'; empty if no input has several trials."""
    counts = trial_counts(samples)
    if counts is None:
        return ""
    inputs, fewest, most = counts
    what = "parts" if has_parts(samples) else "trials"
    return f"{count(inputs, 'input')} × {fewest if fewest == most else f'{fewest} to {most}'} {what}"


def merge_trials(data: Dataset, how: Literal["mean", "first"]) -> Dataset:
    """Return the data with one output per system and input, for statistics that take inputs as independent.

    Parameters
    ----------
    data : Dataset
    how : {'mean', 'first'}
        Average scores and ratings over the trials (with the text of the first), or select the first trial.

    Returns
    -------
    Dataset
        The same data if no input has several trials.
    """
    if trial_counts(data.samples) is None:
        return data
    key = ["system", "input"]
    names = data.samples.select(*key, base_inputs(data.samples).alias("__base__"))
    samples = data.samples.with_columns(names["__base__"])
    first = samples.unique(["system", "__base__"], keep="first", maintain_order=True)

    def renamed(frame: pl.DataFrame, selected: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(selected.select(*key, "__base__"), on=key, how="inner", maintain_order="left")
        return joined.with_columns(pl.col("__base__").alias("input")).select(frame.columns)

    used = first if how == "first" else names
    ratings, scores = renamed(data.ratings, used), renamed(data.scores, used)
    inputs = dict(names.select("input", "__base__").iter_rows())
    return replace(
        data,
        samples=renamed(data.samples, first).drop(TRIAL_OF, PART_OF, PART, PART_ORDER, strict=False),
        ratings=mean_ratings(ratings, [a for a, scale in data.scales.items() if scale.unordered]),
        scores=means_by(scores, key, data.metrics, list(data.metric_scales)),
        comparisons=data.comparisons.with_columns(pl.col("input").replace(inputs)),
        failures=renamed(data.failures, first),
        spans=renamed(data.spans, first),
    )
