"""Canonical order: data are sorted by content before random draws, so that results do not depend on the order or the
names in the file.

A draw takes "the third input"; which input that is must not depend on its line in the file. Systems and inputs are
ordered by their human ratings, and by the metrics where the ratings are equal. Only ranks of the metrics count, so that
rescaling a metric does not change the order. Items with identical content are exchangeable, so their order does not
matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlgauge.types import Array, Ints


class Order(NamedTuple):
    """Indices into the caller's arrays, in canonical order."""

    systems: Ints
    inputs: Ints


def canonical_order(people: Iterable[Array], metrics: Iterable[Array] = ()) -> Order:
    """Return the order of systems and inputs.

    `people`: human ratings as tables systems × inputs or annotators × systems × inputs; `metrics`: tables with higher
    always better. The order of the tables, and of annotators, does not matter.

    >>> z = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 1.0]])
    >>> order = canonical_order([z])
    >>> again = canonical_order([z[[2, 0, 1]][:, [1, 0]]])
    >>> bool((z[np.ix_(*order)] == z[[2, 0, 1]][:, [1, 0]][np.ix_(*again)]).all())
    True
    """
    human = _together([_ratings(table) for table in people])
    metrics = list(metrics)
    if human is None and not metrics:
        raise ValueError("a canonical order needs at least one table")
    if human is None:
        human = np.zeros(metrics[0].shape, np.int64)
    classes = _refined(human, np.zeros(len(human), np.int64), np.zeros(len(human.T), np.int64))
    if not (_all_distinct(classes[0]) and _all_distinct(classes[1])):
        scored = _together([_ranks(table) for table in metrics], ratings=human)
        cells = (
            human if scored is None else _dense(np.stack([human.ravel(), scored.ravel()], axis=1)).reshape(human.shape)
        )
        classes = _refined(cells, *classes)
        # With all systems distinct, inputs of one class are equal in every cell, and vice versa. Where neither are
        # distinct, mark one of the equal systems and refine again.
        while not (_all_distinct(classes[0]) or _all_distinct(classes[1])):
            row, col = classes
            alike = np.flatnonzero(np.bincount(row)[row] > 1)
            marked = 2 * row + 1
            marked[alike[np.argmin(row[alike])]] -= 1
            classes = _refined(cells, _dense(marked[:, None]), col)
    return Order(np.argsort(classes[0], kind="stable"), np.argsort(classes[1], kind="stable"))


def rater_order(cubes: Iterable[Array], order: Order) -> Ints:
    """Order annotators (first axis of each array, one array per aspect) by their ratings, output by output in
    canonical order.
    """
    ranks = sorted((_ranks(cube) for cube in cubes), key=lambda r: np.sort(r, axis=None).tobytes())
    placed = [r[:, order.systems][:, :, order.inputs].reshape(len(r), -1) for r in ranks]
    return np.argsort(_dense(np.concatenate(placed, axis=1)), kind="stable")


def table_order(tables: Sequence[Array] | Array) -> Ints:
    """Order metrics (systems × inputs, already in canonical order) by their ranks, for draws over metrics."""
    if not len(tables):
        return np.empty(0, np.int64)
    return np.argsort(_dense(np.stack([_ranks(table).ravel() for table in tables])), kind="stable")


def _all_distinct(classes: Ints) -> bool:
    return bool(classes.max(initial=0) == len(classes) - 1)


def _refined(cells: Ints, row: Ints, col: Ints) -> tuple[Ints, Ints]:
    """Refine classes of systems and inputs by the cells in their rows and columns, until the classes are stable."""
    width = int(cells.max(initial=0)) + 1
    while True:
        before = row.max(initial=0) + col.max(initial=0)
        row = _dense(np.column_stack([row, np.sort(cells + width * col[None, :], axis=1)]))
        col = _dense(np.column_stack([col, np.sort(cells.T + width * row[None, :], axis=1)]))
        if row.max(initial=0) + col.max(initial=0) == before:
            return row, col


def _dense(rows: Ints) -> Ints:
    """Number rows in lexicographic order, equal rows with the same number."""
    if len(rows) > 1000 * rows.shape[1]:  # many short rows: number them by the first two columns, then by the third …
        result = np.zeros(len(rows), np.int64)
        for column in rows.T:
            if _all_distinct(result):  # no two are equal
                break
            result = _numbered(result * (int(column.max(initial=0)) + 1) + column)
        return result
    # Bytes of numbers from 0 up, the highest first, sort as the numbers do, and many times faster than NumPy's rows.
    keys = [row.tobytes() for row in rows.astype(">i8")]
    places = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([places[key] for key in keys], np.int64)


def _numbered(values: NDArray[Any]) -> Ints:
    if values.dtype == np.int64 and len(values) and 0 <= values.min() <= values.max() < 4 * len(values):
        there = np.zeros(int(values.max()) + 1, bool)  # small numbers need no sorting
        there[values] = True
        return np.asarray((np.cumsum(there) - 1)[values], np.int64)
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _ranks(table: Array) -> Ints:
    """Return dense ranks over the whole table, 0 where a value is missing."""
    there = np.isfinite(table)
    ranks = np.zeros(table.shape, np.int64)
    ranks[there] = _numbered(table[there]) + 1
    return ranks


def _ratings(table: Array) -> Ints:
    """Return one number for the set of ratings of an output, whoever gave which."""
    ranks = _ranks(table)
    if table.ndim == 2:
        return ranks
    return _dense(np.sort(ranks.reshape(len(ranks), -1), axis=0).T).reshape(table.shape[1:])


def _together(tables: Sequence[Ints], ratings: Ints | None = None) -> Ints | None:
    """Return one number for the values of an output in all tables.

    Tables are in the order of their own content; duplicates count once, and tables that content cannot order are
    treated as a set.
    """
    results: dict[tuple[bytes, int], dict[bytes, Ints]] = {}
    for table in tables:
        if not table.size or table.max() == table.min():
            continue  # a constant carries no information
        available = 0 if ratings is None else int((table * ratings).sum())
        content = hashlib.sha256(np.ascontiguousarray(table).data).digest()
        results.setdefault((np.sort(table, axis=None).tobytes(), available), {})[content] = table
    if not results:
        return np.zeros_like(tables[0]) if len(tables) else None
    columns, done = np.empty((sum(map(len, results.values())), tables[0].size), np.int64), 0
    for key in sorted(results):
        alike = results.pop(key)
        columns[done : done + len(alike)] = np.sort(np.stack([t.ravel() for t in alike.values()]), axis=0)
        done += len(alike)
    return _dense(columns.T).reshape(tables[0].shape)
