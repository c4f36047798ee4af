"""The order by content: the same arrays from any order of systems, inputs, raters and metrics, in any unit."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.resampling.canonical import canonical_order, rater_order, table_order


@pytest.mark.parametrize("shape", [(1, 30), (3, 40), (8, 24), (5, 1), (4, 4), (2, 2)])
@pytest.mark.parametrize("levels", [2, 5])
def test_any_order_of_systems_inputs_raters_and_metrics_gives_the_same_arrays(shape, levels):
    rng = np.random.default_rng(0)
    n, m = shape
    for _ in range(10):
        cube = rng.integers(1, levels + 1, (3, n, m)).astype(float)
        cube[rng.random(cube.shape) < 0.1] = np.nan
        metrics = [rng.integers(0, 3, shape).astype(float), rng.normal(size=shape), rng.normal(size=shape)]
        order = canonical_order([cube], metrics)
        rows, columns, raters = rng.permutation(n), rng.permutation(m), rng.permutation(3)
        moved = cube[raters][:, rows][:, :, columns]
        scaled = [(4 * x - 7)[rows][:, columns] for x in metrics]
        # Another order, a copy and a constant among the metrics tell nothing new.
        again = canonical_order([moved], [scaled[2], scaled[0], scaled[1], scaled[1], np.ones(shape)])
        for x, y in zip(metrics, scaled, strict=True):
            np.testing.assert_array_equal(4 * x[np.ix_(*order)] - 7, y[np.ix_(*again)])
        one, two = rater_order([cube], order), rater_order([moved], again)
        np.testing.assert_array_equal(cube[np.ix_(one, *order)], moved[np.ix_(two, *again)])


def test_metrics_do_not_move_what_people_tell_apart():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(5, 20))
    alone, beside = canonical_order([z]), canonical_order([z], [rng.normal(size=z.shape)])
    assert all((a == b).all() for a, b in zip(alone, beside, strict=True))


def test_systems_and_inputs_that_look_alike_to_every_count_are_still_put_in_one_order():
    z = np.eye(4)  # every row and column has the same values: only marking one tells the others
    order = canonical_order([z])
    shuffled = z[[2, 0, 3, 1]]
    again = canonical_order([shuffled])
    np.testing.assert_array_equal(z[np.ix_(*order)], shuffled[np.ix_(*again)])


def test_many_inputs_are_ordered_as_few_are():
    """The quick way for many short rows gives the order of the plain one."""
    rng = np.random.default_rng(2)
    z = rng.integers(1, 4, (1, 9000)).astype(float)
    x = rng.normal(size=z.shape)
    order = canonical_order([z], [x])
    expected = np.lexsort((x[0], z[0]))
    np.testing.assert_array_equal(order.inputs, expected)


def test_metrics_are_ordered_by_their_ranks():
    a, b = np.array([[1.0, 2.0, 3.0]]), np.array([[3.0, 2.0, 1.0]])
    assert table_order([a, b]).tolist() == [0, 1]
    assert table_order([b, 10 * a]).tolist() == [1, 0]
    assert table_order([]).tolist() == []
