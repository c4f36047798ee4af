"""Prediction-powered inference equals the authors' package, ppi_py."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.estimation.means import PartlyLabelled, mean_estimate
from nlgauge.stats.estimation.prediction_powered import ppi_logistic, ppi_mean, ppi_quantile

ppi_py = pytest.importorskip("ppi_py")
SEEDS = range(5)


def rows(seed: int, n: int = 80, others: int = 700) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels between 0 and 1, scores of the labelled rows, scores of the others."""
    rng = np.random.default_rng(seed)
    y = rng.random(n + others)
    f = np.clip(y + 0.3 * rng.standard_normal(n + others) + 0.1, 0, 1)
    return y[:n], f[:n], f[n:]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.0, 0.5, 1.0, None])
def test_mean_equals_ppi_py(seed: int, lam: float | None) -> None:
    y, f, u = rows(seed)
    found = ppi_mean(y, f, u, lam)
    low, high = ppi_py.ppi_mean_ci(y, f, u, alpha=0.05, lam=lam)
    value = ppi_py.ppi_mean_pointestimate(y, f, u, lam=lam)
    assert np.allclose([found.value, found.low, found.high], np.ravel([value, low, high]), atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("method", "lam"), [("labels", 0), ("ppi", 1), ("ppi++", None)])
def test_the_value_over_all_rows_is_that_of_ppi_py(seed: int, method: str, lam: float | None) -> None:
    y, f, u = rows(seed)
    labels = np.concatenate([y, np.full(len(u), np.nan)])
    found = mean_estimate(PartlyLabelled(labels, np.concatenate([f, u])), method)
    assert np.isclose(found.value, ppi_py.ppi_mean_pointestimate(y, f, u, lam=lam).item(), atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("exact", [False, True])
def test_quantile_equals_ppi_py(seed: int, q: float, exact: bool) -> None:
    y, f, u = rows(seed)
    found = ppi_quantile(y, f, u, q, grid=None if exact else 5000)
    low, high = ppi_py.ppi_quantile_ci(y, f, u, q, alpha=0.05, exact_grid=exact)
    value = ppi_py.ppi_quantile_pointestimate(y, f, u, q, exact_grid=exact)
    assert np.allclose([found.value, found.low, found.high], [value, low, high], atol=1e-10, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("lam", [0.3, 1.0, None])
def test_logistic_regression_equals_ppi_py(seed: int, lam: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from scipy.optimize import minimize, root

    def to_the_end(loss, start, jac, **options):
        """Their L-BFGS-B stops about 1e-8 before the optimum of their own loss; the root of its gradient is it."""
        found = minimize(loss, start, jac=jac, **options)
        found.x = root(jac, found.x, tol=1e-15).x
        return found

    monkeypatch.setattr(ppi_py.ppi, "minimize", to_the_end)
    rng = np.random.default_rng(seed)
    n, others = 200, 1500
    x = np.column_stack([np.ones(n + others), rng.standard_normal((n + others, 2))])
    p = 1 / (1 + np.exp(-(x @ [0.3, 0.8, -0.5])))
    y = (rng.random(n + others) < p).astype(float)
    f = np.where(rng.random(n + others) < 0.85, y, 1 - y) * 0.9 + 0.05
    found = ppi_logistic((x[:n], y[:n], f[:n]), (x[n:], f[n:]), lam)
    args = (x[:n], y[:n], f[:n], x[n:], f[n:])
    value = ppi_py.ppi_logistic_pointestimate(*args, lam=lam)
    # Without a given λ their interval tunes it once more at the tuned value, so its λ is not that of their value.
    low, high = ppi_py.ppi_logistic_ci(*args, alpha=0.05, lam=found.lam)
    assert np.allclose(found.value, value, atol=1e-10, rtol=0)
    assert np.allclose([found.low, found.high], [low, high], atol=1e-10, rtol=0)
