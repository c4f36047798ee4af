"""Two parts of one table: the delete-one test keeps its promise where outputs share systems and inputs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.tests.fisher import fisher_test
from nlgauge.stats.tests.part_tests import part_tests

RHO = Measure.parse("global/spearman")


def table(rng, systems=12, inputs=60):
    """A metric that makes the same errors on all outputs of a system, as strong on every input."""
    truth = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    return truth + 0.7 * rng.normal(size=(systems, 1)) + rng.normal(size=truth.shape), truth


def test_a_metric_that_is_good_on_one_part_only_is_seen():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(8, 60))
    one = np.broadcast_to(np.arange(60) < 30, z.shape)
    x = np.stack([z + np.where(one, 0.2, 5) * rng.normal(size=z.shape), z + rng.normal(size=z.shape)])
    p = part_tests(x, z, one, ~one, RHO)
    assert p[0] < 0.001
    assert p[1] > 0.05


def test_opposite_signs_are_equally_strong_unless_signs_count():
    rng = np.random.default_rng(1)
    z = rng.normal(size=(8, 60))
    one = np.broadcast_to(np.arange(60) < 30, z.shape)
    x = (np.where(one, 1, -1) * z + rng.normal(size=z.shape))[None]
    assert part_tests(x, z, one, ~one, RHO)[0] > 0.05
    assert part_tests(x, z, one, ~one, RHO, absolute=False)[0] < 0.001


def test_too_few_inputs_say_nothing():
    z = np.random.default_rng(2).normal(size=(8, 12))
    one = np.broadcast_to(np.arange(12) < 5, z.shape)
    assert np.isnan(part_tests(z[None], z, one, ~one, RHO)[0])


@pytest.mark.slow
def test_parts_by_system_raise_few_false_alarms_where_fishers_z_raises_many():
    ours = fishers = 0
    for trial in range(120):
        rng = np.random.default_rng(trial)
        x, z = table(rng)
        one = np.broadcast_to((np.arange(12) % 2 == 0)[:, None], z.shape)
        r = [evaluate(x[None], np.where(m, z, np.nan), [RHO]).value[0, 0] for m in (one, ~one)]
        fishers += bool(fisher_test(r[0], one.sum(), r[1], one.sum(), coefficient="spearman") < 0.05)
        ours += bool(part_tests(x[None], z, one, ~one, RHO)[0] < 0.05)
    assert ours <= binom.ppf(0.9995, 120, 0.05) < 0.2 * 120 < fishers
