"""Soft pairwise accuracy (Thompson et al. 2024): do metric and humans agree on the significance of system
differences?
"""

from __future__ import annotations

import numpy as np

from nlgauge.types import Array, Mask

ROUNDING = 1e-12  # relative tolerance within which a drawn difference equals the observed one


def soft_pairwise_accuracy(metrics: Array, human: Array, *, rng: np.random.Generator, draws: int = 1000) -> Array:
    """Compute 1 − mean |p_h − p_m| over pairs of systems, one value per metric (K×N×M against N×M).

    p is the one-sided p-value that the first system is better: the share of draws in which, after randomly swapping the
    two systems' scores of each input, the first leads by at least as much as observed. Human ratings and all metrics
    share the same swaps. A pair uses the inputs on which both systems have both scores; pairs without such inputs are
    left out.
    """
    signs: Array = rng.choice(np.array([-1.0, 1.0]), size=(draws, human.shape[1]))
    human_there = np.isfinite(human)
    human_p = _p_values(human, human_there, signs)
    result = np.full(len(metrics), np.nan)
    for k, metric in enumerate(metrics):
        there = human_there & np.isfinite(metric)
        people = human_p if (there == human_there).all() else _p_values(human, there, signs)
        distance: Array = np.abs(np.subtract(people, _p_values(metric, there, signs)))
        if not np.isnan(distance).all():
            result[k] = 1.0 - np.nanmean(distance)
    return result


def _p_values(scores: Array, there: Mask, signs: Array) -> Array:
    """Compute p for all pairs i < j in row order; NaN for a pair without shared inputs."""
    n = len(scores)
    selected = np.where(there, scores, 0.0)
    complete = bool(there.all())
    flipped = signs @ selected.T if complete else np.empty((0, 0))
    size = np.abs(selected).sum(axis=1)
    p: list[Array] = [np.empty(0)]
    for i in range(n - 1):
        shared = there[i] & there[i + 1 :]
        lead = np.where(shared, selected[i] - selected[i + 1 :], 0.0)
        drawn = flipped[:, i, None] - flipped[:, i + 1 :] if complete else signs @ lead.T
        observed = lead.sum(axis=1) - ROUNDING * (size[i] + size[i + 1 :])
        share = (drawn >= observed).mean(axis=0)
        p.append(np.where(shared.any(axis=1), share, np.nan))
    return np.concatenate(p)
