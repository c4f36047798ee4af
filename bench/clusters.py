"""False alarms and power of the tests "is this metric related to people?", on tables whose outputs are not independent.

Algorithm 1 of the measures paper makes systems × inputs tables of an unrelated metric (and of a weakly related one)
whose systems differ from each other, as real systems do; `inputs_sd` adds hard and easy inputs on both sides. Every
statement is tested twice: as if outputs were independent, which is what the papers do, and by shuffling whole systems
and inputs.

    python -m bench.clusters            # 8 × 50 and 12 × 100, 400 data sets each, a few minutes on one core

Trials of one input are not independent either: coverage of the intervals with 2, 5 and 10 trials.

    python -m bench.clusters trials 1000
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from nlgauge.stats.agreement.two_by_two import cell_counts, figures_of, kappa
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.simulate import SimulationParams, simulate_panel
from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.trials import mean_share, pass_at_k, pass_hat_k, trial_icc
from nlgauge.stats.resampling.jackknife import intervals
from nlgauge.stats.tests.ks import ks_permutation
from nlgauge.stats.tests.row_column_permutation import ks_shuffled, order_tests, related_tests
from nlgauge.stats.tests.zero_correlation import zero_test
from nlgauge_papers.novikova2017.relative_ranking import orders, signed_rank_p

RHO = Measure.parse("global/spearman")
STATEMENTS = ("KS of low and high outputs", "correlation over all outputs", "order of two outputs")
TESTS = ("independent", "clustered")


def simulate(
    systems: int = 8,
    inputs: int = 50,
    *,
    trials: int = 200,
    rho_sys: float = 0.0,
    rho: float = 0.0,
    inputs_sd: float = 0.0,
    scale: int | None = 5,
    missing: float = 0.0,
    draws: int = 199,
    level: float = 0.05,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """One row per statement and test: the share of data sets in which it calls the metric related to people, and its
    standard error. `rho_sys` = `rho` = 0 gives false alarms, anything else power."""
    hits = {(s, t): 0 for s in STATEMENTS for t in TESTS}
    for trial, child in enumerate(np.random.SeedSequence(seed).spawn(trials)):
        x, z = _tables(systems, inputs, rho_sys, rho, inputs_sd, scale, missing, np.random.default_rng(child))
        for key, p in _p_values(x, z, draws, trial).items():
            hits[key] += bool(p < level)
    return [
        {
            "statement": s,
            "test": t,
            "systems": systems,
            "inputs": inputs,
            "rho_sys": rho_sys,
            "rho": rho,
            "inputs_sd": inputs_sd,
            "scale": scale,
            "missing": missing,
            "trials": trials,
            "called": hits[s, t] / trials,
            "se": float(np.sqrt(max(hits[s, t], 1) * max(trials - hits[s, t], 1) / trials**3)),
        }
        for s in STATEMENTS
        for t in TESTS
    ]


def _tables(
    systems: int,
    inputs: int,
    rho_sys: float,
    rho: float,
    inputs_sd: float,
    scale: int | None,
    missing: float,
    rng: np.random.Generator,
) -> tuple[Any, Any]:
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


# --- trials of one input ----------------------------------------------------------------------------------------------

TRIALS, CORRELATIONS, INPUTS = (2, 5, 10), (0.3, 0.7, 1.0), 40
CELLS = (0.22, 0.08, 0.10, 0.60)  # people fail and the judge fails, passes; people pass and the judge fails, passes
PEARSON = 0.5
FIGURES = ("kappa", "accuracy", "pass rate", "pass rate, estimate", "Pearson", "Spearman", "pass@2", "pass^2", "ICC")


def simulate_trials(
    trials: int, alike: float, *, inputs: int = INPUTS, sets: int = 1000, clustered: bool = True, seed: int = 0
) -> dict[str, list[bool | None]]:
    """Say for each figure and data set whether the 95% CI covers the truth; None where there is no interval.

    Two trials of an input have the intra-input correlation `alike`: a trial has the verdicts that the input shares
    with probability √alike, else verdicts of its own; scores are sums of a shared and an own normal part.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, trials, round(100 * alike), inputs]))
    unit = np.repeat(np.arange(inputs), trials) if clustered else np.arange(inputs * trials)
    true = _true_figures(trials, alike)
    covered: dict[str, list[bool | None]] = {name: [] for name in true}
    for _ in range(sets):
        shared, own = (rng.choice(4, size, p=CELLS) for size in ((inputs, 1), (inputs, trials)))
        cell = np.where(rng.random((inputs, trials)) < np.sqrt(alike), shared, own).ravel()
        a, e = (rng.normal(size=(2, *size)) for size in ((inputs, 1), (inputs, trials)))
        z, noise = (np.sqrt(alike) * a + np.sqrt(1 - alike) * e).reshape(2, -1)
        x = PEARSON * z + np.sqrt(1 - PEARSON**2) * noise
        for name, (low, high) in _trial_intervals(cell, x, z, unit, inputs, trials).items():
            covered[name].append(None if np.isnan(low) else bool(low <= true[name] <= high))
    return covered


def _true_figures(trials: int, alike: float) -> dict[str, float]:
    """What the intervals are about. The share of inputs with two passes among two trials is p² + alike · p (1 - p)."""
    passes = CELLS[2] + CELLS[3]
    both = passes**2 + alike * passes * (1 - passes)
    return {
        "kappa": float(kappa(np.array(CELLS))),
        "accuracy": CELLS[0] + CELLS[3],
        "pass rate": passes,
        "pass rate, estimate": passes,
        "Pearson": PEARSON,
        "Spearman": 6 / np.pi * np.arcsin(PEARSON / 2),
        "pass@2": 2 * passes - both,
        "pass^2": both,
        "ICC": alike,
    }


def _trial_intervals(cell: Any, x: Any, z: Any, unit: Any, inputs: int, trials: int) -> dict[str, tuple[float, float]]:
    """The intervals that `verdicts`, `estimate`, `intervals` and `trials` give."""
    people, judge = cell > 1, cell % 2 == 1
    alone = len(np.unique(unit)) == len(unit)
    figures = figures_of(cell_counts(people, judge, None if alone else unit.tolist()), clustered=not alone)
    labels = np.where(
        np.arange(len(cell)) % 2 == np.arange(len(cell)) // trials % 2, people, np.nan
    )  # every second one
    mean = mean_estimate(PartlyLabeled(labels, judge.astype(float), None, None, None if alone else unit, True, None))
    found = intervals(x[None, None], z[None], ["global/pearson", "global/spearman"], clusters=None if alone else unit)
    passes = people.reshape(inputs, trials).sum(axis=1)
    each, many = np.full(inputs, trials), np.arange(inputs)
    at, hat = (mean_share(of(each, passes, 2), many, inputs * trials) for of in (pass_at_k, pass_hat_k))
    icc = trial_icc(z, np.repeat(many, trials), np.repeat(many, trials))
    ends = {
        name: (f.low, f.high)
        for name, f in (
            ("kappa", figures["kappa"]),
            ("accuracy", figures["agreement"]),
            ("pass rate", figures["human_pass_rate"]),
            ("pass rate, estimate", mean),
            ("pass@2", at),
            ("pass^2", hat),
            ("ICC", icc),
        )
    }
    ends |= {name: (found.low[0, j], found.high[0, j]) for j, name in enumerate(("Pearson", "Spearman"))}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items()}


def print_trials(sets: int = 1000, seed: int = 0, inputs: int = INPUTS) -> None:
    """Print coverage for every figure, with the exact 95% limits of the share over all cells."""
    print(f"| trials | intra-input correlation | {' | '.join(FIGURES)} |\n|{' ---: |' * (2 + len(FIGURES))}")
    for trials in TRIALS:
        for alike in CORRELATIONS:
            found = simulate_trials(trials, alike, inputs=inputs, sets=sets, seed=seed)
            told = {name: [c for c in found[name] if c is not None] for name in FIGURES}
            shares = [f"{np.mean(told[n]):.3f}" + (f" ({len(told[n])})" * (len(told[n]) < sets)) for n in FIGURES]
            print(f"| {trials} | {alike:g} | {' | '.join(shares)} |", flush=True)


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
    trial_words = sys.argv[1:2] == ["trials"]
    numbers = [int(word) for word in sys.argv[1 + trial_words :]]
    (print_trials if trial_words else main)(*numbers)
