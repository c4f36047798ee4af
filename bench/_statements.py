"""How often each statement of the first screen is wrong, over many simulated data sets. One function a statement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bench._worlds import UNRELATED, Systems, World, outputs, panel, truth, truth_of
from nlgauge.analyses.comparing.ranking import clusters
from nlgauge.engines import Local, using
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.stats.correlation.uses import choose_right, flag_right, rank_right, use_interval, verdict_of
from nlgauge.stats.ranking.quality_levels import LOW, quality_levels
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.resampling.contrasts import difference_tests
from nlgauge.stats.resampling.jackknife import intervals, over_of
from nlgauge.stats.tests.corrections import holm
from nlgauge.stats.tests.permutation import permutation_pairs

Row = dict[str, Any]
MEASURES = [str(m) for m in TWELVE]
ONE = ["global/pearson", "global/spearman", "global/kendall"]
PLAIN = World()
WORLDS = {
    "plain": PLAIN,
    "no steps, inputs alike": replace(PLAIN, levels=0, difficulty=0.0),
    "inputs unlike": replace(PLAIN, difficulty=1.0),
    "weak metric": replace(PLAIN, rho_sys=0.3, mu_rho=0.1),
    "strong metric": replace(PLAIN, rho_sys=0.95, mu_rho=0.8, shared=0.8),
    "three raters": replace(PLAIN, raters=3),
    "a fifth missing": replace(PLAIN, gaps=0.2),
    "two steps": replace(PLAIN, levels=2),
}


def share(hits: int, trials: int) -> Row:
    """A share with its Clopper-Pearson interval: how much the number of data sets leaves open."""
    ends = binomtest(hits, trials).proportion_ci(0.95, "exact")
    return {"share": hits / trials, "low": float(ends.low), "high": float(ends.high), "data sets": trials}


@using(Local(threads=1))
def coverage(
    world: str, n: int, m: int, trials: int, *, measures: list[str] | None = None, seed: int = 11, old: bool = False
) -> list[Row]:
    """Does the 95 % interval hold the value of the population? `old`: the percentile bootstrap over both beside it.

    Fewer than six systems are these systems: they are drawn anew in every data set, and the value to hold is theirs.
    """
    made, wanted = WORLDS[world], tuple(measures or (MEASURES if n > 1 else ONE))
    rng = np.random.default_rng([seed, n, m])
    held, beside, width = np.zeros(len(wanted), int), np.zeros(len(wanted), int), np.zeros(len(wanted))
    for trial in range(trials):
        if over_of("auto", n) == "both":
            true, (x, z) = truth(made, wanted, n, m), panel([made], n, m, rng)
        else:
            drawn = made.systems(n, rng)
            true, (x, z) = truth_of(made, drawn, wanted, rng), outputs([made], [drawn], m, rng)
        found = intervals(x, z, wanted)
        held += (found.low[0] <= true) & (true <= found.high[0])
        width += np.where(np.isnan(found.low[0]), 2.0, found.high[0] - found.low[0])
        if old:
            low, high = bootstrap(x, z, wanted, how="both", draws=400, seed=trial).interval()
            beside += (low[0] <= true) & (true <= high[0])
    return [
        {"statement": "interval", "world": world, "systems": n, "inputs": m, "measure": name, **share(int(held[j]),
            trials),
         "width": float(width[j]) / trials, **({"before": beside[j] / trials} if old else {})}
        for j, name in enumerate(wanted)
    ]  # fmt: skip


@using(Local(threads=1))
def called_best(
    n: int,
    m: int,
    metrics: int,
    trials: int,
    *,
    measure: str = "input/kendall",
    worse: int = 0,
    seed: int = 12,
    old: bool = False,
) -> list[Row]:
    """Metrics that are equally good (and `worse` bad ones): how often is one called clearly the best, or a step drawn
    between equals? `old`: with the test that swaps systems and inputs."""
    # One system is this system: metrics are equally good on it when none has a luck of its own with it.
    equal = PLAIN if n > 1 else replace(PLAIN, sigma_rho=0.0)
    bad = replace(PLAIN, rho_sys=0.2, mu_rho=0.0)
    rng = np.random.default_rng([seed, n, m, metrics, worse])
    best, steps, before = 0, 0, 0
    for trial in range(trials):
        x, z = panel([equal] * metrics + [bad] * worse, n, m, rng)
        tests = difference_tests(x, z, [measure], seed=trial, draws=400)
        best += _clear(tests)
        steps += _false_step(tests, metrics)
        if old:
            before += _clear(permutation_pairs(x, z, [measure], how="both", draws=400, seed=trial))
    common = {
        "systems": n,
        "inputs": m,
        "measure": measure,
        "metrics": f"{metrics} equal" + (f", {worse} worse" if worse else ""),
    }
    extra = {"before": before / trials} if old else {}
    return [
        {"statement": "clearly the best", **common, **share(best, trials), **extra},
        {"statement": "a step between equals", **common, **share(steps, trials)},
    ]


def _clear(tests: Any) -> bool:
    """Whether one metric beats each single other one at .05, as analyses/comparing/ranking.py says it."""
    beats: dict[int, set[int]] = {}
    for (i, j), d, p in zip(tests.pairs, tests.difference[:, 0], tests.p[:, 0], strict=True):
        if p < 0.05:
            beats.setdefault(int(i if d > 0 else j), set()).add(int(j if d > 0 else i))
    most = int(tests.pairs.max())
    return any(len(beaten) == most for beaten in beats.values())


def _false_step(tests: Any, equal: int) -> bool:
    adjusted = holm(tests.p[:, 0])
    pairs = [
        (f"{i}", f"{j}") if d > 0 else (f"{j}", f"{i}")
        for (i, j), d in zip(tests.pairs, tests.difference[:, 0], strict=True)
    ]
    better = {pair for pair, p in zip(pairs, adjusted, strict=True) if p < 0.05 and all(int(k) < equal for k in pair)}
    return len(set(clusters([str(k) for k in range(equal)], better).values())) > 1 or bool(better)


@using(Local(threads=1))
def power(n: int, m: int, trials: int, *, measure: str = "input/kendall", seed: int = 13) -> Row:
    """One metric is better (and another worse): how often is it found, and by the tests beside it?"""
    strong, weak = replace(PLAIN, rho_sys=0.9, mu_rho=0.6), replace(PLAIN, rho_sys=0.5, mu_rho=0.2)
    rng = np.random.default_rng([seed, n, m])
    found, both, systems = 0, 0, 0
    for trial in range(trials):
        x, z = panel([strong, weak], n, m, rng)
        found += bool(difference_tests(x, z, [measure], draws=400, seed=trial).p[0, 0] < 0.05)
        options: dict[str, Any] = {"draws": 400, "seed": trial}
        both += bool(permutation_pairs(x, z, [measure], how="both", **options).p[0, 0] < 0.05)
        systems += bool(permutation_pairs(x, z, [measure], how="systems", **options).p[0, 0] < 0.05)
    return {"statement": "a real difference is found", "systems": n, "inputs": m, "measure": measure, **share(found,
        trials),
            "swap both": both / trials, "swap systems": systems / trials}  # fmt: skip


def use_verdicts(n: int, m: int, trials: int, *, seed: int = 14) -> list[Row]:
    """Words for uses: an unrelated metric called usable or good, a good one called not, and the intervals' coverage."""
    rng = np.random.default_rng([seed, n, m])
    kinds = {
        "unrelated": UNRELATED,
        "good": replace(PLAIN, rho_sys=0.99, mu_rho=0.9, sigma_rho=0.05, shared=0.95),
        "plain": PLAIN,
    }
    rows: list[Row] = []
    for kind, world in kinds.items():
        true = _true_uses(world, n, m) if n > 1 else {"flag": float("nan")}
        counts = {use: dict.fromkeys(("good", "usable", "not", "cannot tell"), 0) for use in true}
        held = dict.fromkeys(true, 0)
        for _ in range(trials):
            drawn = world.systems(n, rng)
            x, z = outputs([world], [drawn], m, rng)
            bad = np.asarray(quality_levels(z, scale=(0, 4)).level == LOW)
            if n == 1:  # the value to hold is that of this system
                true["flag"] = _true_flag(world, drawn, rng)
            for use, value in true.items():
                _, low, high, _ = use_interval(use, x[0], z, bad, over_of("auto", n))  # type: ignore[arg-type]
                counts[use][verdict_of(low, high, 0.6, 0.75)] += 1
                held[use] += bool(low <= value <= high)
        rows += [
            {"statement": "use", "metric": kind, "use": use, "systems": n, "inputs": m,
             "true": true[use] if n > 1 else "each its own",
             **{word: c / trials for word, c in counts[use].items()}, "coverage": held[use] / trials,
             "data sets": trials}
            for use in true
        ]  # fmt: skip
    return rows


def _true_uses(world: World, n: int, m: int) -> dict[str, float]:
    """The mean over very many sets of as many systems and inputs."""
    rng = np.random.default_rng([77, n, m])
    found: dict[str, list[float]] = {"rank": [], "choose": [], "flag": []}
    once = np.ones((1, n)), np.ones((1, m))
    for _ in range(1000):
        x, z = panel([world], n, m, rng)
        bad = np.asarray(quality_levels(z, scale=(0, 4)).level == LOW)
        found["rank"].append(float(rank_right(x[0], z, *once)[0]))
        found["choose"].append(float(choose_right(x[0], z, *once)[0]))
        found["flag"].append(float(flag_right(x[0], bad, z, *once)[0]))
    return {use: float(np.mean(values)) for use, values in found.items()}


def _true_flag(world: World, drawn: Systems, rng: np.random.Generator) -> float:
    """For this very system and very many inputs."""
    x, z = outputs([world], [drawn], 20_000, rng)
    bad = np.asarray(quality_levels(z, scale=(0, 4)).level == LOW)
    return float(flag_right(x[0], bad, z, np.ones((1, 1)), np.ones((1, 20_000)))[0])
