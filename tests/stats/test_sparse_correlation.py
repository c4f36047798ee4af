"""Correlation with people from few labels: equal to scipy where all is labelled alike, right where labels were chosen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.sparse_correlation import _left_out, sparse_correlation

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
TRIALS = 200


@pytest.mark.parametrize("coefficient", SCIPY)
def test_the_coefficient_and_that_without_each_row_equal_scipy(coefficient: str) -> None:
    rng = np.random.default_rng(1)
    x, y = np.round(rng.normal(size=(2, 30)), 1)
    y = np.round(x + y)
    whole, without = _left_out(x, y, np.full(30, 1 / 30), coefficient)
    assert np.isclose(whole, SCIPY[coefficient](x, y)[0], atol=1e-12)
    left = [SCIPY[coefficient](np.delete(x, k), np.delete(y, k))[0] for k in range(30)]
    assert np.allclose(without, left, atol=1e-12)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_labels_chosen_by_score_do_not_lead_astray(coefficient: str) -> None:
    """Rows of high and low score labelled more often raise the correlation of the labelled rows, not the estimate."""
    rng = np.random.default_rng(2)
    truth = {"pearson": 0.6, "spearman": 6 / np.pi * np.arcsin(0.3), "kendall": 2 / np.pi * np.arcsin(0.6)}[coefficient]
    values, blind, held = [], [], 0
    for _ in range(TRIALS):
        score = rng.normal(size=500)
        y = 0.6 * score + 0.8 * rng.normal(size=500)
        probability = np.clip(0.08 + 0.3 * (np.abs(score) > 1.2), 0, 1)
        labels = np.where(rng.random(500) < probability, y, np.nan)
        found = sparse_correlation(PartlyLabeled(labels, score, probability), coefficient)
        values.append(found.value)
        blind.append(SCIPY[coefficient](score[np.isfinite(labels)], labels[np.isfinite(labels)])[0])
        held += found.low <= truth <= found.high
    assert abs(np.mean(values) - truth) < 0.02
    assert np.mean(blind) > truth + 0.08
    assert held / TRIALS > 0.95 - 4 * np.sqrt(0.05 * 0.95 / TRIALS)


def test_the_scores_of_other_rows_narrow_the_interval_of_a_close_metric() -> None:
    rng = np.random.default_rng(3)
    score = rng.normal(size=(60, 800))
    y = 0.9 * score + np.sqrt(0.19) * rng.normal(size=score.shape)
    labels = np.where(np.arange(800) < 80, y, np.nan)
    found = [sparse_correlation(PartlyLabeled(a, b), "spearman") for a, b in zip(labels, score, strict=True)]
    assert np.mean([f.high - f.low for f in found]) < 0.9 * np.mean([f.plain_high - f.plain_low for f in found])


def test_a_metric_that_never_varies_has_no_correlation() -> None:
    labels = np.where(np.arange(100) < 40, np.arange(100.0), np.nan)
    assert np.isnan(sparse_correlation(PartlyLabeled(labels, np.full(100, 0.1))).value)
