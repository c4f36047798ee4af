"""False alarms and power of the tests "is this metric related to people?", on tables whose outputs are not independent.

Algorithm 1 of the measures paper makes systems × inputs tables of an unrelated metric (and of a weakly related one)
whose systems differ from each other, as real systems do; `inputs_sd` adds hard and easy inputs on both sides. Every
statement is tested twice: as if outputs were independent, which is what the papers do, and by shuffling whole systems
and inputs.

    python -m bench.clusters            # 8 × 50 and 12 × 100, 400 data sets each, a few minutes on one core
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nlgauge.analyses.errors.relative_ranking import orders, signed_rank_p
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.simulate import SimulationParams, simulate_panel
from nlgauge.stats.tests.ks import ks_permutation
from nlgauge.stats.tests.row_column_permutation import ks_shuffled, order_tests, related_tests
from nlgauge.stats.tests.zero_correlation import zero_test

RHO = Measure.parse("global/spearman")
STATEMENTS = ("KS of low and high outputs", "correlation over all outputs", "order of two outputs")
TESTS = ("independent", "clustered")


def simulate(
    systems: int = 8, inputs: int = 50, *, trials: int = 200, rho_sys: float = 0.0, rho: float = 0.0,
    inputs_sd: float = 0.0,
    scale: int | None = 5, missing: float = 0.0, draws: int = 199, level: float = 0.05, seed: int = 0,
) -> list[dict[str, Any]]:  # fmt: skip
    """One row per statement and test: the share of data sets in which it calls the metric related to people, and its
    standard error. `rho_sys` = `rho` = 0 gives false alarms, anything else power."""
    hits = {(s, t): 0 for s in STATEMENTS for t in TESTS}
    for trial, child in enumerate(np.random.SeedSequence(seed).spawn(trials)):
        x, z = _tables(systems, inputs, rho_sys, rho, inputs_sd, scale, missing, np.random.default_rng(child))
        for key, p in _p_values(x, z, draws, trial).items():
            hits[key] += bool(p < level)
    return [
        {"statement": s, "test": t, "systems": systems, "inputs": inputs, "rho_sys": rho_sys, "rho": rho,
         "inputs_sd": inputs_sd,
         "scale": scale, "missing": missing, "trials": trials, "called": hits[s, t] / trials,
         "se": float(np.sqrt(max(hits[s, t], 1) * max(trials - hits[s, t], 1) / trials**3))}
        for s in STATEMENTS for t in TESTS
    ]  # fmt: skip


def _tables(
    systems: int, inputs: int, rho_sys: float, rho: float, inputs_sd: float, scale: int | None, missing: float,
    rng: np.random.Generator,
) -> tuple[Any, Any]:  # fmt: skip
    params = SimulationParams(
        N=systems, M=inputs, rho_sys=rho_sys, mu_rho=rho, sigma_rho=0.15 if rho else 0.0, sigma_h=0.10
    )
    x, z = simulate_panel(params, rng)
    x = x + inputs_sd * 0.15 * rng.normal(size=inputs)
    z = z + inputs_sd * 0.10 * rng.normal(size=inputs)
    if scale:  # ratings in steps
        ends = np.quantile(z, np.arange(1, scale) / scale)
        z = np.searchsorted(ends, z).astype(float) + 1
    x[rng.random(x.shape) < missing] = np.nan
    return x, z


def _p_values(x: Any, z: Any, draws: int, seed: int) -> dict[tuple[str, str], float]:
    low, high = (z <= np.quantile(z, 1 / 3)).astype(float), (z >= np.quantile(z, 2 / 3)).astype(float)
    high = np.where(low > 0, 0.0, high)
    n = int((np.isfinite(x) & np.isfinite(z)).sum())
    r = float(evaluate(x[None], z, [RHO]).value[0, 0])
    ours, people = orders(x), orders(z)
    there = ours.there & people.there
    right = (ours.sign == people.sign)[there]
    coins = np.random.default_rng(seed).random((20, *z.shape))
    chance = np.stack([(orders(c).sign == people.sign)[there] for c in coins])
    dealt = ks_permutation(x.reshape(1, -1), low.ravel(), high.ravel(), draws=draws, seed=seed)
    moved = ks_shuffled(x[None, None], low[None], high[None], draws=draws, seed=seed)
    return {
        (STATEMENTS[0], "independent"): float(dealt[1][0]),
        (STATEMENTS[0], "clustered"): float(moved[1][0]),
        (STATEMENTS[1], "independent"): float(zero_test(r, n, "spearman")),
        (STATEMENTS[1], "clustered"): float(related_tests(x[None], z, ranks=True, draws=draws, seed=seed)[0]),
        (STATEMENTS[2], "independent"): float(np.median(signed_rank_p(right, chance))),
        (STATEMENTS[2], "clustered"): float(order_tests(x[None], z, draws=draws, seed=seed)[0]),
    }


def main(trials: int = 400) -> None:
    print("| systems × inputs | metric | statement | as independent | clustered |\n| --- | --- | --- | --- | --- |")
    cases: list[tuple[str, dict[str, float]]] = [
        ("unrelated", {}),
        ("unrelated, hard and easy inputs", {"inputs_sd": 1.0}),
        ("unrelated, 20 % missing", {"missing": 0.2}),
        ("rho_sys .5, rho .2", {"rho_sys": 0.5, "rho": 0.2}),
    ]
    for systems, inputs in ((8, 50), (12, 100)):
        for words, more in cases:
            found = simulate(systems, inputs, trials=trials, **more)  # type: ignore[arg-type]
            for plain, clustered in zip(found[::2], found[1::2], strict=True):
                print(
                    f"| {systems} × {inputs} | {words} | {plain['statement']} | {plain['called']:.3f} | "
                    f"{clustered['called']:.3f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
