"""The difference that is tested is the difference that is printed, for every measure, test and profile, whatever the
size of the scores: different scores stay different (1e-80 and 2e-80 beside .5), equal ones equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from twins import EVERY, TWELVE, correlate

from nlgauge.stats.correlation.evaluate_groups import arrays, plan_measures
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.profiles import PROFILES
from nlgauge.stats.correlation.ties import NEAR, snap
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.bootstrap import bootstrap, bootstrap_test
from nlgauge.stats.resampling.draws import swap_masks
from nlgauge.stats.tests.permutation import permutation_pairs, permutation_test

SLOW = ("input/tau-c", "input/top-1", "item/tau-c", "system/tau-c", "global/acc-eq-calibrated", "system/spa")
HOWS = ("both", "inputs", "systems", "cells")
RANKS = tuple(m for m in EVERY if not m.endswith("pearson") and not m.startswith("system"))


def scores(seed: int, shape: tuple[int, ...], kind: str) -> np.ndarray:
    """Tables of one kind: all magnitudes at once, tiny beside plain ones, whole systems or inputs of tiny ones, ties."""
    rng = np.random.default_rng(seed)
    plain = rng.normal(size=shape)
    tiny = 10.0 ** rng.uniform(-300, -20, shape)
    if kind == "all magnitudes":
        return np.sign(plain) * 10.0 ** rng.uniform(-300, 300, shape)
    if kind == "tiny beside plain":
        return np.where(rng.random(shape) < 0.6, tiny, np.abs(plain))
    if kind == "tiny systems":
        return np.where(np.arange(shape[-2])[:, None] % 2, tiny, np.abs(plain))
    if kind == "tiny inputs":
        return np.where(np.arange(shape[-1]) % 2, tiny * 1e-10, np.abs(plain))
    if kind == "ties":
        return rng.choice([0.0, 1e-200, 3e-80, 0.1, 0.2, 0.1 + 0.2, 0.3, 1.0], shape)
    return plain * {"huge": 1e300, "minute": 1e-300}.get(kind, 1.0) + (1e3 if kind == "far from 0" else 0.0)


KINDS = (
    "all magnitudes",
    "tiny beside plain",
    "tiny systems",
    "tiny inputs",
    "ties",
    "huge",
    "minute",
    "far from 0",
    "plain",
)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    kinds=st.tuples(*[st.sampled_from(KINDS)] * 2),
    people=st.sampled_from(("plain", "ties", "tiny beside plain")),
    size=st.sampled_from(((4, 6), (6, 4), (5, 20), (3, 3))),
    how=st.sampled_from(HOWS),
    profile=st.sampled_from(sorted(PROFILES)),
    gaps=st.booleans(),
)
def test_the_tested_difference_is_the_printed_one(seed, kinds, people, size, how, profile, gaps):
    x = np.stack([scores(seed + k, size, kind) for k, kind in enumerate(kinds)])
    z = scores(seed + 9, size, people)
    if gaps:
        missing = np.random.default_rng(seed).random(size) < 0.15
        x[:, missing], z[missing] = np.nan, np.nan
    rules = PROFILES[profile]
    names = [*EVERY, *SLOW]
    test = permutation_test(x[0], x[1], z, names, how=how, draws=3, profile=profile, seed=1)
    pairs = permutation_pairs(x, z, names, how=how, draws=3, profile=profile, seed=1)
    if rules.missing == "zero":
        x, z = np.nan_to_num(x), np.nan_to_num(z)
    printed = evaluate(x, z, [Measure.parse(m) for m in names])
    expected = printed.value[0] - printed.value[1]
    whole = printed.dropped.sum(axis=0) == 0 if rules.constant == "zero" else np.ones(len(names), bool)
    np.testing.assert_allclose(test.difference[whole], expected[whole], rtol=0, atol=1e-12, err_msg=str(names))
    np.testing.assert_array_equal(pairs.difference[0], test.difference)
    if rules.missing == "shared":
        again = bootstrap(x, z, TWELVE, draws=2)
        np.testing.assert_allclose(again.value, printed.value[:, [names.index(m) for m in TWELVE]], atol=1e-12)
        _, difference = bootstrap_test(x[0], x[1], z, TWELVE, draws=2)
        np.testing.assert_allclose(difference, expected[[names.index(m) for m in TWELVE]], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_leaving_out_an_input_or_a_system_gives_what_is_printed_for_the_rest(kind):
    """A sum without its largest member must not be made by taking that away again: its rounding errors stay."""
    x, z = scores(3, (2, 5, 8), kind), scores(4, (5, 8), "plain")
    metrics, human = arrays(x, z)
    left = 1.0 - np.eye(8)
    found = weighted(metrics, human, np.ones((8, 5)), left, plan_measures(EVERY))
    for j in range(8):
        rest = np.delete(metrics, j, axis=2), np.delete(human, j, axis=1)
        expected = evaluate(*rest, [Measure.parse(m) for m in EVERY]).value
        np.testing.assert_allclose(found[:, :, j], expected, atol=1e-10, err_msg=f"without input {j}")
    found = weighted(metrics, human, 1.0 - np.eye(5), np.ones((5, 8)), plan_measures(EVERY))
    for i in range(5):
        rest = np.delete(metrics, i, axis=1), np.delete(human, i, axis=0)
        expected = evaluate(*rest, [Measure.parse(m) for m in EVERY]).value
        np.testing.assert_allclose(found[:, :, i], expected, atol=1e-10, err_msg=f"without system {i}")


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", ["all magnitudes", "tiny beside plain", "tiny inputs", "ties"])
def test_every_draw_orders_the_scores_as_exact_arithmetic_does(kind, how):
    """The oracle standardises with 700 digits, so nothing small is lost beside the mean."""
    systems, inputs, draws = 4, 5, 6
    x, z = scores(11, (2, systems, inputs), kind), np.round(scores(12, (systems, inputs), "plain") * 2)
    test = permutation_test(x[0], x[1], z, RANKS, how=how, draws=draws, seed=5)
    with mp.workdps(700):
        exact = []
        for table in x:
            values = [mpf(float(v)) for v in table.ravel()]
            mean = sum(values) / len(values)
            sd = mp.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
            exact.append([(v - mean) / sd for v in values])
        levels = {v: i for i, v in enumerate(sorted({v for row in exact for v in row}))}
        a, b = (np.array([float(levels[v]) for v in row]).reshape(systems, inputs) for row in exact)
    (block,) = swap_masks(how, systems, inputs, draws, 5)
    rows, cols = (part.transpose(0, 2, 1).reshape(-1, part.shape[1]) for part in (block.rows, block.cols))
    swaps = (rows[:, block.row] ^ cols[:, block.col])[1 : draws + 1].reshape(-1, systems, inputs).astype(bool)
    for i, measure in enumerate(RANKS):
        twin = [correlate(np.where(s, b, a), z, measure) - correlate(np.where(s, a, b), z, measure) for s in swaps]
        np.testing.assert_allclose(test.samples[i], twin, atol=1e-10, err_msg=measure)


@pytest.mark.parametrize("how", HOWS)
def test_pearson_of_a_draw_survives_one_score_that_dwarfs_the_others(how):
    """Swapped away, a large score leaves its rounding errors in sums from which it is only taken away."""
    rng = np.random.default_rng(2)
    z = rng.normal(size=(4, 6))
    x = z + rng.normal(size=(2, 4, 6))
    x[0, 1, 2], x[1, 3, 3] = 1e9, -1e9
    measures = ["input/pearson", "item/pearson", "global/pearson"]
    test = permutation_test(x[0], x[1], z, measures, how=how, draws=5, seed=1)
    (block,) = swap_masks(how, 4, 6, 5, 1)
    rows, cols = (part.transpose(0, 2, 1).reshape(-1, part.shape[1]) for part in (block.rows, block.cols))
    swaps = (rows[:, block.row] ^ cols[:, block.col])[1:6].reshape(-1, 4, 6).astype(bool)
    exact = []
    for table in x:
        values = table.astype(np.longdouble)
        exact.append((values - values.mean()) / values.std())
    a, b = exact
    for i, measure in enumerate(measures):
        twin = [_pearson(np.where(s, b, a), z, measure) - _pearson(np.where(s, a, b), z, measure) for s in swaps]
        np.testing.assert_allclose(test.samples[i], np.array(twin, float), atol=1e-6, err_msg=measure)


def _pearson(x, z, measure):
    grouping = measure.split("/")[0]
    groups = {"global": [(x.ravel(), z.ravel())], "item": zip(x, z, strict=True), "input": zip(x.T, z.T, strict=True)}
    found = []
    for a, b in groups[grouping]:
        u, v = a - a.mean(), b - b.mean()
        found.append((u * v).sum() / np.sqrt((u * u).sum() * (v * v).sum()))
    return np.mean(found)


def test_tiny_scores_are_tested_by_their_order_and_not_as_ties():
    """BLEU of short outputs: many scores of 1e-80 and less that differ, beside some of .1."""
    rng = np.random.default_rng(0)
    z = rng.integers(1, 6, (10, 40)).astype(float)
    order = 10.0 ** (-80 + 10 * (z + rng.normal(0, 1, z.shape)))
    bleu = np.where(rng.random(z.shape) < 0.1, 0.1 * z, order)
    other = z + rng.normal(0, 2, z.shape)
    for profile in ("nlgauge", "nlpstats"):
        test = permutation_test(bleu, other, z, ["input/kendall"], draws=50, profile=profile)
        printed = evaluate(np.stack([bleu, other]), z, [Measure("input", "kendall")]).value[:, 0]
        assert abs(test.difference[0] - (printed[0] - printed[1])) < 1e-12


def test_the_kernel_ties_means_as_snap_does():
    """Systems whose scores cancel out beside systems of tiny scores: which means are one is not a matter of pairs."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        x = rng.choice([0.5, -0.5, 1e-16, 2e-16, 1e-300, 3e-300, 0.1, 0.2, -0.3], (2, 6, 3))
        z = rng.choice([1.0, 2.0, 0.1, 0.2, -0.3], (6, 3))
        test = permutation_test(x[0], x[1], z, ["system/kendall", "system/spearman"], draws=1)
        found = evaluate(x, z, [Measure("system", "kendall"), Measure("system", "spearman")]).value
        np.testing.assert_allclose(test.difference, found[0] - found[1], atol=1e-12)
        again = bootstrap(x, z, ["system/kendall", "system/spearman"], draws=1)
        np.testing.assert_allclose(again.value, found, atol=1e-12)


def test_snap_looks_at_each_value_and_at_what_made_it():
    tiny = np.array([1e-80, 2e-80, 0.5])
    assert len(set(snap(tiny).tolist())) == 3
    assert len(set(snap(tiny, scale=[0.0, 1e-80, 0.5]).tolist())) == 3
    assert len(set(snap(np.array([1e-14, 2e-14, 0.5]), scale=1.0).tolist())) == 2
    assert len(set(snap(np.array([1.0, 1.0 + 0.5 * NEAR, 1.0 + 3 * NEAR])).tolist())) == 2
