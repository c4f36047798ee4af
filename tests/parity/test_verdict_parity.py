"""Figures of verdicts beside scikit-learn and statsmodels, to 1e-12, on tables with few and many rows, ties and
lopsided verdicts.
"""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.agreement import curves, reliability
from nlgauge.stats.agreement.proportion import proportion_interval
from nlgauge.stats.agreement.two_by_two import verdict_figures

skm = pytest.importorskip("sklearn.metrics")
sms = pytest.importorskip("statsmodels.stats.api")
NEAR = 1e-12
WORLDS = [(n, p, seed) for n in (20, 155, 2000) for p in (0.05, 0.5, 0.9) for seed in (1, 2)]


def rows(n: int, p: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """People's verdicts, a judge's number (with ties) and its verdict; both verdicts occur."""
    rng = np.random.default_rng([seed, n, int(100 * p)])
    passed = rng.random(n) < p
    passed[:2] = True, False
    score = np.round(np.clip(0.3 * rng.normal(size=n) + 0.35 + 0.3 * passed, 0, 1), 2)
    judge = score >= 0.5
    judge[:2] = True, False
    return passed, score, judge


@pytest.mark.parametrize(("n", "p", "seed"), WORLDS)
def test_verdict_figures_equal_scikit_learn(n: int, p: float, seed: int) -> None:
    passed, _, judge = rows(n, p, seed)
    found = {name: figure.value for name, figure in verdict_figures(passed, judge).items()}
    theirs = {
        "agreement": skm.accuracy_score(passed, judge),
        "fail_recall": skm.recall_score(~passed, ~judge),
        "pass_recall": skm.recall_score(passed, judge),
        "fail_precision": skm.precision_score(~passed, ~judge),
        "pass_precision": skm.precision_score(passed, judge),
        "fail_f1": skm.f1_score(~passed, ~judge),
        "pass_f1": skm.f1_score(passed, judge),
        "balanced_accuracy": skm.balanced_accuracy_score(passed, judge),
        "kappa": skm.cohen_kappa_score(passed, judge),
        "mcc": skm.matthews_corrcoef(passed, judge),
    }
    assert found == pytest.approx(found | theirs, abs=NEAR)


@pytest.mark.parametrize(("n", "p", "seed"), WORLDS)
def test_kappa_equals_statsmodels(n: int, p: float, seed: int) -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    passed, _, judge = rows(n, p, seed)
    table = skm.confusion_matrix(passed, judge)
    assert verdict_figures(passed, judge)["kappa"].value == pytest.approx(cohens_kappa(table).kappa, abs=NEAR)


@pytest.mark.parametrize(("ours", "theirs"), [("wilson", "wilson"), ("exact", "beta")])
@pytest.mark.parametrize("n", [5, 37, 155, 2000])
def test_intervals_of_a_share_equal_statsmodels(ours: str, theirs: str, n: int) -> None:
    for x in {0, 1, n // 3, n // 2, n - 1, n}:
        low, high = proportion_interval(x, n, kind=ours)  # type: ignore[arg-type]
        expected = sms.proportion_confint(x, n, method=theirs)
        assert (low, high) == pytest.approx(tuple(np.nan_to_num(expected, nan=float(x == n))), abs=NEAR)


@pytest.mark.parametrize(("n", "p", "seed"), WORLDS)
def test_curves_and_areas_equal_scikit_learn(n: int, p: float, seed: int) -> None:
    passed, score, _ = rows(n, p, seed)
    assert curves.roc_area(score, passed) == pytest.approx(skm.roc_auc_score(passed, score), abs=NEAR)
    expected = skm.average_precision_score(~passed, -score)
    assert curves.average_precision(score, passed) == pytest.approx(expected, abs=NEAR)
    swept = curves.sweep(score, passed)
    fpr, tpr, _ = skm.roc_curve(~passed, -score, drop_intermediate=False)
    a, b, c, d = swept.counts.T
    assert a / (a + b) == pytest.approx(tpr, abs=NEAR)
    assert c / (c + d) == pytest.approx(fpr, abs=NEAR)
    precision, recall, _ = skm.precision_recall_curve(~passed, -score)
    a, b, c = a[1:], b[1:], c[1:]  # where the judge fails a row
    assert a / (a + b) == pytest.approx(recall[:-1][::-1], abs=NEAR)
    assert a / (a + c) == pytest.approx(precision[:-1][::-1], abs=NEAR)


@pytest.mark.parametrize(("n", "p", "seed"), WORLDS)
def test_calibration_equals_scikit_learn(n: int, p: float, seed: int) -> None:
    from sklearn.isotonic import IsotonicRegression

    passed, score, _ = rows(n, p, seed)
    found = reliability.calibration_figures(score, passed)
    assert found["brier"].value == pytest.approx(skm.brier_score_loss(passed, score), abs=NEAR)
    ours = reliability.isotonic_map(score, passed)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, passed.astype(float))
    asked = np.linspace(-0.2, 1.2, 301)
    assert ours.of(asked) == pytest.approx(theirs.predict(asked), abs=NEAR)


@pytest.mark.parametrize(("n", "p", "seed"), WORLDS)
def test_the_reliability_curve_equals_scikit_learn(n: int, p: float, seed: int) -> None:
    from sklearn.calibration import calibration_curve

    passed, score, _ = rows(n, p, seed)
    off_edges = 0.013 + 0.97 * score  # rounding puts a score that lies on an edge into either bin
    share, mean = calibration_curve(passed, off_edges, n_bins=10)
    bins = reliability.reliability_bins(off_edges, passed)
    assert [b.passed.value for b in bins] == pytest.approx(list(share), abs=NEAR)
    assert [b.score for b in bins] == pytest.approx(list(mean), abs=NEAR)
