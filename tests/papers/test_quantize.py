"""Scores cut into the steps of a rating scale (novikova2017, section 7.2)."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge_papers.novikova2017.quantize import quantize, scale_levels


def test_quantized_scores_are_bins_of_equal_width() -> None:
    x = np.random.default_rng(3).random(200) * 7 - 2
    by_numpy = np.histogram(x, 11)[0]
    assert np.bincount(quantize(x, 11).astype(int), minlength=11).tolist() == by_numpy.tolist()
    assert quantize([0.0, np.nan, 1.0], 3).tolist()[::2] == [0.0, 2.0]
    assert np.isnan(quantize([0.0, np.nan, 1.0], 3)[1])


@pytest.mark.parametrize(
    ("ratings", "steps"), [([1, 2, 3, 5], 5), ([1, 1.5, 6], 11), ([0, 1], 2), ([4, 4], 1), ([1, 4 / 3, 5 / 3, 3], 7)]
)
def test_steps_of_a_scale(ratings: list[float], steps: int) -> None:
    assert scale_levels(ratings) == steps
