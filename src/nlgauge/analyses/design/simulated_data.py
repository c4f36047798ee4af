"""Simulated data: parameters of a data set, and a table of scores and ratings drawn from parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.options import option
from nlgauge.stats.design.simulate import SimulationParams, fit_panel, simulate_panel
from nlgauge.table import Table


def simulation_params(panel: Panel) -> tuple[SimulationParams, str]:
    """Fit parameters to one metric and one aspect, and describe them.

    >>> import nlgauge as ng
    >>> params, words = simulation_params(ng.example().panel(metrics=["unigram_f1"]))
    >>> round(params.rho_sys, 2), params.N, params.M
    (0.94, 8, 24)
    """
    if len(panel.names) != 1:
        raise NlgaugeError(
            f"the simulation requires one metric: select it with {option('metrics', choice=True)}. Metrics: "
            f"{', '.join(panel.names)}."
        )
    name = panel.names[0]
    try:
        found = fit_panel(panel.oriented()[0], panel.human)
    except DataError:
        raise NlgaugeError(
            f"{panel.name}: the variance of {name} or {panel.aspect} is too small, or there is one system."
        ) from None
    words = (
        f"{panel.name}: {name} on {panel.aspect}: ρ_sys {found.rho_sys:.2f}, μ_ρ {found.mu_rho:.2f}, σ_ρ "
        f"{found.sigma_rho:.2f}, σ_m {found.sigma_m:.3g}, σ_h {found.sigma_h:.3g}, {panel.n_systems} systems "
        f"× {panel.n_inputs} inputs"
    )
    # One SD within systems for all, since the number of systems may change.
    within_m, within_h = (float(np.nanmean(np.asarray(within))) for within in (found.within_m, found.within_h))
    sigma_rho = 0.0 if np.isnan(found.sigma_rho) else found.sigma_rho
    return replace(found, within_m=within_m, within_h=within_h, sigma_rho=sigma_rho), words


def simulated(params: SimulationParams | None = None, *, seed: int = 0) -> Table:
    """Return a simulated panel as a table: system, input, quality (human), simulated_metric.

    Parameters
    ----------
    params : SimulationParams, optional
        Those of gao2025 by default; `simulation_params` fits them to data.
    seed : int, default 0

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = simulated(SimulationParams(N=3, M=4), seed=1)
    >>> len(table), table.columns
    (12, ['system', 'input', 'quality', 'simulated_metric'])
    """
    params = params or SimulationParams()
    x, z = simulate_panel(params, np.random.default_rng(np.random.SeedSequence(seed)))
    width = len(str(params.M))
    rows = [
        {
            "system": f"system-{i + 1:02d}",
            "input": f"input-{j + 1:0{width}d}",
            "quality": float(z[i, j]),
            "simulated_metric": float(x[i, j]),
        }
        for i in range(params.N)
        for j in range(params.M)
    ]
    return Table("simulated", rows, kind="simulate")
