"""Populations whose truth is known: systems and inputs are drawn from them again and again.

Algorithm 1 of gao2025 (stats/design/simulate.py) with what real data have besides: inputs of unequal difficulty, coarse
rating scales, several raters, missing ratings, heavy tails, outlying systems, families of systems, documents, metrics
that share errors or give few values. A real data set is a population, too (`RealPopulation`). `truth` is the mean of a
measure over very many data sets of as many systems and inputs; for few systems (or one), which stay the same, over very
many inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from nlgauge.stats.correlation.measure import Measure, evaluate

Floats = NDArray[np.float64]
FAMILY_SHARE = 0.9  # of the variance between systems that the members of a family have in common
MOST_METRICS = 8  # of a real data set: every k-th of its metrics
DOCUMENT_SHARE = 0.8  # of the variance between inputs that the inputs of a document have in common


class Systems(NamedTuple):
    people: Floats
    metric: Floats
    rho: Floats


@dataclass(frozen=True)
class World:
    """A population of systems, inputs and human ratings, and one metric.

    rho_sys: correlation of a metric with people over systems; mu_rho, sigma_rho: over the outputs of a system;
    difficulty: standard deviation of the inputs next to that of single outputs, of which metric and people share
    `shared`; levels: values of the rating scale (0: continuous), top: share of outputs at its highest value (0: equal
    shares); raters: ratings averaged, each with noise; gaps: share of missing ratings, missing_low: how much more often
    ratings of outputs with a low metric score are missing; heavy: metric errors have Student's t with 3 degrees of
    freedom; outliers: probability that a system is four standard deviations worse; family: systems per family;
    document: inputs per document, which are alike in difficulty, quality and errors; common: share of the variance
    of their errors that metrics have in common; metric_levels: values that the metric gives (0: continuous).
    """

    rho_sys: float = 0.8
    mu_rho: float = 0.4
    sigma_rho: float = 0.15
    difficulty: float = 0.5
    shared: float = 0.5
    levels: int = 5
    top: float = 0.0
    raters: int = 1
    gaps: float = 0.0
    missing_low: float = 0.0
    heavy: bool = False
    outliers: float = 0.0
    family: int = 1
    document: int = 1
    common: float = 0.0
    metric_levels: int = 0

    def systems(self, n: int, rng: np.random.Generator) -> Systems:
        """Draw the quality of n systems according to people and to the metric, and its correlation within each."""
        a = self._grouped(n, rng)
        if self.outliers:
            a = a - 4 * (rng.random(n) < self.outliers)
        return Systems(a, *self.metric_of(a, rng))

    def metric_of(self, people: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the metric's view of systems that are given."""
        n = len(people)
        rho = np.clip(rng.normal(self.mu_rho, self.sigma_rho, n), -1, 1)
        return _mix(self.rho_sys, people, self._grouped(n, rng)), rho

    def _grouped(self, n: int, rng: np.random.Generator) -> Floats:
        own = rng.standard_normal(n)
        if self.family == 1:
            return own
        family = np.repeat(rng.standard_normal(-(-n // self.family)), self.family)[:n]
        return _mix(np.sqrt(FAMILY_SHARE), family, own)

    def errors(self, n: int, m: int, rng: np.random.Generator) -> Floats:
        """Draw the errors of a metric's scores."""
        e = rng.standard_t(3, (n, m)) / np.sqrt(3) if self.heavy else rng.standard_normal((n, m))
        return self.in_documents(e, rng)

    def in_documents(self, own: Floats, rng: np.random.Generator) -> Floats:
        """Make the columns (inputs) of one document alike."""
        if self.document == 1:
            return own
        shape = (*own.shape[:-1], -(-own.shape[-1] // self.document))
        document = np.repeat(rng.standard_normal(shape), self.document, axis=-1)[..., : own.shape[-1]]
        return _mix(np.sqrt(DOCUMENT_SHARE), document, own)

    def rated(self, truth: Floats, rng: np.random.Generator) -> Floats:
        """Turn quality into ratings."""
        scale = np.sqrt(2 + self.difficulty**2)
        highest = self.top or 1 / max(self.levels, 1)
        shares = np.arange(1, self.levels) / max(self.levels - 1, 1) * (1 - highest)
        cuts = scale * ndtri(shares) if self.levels else None
        given = []
        for _ in range(self.raters):
            seen = truth + (0.7 * rng.standard_normal(truth.shape) if self.raters > 1 else 0.0)
            given.append(seen if cuts is None else np.searchsorted(cuts, seen).astype(np.float64))
        return np.mean(given, axis=0)


UNRELATED = World(rho_sys=0.0, mu_rho=0.0, sigma_rho=0.0, shared=0.0)


def panel(worlds: Sequence[World], n: int, m: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw one metric per world (K × N × M) and the ratings (N × M) of the first world."""
    first = worlds[0].systems(n, rng)
    drawn = [first, *(Systems(first.people, *w.metric_of(first.people, rng)) for w in worlds[1:])]
    return outputs(worlds, drawn, m, rng)


def outputs(
    worlds: Sequence[World], drawn: Sequence[Systems], m: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw m inputs for systems that are given."""
    world, n = worlds[0], len(drawn[0].people)
    b, c = (world.in_documents(rng.standard_normal(shape), rng) for shape in ((m,), (n, m)))
    z = world.rated(drawn[0].people[:, None] + world.difficulty * b + c, rng)
    common = rng.standard_normal((n, m)) if any(w.common for w in worlds) else 0.0
    scores = []
    for s, w in zip(drawn, worlds, strict=True):
        errors = _mix(np.sqrt(w.common), common, w.errors(n, m, rng)) if w.common else w.errors(n, m, rng)
        difficulty = w.difficulty * _mix(w.shared, b, rng.standard_normal(m))
        x = s.metric[:, None] + difficulty + _mix(s.rho[:, None], c, errors)
        scores.append(rounded(x, w.metric_levels) if w.metric_levels else x)
    if world.gaps:
        odds = np.full(z.shape, world.gaps)
        if world.missing_low:
            odds = np.clip(world.gaps * (1 - world.missing_low * np.sign(scores[0] - np.median(scores[0]))), 0, 0.95)
        z[rng.random(z.shape) < odds] = np.nan
    return np.stack(scores), z


def rounded(scores: Floats, levels: int) -> Floats:
    """Round scores to equally wide steps between their extremes, as a judge with few grades does."""
    low, high = scores.min(), scores.max()
    return np.minimum(np.floor((scores - low) / (high - low) * levels), levels - 1)


class RealPopulation(NamedTuple):
    """A published data set from which systems and inputs are drawn, each at most once."""

    scores: Floats
    human: Floats

    def draw(self, n: int, m: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        i, j = rng.choice(len(self.human), n, replace=False), rng.choice(self.human.shape[1], m, replace=False)
        return self.scores[:, i][:, :, j], self.human[np.ix_(i, j)]


@cache
def real_population(name: str, aspect: str) -> RealPopulation:
    """Read a data set of the mirror (NLGAUGE_DATA)."""
    import nlgauge as ng

    chosen = ng.load(name).panel(aspect)
    step = -(-len(chosen.names) // MOST_METRICS)
    return RealPopulation(chosen.oriented()[::step], chosen.human)


@cache
def truth(world: World, measures: tuple[str, ...], n: int, m: int) -> Floats:
    """The mean of each measure over very many data sets of n systems and m inputs."""
    rng = np.random.default_rng([20_240_607, n, m])
    want = [Measure.parse(name) for name in measures]
    return np.nanmean([evaluate(*panel([world], n, m, rng), want).value[0] for _ in range(4000)], axis=0)


def truth_of(world: World, drawn: Systems, measures: tuple[str, ...], rng: np.random.Generator) -> Floats:
    """Each measure for these very systems and very many inputs."""
    x, z = outputs([replace(world, gaps=0.0)], [drawn], 20_000 // len(drawn.people) + 2000, rng)
    return evaluate(x, z, [Measure.parse(name) for name in measures]).value[0]


def _mix(rho: float | Floats, shared: Floats, own: Floats) -> Floats:
    r = np.asarray(rho, np.float64)
    return np.asarray(r * shared + np.sqrt(1 - r**2) * own)
