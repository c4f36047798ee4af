"""Severity and consistency of raters: a rating scale model with a slope for each rater, by marginal likelihood.

The model is the many-facet rating scale model (Linacre 1989) with rater slopes (Uto and Ueno 2020): the quality of an
output is a latent trait, and a rater's severity and consistency are the location and the slope of its response curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.errors import DataError, NlgaugeError
from nlgauge.types import Array, Ints

MAX_CATEGORIES = 10  # different ratings; more have too few observations each
MIN_OUTPUTS, MIN_CLUSTERS = 60, 10  # below which the sandwich errors are too small
NODES = 31  # of the quadrature over the latent quality
# Standard deviations of weak normal priors on the log slopes, severities and thresholds: they keep the estimate finite
# where a rater used one category only, and weigh less than one rating otherwise.
PRIOR_SLOPE, PRIOR_LOCATION = 1.0, 3.0
STEP = 1e-5  # of numerical derivatives


class RaterSeverities(NamedTuple):
    """Severity and consistency of each rater, with standard errors.

    leniency: expected rating over outputs of average spread, minus the mean over the reference raters, in rating
    points; consistency: share of the variance of a rater's ratings that the quality of the outputs explains;
    covariance: of the leniencies; consistency_error: standard error of the logit of the consistency; outputs, clusters:
    how many were used.
    """

    leniency: Array
    covariance: Array
    consistency: Array
    consistency_error: Array
    outputs: int
    clusters: int


class _Model(NamedTuple):
    """Categories (outputs × raters, -1 is missing), their values, and the grid of the latent quality."""

    codes: Ints
    values: Array
    nodes: Array
    weights: Array

    @property
    def raters(self) -> int:
        return int(self.codes.shape[1])

    def unpack(self, parameters: Array) -> tuple[Array, Array, Array]:
        """Return slopes, severities and cumulative thresholds; the first and the last of these are zero."""
        count = self.raters
        inner = parameters[2 * count :]
        return np.exp(parameters[:count]), parameters[count : 2 * count], np.concatenate([[0.0], inner, [0.0]])

    def log_probabilities(self, parameters: Array) -> Array:
        """Return the log probability of each category: raters × categories × nodes."""
        slope, severity, cumulative = self.unpack(parameters)
        category = np.arange(len(self.values))[None, :, None]
        linear = category * (self.nodes[None, None, :] - severity[:, None, None]) - cumulative[None, :, None]
        logits = slope[:, None, None] * linear
        return np.asarray(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))

    def posterior(self, log_p: Array) -> tuple[Array, float]:
        """Return the weight of each node for each output, and the log likelihood."""
        total = np.tile(np.log(self.weights), (len(self.codes), 1))
        for rater in range(self.raters):
            rated = self.codes[:, rater] >= 0
            total[rated] += log_p[rater][self.codes[rated, rater]]
        highest = total.max(axis=1, keepdims=True)
        density = np.exp(total - highest)
        mass = density.sum(axis=1, keepdims=True)
        return density / mass, float((np.log(mass) + highest).sum())

    def derivatives(self, parameters: Array, log_p: Array) -> Array:
        """Return d log p of each category and node by the rater's slope, severity and by each threshold."""
        slope, severity, cumulative = self.unpack(parameters)
        count, category = len(self.values), np.arange(len(self.values))[None, :, None]
        linear = category * (self.nodes[None, None, :] - severity[:, None, None]) - cumulative[None, :, None]
        by_slope = slope[:, None, None] * linear
        by_severity = np.broadcast_to(-slope[:, None, None] * category, by_slope.shape)
        indicator = np.eye(count)[:, 1:-1]
        by_threshold = [
            np.broadcast_to(-slope[:, None, None] * column[None, :, None], by_slope.shape) for column in indicator.T
        ]
        logits = np.stack([by_slope, by_severity, *by_threshold])
        return np.asarray(logits - (logits * np.exp(log_p)).sum(axis=2, keepdims=True))

    def scores(self, parameters: Array) -> Array:
        """Return the gradient of the log likelihood of each output: outputs × parameters."""
        log_p = self.log_probabilities(parameters)
        weight, _ = self.posterior(log_p)
        slopes = self.derivatives(parameters, log_p)
        result = np.zeros((len(self.codes), len(parameters)))
        for rater in range(self.raters):
            rated = self.codes[:, rater] >= 0
            of_rated = slopes[:, rater][:, self.codes[rated, rater]]  # derivative × output × node
            gradient = np.einsum("don,on->od", of_rated, weight[rated])
            result[rated, rater] += gradient[:, 0]
            result[rated, self.raters + rater] += gradient[:, 1]
            result[np.ix_(rated, np.arange(2 * self.raters, len(parameters)))] += gradient[:, 2:]
        return result

    def expected(self, parameters: Array) -> tuple[Array, Array]:
        """Return each rater's mean rating, and the share of its variance that the latent quality explains."""
        probability = np.exp(self.log_probabilities(parameters))
        at_node = np.einsum("rkn,k->rn", probability, self.values)
        square = np.einsum("rkn,k,n->r", probability, self.values**2, self.weights)
        mean = at_node @ self.weights
        explained = (at_node - mean[:, None]) ** 2 @ self.weights
        return mean, explained / np.maximum(square - mean**2, 1e-12)


def rater_severities(
    ratings: ArrayLike, *, reference: Sequence[bool] | None = None, clusters: Sequence[object] | None = None
) -> RaterSeverities:
    """Estimate how lenient and how consistent each rater is, from ratings of the same outputs.

    Parameters
    ----------
    ratings : array
        Raters × outputs on one scale of at most 10 different values; NaN is missing. Raters may be annotators or
        judges, and need not have rated the same outputs.
    reference : sequence of bool, optional
        Raters whose mean leniency is zero, such as the human annotators; all by default.
    clusters : sequence, optional
        Cluster of each output, such as its input; clusters are independent.

    Returns
    -------
    RaterSeverities

    Notes
    -----
    log P(k) - log P(k - 1) = a_r (q - b_r - t_k) for the categories k of rater r, where q is the quality of the output
    with a standard normal distribution, a_r the slope, b_r the severity, and the thresholds t_k are common to all
    raters and sum to zero. The marginal likelihood is maximized with a quadrature of 31 nodes and weak normal priors.
    Leniency and consistency are functions of these parameters in units of the ratings; their standard errors are the
    delta method on the sandwich covariance with one score per cluster, times C / (C - 1) for C clusters; compare with
    Student's t with C - 1 degrees of freedom.

    References
    ----------
    Linacre (1989), Many-facet Rasch measurement. Uto and Ueno (2020), A generalized many-facet Rasch model and its
    Bayesian estimation using Hamiltonian Monte Carlo.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(3, 1, 200)
    >>> noisy = [quality + shift + rng.normal(0, sd, 200) for shift, sd in ((0, 0.5), (0, 0.5), (0.8, 0.5), (0, 2))]
    >>> fit = rater_severities(np.clip(np.round(noisy), 1, 5), reference=[True, True, False, False])
    >>> bool(0.5 < fit.leniency[2] < 1), bool(fit.consistency[3] < fit.consistency[0])
    (True, True)
    """
    from scipy.optimize import minimize

    cube = np.asarray(ratings, np.float64)
    if cube.ndim != 2 or len(cube) < 2:
        raise DataError(
            f"expected ratings of at least 2 raters, raters × outputs; found an array of shape {cube.shape}"
        )
    several = np.isfinite(cube).sum(axis=0) > 1
    values = np.unique(cube[:, several][np.isfinite(cube[:, several])])
    if not 2 <= len(values) <= MAX_CATEGORIES:
        raise NlgaugeError(f"severity requires 2 to {MAX_CATEGORIES} different ratings; found {len(values)}.")
    unit = np.arange(cube.shape[1]) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    unit = np.unique(unit[several], return_inverse=True)[1]
    count = int(unit.max(initial=-1)) + 1
    if several.sum() < MIN_OUTPUTS or count < MIN_CLUSTERS:
        raise NlgaugeError(
            f"severity requires at least {MIN_OUTPUTS} outputs with two or more ratings, in {MIN_CLUSTERS} independent "
            f"clusters; found {several.sum()} in {count}."
        )
    codes = np.where(np.isfinite(cube), np.searchsorted(values, np.nan_to_num(cube, nan=values[0])), -1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    model = _Model(codes[:, several].T.astype(np.int64), values, nodes, weights / weights.sum())
    size = 2 * len(cube) + len(values) - 2
    precision = np.concatenate([np.full(len(cube), PRIOR_SLOPE**-2), np.full(size - len(cube), PRIOR_LOCATION**-2)])

    def negative(parameters: Array) -> tuple[float, Array]:
        likelihood = model.posterior(model.log_probabilities(parameters))[1]
        penalty = precision * parameters
        return 0.5 * float(penalty @ parameters) - likelihood, penalty - model.scores(parameters).sum(axis=0)

    fit = minimize(negative, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-11})
    best = np.asarray(fit.x)
    steps = STEP * np.eye(size)
    hessian = np.stack([(negative(best + step)[1] - negative(best - step)[1]) / (2 * STEP) for step in steps])
    inverse = np.linalg.inv((hessian + hessian.T) / 2)
    of_cluster = np.zeros((count, size))
    np.add.at(of_cluster, unit, model.scores(best))
    covariance = inverse @ (of_cluster.T @ of_cluster) @ inverse * count / (count - 1)
    zero = np.ones(len(cube), bool) if reference is None else np.asarray(reference, bool)
    return _in_rating_points(model, best, covariance, zero, (int(several.sum()), count))


def _in_rating_points(
    model: _Model, best: Array, covariance: Array, reference: Array, counts: tuple[int, int]
) -> RaterSeverities:
    """Turn parameters into leniency and consistency, with errors by the delta method."""

    def figures(parameters: Array) -> Array:
        mean, share = model.expected(parameters)
        return np.concatenate([mean - mean[reference].mean(), np.log(share / (1 - share))])

    steps = STEP * np.eye(len(best))
    jacobian = np.stack([(figures(best + step) - figures(best - step)) / (2 * STEP) for step in steps], axis=1)
    errors = jacobian @ covariance @ jacobian.T
    value, n = figures(best), model.raters
    return RaterSeverities(
        value[:n], errors[:n, :n], 1 / (1 + np.exp(-value[n:])), np.sqrt(np.diag(errors)[n:]), *counts
    )
