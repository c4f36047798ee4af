"""How often does the advice on measures speak where there is nothing to say?

    python -m bench._coverage_stability          a few minutes

Metrics that are equally good in the population (Algorithm 1 of gao2025 with the same parameters, so every order of
theirs is chance): no measure is steady, and none better than another. And metrics that differ: is a steady one found?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlgauge.analyses.design.stability import places
from nlgauge.engines import Local, using
from nlgauge.stats.correlation.measure import TWELVE, Measure
from nlgauge.stats.design.simulate import Noise, SimulationParams, human_scores, metric_scores
from nlgauge.stats.design.stability import advise, discriminative_power, ranking_consistency
from nlgauge.stats.tests.permutation import permutation_pairs


def metrics_of(
    rng: np.random.Generator, systems: int, inputs: int, strengths: Sequence[float]
) -> tuple[np.ndarray, np.ndarray]:
    """Metrics with their own noise beside the same people; `strengths` are ρ_sys, half of it inside systems."""
    base = replace(SimulationParams(), N=systems, M=inputs, scale_h=None)
    shared = Noise.draw(systems, inputs, rng)
    human = human_scores(base, shared)
    found = []
    for rho in strengths:
        own = Noise.draw(systems, inputs, rng)
        mine = replace(own, system_h=shared.system_h, cell_h=shared.cell_h)
        found.append(metric_scores(replace(base, rho_sys=rho, mu_rho=rho / 2), mine))
    return np.stack(found), np.round(human * 20) / 20


@using(Local(threads=1))
def simulate(
    systems: int = 12,
    inputs: int = 100,
    strengths: Sequence[float] = (0.7,) * 8,
    runs: int = 100,
    measures: Sequence[Measure] = TWELVE,
    draws: int = 99,
    trials: int = 100,
    how: str = "both",
    seed: int = 0,
) -> dict[str, float]:
    """Shares of data sets in which a single measure is trusted, and in which some are called steady."""
    one, steady = 0, 0
    for run in range(runs):
        x, z = metrics_of(np.random.default_rng([seed, run]), systems, inputs, strengths)
        tests = permutation_pairs(x, z, measures, how=how, draws=draws, seed=run)  # type: ignore[arg-type]
        kept = [ranking_consistency(x, z, measures, over="inputs", trials=trials, seed=run)]
        if systems >= 6:
            kept.append(ranking_consistency(x, z, measures, over="systems", trials=trials, seed=run))
        order = np.argsort(places(discriminative_power(tests.p), kept[0].value), kind="stable").tolist()
        advice = advise(tests.p, tests.pairs, [k.by_pair for k in kept], order)
        one += advice.one
        steady += bool(advice.steady)
    return {
        "systems": systems,
        "inputs": inputs,
        "metrics": len(strengths),
        "runs": runs,
        "one trusted": one / runs,
        "some steady": steady / runs,
    }


def main() -> None:
    wide = np.linspace(0.2, 0.95, 8).tolist()
    for name, strengths in (("equal", [0.7] * 8), ("equal, 16 metrics", [0.7] * 16), ("different", wide)):
        for systems, inputs in ((5, 60), (8, 50), (12, 100), (16, 100)):
            print(name, simulate(systems, inputs, strengths, runs=60 if len(strengths) > 8 else 100), flush=True)


if __name__ == "__main__":
    main()
