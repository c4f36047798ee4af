"""Plain specifications of the resampling kernels: build the table of a draw, correlate it with scipy, nothing
else.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import stats

COEFFICIENTS = (
    "pearson",
    "spearman",
    "kendall",
    "tau-a",
    "tau-10",
    "tau-13",
    "tau-14",
    "tau-23",
    "acc-eq",
    "pairwise-accuracy",
)
GROUPINGS = ("global", "input", "item", "system")
EVERY = tuple(f"{g}/{c}" for g in GROUPINGS for c in COEFFICIENTS)
TWELVE = tuple(f"{g}/{c}" for g in GROUPINGS for c in ("pearson", "spearman", "kendall"))


def coefficient(x, z, name):
    """One coefficient of two vectors without gaps, NaN where it is undefined."""
    if name in ("pearson", "spearman", "kendall"):
        if len(set(x)) < 2 or len(set(z)) < 2:
            return np.nan
        function = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[name]
        return function(x, z)[0]
    if name == "pairwise-accuracy":
        return pairwise_accuracy(x, z)
    i, k = np.triu_indices(len(x), 1)
    m, h = np.sign(x[i] - x[k]), np.sign(z[i] - z[k])
    c, d = (m * h > 0).sum(), (m * h < 0).sum()
    t_h, t_m, t_hm = ((h == 0) & (m != 0)).sum(), ((m == 0) & (h != 0)).sum(), ((m == 0) & (h == 0)).sum()
    above, below = {
        "tau-a": (c - d, len(i)),
        "tau-10": (c - d - t_m, c + d + t_m),
        "tau-13": (c - d, c + d),
        "tau-14": (c - d, c + d + t_m),
        "tau-23": (c + t_hm - d - t_h - t_m, len(i)),
        "acc-eq": (c + t_hm, len(i)),
    }[name]
    return above / below if below else np.nan


def pairwise_accuracy(x, z):
    """Pair by pair: of those that people rate differently, how many the metric orders alike, ties one half."""
    right = []
    for i in range(len(x)):
        for k in range(i):
            if z[i] != z[k]:
                right.append(0.5 if x[i] == x[k] else float((x[i] > x[k]) == (z[i] > z[k])))
    return sum(right) / len(right) if right else np.nan


def tied(means, scale):
    """Means that differ by rounding only, of the size of the largest value in them, made equal."""
    out = means.copy()
    for i in np.argsort(means):
        out[np.abs(out - out[i]) <= 1e-12 * np.maximum(scale, scale[i])] = out[i]
    return out


def groups(x, z, grouping):
    if grouping == "system":
        there = np.isfinite(x) & np.isfinite(z)
        kept = there.any(axis=1)
        means = [np.array([row[t].mean() for row, t in zip(a[kept], there[kept], strict=True)]) for a in (x, z)]
        sizes = [np.where(there, np.abs(a), 0.0).max(axis=1, initial=0.0)[kept] for a in (x, z)]
        return [tuple(tied(m, size) for m, size in zip(means, sizes, strict=True))]
    if grouping == "global":
        return [(x.ravel(), z.ravel())]
    return list(zip(x, z, strict=True)) if grouping == "item" else list(zip(x.T, z.T, strict=True))


def correlate(x, z, measure, constant="drop"):
    """A measure of one table, constant groups left out of the mean (or counted as 0)."""
    grouping, name = measure.split("/")
    least = 3 if grouping in ("global", "system") else 2
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a, b in groups(x, z, grouping):
            there = np.isfinite(a) & np.isfinite(b)
            if there.sum() >= least:
                found.append(coefficient(a[there], b[there], name))
    found = np.array(found, float)
    if constant == "zero":
        return np.nan_to_num(found).mean()
    return np.nan if np.isnan(found).all() else np.nanmean(found)


def standardise(x, there):
    kept = np.where(there, x, np.nan)
    sd = np.nanstd(kept)
    return (kept - np.nanmean(kept)) / (sd if sd > 0 else 1.0)


def panel(rng, *, systems, inputs, metrics=2, levels=0, discrete=0, missing=0.0, constant=False):
    """Random tables with the troubles asked for."""
    z = rng.normal(0, 1, (systems, inputs))
    x = z + rng.normal(0, 1, (metrics, systems, inputs))
    if levels:
        z = np.round(z * levels / 4)
    if discrete:
        x = np.round(x * discrete / 4)
    if constant:
        z[:, 0] = 1.0
        x[0, :, 1] = 2.0
        x[:, 0] = 3.0
        x[:, :, 2] = 0.5
    x[rng.random(x.shape) < missing] = np.nan
    z[rng.random(z.shape) < missing / 2] = np.nan
    return x, z
