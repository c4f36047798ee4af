"""Intraclass correlation: degenerate ratings, missing ratings, raters without identity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from nlgauge.errors import DataError
from nlgauge.stats.agreement.icc import FORMS, icc

# Shrout and Fleiss (1979), Table 2: six targets, four judges.
SHROUT_FLEISS = np.array([[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]], float)


def _noisy(rng: np.random.Generator, raters: int = 4, units: int = 25) -> np.ndarray:
    return rng.normal(size=units) + rng.normal(size=(raters, units)) + rng.normal(size=(raters, 1))


def test_the_worked_example_of_shrout_and_fleiss_table_4_is_recomputed():
    found = icc(SHROUT_FLEISS)
    published = {"ICC(1)": 0.17, "ICC(A,1)": 0.29, "ICC(C,1)": 0.71, "ICC(k)": 0.44, "ICC(A,k)": 0.62, "ICC(C,k)": 0.91}
    assert {name: round(found[name].value, 2) for name in FORMS} == published


def test_unequal_rater_counts_give_the_f_test_of_scipys_one_way_anova():
    rng = np.random.default_rng(3)
    ratings = _noisy(rng)
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    found = icc(ratings, unequal=True, persons=False)
    groups = [unit[~np.isnan(unit)] for unit in ratings.T]
    oracle = f_oneway(*[group for group in groups if group.size])
    assert found["ICC(1)"].f == pytest.approx(oracle.statistic, rel=1e-10)
    assert found["ICC(1)"].p == pytest.approx(oracle.pvalue, rel=1e-8)
    assert found.dropped_units == sum(group.size == 0 for group in groups)


def test_unequal_rater_counts_weigh_the_units_as_the_expected_mean_square_does():
    rng = np.random.default_rng(7)
    ratings = _noisy(rng)
    ratings[rng.random(ratings.shape) < 0.4] = np.nan
    unit = np.nonzero(~np.isnan(ratings.T))[0]
    design = (unit[:, None] == np.unique(unit)).astype(float)
    # E[SSB] grows with the variance between units by this trace, E[MSB] by k0.
    between = design @ np.linalg.pinv(design) - 1.0 / unit.size
    k0 = np.trace(design.T @ between @ design) / (design.shape[1] - 1)
    found = icc(ratings, unequal=True)
    assert found.raters == pytest.approx(k0, rel=1e-10)
    f = found["ICC(1)"].f
    assert found["ICC(1)"].value == pytest.approx((f - 1) / (f + k0 - 1), rel=1e-10)


def test_with_equal_counts_the_unequal_form_is_the_plain_one():
    ratings = _noisy(np.random.default_rng(1))
    plain, unequal = icc(ratings), icc(ratings, unequal=True)
    assert unequal["ICC(1)"] == plain["ICC(1)"]
    assert unequal.raters == pytest.approx(4.0)


def test_one_way_form_does_not_care_which_slot_a_rating_sits_in():
    rng = np.random.default_rng(5)
    ratings = _noisy(rng)
    shuffled = rng.permuted(ratings, axis=0)
    assert icc(shuffled)["ICC(1)"].value == pytest.approx(icc(ratings)["ICC(1)"].value, rel=1e-12)
    assert icc(shuffled)["ICC(C,1)"].value != pytest.approx(icc(ratings)["ICC(C,1)"].value, rel=1e-3)


def test_three_of_four_persons_per_unit_leaves_no_complete_unit_and_says_so():
    ratings = _noisy(np.random.default_rng(2))
    ratings[np.arange(25) % 4, np.arange(25)] = np.nan
    found = icc(ratings)
    assert found.dropped_units == 25
    assert np.isnan(found["ICC(1)"].value)
    assert "unequal=True" in found["ICC(1)"].reason
    assert icc(ratings, unequal=True).raters == pytest.approx(3.0)
    assert np.isfinite(icc(ratings, unequal=True)["ICC(1)"].value)


def test_raters_without_identity_have_the_one_way_form_only():
    found = icc(SHROUT_FLEISS, persons=False)
    assert found["ICC(1)"].value == icc(SHROUT_FLEISS)["ICC(1)"].value
    for name in ("ICC(A,1)", "ICC(C,1)", "ICC(A,k)", "ICC(C,k)"):
        assert np.isnan(found[name].value)
        assert "identity" in found[name].reason


def test_systems_by_inputs_are_flattened_to_units():
    ratings = _noisy(np.random.default_rng(4), units=24)
    assert icc(ratings.reshape(4, 6, 4))["ICC(A,1)"] == icc(ratings)["ICC(A,1)"]


def test_perfect_agreement_is_one_and_equal_ratings_are_undefined():
    perfect = icc(np.tile([0.1, 0.2, 0.7, 0.3], (3, 1)))
    assert all(perfect[name].value == 1.0 for name in FORMS)
    assert perfect["ICC(A,1)"].p == 0.0
    equal = icc(np.full((3, 4), 0.1))
    assert all(np.isnan(equal[name].value) and equal[name].reason for name in FORMS)


def test_a_constant_shift_between_raters_hurts_agreement_and_not_consistency():
    truth = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    found = icc(np.stack([truth, truth + 2.0]))
    assert found["ICC(C,1)"].value == 1.0
    assert found["ICC(A,1)"].value == pytest.approx(2.5 / (2.5 + 2.0))


def test_one_dimension_is_refused_with_one_line():
    with pytest.raises(DataError, match="raters × units"):
        icc([1.0, 2.0])


def test_jackknife_intervals_over_clusters_are_those_of_log_f_without_each_cluster():
    ratings = _noisy(np.random.default_rng(4), units=60)
    clusters = np.repeat(np.arange(15), 4)
    found, plain = icc(ratings, clusters=clusters), icc(ratings)
    for name in FORMS:
        average = name.replace("1)", "k)")
        left = np.array([-np.log(1 - icc(ratings[:, clusters != c])[average].value) for c in range(15)])
        half = 2.144786687916925 * np.sqrt(14 / 13 * ((left - left.mean()) ** 2).sum())  # Student's t, 14
        f = np.exp(-np.log(1 - plain[average].value) + np.array([-half, half]))
        ends = 1 - 1 / f if name == average else (f - 1) / (f + 3)
        assert found[name].value == plain[name].value
        assert (found[name].low, found[name].high) == pytest.approx(tuple(ends), abs=1e-9)
        assert np.isnan(found[name].p)


def test_intervals_over_clusters_cover_the_population_value():
    rng = np.random.default_rng(11)

    def trials(inputs):
        quality = rng.normal(size=inputs)[:, None] + 0.6 * rng.normal(size=(inputs, 4))
        spread = 0.8 * rng.lognormal(0, 0.4, inputs)[:, None]
        return (quality + spread * rng.normal(size=(3, inputs, 4))).reshape(3, -1)

    truth = icc(trials(100_000), persons=False)["ICC(1)"].value
    inside = np.zeros(2)
    for _ in range(300):
        ratings = trials(20)
        for k, clusters in enumerate((np.repeat(np.arange(20), 4), None)):
            found = icc(ratings, persons=False, clusters=clusters)["ICC(1)"]
            inside[k] += found.low <= truth <= found.high
    assert inside[0] >= 0.93 * 300 and inside[1] < 0.9 * 300


def test_few_clusters_and_ratings_that_never_differ_have_no_interval_and_a_reason():
    ratings = _noisy(np.random.default_rng(4), units=60)
    few = icc(ratings, clusters=np.repeat(np.arange(6), 10))["ICC(1)"]
    assert np.isnan(few.low) and few.reason == "6 independent outputs; an interval needs 10"
    equal = icc(np.tile(ratings[0], (2, 1)), clusters=np.repeat(np.arange(15), 4))["ICC(1)"]
    assert equal.value == 1 and np.isnan(equal.low) and "never differ" in equal.reason
