"""Anchors: outputs that were scored in two runs, matched by system and input or by their text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.units import unit_by_input
from nlgauge.errors import NeedsMissing
from nlgauge.types import Array

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class TwoRuns:
    """Scores of a judge in two runs. `anchors` are old and new scores of the same outputs; codes number the inputs."""

    old: Array
    old_codes: Codes
    new: Array
    new_codes: Codes
    anchors: Array  # 2 × anchors
    anchor_codes: Codes
    inputs: list[str]  # name of each code
    others: int  # number of scores of outputs that are not anchors
    sampled: int  # run from which the anchors were taken: 0 old, 1 new
    rest: Array  # scores of that run for outputs that are not anchors
    rest_codes: Codes


def matched(old: Dataset, new: Dataset) -> tuple[pl.DataFrame, str]:
    """Return the pairs of keys of outputs in both runs, and how they were matched.

    Outputs match by system and input, unless their texts differ. If the runs share no key, equal texts match.
    """
    texts = [_texts(d) for d in (old, new)]
    by_key = texts[0].join(texts[1], on=KEY, how="inner", suffix=" new")
    same = (pl.col("text") == pl.col("text new")) | pl.col("text").is_null() | pl.col("text new").is_null()
    pairs = by_key.filter(same).select(*KEY, *(pl.col(k).alias(f"{k} new") for k in KEY))
    if by_key.height:
        changed = by_key.height - pairs.height
        return pairs, "system and input" + (f"; {changed:,} outputs with a changed text excluded" if changed else "")
    once = [t.drop_nulls("text").filter(pl.col("text").is_unique()) for t in texts]
    return once[0].join(once[1], on="text", how="inner", suffix=" new").drop("text"), "equal texts"


def _texts(data: Dataset) -> pl.DataFrame:
    has_texts = "output" in data.samples.columns
    text = pl.col("output").cast(pl.String) if has_texts else pl.lit(None, pl.String)
    return data.samples.select(*KEY, text.alias("text"))


def two_runs(metric: str, old: Dataset, new: Dataset, anchors: Dataset | None) -> tuple[TwoRuns, str]:
    """Return the scores of a metric in both runs, and how anchors were matched.

    `anchors` holds scores of one run's outputs by the judge of the other run.
    """
    first, second = (_scored(d, metric) for d in (old, new))
    sampled = 0
    if anchors is None:
        keys, how = matched(old, new)
        pairs = _joined(keys, first, second)
        alone = keys.join(pairs, on=KEY, how="anti")  # in both runs, but scored in one: not a change of the data
        total = first.height + second.height
        first = first.join(alone, on=KEY, how="anti", maintain_order="left")
        alone_new = alone.select(pl.col("system new").alias("system"), pl.col("input new").alias("input"))
        second = second.join(alone_new, on=KEY, how="anti", maintain_order="left")
        if lost := total - first.height - second.height:
            how += f"; {lost:,} outputs that were scored in only one of the runs are excluded"
    else:
        again = _scored(anchors, metric)
        (of_old, how), (of_new, other) = matched(old, anchors), matched(anchors, new)
        if of_old.height:
            pairs = _joined(of_old, first, again)
            how = f"{anchors.name}: outputs of {old.name} scored by the new judge, matched by {how}"
        elif of_new.height:
            pairs, sampled = _joined(of_new, again, second), 1
            how = f"{anchors.name}: outputs of {new.name} scored by the old judge, matched by {other}"
        else:
            raise NeedsMissing(
                f"none of its outputs matches one of {old.name} or {new.name} by system and input or by text.",
                data=anchors.name,
                code="unknown_name",
            )
    named = dict(pairs.select("input new", "input").iter_rows()) if anchors is None else {}
    inputs = [first["input"].to_list(), [named.get(i, i) for i in second["input"]], pairs["input"].to_list()]
    anchor_keys = pairs.select(pl.col(f"{k} new" if sampled else k).alias(k) for k in KEY)
    rest = (first, second)[sampled].join(anchor_keys, on=KEY, how="anti", maintain_order="left")
    inputs.append(rest["input"].to_list())
    unit = {i: of for run in (new, old) for i, of in unit_by_input(run).items() if of != i}
    names, codes = np.unique(np.array([unit.get(i, i) for part in inputs for i in part], np.str_), return_inverse=True)
    of_old_run, of_new_run, of_anchors, of_rest = np.split(
        codes.astype(np.int64), np.cumsum([len(part) for part in inputs[:3]])
    )
    return TwoRuns(
        first["score"].to_numpy(),
        of_old_run,
        second["score"].to_numpy(),
        of_new_run,
        pairs.select("score", "score new").to_numpy().T.reshape(2, -1),
        of_anchors,
        names.tolist(),
        first.height + second.height - (2 * pairs.height if anchors is None else 0),
        sampled,
        rest["score"].to_numpy(),
        of_rest,
    ), how


def _scored(data: Dataset, metric: str) -> pl.DataFrame:
    values = data.scores.select(*KEY, pl.col(metric).cast(pl.Float64).alias("score"))
    return values.filter(pl.col("score").is_finite())


def _joined(keys: pl.DataFrame, first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    renamed = second.rename({"system": "system new", "input": "input new", "score": "score new"})
    return keys.join(first, on=KEY, how="inner").join(renamed, on=["system new", "input new"], how="inner").sort(KEY)
