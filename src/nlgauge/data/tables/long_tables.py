"""Long tables with a row per output and aspect: provenance of the ratings, and scores that evaluate one aspect."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from nlgauge.data.dataset import KEY
from nlgauge.data.tables.columns import Roles
from nlgauge.data.tables.keys import label
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import numbers
from nlgauge.data.tables.vocabulary import NAMES, plain, quoted


def with_aspects(frame: pl.DataFrame, roles: Roles) -> Roles:
    """Return the roles of a long table with a row per output and aspect, where the user names the one rating column, or
    where there is none (only judges scored).
    """
    columns = [column for pairs in roles.human.values() for _, column in pairs]
    aspect = next((c for c in roles.aside if plain(c) in NAMES["aspect"]), None)
    if aspect is None or roles.aspect or roles.metric or len(columns) > 1:
        return roles
    if frame.select(KEY).is_unique().all():
        return roles
    aside = tuple(c for c in roles.aside if c != aspect)
    return replace(roles, aspect=aspect, rating=next(iter(columns), roles.rating), human={}, aside=aside)


def metrics_by_aspect(
    frame: pl.DataFrame, metrics: list[pl.Series], table: RawTable, roles: Roles, notes: list[str]
) -> tuple[list[pl.Series], dict[str, str]]:
    """Separate the metrics that score each aspect of an output by itself, in a long table with a row per aspect.

    A metric whose values differ between the rows of an output, but not between those of one aspect, becomes one metric
    per aspect, `metric:aspect`. The second result says which aspect each of these is about.
    """
    if not roles.aspect:
        return metrics, {}
    aspects = label(table, roles.aspect, numbers(table, roles.rating).is_not_null() if roles.rating else None)
    keyed = frame.select(KEY).with_columns(aspects.alias("aspect"))
    series: list[pl.Series] = []
    about: dict[str, str] = {}
    columns = []
    for metric in metrics:
        values = keyed.with_columns(metric.alias("value")).drop_nulls("value")
        distinct = [values.group_by(keys).agg(pl.col("value").n_unique())["value"] for keys in (KEY, keyed.columns)]
        if values.is_empty() or not (distinct[0] > 1).any() or (distinct[1] > 1).any():
            series.append(metric)
            continue
        columns.append(metric.name)
        for aspect in values["aspect"].drop_nulls().unique(maintain_order=True):
            name = f"{metric.name}:{aspect}"
            about[name] = aspect
            series.append(pl.select(pl.when(aspects == aspect).then(metric)).to_series().alias(name))
    if columns:
        notes.append(
            f"{quoted(columns)}: one metric per aspect (METRIC:ASPECT), used for that aspect only, since the "
            f"rows of an output have one score for each '{roles.aspect}'"
        )
    return series, about
