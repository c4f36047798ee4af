from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.soft_accuracy import soft_pairwise_accuracy


def twin(x, z, signs):
    """The definition, pair by pair and draw by draw, on whole numbers (exact sums)."""
    distances = []
    for a, b in combinations(range(len(x)), 2):
        there = np.isfinite(x[a] + x[b] + z[a] + z[b])
        if there.any():
            p = []
            for v in (x, z):
                lead = (v[a] - v[b])[there]
                p.append(np.mean([(s[there] * lead).sum() >= lead.sum() for s in signs]))
            distances.append(abs(p[0] - p[1]))
    return 1 - np.mean(distances)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_equals_the_definition_pair_by_pair(missing):
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 5, (3, 5, 12)).astype(float), rng.integers(0, 5, (5, 12)).astype(float)
    x[1:][rng.random((2, 5, 12)) < missing] = np.nan
    z[rng.random(z.shape) < missing / 2] = np.nan
    signs = np.random.default_rng(7).choice([-1.0, 1.0], size=(50, 12))
    ours = soft_pairwise_accuracy(x, z, rng=np.random.default_rng(7), draws=50)
    assert ours == pytest.approx([twin(metric, z, signs) for metric in x], abs=1e-12)


def test_p_values_approach_the_exact_ones_of_all_sign_flips():
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(4, 8)), rng.normal(size=(4, 8))
    every = np.array(np.meshgrid(*[[-1.0, 1.0]] * 8)).reshape(8, -1).T
    drawn = soft_pairwise_accuracy(x[None], z, rng=np.random.default_rng(0), draws=20_000)[0]
    assert drawn == pytest.approx(twin(x, z, every), abs=0.01)


def test_tenths_count_as_exactly_tied():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 5, (4, 30)).astype(float)
    # the same ratings in tenths: every tie between a drawn and the observed lead must survive
    whole, tenths = (soft_pairwise_accuracy(v[None], z, rng=np.random.default_rng(0)) for v in (z, z / 10))
    assert whole == tenths == 1.0


def test_the_same_seed_gives_the_same_value_alone_and_in_a_panel():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(3, 5, 20)), rng.normal(size=(5, 20))
    spa = Measure.parse("system/spa")
    panel = evaluate(x, z, [spa, Measure.parse("system/kendall")], seed=5)
    assert [spa(metric, z, seed=5).value for metric in x] == panel.value[:, 0].tolist()
    assert spa(x[0], z, seed=6).value != panel.value[0, 0]


def test_systems_that_share_no_input_give_nothing():
    x = np.full((1, 3, 3), np.nan)
    x[0, range(3), range(3)] = 1.0
    estimate = Measure.parse("system/spa")(x[0], np.ones((3, 3)))
    assert np.isnan(estimate.value)
    assert estimate.reason
