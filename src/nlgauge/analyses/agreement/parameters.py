"""Distribution of scores and ratings: the parameters of Algorithm 1 (Gao et al. 2025, Tables 5 and 6)."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import finite_mean, flipped_note, human_note, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NlgaugeError
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure, evaluate, group_values
from nlgauge.stats.design.simulate import fit_scores
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

Bounds = tuple[float, float]
HEADS = {
    "sigma": "σ",
    "rho_sys": "ρ_sys",
    "mu_rho": "μ_ρ",
    "sigma_rho": "σ_ρ",
    "input_pearson": "input r",
    "global_pearson": "global r",
}
COLUMNS = (
    "variable",
    "mean",
    "sigma",
    "within",
    "rho_sys",
    "mu_rho",
    "sigma_rho",
    "input_pearson",
    "global_pearson",
    "unique",
    "tie_ratio",
)
LEVELS = [Measure(grouping, "pearson") for grouping in ("system", "item", "input", "global")]


@analysis("parameters", paper="gao2025", question="How are scores and ratings distributed (spread, ties, scale)?")
def parameters(panel: Panel, *, human_scale: Bounds | None = None, metric_scale: Bounds | None = None) -> Table:
    """Describe the distribution of scores and ratings (spread, ties, scale) with the parameters of Algorithm 1 of Gao
    et al. (2025).

    Parameters
    ----------
    human_scale : pair of float, optional
        Lowest and highest possible human rating, such as 1,5, used to rescale the ratings to 0–1. Default: no
        rescaling.
    metric_scale : pair of float, optional
        The same for metric scores.

    Returns
    -------
    Table
        One row for the human ratings (Table 5 of the paper) and one per metric (Table 6): mean, standard
        deviations between and within systems, correlations of the system means and within systems, distinct
        values and share of tied pairs.

    Notes
    -----
    The paper rescales everything to 0–1. Correlations, ties and distinct values do not depend on it. A simulation
    (`ng.stats.simulate`) starts from these parameters.

    References
    ----------
    Gao et al. (2025), Tables 5 and 6.
    """
    people = _scaled(panel.human, human_scale, "human_scale")
    h = fit_scores(people)
    rows: list[Row] = [
        {
            "variable": "human",
            "aspect": panel.aspect,
            "mean": h.mean,
            "sigma": h.sigma,
            "within": finite_mean(h.within),
            "rho_sys": None,
            "mu_rho": None,
            "sigma_rho": None,
            "input_pearson": None,
            "global_pearson": None,
            "unique": h.unique,
            "tie_ratio": h.tie_ratio,
            "cells": h.cells,
            "dropped_systems": 0,
            "dropped_inputs": 0,
        }
    ]
    for name, scores in panel.metrics.items():
        scaled = _scaled(scores, metric_scale, "metric_scale")
        sign = -1.0 if name in panel.lower else 1.0
        rows.append({"variable": name, "aspect": panel.aspect, **_metric(scaled, people, sign)})
    notes = [*human_note(panel), *flipped_note(panel)]
    return Table(
        title=Title(panel.name, f"parameters of scores and of ratings on {panel.aspect}"),
        rows=rows,
        shown=[*COLUMNS],
        heads=HEADS,
        definitions={
            "σ": "sample SD of the system means; within: mean SD within a system",
            "ρ_sys": "Pearson correlation of the system means of scores and ratings",
            "μ_ρ, σ_ρ": "mean and SD over systems of the Pearson correlation within a system (μ_ρ is item/pearson)",
            "tie ratio": "share of tied pairs among all pairs of outputs; unique: distinct values",
        },
        method=f"Outputs with a human rating and a score; ratings {_words(human_scale)}, scores "
        f"{_words(metric_scale)}.",
        notes=notes,
        signature=signature(panel, human_scale=human_scale, metric_scale=metric_scale),
    )


def _metric(scores: Array, people: Array, sign: float) -> Row:
    """Return spread, ties, and correlations multiplied by `sign`, over outputs with both values."""
    both = np.isfinite(scores) & np.isfinite(people)
    m = fit_scores(np.where(both, scores, np.nan)) if both.any() else None
    oriented = sign * scores[None]
    estimates = evaluate(oriented, people, LEVELS)
    inside = group_values(oriented, people, LEVELS[1])[0]
    inside = inside[np.isfinite(inside)]
    rho, item, by_input, whole = (float(v) for v in estimates.value[0])
    return {
        "mean": m.mean if m else None,
        "sigma": m.sigma if m else None,
        "within": finite_mean(m.within) if m else None,
        "rho_sys": rho,
        "mu_rho": item,
        "sigma_rho": float(inside.std(ddof=1)) if len(inside) > 1 else None,
        "input_pearson": by_input,
        "global_pearson": whole,
        "unique": m.unique if m else 0,
        "tie_ratio": m.tie_ratio if m else None,
        "cells": int(both.sum()),
        "dropped_systems": int(estimates.dropped[0, 1]),
        "dropped_inputs": int(estimates.dropped[0, 2]),
    }


def _scaled(values: Array, bounds: Bounds | None, name: str) -> Array:
    if bounds is None:
        return values
    if len(bounds) != 2 or not bounds[0] < bounds[1]:
        raise NlgaugeError(f"{option(name)}: expected the lowest and the highest value, such as 1 and 5; got {bounds}.")
    low, high = bounds
    return np.asarray((values - low) / (high - low))


def _words(bounds: Bounds | None) -> str:
    return "not rescaled" if bounds is None else f"rescaled from {bounds[0]:g}–{bounds[1]:g} to 0–1"
