"""Correlations by input, by system and over system means from few labels: equal to the plain ones where all is labelled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.estimation.grouped_correlation import (
    correlations,
    input_correlation,
    item_correlation,
    system_correlation,
)
from nlgauge.stats.estimation.means import PartlyLabeled

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def outputs(seed: int, systems: int = 8, inputs: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """People's ratings and a metric's scores, systems × inputs."""
    rng = np.random.default_rng(seed)
    ability, hard = rng.normal(size=(systems, 1)), rng.normal(size=inputs)
    y = np.clip(np.round(3 + 0.6 * ability + 0.6 * hard + 0.7 * rng.normal(size=(systems, inputs))), 1, 5)
    return y, y + rng.normal(size=y.shape)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_coefficients_along_an_axis_equal_scipy(coefficient: str) -> None:
    y, f = outputs(1)
    assert np.allclose(
        correlations(f, y, coefficient), [SCIPY[coefficient](a, b)[0] for a, b in zip(f, y, strict=True)]
    )


@pytest.mark.parametrize("coefficient", SCIPY)
def test_with_all_inputs_labelled_the_value_by_input_is_that_of_the_measure(coefficient: str) -> None:
    y, f = outputs(2)
    found, inputs = input_correlation(PartlyLabeled(y.T, f.T), coefficient)
    assert inputs == 200 and np.isclose(found.plain, Measure("input", coefficient)(f, y).value, atol=1e-12)
    assert found.low < found.value < found.high


@pytest.mark.parametrize("coefficient", SCIPY)
def test_few_labels_hold_the_correlation_of_all_outputs(coefficient: str) -> None:
    """By system and over system means; 16 data sets, of which fewer than 11 hold by chance in one of 10,000 runs."""
    held = np.zeros(2)
    for seed in range(16):
        y, f = outputs(seed + 10)
        labels = np.where(np.arange(200) < 40, y, np.nan)
        samples, units = [PartlyLabeled(a, b) for a, b in zip(labels, f, strict=True)], [np.arange(200)] * 8
        for k, (find, measure) in enumerate(((item_correlation, "item"), (system_correlation, "system"))):
            found = find(samples, units, coefficient)
            held[k] += found.low <= Measure(measure, coefficient)(f, y).value <= found.high
    assert (held >= 11).all()


def test_means_that_hardly_differ_say_little_about_their_correlation() -> None:
    """Ten labels of each system leave the order of nearly equal systems open: no narrow interval around chance."""
    rng = np.random.default_rng(5)
    y = 3 + 0.01 * rng.normal(size=(6, 1)) + rng.normal(size=(6, 200))
    f = y + 3 * rng.normal(size=y.shape)
    samples = [PartlyLabeled(np.where(np.arange(200) < 10, a, np.nan), b) for a, b in zip(y, f, strict=True)]
    found = system_correlation(samples, [np.arange(200)] * 6, "pearson")
    assert found.high - found.low > 0.8
