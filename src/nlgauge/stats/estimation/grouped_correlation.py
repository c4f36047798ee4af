"""Correlation of a metric with human ratings by input, by system (item) and over system means, with few labeled rows.

By input: inputs whose outputs are all labeled have a coefficient of their own; its mean over all inputs is estimated
like any other mean. By item: the sparse correlation of each system, averaged. Over system means: the mean rating of
each system is estimated from its labels (PPI++), and the attenuation of the correlation by the errors of these
estimates is corrected. Mean ratings are drawn from their posterior around a line on the metric's means (random effects
with a flat prior), the metric's means are drawn from their sampling distribution, and the coefficient of every draw is
computed. Rows of one input, or of one cluster of inputs, are one unit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.estimation.means import Method, PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.several_judges import cross_fitted
from nlgauge.stats.estimation.sparse_correlation import CUT, SparseCorrelation, fisher_estimates
from nlgauge.stats.estimation.systems import joint_means

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DRAWS = 4000
SCALES = 40  # draws of a covariance estimated from few inputs
GRID = 60  # standard deviations of systems around the line


def correlations(x: Floats, y: Floats, coefficient: str) -> Floats:
    """Compute the coefficient along the last axis; NaN where one side is constant.

    >>> correlations(np.array([1.0, 2, 3]), np.array([[1.0, 3, 2], [1, 1, 1]]), "kendall").round(3).tolist()
    [0.333, nan]
    """
    if coefficient == "kendall":
        i, j = np.triu_indices(x.shape[-1], 1)
        a, b = (np.sign(v[..., i] - v[..., j]) for v in (x, y))
    else:
        if coefficient == "spearman":
            x, y = (average_ranks(v, axis=-1) for v in (x, y))
        a, b = (v - v.mean(axis=-1, keepdims=True) for v in (x, y))
        a, b = (np.where(np.ptp(v, axis=-1, keepdims=True) > 0, c, 0.0) for v, c in ((x, a), (y, b)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1)))


def input_correlation(sample: PartlyLabeled, coefficient: str, level: float = 0.95) -> tuple[SparseCorrelation, int]:
    """Estimate the mean over inputs of the coefficient over their outputs; also the number of labeled inputs that have
    one.

    `sample`: inputs × systems, the labels of an input all present or all NaN; probability, strata and clusters are per
    input. Inputs without a coefficient (all ratings or all scores equal) are left out of the mean.
    """
    assert sample.score is not None
    whole = np.asarray(np.isfinite(sample.labels).all(axis=-1))
    own = np.full(len(whole), np.nan)
    own[whole] = correlations(sample.score[whole], sample.labels[whole], coefficient)
    there = np.isfinite(own)
    weight = np.where(whole, 1.0 if sample.probability is None else 1 / sample.probability, 0.0)
    if there.sum() < 2:
        return SparseCorrelation(*[float("nan")] * 6), int(there.sum())
    mean = float((weight * np.nan_to_num(own)).sum() / weight[there].sum())
    share = weight[there].sum() / weight.sum()
    # Linearization of the ratio of two means over the labeled inputs.
    labels = np.where(whole, mean + np.where(there, own - mean, 0.0) / share, np.nan)
    spread = sample.score.std(axis=-1)
    score = cross_fitted(labels, (spread / (spread.std() or 1.0))[:, None], sample.clusters)
    flat = PartlyLabeled(labels, score, sample.probability, sample.strata, sample.clusters, share=False)
    both = [mean_estimate(flat, method, level) for method in ("ppi++", "labels")]
    ends = [float(np.clip(v, -1, 1)) for e in both for v in (e.value, e.low, e.high)]
    return SparseCorrelation(*ends), int(there.sum())


def item_correlation(
    samples: Sequence[PartlyLabeled], units: Sequence[Ints], coefficient: str, level: float = 0.95
) -> SparseCorrelation:
    """Average the sparse correlations of the systems; `units`: one code per input or cluster, shared by the systems."""
    from scipy.special import stdtrit

    ends: list[float] = []
    results = [fisher_estimates(s, coefficient, level) for s in samples]
    size = max(int(u.max()) for u in units) + 1
    for k in (0, 1):
        r = np.array([np.tanh(float(f.both[k].value)) if f else np.nan for f in results])
        sums = np.zeros(size)
        for f, unit, value in zip(results, units, r, strict=True):
            if f:
                np.add.at(sums, unit, f.wider * (1 - value**2) * f.both[k].influence / len(results))
        mean = np.clip(r.mean(), -CUT, CUT)
        labeled = len(np.unique(np.concatenate([u[s.labeled] for s, u in zip(samples, units, strict=True)])))
        half = stdtrit(max(labeled - 1, 1), (1 + level) / 2) * np.sqrt((sums**2).sum()) / (1 - mean**2)
        ends += np.tanh(np.arctanh(mean) + half * np.array([0.0, -1.0, 1.0])).tolist()
    return SparseCorrelation(*ends)


def system_correlation(
    samples: Sequence[PartlyLabeled], units: Sequence[Ints], coefficient: str, level: float = 0.95, seed: int = 0
) -> SparseCorrelation:
    """Correlate the metric's mean over all rows of each system with the mean human rating, for these systems."""
    x = np.array([float(np.mean(s.score)) for s in samples if s.score is not None])
    ends: list[float] = []
    methods: tuple[Method, Method] = ("ppi++", "labels")
    for method in methods:
        each, covariance = joint_means(samples, units, method, level)
        y = np.array([float(e.value) for e in each])
        freedom = float(min(e.freedom for e in each))
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return SparseCorrelation(*[float("nan")] * 6)
        rng = np.random.default_rng(seed)
        people = _means_drawn(x, y, covariance, freedom, rng)
        metric = rng.multivariate_normal(x, _score_covariance(samples, units), len(people))
        drawn = correlations(metric, people, coefficient)
        ends += np.quantile(drawn, [0.5, (1 - level) / 2, (1 + level) / 2]).tolist()
    return SparseCorrelation(*ends)


def _score_covariance(samples: Sequence[PartlyLabeled], units: Sequence[Ints]) -> Floats:
    """Return the covariance of the metric's system means, whose rows are a sample of outputs."""
    sums = np.zeros((len(samples), max(int(u.max()) for u in units) + 1))
    for own, sample, unit in zip(sums, samples, units, strict=True):
        assert sample.score is not None
        np.add.at(own, unit, (sample.score - sample.score.mean()) / len(sample.score))
    return np.asarray(sums @ sums.T)


def _means_drawn(x: Floats, y: Floats, covariance: Floats, freedom: float, rng: np.random.Generator) -> Floats:
    """Draw mean ratings of the systems (draws × systems) given their estimates and the line on x."""
    spread = y.std()
    design = np.column_stack([np.ones(len(x)), (x - x.mean()) / x.std()])
    taus = np.linspace(0.02, 3, GRID) * spread
    values, axes = np.linalg.eigh(covariance)
    values = np.maximum(values, 1e-9 * spread**2)
    turned, line = axes.T @ y, axes.T @ design
    drawn = []
    # Equally likely quantiles of the true covariance over its estimate.
    from scipy.special import chdtri

    for scale in freedom / chdtri(freedom, (np.arange(SCALES) + 0.5) / SCALES):
        total = scale * values + taus[:, None] ** 2  # standard deviations × axes
        inside = np.einsum("sa,ai,aj->sij", 1 / total, line, line)
        inverse = np.linalg.inv(inside)
        beta = np.einsum("sij,aj,sa,a->si", inverse, line, 1 / total, turned)
        off = turned - beta @ line.T
        log = -0.5 * (np.log(total).sum(axis=1) + np.linalg.slogdet(inside)[1] + (off**2 / total).sum(axis=1))
        weight = np.exp(log - log.max())
        index = rng.choice(GRID, DRAWS // SCALES, p=weight / weight.sum())
        root = np.linalg.cholesky(inverse)[index]
        coefficients = beta[index] + np.einsum("dij,dj->di", root, rng.standard_normal((len(index), 2)))
        centre = coefficients @ line.T
        tau2 = taus[index, None] ** 2
        shrunk = tau2 / total[index]
        noise = np.sqrt(tau2 * scale * values / total[index]) * rng.standard_normal(centre.shape)
        drawn.append(centre + shrunk * (turned - centre) + noise)
    return np.asarray(np.concatenate(drawn) @ axes.T)
