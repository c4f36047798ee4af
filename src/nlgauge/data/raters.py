"""Who made a judgement, a person or a model? Told by the rater's name, where it leaves no doubt, or by the user.

A model's judgement is never people's: its ratings are scores of a metric, its choices and its marks of errors stand
beside people's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.provenance import is_model
from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean


def parted(data: Dataset, persons: Iterable[str] = (), models: Iterable[str] = ()) -> Dataset:
    """The Dataset in which no rating of a model is among people's: they become scores, and a note says so.

    `persons` and `models` are raters of whom the user says what they are, whatever their names say.
    """
    others = [frame["rater"].drop_nulls().unique(maintain_order=True) for frame in (data.comparisons, data.spans)]
    known = dict.fromkeys([*data.raters, *(rater for raters in others for rater in raters)])
    people, machines = list(persons), list(models)
    for name in (*people, *machines):
        if name not in known:
            raise NameUnknown(
                f"{data.name}: no rater '{name}'.{did_you_mean(name, list(known))} Raters: "
                f"{', '.join(known) or 'none is named'}."
            )
    found = {r for r in known if r in data.models or r in machines or is_model(r)} - set(people)
    if not found:
        return replace(data, models=frozenset())
    theirs = pl.col("rater").is_in(sorted(found)).fill_null(False)
    rated = data.ratings.filter(theirs)
    data = replace(data, models=frozenset(found), ratings=data.ratings.filter(~theirs))
    return _as_scores(data, rated) if rated.height else data


def _as_scores(data: Dataset, rated: pl.DataFrame) -> Dataset:
    """Ratings of models as one column each, `rater` or `rater:aspect`."""
    several = rated["aspect"].n_unique() > 1
    columns, notes = [], []
    for (rater, aspect), part in rated.group_by("rater", "aspect", maintain_order=True):
        name = f"{rater}:{aspect}" if several else str(rater)
        name += " (ratings)" if name in data.metrics else ""
        columns.append(part.group_by(KEY, maintain_order=True).agg(pl.col("value").mean().alias(name)))
    for rater in dict.fromkeys(rated["rater"]):
        notes.append(
            f"rater '{rater}' is a model: its ratings are scores to be held against people's (--person-rater '{rater}' "
            "where it is a person)"
        )  # fmt: skip
    for column in columns:
        data = data.with_scores(data.scores.join(column, on=KEY, how="full", coalesce=True, maintain_order="left"))
    return replace(data, notes=(*data.notes, *notes))
