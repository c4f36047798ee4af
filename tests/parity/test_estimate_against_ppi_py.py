"""Prediction-powered estimates of a mean equal those of the authors' package, ppi_py."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate

ppi_py = pytest.importorskip("ppi_py")
SEEDS = range(5)


def rows(seed: int, n: int = 80, others: int = 700) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels between 0 and 1, scores of the labelled rows, scores of the others."""
    rng = np.random.default_rng(seed)
    y = rng.random(n + others)
    f = np.clip(y + 0.3 * rng.standard_normal(n + others) + 0.1, 0, 1)
    return y[:n], f[:n], f[n:]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("method", "lam"), [("labels", 0), ("ppi", 1), ("ppi++", None)])
def test_the_value_over_all_rows_is_that_of_ppi_py(seed: int, method: str, lam: float | None) -> None:
    y, f, u = rows(seed)
    labels = np.concatenate([y, np.full(len(u), np.nan)])
    found = mean_estimate(PartlyLabeled(labels, np.concatenate([f, u])), method)
    assert np.isclose(found.value, ppi_py.ppi_mean_pointestimate(y, f, u, lam=lam).item(), atol=1e-10, rtol=0)
