"""Hints that systems or inputs may not be independent although no column declares it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.data.families import family_in_name, related_systems
from nlgauge.number import p_text, some
from nlgauge.options import option
from nlgauge.stats.tests.zero_correlation import MAX_INPUTS, adjacent_inputs_p, lag_one_correlation
from nlgauge.types import Array

if TYPE_CHECKING:
    from nlgauge.data.panel import Panel

MIN_INPUTS = 20  # fewer: low power, and the normal approximation is rough
MIN_SYSTEMS = 12  # fewer: low power
LEVEL = 0.01  # of the tests for adjacent systems and inputs
MAX_GROUPS = 4  # groups of related systems that a hint lists


def dependence_hints(panel: Panel) -> list[str]:
    """Return hints where confidence intervals may be too narrow because of undeclared dependence.

    Parameters
    ----------
    panel : Panel
        In any order: the inputs are tested in the order of the file.

    Returns
    -------
    list of str
        At most one sentence about systems (`family_hint`, `adjacent_systems_hint`) and one about inputs
        (`adjacent_inputs_hint`).
    """
    return [hint for hint in (family_hint(panel) or adjacent_systems_hint(panel), adjacent_inputs_hint(panel)) if hint]


def family_hint(panel: Panel) -> str:
    """Name systems that look like variants of one model; empty if a family is declared or no names look related."""
    if panel.families or (panel.data is not None and panel.data.family):
        return ""
    systems = panel.given[0] if panel.given else panel.systems
    groups = related_systems(systems)
    if not groups:
        return ""
    names = "; ".join(some(group, 4) for group in list(groups.values())[:MAX_GROUPS])
    more = f"; and {len(groups) - MAX_GROUPS} more groups" if len(groups) > MAX_GROUPS else ""
    return (
        f"Some system names look related ({names}{more}): variants of one model are not independent, so confidence "
        "intervals may be too narrow. If they are variants, declare their family with "
        f"{_family_option(groups, systems)}."
    )


def _family_option(groups: dict[str, list[str]], systems: tuple[str, ...]) -> str:
    """Return the option, with a pattern if one defines exactly these groups."""
    pattern = "(" + "|".join(re.escape(stem).replace(r"\-", "-").replace(r"\ ", " ") for stem in groups) + ")"
    of_group = {name: stem for stem, names in groups.items() for name in names}
    fits = all(family_in_name(pattern, name) == of_group.get(name) for name in systems)
    return option("family", pattern) if fits else option("family")


def adjacent_systems_hint(panel: Panel) -> str:
    """Report correlated metric errors of adjacent systems; empty if families are declared or p is not small.

    The errors are residuals of the mean scores given the mean ratings: files are often sorted by quality, which is no
    evidence of families.
    """
    if panel.families or (panel.data is not None and panel.data.family) or panel.n_systems < MIN_SYSTEMS:
        return ""
    position = {name: k for k, name in enumerate(panel.systems)}
    order = [position[name] for name in (panel.given[0] if panel.given else panel.systems)]
    errors = mean_errors(panel.oriented()[:, order], panel.human[order])
    p = adjacent_inputs_p(errors) if len(errors) else np.nan
    if not p < LEVEL:
        return ""
    return (
        "Adjacent systems in the file have similar metric errors "
        f"(lag-1 correlation {lag_one_correlation(errors):.2f}, "
        f"{p_text(p)}): if they are variants of one model, declare their family with {option('family')}; "
        "otherwise confidence intervals may be too narrow."
    )


def mean_errors(metrics: Array, human: Array) -> Array:
    """Return the residuals of the regression of mean scores on mean ratings, metrics × systems, with unit variance."""
    rating = _means(human, axis=1)[:, 0]
    rows = []
    for scores in metrics:
        score = _means(np.where(np.isfinite(human), scores, np.nan), axis=1)[:, 0]
        both = np.isfinite(score) & np.isfinite(rating)
        if both.sum() < MIN_SYSTEMS or np.ptp(rating[both]) == 0 or np.ptp(score[both]) == 0:
            continue
        slope, intercept = np.polyfit(rating[both], score[both], 1)
        error = score - slope * rating - intercept
        spread = float(np.nanstd(error))
        rows += [error / spread] if spread > 1e-9 * float(np.nanstd(score)) else []
    return np.array(rows)


def adjacent_inputs_hint(panel: Panel) -> str:
    """Report that adjacent inputs are correlated; empty if clusters are declared or p is not small."""
    if panel.clusters or (panel.data is not None and panel.data.cluster) or panel.n_inputs < MIN_INPUTS:
        return ""
    tests = [(adjacent_inputs_p(values), what, values) for what, values in _series(panel)]
    tests = [test for test in tests if np.isfinite(test[0])]
    if not tests:
        return ""
    smallest, what, values = min(tests, key=lambda test: test[0])
    p = len(tests) * smallest  # Bonferroni
    if p >= LEVEL:
        return ""
    return (
        f"Adjacent inputs have correlated {what} (lag-1 correlation {lag_one_correlation(values):.2f}, "
        f"{p_text(p)}): if they come from one document or "
        f"conversation, declare its column with {option('cluster')}; otherwise confidence intervals may be too narrow."
    )


def _series(panel: Panel) -> list[tuple[str, Array]]:
    """Return the series that are tested between adjacent inputs, in the order of the file, with their names.

    The mean rating of each input (documents that are hard for all systems), the ratings and the scores without the
    means of systems and inputs (documents that suit some systems), and the correlation of each metric with the ratings
    within the input (documents that suit the metric). Mean scores of inputs are not tested: adjacent inputs have
    similar scores for harmless reasons, such as their length.
    """
    position = {name: k for k, name in enumerate(panel.inputs)}
    order = [position[name] for name in (panel.given[1] if panel.given else panel.inputs)][:MAX_INPUTS]
    human = panel.human[:, order]
    series = [("ratings", _means(human - _means(human, axis=1), axis=0))]
    if panel.n_systems > 1:
        series.append(("ratings", _residuals(human)))
    if panel.n_systems > 1 and panel.metrics:
        metrics = panel.oriented()[:, :, order]
        scores = [_residuals(values) for values in metrics]
        spread = [float(np.nanstd(values)) if np.isfinite(values).any() else 0.0 for values in scores]
        scaled = [values / sd for values, sd in zip(scores, spread, strict=True) if sd > 0]
        series += [("metric scores", np.concatenate(scaled))] if scaled else []
        series += [("agreement between metrics and ratings", _within_inputs(metrics, human))]
    return series


def _residuals(x: Array) -> Array:
    """Subtract the means of systems and of inputs."""
    centered = x - _means(x, axis=1)
    return np.asarray(centered - _means(centered, axis=0))


def _means(x: Array, axis: int) -> Array:
    """Return the means of the finite values, with the axis preserved; NaN if there are none."""
    finite = np.isfinite(x)
    count = finite.sum(axis=axis, keepdims=True)
    total = np.where(finite, x, 0.0).sum(axis=axis, keepdims=True)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _within_inputs(metrics: Array, human: Array) -> Array:
    """Return the Pearson correlation of each metric with the ratings within each input, metrics × inputs."""
    correlations = np.full((len(metrics), human.shape[1]), np.nan)
    for k, scores in enumerate(metrics):
        both = np.isfinite(scores) & np.isfinite(human)
        x, z = (np.where(both, values, np.nan) for values in (scores, human))
        x, z = (np.where(both, values - _means(values, axis=0), 0.0) for values in (x, z))
        spread = np.sqrt((x**2).sum(axis=0) * (z**2).sum(axis=0))
        defined = (both.sum(axis=0) > 2) & (spread > 1e-12 * np.abs(scores[both]).max(initial=1e-300))
        correlations[k, defined] = (x * z).sum(axis=0)[defined] / spread[defined]
    return correlations
