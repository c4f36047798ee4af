"""A wide Parquet table of any size, of which one column at a time is in the memory.

It has a row per output: system, input, people's scores (`human.ASPECT`) and metrics (`metric.NAME`), as `nlgauge
convert` and `nlgauge score` write them, in any order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge.data.dataset import PEOPLE
from nlgauge.data.files import parquet, refuse_patterns
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NameUnknown
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.ties import snap
from nlgauge.types import Array


@dataclass(frozen=True)
class LargeTable:
    """Which columns are what; nothing else is read before it is asked for."""

    path: Path
    system: str
    input: str
    humans: dict[str, str]  # aspect → column
    metrics: dict[str, str]  # metric → column
    keep_people: bool = False
    infinite: dict[str, int] = field(default_factory=dict)  # values left out, of the columns read so far

    @classmethod
    def open(
        cls, path: str | Path, *, system: str = "system", input: str = "input", human: Sequence[str] | None = None,
        metric: Sequence[str] | None = None, keep_people: bool = False,
    ) -> LargeTable:  # fmt: skip
        path = Path(path)
        schema = _schema(path)
        for name in (system, input, *(human or ()), *(metric or ())):
            if name not in schema:
                raise NameUnknown(
                    f"{path}: no column '{name}'.{did_you_mean(name, list(schema))} Columns: {', '.join(schema)}."
                )
        if "rater" in schema:
            raise DataError(f"{path}: has one row per rater; a table of this size needs one row per output.")
        humans = _named(schema, "human", human)
        metrics = _named(schema, "metric", metric)
        for what, found in (("people's scores", humans), ("metric scores", metrics)):
            if not found:
                kind = "human" if found is humans else "metric"
                raise DataError(
                    f"{path}: no {what}; call their columns {kind}.NAME, or name them with --{kind}. Columns: "
                    f"{', '.join(schema)}."
                )
        return cls(path, system, input, humans, metrics, keep_people)

    def aspect(self, name: str | None = None) -> str:
        if name is None and len(self.humans) == 1:
            return next(iter(self.humans))
        if name not in self.humans:
            said = f"no aspect '{name}'" if name else "several aspects: choose one with --aspect"
            raise NameUnknown(f"{self.path}: {said}. Aspects: {', '.join(self.humans)}.")
        return name

    @cached_property
    def grid(self) -> Grid:
        return Grid.of(self)

    def human(self, aspect: str) -> Array:
        """People's scores, systems × inputs; equal means stay equal, as in a Panel."""
        found = self.grid.placed(self.column(self.humans[aspect]))
        levels = np.unique(found[~np.isnan(found)])
        if len(levels):
            found = snap(levels)[np.searchsorted(levels, found).clip(max=len(levels) - 1)] + np.where(
                np.isnan(found), np.nan, 0.0
            )
        return found

    def metric(self, name: str) -> Array:
        return self.grid.placed(self.column(self.metrics[name]))

    def column(self, name: str) -> Array:
        """As numbers, NaN where there is none."""
        found = _read(self.path, name)
        if not found.dtype.is_numeric() and found.dtype != pl.Boolean:
            raise DataError(f"{self.path}: column '{name}' holds no numbers ({found.dtype}).")
        values = found.cast(pl.Float64).to_numpy().copy()
        if odd := int(np.isinf(values).sum()):
            self.infinite[name] = odd
        values[~np.isfinite(values)] = np.nan
        return values

    def panel(self, aspect: str, human: Array) -> Panel:
        """What stands in a signature; without the metrics."""
        grid = self.grid
        return Panel(
            self.path.name, aspect, grid.systems, grid.inputs, {}, {aspect: human}, {}, people=grid.people,
            kept=grid.kept,
        )  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """Where each row stands in a table of systems × inputs; −1: nowhere, because it was left out."""

    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    people: tuple[str, ...]
    kept: tuple[str, ...]
    cell: np.ndarray[tuple[int], np.dtype[np.int32]]

    @classmethod
    def of(cls, wide: LargeTable) -> Grid:
        systems, row = _codes(wide, wide.system)
        inputs, column = _codes(wide, wide.input)
        if len(systems) * len(inputs) >= 2**31:
            raise DataError(
                f"{wide.path}: {len(systems):,} systems × {len(inputs):,} inputs are more than 2 billion cells."
            )
        people = tuple(s for s in systems if PEOPLE.search(s))
        people = () if len(people) == len(systems) else people
        out = () if wide.keep_people else people
        stays = np.array([s not in out for s in systems])
        rated = np.zeros(len(inputs), bool)
        for name in wide.humans.values():
            rated[column[~np.isnan(wide.column(name)) & stays[row]]] = True
        if not rated.any():
            raise DataError(f"{wide.path}: no rated outputs are left.")
        n, m = int(stays.sum()), int(rated.sum())
        new_row, new_column = np.cumsum(stays) - 1, np.cumsum(rated) - 1
        cell = np.where(stays[row] & rated[column], new_row[row] * m + new_column[column], -1).astype(np.int32)
        there = cell[cell >= 0]
        seen = np.zeros(n * m, bool)
        seen[there] = True
        if int(seen.sum()) != len(there):
            raise DataError(
                f"{wide.path}: a system has two outputs for one input; a table of this size needs one row per output."
            )
        chosen = tuple(s for s, stay in zip(systems, stays, strict=True) if stay)
        judged = tuple(i for i, ok in zip(inputs, rated, strict=True) if ok)
        return cls(chosen, judged, out, tuple(s for s in chosen if s in people), cell)

    def placed(self, values: Array) -> Array:
        found = np.full(len(self.systems) * len(self.inputs), np.nan)
        there = self.cell >= 0
        if there.all():
            found[self.cell] = values
        else:
            found[self.cell[there]] = values[there]
        return found.reshape(len(self.systems), len(self.inputs))


def _schema(path: Path) -> list[str]:
    if path.suffix.lower() != ".parquet":
        raise DataError(
            f"{path}: a large table is read column by column, which needs .parquet; `nlgauge data convert` writes it."
        )
    if not path.is_file():
        raise DataError(f"{path}: no such file.")
    with parquet(path):
        names = pl.scan_parquet(path).collect_schema().names()
    refuse_patterns(str(path), names)
    return names


def _read(path: Path, name: str) -> pl.Series:
    with parquet(path):
        return pl.read_parquet(path, columns=[name])[name]


def _named(schema: Sequence[str], kind: str, given: Sequence[str] | None) -> dict[str, str]:
    chosen = given if given is not None else [c for c in schema if c.startswith(f"{kind}.")]
    return {c.removeprefix(f"{kind}."): c for c in chosen}


def _codes(wide: LargeTable, name: str) -> tuple[list[str], np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """The different values in the order in which they first appear, and the number of each row's value."""
    column = _read(wide.path, name).cast(pl.String, strict=False)
    if missing := column.null_count():
        raise DataError(f"{wide.path}: {missing:,} rows have no {name}.")
    values = column.unique(maintain_order=True)
    return values.to_list(), column.cast(pl.Enum(values)).to_physical().to_numpy().astype(np.int64)
