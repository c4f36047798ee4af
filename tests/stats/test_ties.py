from __future__ import annotations

import numpy as np

from nlgauge.stats.correlation.ties import snap


def distinct(x):
    return len(np.unique(x[~np.isnan(x)]))


def test_equal_ratings_in_another_order_have_the_same_mean_after_snapping():
    rng = np.random.default_rng(0)
    ratings = np.array([0.1, 0.2, 0.3, 0.7, 1.3, 2.9] * 7)
    means = np.array([np.cumsum(rng.permutation(ratings))[-1] / len(ratings) for _ in range(50)])
    assert distinct(means) > 1
    assert distinct(snap(means)) == 1


def test_different_values_are_left_alone():
    x = np.random.default_rng(1).normal(size=(4, 100))
    assert (snap(x) == x).all()
    assert (snap(x, axis=1) == x).all()


def test_missing_values_stay_missing_and_shape_is_kept():
    x = np.array([[np.nan, 0.3, 0.1 + 0.2], [np.nan, np.nan, np.nan]])
    for axis in (None, -1):
        snapped = snap(x, axis=axis)
        assert (np.isnan(snapped) == np.isnan(x)).all()
        assert snapped[0, 1] == snapped[0, 2]
    assert snap(np.empty((0, 3)), axis=1).shape == (0, 3)


def test_tolerance_is_relative_to_each_value_and_not_to_the_largest():
    x = np.array([1.0, 1.0 + 1e-9])
    assert distinct(snap(x)) == 2
    assert distinct(snap(np.append(x, 1e6))) == 3
    assert distinct(snap(np.stack([x, x * 1e-300]), axis=1)) == 4


def test_rows_are_snapped_each_for_itself():
    x = np.array([[1e-15, 2e-15], [1.0, 2.0]])
    assert distinct(snap(x, scale=2.0)[0]) == 1  # left over from values of size 2 these are rounding errors
    assert distinct(snap(x)[0]) == 2
    assert distinct(snap(x, axis=1)[0]) == 2
    assert distinct(snap(x.T, axis=0)[:, 0]) == 2


def test_means_that_cancel_to_about_zero_stay_tied_at_system_level() -> None:
    """Standard scores average to 0; what is left of equal sums is rounding, of the size of the scores."""
    from nlgauge.stats.correlation.groups import cut

    human = np.array([[0.1, 0.2, -0.3], [-0.3, 0.1, 0.2], [0.2, -0.3, 0.1], [1.0, -1.0, 0.3]])
    assert len(set(human.mean(axis=1))) > 2
    assert len(set(cut(human[None], human, "system").z.ravel())) == 2
