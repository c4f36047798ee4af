"""Agreement of raters against pingouin, krippendorff, scikit-learn, statsmodels and crowd-kit."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.icc import FORMS, icc
from nlgauge.stats.agreement.kappa import cohen_kappa, fleiss_kappa, mean_pairwise_kappa
from nlgauge.stats.agreement.mace import mace

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def _likert(seed: int, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    raters, units = rng.integers(2, 6), rng.integers(8, 60)
    truth = rng.normal(3, 1, units)
    ratings = np.clip(np.round(truth + rng.normal(0, 1, (raters, units))), 1, 5)
    ratings[rng.random(ratings.shape) < missing] = np.nan
    return ratings


@pytest.mark.parametrize("seed", range(12))
def test_all_six_icc_forms_with_f_p_and_interval_equal_pingouin(seed, monkeypatch):
    pd = pytest.importorskip("pandas")
    pg = pytest.importorskip("pingouin")
    monkeypatch.setitem(pg.options, "round.column.CI95", None)
    ratings = _likert(seed, missing=0.1 * (seed % 2))
    raters, units = ratings.shape
    frame = pd.DataFrame(
        {
            "unit": np.tile(np.arange(units), raters),
            "rater": np.repeat(np.arange(raters), units),
            "value": ratings.ravel(),
        }
    )
    oracle = pg.intraclass_corr(frame, "unit", "rater", "value", nan_policy="omit")
    found = icc(ratings)
    names = dict(zip(("ICC(1,1)", "ICC(A,1)", "ICC(C,1)", "ICC(1,k)", "ICC(A,k)", "ICC(C,k)"), FORMS, strict=True))
    for row in oracle.to_dict("records"):
        ours = found[names[row["Type"]]]
        assert ours.value == pytest.approx(row["ICC"], abs=1e-9)
        assert (ours.f, ours.df1, ours.df2) == pytest.approx((row["F"], row["df1"], row["df2"]), rel=1e-9)
        assert ours.p == pytest.approx(row["pval"], rel=1e-7, abs=1e-300)
        assert np.array([ours.low, ours.high]) == pytest.approx(np.asarray(row["CI95"]), abs=1e-8)
    assert found.dropped_units == int(np.isnan(ratings).any(axis=0).sum())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(12))
def test_alpha_equals_the_krippendorff_package(level, seed):
    krippendorff = pytest.importorskip("krippendorff")
    ratings = _likert(seed, missing=0.1 * (seed % 4))
    oracle = krippendorff.alpha(ratings, level_of_measurement=level)
    assert alpha(ratings, level).value == pytest.approx(oracle, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_continuous_ratings_equals_the_krippendorff_package(level):
    krippendorff = pytest.importorskip("krippendorff")
    ratings = np.random.default_rng(0).lognormal(size=(3, 40)) * np.array([1.0, 1.1, 1.2])[:, None]
    oracle = krippendorff.alpha(ratings, level_of_measurement=level)
    assert alpha(ratings, level).value == pytest.approx(oracle, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_and_the_bootstrap_of_its_pairs_equal_evalica(level):
    evalica = pytest.importorskip("evalica")
    pd = pytest.importorskip("pandas")
    ratings = np.clip(np.round(np.random.default_rng(5).normal(3, 1, (3, 150))), 1, 5)
    ratings[0, ::7] = np.nan
    oracle = evalica.alpha_bootstrap(pd.DataFrame(ratings), level, n_resamples=20_000, random_state=1)
    found = alpha(ratings, level, rng=np.random.default_rng(1), draws=20_000, bootstrap="pairs")
    assert found.value == pytest.approx(oracle.alpha, abs=1e-12)
    noise = 4 * oracle.distribution.std() * 2.7 * np.sqrt(2 / 20_000)
    assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=noise)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@pytest.mark.parametrize("seed", range(8))
def test_cohens_kappa_equals_scikit_learn(weights, seed):
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = _likert(seed)[:2]
    oracle = metrics.cohen_kappa_score(a, b, weights=None if weights == "none" else weights, labels=[1, 2, 3, 4, 5])
    assert cohen_kappa(a, b, weights).value == pytest.approx(oracle, abs=1e-12)
    assert mean_pairwise_kappa(np.stack([a, b]), weights).value == pytest.approx(oracle, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_fleiss_kappa_equals_statsmodels(seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    ratings = _likert(seed)
    counts, _ = inter_rater.aggregate_raters(ratings.T)
    assert fleiss_kappa(ratings).value == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-12)


@pytest.mark.slow
def test_mace_converges_to_the_fixed_point_of_crowd_kit():
    pd = pytest.importorskip("pandas")
    oracle = pytest.importorskip("crowdkit.aggregation.classification.mace")
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    knows = rng.random((5, 200)) < np.array([0.9, 0.7, 0.5, 0.2, 0.0])[:, None]
    ratings = np.where(knows, truth, rng.integers(0, 4, (5, 200))).astype(float)
    ratings[rng.random(ratings.shape) < 0.2] = np.nan
    rater, unit = np.nonzero(~np.isnan(ratings))
    frame = pd.DataFrame({"task": unit, "worker": rater, "label": ratings[rater, unit].astype(int)})
    # crowd-kit mixes up its label columns unless labels and workers first appear in sorted order.
    frame = frame.sort_values(["label", "worker", "task"])
    other = oracle.MACE(n_restarts=1, n_iter=300, method="vb").fit(frame)
    found = mace(ratings, np.random.default_rng(1), iterations=2000, tolerance=1e-13, label_prior="uniform")
    assert found.competence == pytest.approx(other.spamming_[:, 1], abs=1e-6)
    probabilities = other.probas_.sort_index()
    rated = probabilities.index.to_numpy()
    assert found.posterior[rated] == pytest.approx(probabilities.sort_index(axis=1).to_numpy(), abs=1e-5)
