"""Inference against nlpstats: permutation p-values and bootstrap draw for draw, Williams, Fisher.

Where nlpstats compares floats that are equal on paper, rounding decides: means of equal sums differ in the
last bit, and draws that equal the observed difference miss it by 1e-17. It happens with rank correlations that
take few values: at system level, and at every level of small tables. The draws themselves are compared one by one
everywhere; p exactly for Pearson and on SummEval (16 × 100) below system level, else with a count of nlpstats' own
draws that keeps their ties; tied system means with a twin.
"""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.correlation.profiles import PROFILES
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.tests.fisher import fisher_interval
from nlgauge.stats.tests.permutation import permutation_pairs, permutation_test
from nlgauge.stats.tests.williams import williams_pairs

nlpstats = pytest.importorskip("nlpstats.correlations")

LEVELS, COEFFICIENTS = ("system", "input", "global"), ("pearson", "spearman", "kendall")
NINE = tuple(f"{level}/{c}" for level in LEVELS for c in COEFFICIENTS)
SPLIT = ("system/spearman", "system/kendall")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tables(seed, *, tied, gaps=False):
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1, (6, 8))
    x = z + rng.normal(0, 1, (2, 6, 8))
    if tied:
        z, x = np.round(z * 3) / 3, np.round(x * 2)
    if gaps:  # nlpstats wants the same cells missing everywhere
        z[[0, 0, 2, 5, 5], [0, 3, 4, 4, 7]] = np.nan
        x[:, np.isnan(z)] = np.nan
    return x[0], x[1], z


def theirs(x1, x2, z, measure, how, alternative="two-sided", draws=25, seed=11):
    level, coefficient = measure.split("/")
    np.random.seed(seed)
    return nlpstats.permutation_test(x1, x2, z, level, coefficient, how, alternative=alternative, n_resamples=draws)


def kept(oracle, observed, measure, alternative="two-sided"):
    """nlpstats' p-value; for ranks of few points counted again from its draws, with their ties kept."""
    if measure.endswith("pearson"):
        return oracle.pvalue
    s = np.array(oracle.samples)
    extreme = {"two-sided": np.abs(s) - abs(observed), "greater": s - observed, "less": observed - s}
    return (extreme[alternative] >= -1e-10).sum() / len(s)


@pytest.mark.parametrize("how", ["both", "inputs", "systems"])
@pytest.mark.parametrize("gaps", [False, True])
def test_permutation_p_values_equal_nlpstats_draw_for_draw(how, gaps):
    for tied in (False, True):
        x1, x2, z = tables(1, tied=tied, gaps=gaps)
        ours = permutation_test(x1, x2, z, NINE, how=how, draws=25, seed=11, profile="nlpstats")
        for i, measure in enumerate(NINE):
            if tied and measure in SPLIT:
                continue
            oracle = theirs(x1, x2, z, measure, how)
            np.testing.assert_allclose(ours.samples[i], oracle.samples, atol=1e-10, err_msg=measure)
            assert ours.p[i] == kept(oracle, ours.difference[i], measure), (measure, tied)


def test_one_sided_permutation_p_values_equal_nlpstats():
    x1, x2, z = tables(2, tied=False)
    for side in ("greater", "less"):
        ours = permutation_test(
            x1, x2, z, NINE, draws=25, seed=11, profile=replace(PROFILES["nlpstats"], alternative=side)
        )
        for i, measure in enumerate(NINE):
            oracle = theirs(x1, x2, z, measure, "both", side)
            assert ours.p[i] == kept(oracle, ours.difference[i], measure, side), (measure, side)


def test_system_level_ranks_with_ties_equal_a_twin_that_keeps_the_ties_of_the_same_draws():
    for seed in range(4):
        x1, x2, z = tables(seed, tied=True)
        ours = permutation_test(x1, x2, z, SPLIT, draws=150, seed=3, profile="nlpstats")
        a, b = ((x - x.mean()) / x.std() for x in (x1, x2))
        people = np.round(z.mean(axis=1), 10)
        stream = np.random.RandomState(3)
        for i, function in enumerate((spearmanr, kendalltau)):

            def difference(p, q, function=function, people=people):
                first, second = (function(np.round(t.mean(axis=1), 10), people)[0] for t in (p, q))
                return round(first - second, 9)

            stream.seed(3)
            seen, extreme = difference(a, b), 0
            for _ in range(150):
                swap = (stream.rand(6, 1) > 0.5) ^ (stream.rand(1, 8) > 0.5)
                extreme += abs(difference(np.where(swap, b, a), np.where(swap, a, b))) >= abs(seen)
            assert ours.p[i] == extreme / 150


@pytest.mark.parametrize("how", ["both", "inputs", "systems"])
def test_bootstrap_equals_nlpstats_draw_for_draw(how):
    # with gaps a resample of systems may leave an input without points, which stops nlpstats
    for tied, gaps in ((False, False), (True, False), (False, how == "inputs")):
        x, _, z = tables(4, tied=tied, gaps=gaps)
        ours = bootstrap(x, z, NINE, how=how, draws=25, seed=7, profile="nlpstats")
        low, high = ours.interval()
        for i, measure in enumerate(NINE):
            if tied and measure in SPLIT:
                continue
            np.random.seed(7)
            oracle = nlpstats.bootstrap(x, z, *measure.split("/"), how, n_resamples=25)
            drawn = ours.samples[0, i]
            np.testing.assert_allclose(drawn[np.isfinite(drawn)], oracle.samples, atol=1e-10, err_msg=measure)
            np.testing.assert_allclose([low[0, i], high[0, i]], [oracle.lower, oracle.upper], atol=1e-10)


def test_williams_equals_nlpstats():
    for seed in range(3):
        x1, x2, z = tables(seed, tied=False)
        for side in ("two-sided", "greater", "less"):
            ours = williams_pairs([x1, x2], z, NINE, alternative=side, absolute=True)
            for i, measure in enumerate(NINE):
                oracle = nlpstats.williams_test(x1, x2, z, *measure.split("/"), alternative=side)
                assert ours.p[0, i] == pytest.approx(float(oracle.pvalue), abs=1e-10, nan_ok=True)


def test_fisher_equals_nlpstats():
    x, _, z = tables(5, tied=False)
    points = {"system": 6, "input": 6, "global": 48}
    for measure in NINE:
        level, coefficient = measure.split("/")
        oracle = nlpstats.fisher(x, z, level, coefficient)
        r = Measure.parse(measure)(x, z).value
        np.testing.assert_allclose(fisher_interval(r, points[level], coefficient), oracle, atol=1e-10)


@pytest.fixture(scope="session")
def summeval(real_data: Path):
    rows = [json.loads(line) for line in (real_data / "summeval/summeval_outputs_human_metrics.jsonl").open()]
    systems, inputs = sorted({r["system"] for r in rows}), sorted({r["doc_id"] for r in rows})
    at = {(r["system"], r["doc_id"]): r for r in rows}
    cells = [[at[s, d] for d in inputs] for s in systems]
    names = sorted(rows[0]["metrics"])[:2]
    x = np.array([[[c["metrics"][name] for c in row] for row in cells] for name in names], float)
    z = np.array([[c["human_mean"]["coherence"] for c in row] for row in cells], float)
    return x, z


@pytest.mark.slow
@pytest.mark.real
def test_permutation_on_summeval_equals_nlpstats_draw_for_draw(summeval):
    x, z = summeval
    ours = permutation_pairs(x, z, NINE, draws=12, seed=5, profile="nlpstats")
    for (i, j), p in zip(ours.pairs, ours.p, strict=True):
        for k, measure in enumerate(NINE):
            if measure not in SPLIT:
                assert p[k] == theirs(x[i], x[j], z, measure, "both", draws=12, seed=5).pvalue, measure
