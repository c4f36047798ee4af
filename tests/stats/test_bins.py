"""Levels of quality: which ratings are low, moderate and high."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.stats.ranking.quality_levels import quality_levels, rating_scale

NAN = np.nan


@pytest.mark.parametrize(
    ("ratings", "levels"),
    [
        ([1, 2, 3, 4, 5], [0, 0, 1, 2, 2]),
        ([0, 1], [0, 2]),
        ([1, 2, 3], [0, 1, 2]),
        ([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 2, 2]),
        ([1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 1, 1, 2, 2]),
        ([0, 1, 2, 3], [0, 1, 1, 2]),
        ([-1, 0, 1, NAN], [0, 1, 2, -1]),
    ],
)
def test_each_scale_is_cut_at_its_own_middle_third(ratings: list[float], levels: list[int]) -> None:
    assert quality_levels(ratings).level.tolist() == levels


def test_on_one_to_five_that_is_the_papers_cut() -> None:
    ratings = np.arange(1, 6)
    assert quality_levels(ratings).level.tolist() == quality_levels(ratings, "paper").level.tolist()


def test_the_papers_cut_makes_everything_low_on_short_scales() -> None:
    assert set(quality_levels([0, 1], "paper").level.tolist()) == {0}
    assert quality_levels([1, 2, 3], "paper").counts == (2, 1, 0)


def test_two_numbers_and_a_scale_can_be_given() -> None:
    assert quality_levels([10, 50, 90], (40, 60)).level.tolist() == [0, 1, 2]
    assert quality_levels([2, 3, 4], scale=(1, 5)).level.tolist() == [0, 1, 2]
    assert quality_levels([2, 3, 4]).level.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("ratings", "scale"),
    [
        ([1, 5], (1, 5)),
        ([1.5, 1.5, 4.5, 4.5], (1, 5)),
        ([0, 100], None),
        ([-25.0, 0], None),
        ([-1.31, 0.2, 1.7], None),
        ([3, 3], None),
        ([NAN], None),
    ],
)
def test_what_looks_like_a_rating_scale(ratings: list[float], scale: tuple[float, float] | None) -> None:
    assert rating_scale(ratings) == scale


def test_unbounded_scales_are_cut_at_terciles() -> None:
    found = quality_levels(np.arange(0, 90))
    assert found.counts == (30, 30, 30)
    assert "terciles" in found.words


@pytest.mark.parametrize(
    ("ratings", "counts"),
    [
        ([-30, -20, -10, 0, 0, 0, 0, 0, 0, 0], (3, 0, 7)),  # most are perfect: they are the high ones
        ([0, 0, 0, 0, 0, 0, 0, 20, 40, 90], (7, 0, 3)),
        ([-40, -20, 0, 0, 0, 0, 0, 0, 30, 50], (2, 6, 2)),
    ],
)
def test_equal_ratings_stay_together(ratings: list[float], counts: tuple[int, int, int]) -> None:
    assert quality_levels(ratings).counts == counts


@pytest.mark.parametrize("bins", ["quarters", (4, 2), (1, 2, 3)])
def test_other_bins_are_refused(bins: object) -> None:
    with pytest.raises(NlgaugeError, match="bins"):
        quality_levels([1, 2, 3], bins)  # type: ignore[arg-type]
