"""Populations whose truth is known: systems and inputs are drawn from them again and again.

Algorithm 1 of gao2025 (stats/design/simulate.py) with what real data have besides: inputs of unequal difficulty,
ratings in steps, several raters, missing outputs. `truth` is the mean of a measure over very many sets of as many
systems and inputs; for few systems (or one), which stay the same, over very many inputs.
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


class Systems(NamedTuple):
    people: Floats
    metric: Floats
    rho: Floats


@dataclass(frozen=True)
class World:
    """`rho_sys`: how well a metric orders systems; `mu_rho`, `sigma_rho`: how well it orders the outputs of a system;
    `difficulty`: spread of the inputs beside that of single outputs, of which metric and people share `shared`;
    `levels`: steps of the rating scale (0: none); `raters`: ratings averaged, each with noise; `gaps`: share of outputs
    without a rating."""

    rho_sys: float = 0.8
    mu_rho: float = 0.4
    sigma_rho: float = 0.15
    difficulty: float = 0.5
    shared: float = 0.5
    levels: int = 5
    raters: int = 1
    gaps: float = 0.0

    def systems(self, n: int, rng: np.random.Generator) -> Systems:
        """Ability of n systems, in people's eyes and the metric's, and how well it orders the outputs of each."""
        a = rng.standard_normal(n)
        rho = np.clip(rng.normal(self.mu_rho, self.sigma_rho, n), -1, 1)
        return Systems(a, _mix(self.rho_sys, a, rng.standard_normal(n)), rho)

    def _rated(self, truth: Floats, rng: np.random.Generator) -> Floats:
        scale = np.sqrt(2 + self.difficulty**2)
        cuts = scale * ndtri(np.arange(1, self.levels) / self.levels) if self.levels else None
        given = []
        for _ in range(self.raters):
            seen = truth + (0.7 * rng.standard_normal(truth.shape) if self.raters > 1 else 0.0)
            given.append(seen if cuts is None else np.searchsorted(cuts, seen).astype(np.float64))
        return np.mean(given, axis=0)


UNRELATED = World(rho_sys=0.0, mu_rho=0.0, sigma_rho=0.0, shared=0.0)


def panel(worlds: Sequence[World], n: int, m: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """One metric per world (K×N×M) and people (N×M) of the first world."""
    first = worlds[0].systems(n, rng)
    others = [w.systems(n, rng) for w in worlds[1:]]
    drawn = [
        first,
        *(
            Systems(first.people, _mix(w.rho_sys, first.people, rng.standard_normal(n)), s.rho)
            for w, s in zip(worlds[1:], others, strict=True)
        ),
    ]
    return outputs(worlds, drawn, m, rng)


def outputs(
    worlds: Sequence[World], drawn: Sequence[Systems], m: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """m inputs for systems that are given."""
    world, n = worlds[0], len(drawn[0].people)
    b, c = rng.standard_normal(m), rng.standard_normal((n, m))
    z = world._rated(drawn[0].people[:, None] + world.difficulty * b + c, rng)
    if world.gaps:
        z[rng.random(z.shape) < world.gaps] = np.nan
    x = [
        s.metric[:, None] + w.difficulty * _mix(w.shared, b, rng.standard_normal(m)) + _mix(s.rho[:, None], c,
            rng.standard_normal((n, m)))
        for w, s in zip(worlds, drawn, strict=True)
    ]  # fmt: skip
    return np.stack(x), z


@cache
def truth(world: World, measures: tuple[str, ...], n: int, m: int) -> Floats:
    """The mean of each measure over very many sets of n systems and m inputs."""
    rng = np.random.default_rng([20_240_607, n, m])
    want = [Measure.parse(name) for name in measures]
    found = [evaluate(*panel([world], n, m, rng), want).value[0] for _ in range(4000)]
    return np.nanmean(found, axis=0)


def truth_of(world: World, drawn: Systems, measures: tuple[str, ...], rng: np.random.Generator) -> Floats:
    """Each measure for these very systems and very many inputs."""
    x, z = outputs([replace(world, gaps=0.0)], [drawn], 20_000 // len(drawn.people) + 2000, rng)
    return evaluate(x, z, [Measure.parse(name) for name in measures]).value[0]


def _mix(rho: float | Floats, shared: Floats, own: Floats) -> Floats:
    r = np.asarray(rho, np.float64)
    return np.asarray(r * shared + np.sqrt(1 - r**2) * own)
