"""How often each statement of the first screen is wrong, over many simulated data sets. One function per statement."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bench._worlds import UNRELATED, World, outputs, panel, real_population, rounded, truth_of
from nlgauge.analyses.agreement.dependence import LEVEL, mean_errors
from nlgauge.engines import Local, using
from nlgauge.stats.correlation.evaluate_groups import plan_measures
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.uses import bad_areas, badge_of, flag_shares, pair_shares
from nlgauge.stats.ranking.quality_levels import LOW, quality_levels
from nlgauge.stats.resampling.contrasts import DRAWS, contrasts, deviations
from nlgauge.stats.resampling.jackknife import intervals, left_out, student_p
from nlgauge.stats.tests.zero_correlation import adjacent_inputs_p
from nlgauge.types import Array, Mask

Row = dict[str, Any]
HEADLINE, BETWEEN_SYSTEMS = "input/pairwise-accuracy", "system/pairwise-accuracy"
USES = ("pairwise", "rank systems", "flag")
LIMIT = 0.75
PLAIN = World()
WORLDS = {
    "plain": PLAIN,
    "weak metric": replace(PLAIN, rho_sys=0.3, mu_rho=0.1),
    "strong metric": replace(PLAIN, rho_sys=0.95, mu_rho=0.8, shared=0.8),
    "unrelated metric": UNRELATED,
    "coarse metric (4 values)": replace(PLAIN, metric_levels=4),
    "heavy tails": replace(PLAIN, heavy=True),
    "70% of ratings at the top": replace(PLAIN, top=0.7),
    "two grades": replace(PLAIN, levels=2),
    "three raters": replace(PLAIN, raters=3),
    "a fifth missing": replace(PLAIN, gaps=0.2),
    "families of 3, named": replace(PLAIN, family=3),
    "documents of 8, named": replace(PLAIN, document=8),
    "families of 3, not named": replace(PLAIN, family=3),
    "documents of 8, not named": replace(PLAIN, document=8),
    "outlying systems (1 of 6)": replace(PLAIN, outliers=1 / 6),
    "low scores missing more often": replace(PLAIN, gaps=0.4, missing_low=0.9),
}
# Equally good metrics: pairs of worlds with the same pairwise accuracy; None is found by `_as_good`.
NULLS: dict[str, tuple[World, World | None]] = {
    "alike": (PLAIN, PLAIN),
    "weak": (replace(PLAIN, rho_sys=0.5, mu_rho=0.2),) * 2,
    "strong": (replace(PLAIN, rho_sys=0.95, mu_rho=0.7),) * 2,
    "common errors": (replace(PLAIN, common=0.6),) * 2,
    "70% of ratings at the top": (replace(PLAIN, top=0.7),) * 2,
    "one with heavy tails": (PLAIN, replace(PLAIN, heavy=True)),
    "one good between systems, one within": (
        replace(PLAIN, rho_sys=0.9, mu_rho=0.25),
        replace(PLAIN, rho_sys=0.4, mu_rho=0.6),
    ),
}


def share(hits: int, trials: int) -> Row:
    """A share with its exact (Clopper-Pearson) 95% interval."""
    ends = binomtest(hits, trials).proportion_ci(0.95, "exact")
    return {"share": hits / trials, "low": float(ends.low), "high": float(ends.high), "data sets": trials}


@using(Local(threads=1))
def rounded_copy(levels: int, n: int, m: int, trials: int, *, seed: int = 31, before: bool = True) -> Row:
    """A metric and its copy that is rounded to few values: how often is either significantly better?"""
    rng = np.random.default_rng([seed, levels, n, m])
    copy, original, by_tau = 0, 0, 0
    for _ in range(trials):
        x, z = panel([PLAIN], n, m, rng)
        both = np.stack([x[0], rounded(x[0], levels)])
        better = contrasts(both, z, HEADLINE).pairs.better
        copy, original = copy + bool(better[1, 0]), original + bool(better[0, 1])
        if before:
            by_tau += bool(contrasts(both, z, "input/kendall").pairs.better[1, 0])
    row = {"statement": "rounded copy", "levels": levels, "systems": n, "inputs": m, **share(copy, trials)}
    return row | {"original better": original / trials, **({"by tau-b": by_tau / trials} if before else {})}


@using(Local(threads=1))
def confidence_set(
    metrics: int, n: int, m: int, trials: int, *, lead: float = 0.0, seed: int = 32, mcb: bool = False
) -> Row:
    """How often the set of metrics that may be best contains the best one, and how large it is.

    The best metric leads the others, which are equally good, by `lead` (0: all are equally good and the first counts as
    the best). mcb: also multiple comparisons with the best (Hsu), from the same errors.
    """
    best = _leader(lead, n, m) if lead else PLAIN
    rng = np.random.default_rng([seed, metrics, n, m, round(1000 * lead)])
    inside = size = claims = mcb_inside = mcb_size = 0
    for _ in range(trials):
        x, z = panel([best, *[PLAIN] * (metrics - 1)], n, m, rng)
        c = contrasts(x, z, HEADLINE)
        inside, size = inside + bool(c.may_be_best[0]), size + int(c.may_be_best.sum())
        claims += bool(c.pairs.better[1:].any()) if lead else bool(c.pairs.better.any())
        if mcb:
            other = _mcb(x, z, c)
            mcb_inside, mcb_size = mcb_inside + bool(other[0]), mcb_size + int(other.sum())
    row = {"statement": "set", "metrics": metrics, "systems": n, "inputs": m, "lead": lead, **share(inside, trials)}
    row |= {"size": size / trials, "a false claim": claims / trials}
    return row | ({"MCB contains": mcb_inside / trials, "MCB size": mcb_size / trials} if mcb else {})


def _mcb(x: Array, z: Array, c: Any) -> Mask:
    """Metrics that are not significantly worse than any other one, each with a limit of its own (one-sided)."""
    moves = deviations(left_out(x, z, plan_measures([HEADLINE]), "both").transform(lambda v: v[:, 0]))
    errors = np.random.default_rng(5).standard_normal((DRAWS, moves.shape[1])) @ moves.T
    inside = np.ones(len(x), bool)
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        apart = np.sqrt(((moves[others] - moves[i]) ** 2).sum(axis=1))
        limit = np.quantile(((errors[:, others] - errors[:, [i]]) / apart).max(axis=1), 0.95)
        inside[i] = bool((c.pairs.gap[others, i] <= limit * c.pairs.error[others, i]).all())
    return inside


@using(Local(threads=1))
def size_of_test(null: str, n: int, m: int, trials: int, *, seed: int = 4711) -> Row:
    """Two metrics that are equally good: how often the test of their difference has p < .05, calibrated or not."""
    first, second = NULLS[null]
    worlds = [first, first if first == second else _as_good(null, n)]
    return {"statement": "size", "null": null, **_rejections(worlds, n, m, trials, seed)}


@using(Local(threads=1))
def power(n: int, m: int, trials: int, *, seed: int = 4712) -> Row:
    """One metric is better than the other: how often the test finds it."""
    strong, weak = replace(PLAIN, rho_sys=0.9, mu_rho=0.6), replace(PLAIN, rho_sys=0.5, mu_rho=0.2)
    return {"statement": "power", **_rejections([strong, weak], n, m, trials, seed)}


def _rejections(worlds: list[World], n: int, m: int, trials: int, seed: int) -> Row:
    rng, want = np.random.default_rng([seed, n, m]), plan_measures([HEADLINE])
    calibrated = plain = 0
    for _ in range(trials):
        gap = left_out(*panel(worlds, n, m, rng), want, "both").difference(np.array([0]), np.array([1]))
        calibrated += bool(student_p(gap, of_differences=True)[0, 0] < 0.05)
        plain += bool(student_p(gap)[0, 0] < 0.05)
    return {"systems": n, "inputs": m, **share(calibrated, trials), "uncalibrated": plain / trials}


@cache
def _as_good(null: str, n: int) -> World:
    """The second metric of a pair, with its correlation within systems set so that both are equally good."""
    first, second = NULLS[null]
    if second is None:
        return first
    goal, low, high = _mean(first, n, 20), 0.0, 0.99
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if _mean(replace(second, mu_rho=middle), n, 20) < goal else (low, middle)
    return replace(second, mu_rho=(low + high) / 2)


@cache
def _leader(lead: float, n: int, m: int) -> World:
    """A metric whose pairwise accuracy is that of the plain one and `lead` more."""
    goal, low, high = _mean(PLAIN, n, m) + lead, 0.0, 1.0
    for _ in range(10):
        middle = (low + high) / 2
        better = replace(PLAIN, rho_sys=0.8 + 0.19 * middle, mu_rho=0.4 + 0.55 * middle)
        low, high = (middle, high) if _mean(better, n, m) < goal else (low, middle)
    return better


@cache
def _mean(world: World, n: int, m: int, draws: int = 1500) -> float:
    rng, measure = np.random.default_rng([35, n, m]), [Measure.parse(HEADLINE)]
    return float(np.nanmean([evaluate(*panel([world], n, m, rng), measure).value for _ in range(draws)]))


@using(Local(threads=1))
def coverage(
    population: str, n: int, m: int, trials: int, *, metrics: int = 1, seed: int = 36, aspect: str = ""
) -> list[Row]:
    """Do the intervals of the first screen contain the value of the population, for all metrics together?

    With an `aspect`, the population is a real data set. The value to contain is the mean over the same data sets.
    """
    world = None if aspect else WORLDS[population]
    rng = np.random.default_rng([seed, n, m, metrics, sum(map(ord, population))])
    named = ", named" in population
    families = np.arange(n) // 3 if named and world and world.family > 1 else None
    clusters = np.arange(m) // 8 if named and world and world.document > 1 else None
    ends: dict[str, list[Array]] = {use: [] for use in USES}
    for _ in range(trials):
        if world is None:
            x, z = real_population(population, aspect).draw(n, m, rng)
        else:
            x, z = panel([world] * metrics, n, m, rng)
        bad = np.asarray(quality_levels(z).level == LOW)
        shares = {
            "pairwise": pair_shares(HEADLINE, x, z, None, clusters, families),
            "rank systems": pair_shares(BETWEEN_SYSTEMS, x, z, None, clusters, families),
            "flag": flag_shares(x[:1], z, bad, None, clusters, families),
        }
        for use, each in shares.items():
            ends[use].append(np.array([each.value, each.low, each.high]))
    complete = {}
    if world is not None and world.missing_low:  # the value to contain is that of all outputs
        whole = coverage_values(replace(world, gaps=0.0), n, m, trials, rng)
        complete = {use: float(np.nanmean(values)) for use, values in whole.items()}
    return [
        _covered(use, population, n, m, np.stack(values, axis=-1), complete.get(use)) for use, values in ends.items()
    ]


def coverage_values(world: World, n: int, m: int, trials: int, rng: np.random.Generator) -> dict[str, Array]:
    """The values of the three uses in data sets of a population."""
    pair = [Measure.parse(HEADLINE), Measure.parse(BETWEEN_SYSTEMS)]
    values: dict[str, list[float]] = {use: [] for use in USES}
    for _ in range(trials):
        x, z = panel([world], n, m, rng)
        found = evaluate(x, z, pair).value[0]
        bad = np.asarray(quality_levels(z).level == LOW)
        area = bad_areas(x[0], bad, z)[0][0]
        for use, value in zip(USES, (*found, area), strict=True):
            values[use].append(float(value))
    return {use: np.array(each) for use, each in values.items()}


def _covered(use: str, population: str, n: int, m: int, ends: Array, true_value: float | None = None) -> Row:
    """Of data sets with an interval, the share in which the intervals of all metrics contain the mean value."""
    value, low, high = ends
    known = np.isfinite(low).any(axis=0)
    true = np.nanmean(value, axis=1, keepdims=True) if true_value is None else np.full((len(value), 1), true_value)
    with np.errstate(invalid="ignore"):
        inside = ((low <= true) & (true <= high)) | np.isnan(low)
    row = {"statement": "interval", "population": population, "use": use, "systems": n, "inputs": m}
    row |= {"metrics": len(value), "value": float(true.mean()), "no interval": 1 - float(known.mean())}
    if not known.any():
        return row | {"share": None, "low": None, "high": None, "data sets": 0}
    single = float(inside[:, known].mean())
    row |= {"single": single, "width": float(np.nanmean(high - low))}
    return row | share(int(inside[:, known].all(axis=0).sum()), int(known.sum()))


@using(Local(threads=1))
def few_systems(n: int, m: int, trials: int, *, seed: int = 37) -> Row:
    """Fewer than 6 systems stay the same: the value to contain is theirs on very many inputs."""
    measure = HEADLINE if n > 1 else "global/pairwise-accuracy"
    rng, held = np.random.default_rng([seed, n, m]), 0
    for _ in range(trials):
        drawn = PLAIN.systems(n, rng)
        true, (x, z) = truth_of(PLAIN, drawn, (measure,), rng), outputs([PLAIN], [drawn], m, rng)
        ends = intervals(x, z, [measure])
        held += bool(ends.low[0, 0] <= true[0] <= ends.high[0, 0])
    return {"statement": "few", "systems": n, "inputs": m, "measure": measure, **share(held, trials)}


@using(Local(threads=1))
def best_interval(metrics: int, n: int, m: int, trials: int, *, seed: int = 38) -> Row:
    """The interval of the metric that leads among equally good ones: does it contain the value of the population?"""
    rng, true = np.random.default_rng([seed, metrics, n, m]), _mean(PLAIN, n, m, 6000)
    held = alone = 0
    for _ in range(trials):
        x, z = panel([PLAIN] * metrics, n, m, rng)
        together, single = pair_shares(HEADLINE, x, z, None), intervals(x, z, [HEADLINE])
        k = int(np.argmax(together.value))
        held += bool(together.low[k] <= true <= together.high[k])
        alone += bool(single.low[k, 0] <= true <= single.high[k, 0])
    row = {"statement": "best", "metrics": metrics, "systems": n, "inputs": m, **share(held, trials)}
    return row | {"before": alone / trials}


@using(Local(threads=1))
def badges(kind: str, n: int, m: int, trials: int, *, metrics: int = 1, seed: int = 39) -> list[Row]:
    """Badges of metrics that know nothing about quality, of a length that knows a little, and of a very good metric.

    `metrics` of the kind are compared at once; a badge is counted if any of them gets it.
    """
    good = replace(PLAIN, rho_sys=0.99, mu_rho=0.9, sigma_rho=0.05, shared=0.95)
    longer = replace(PLAIN, rho_sys=0.9, mu_rho=0.6)  # what length is where longer outputs are better
    rng = np.random.default_rng([seed, n, m, metrics, sum(map(ord, kind))])
    counts = {use: dict.fromkeys(("reliable", "inconclusive", "not reliable", "none"), 0) for use in USES}
    for _ in range(trials):
        x, z = panel([longer, *[good if kind == "very good" else UNRELATED] * metrics], n, m, rng)
        length, x = x[0], x[1:]
        if kind == "constant":
            x = np.zeros_like(x)
        elif kind == "length":  # with noise too small to change an order often
            x = length + 0.05 * rng.standard_normal(x.shape)
        bad = np.asarray(quality_levels(z).level == LOW)
        shares = {
            "pairwise": pair_shares(HEADLINE, x, z, length),
            "rank systems": pair_shares(BETWEEN_SYSTEMS, x, z, length),
            "flag": flag_shares(x, z, bad, length),
        }
        for use, s in shares.items():
            given = {
                badge_of(s.low[k], s.high[k], LIMIT, s.advantage_low[k], s.advantage_high[k])
                for k in range(metrics)
                if np.isfinite(s.low[k])
            }
            for badge in given or {"none"}:
                counts[use][badge] += 1
    return [
        {
            "statement": "badge",
            "metric": kind,
            "metrics": metrics,
            "use": use,
            "systems": n,
            "inputs": m,
            **{badge: count / trials for badge, count in given.items()},
            "data sets": trials,
        }
        for use, given in counts.items()
    ]


@using(Local(threads=1))
def family_hints(trials: int = 1000, *, seed: int = 41) -> list[Row]:
    """How often adjacent systems are noticed to be alike, with families of 3 and with independent systems."""
    rows = []
    for n in (12, 24):
        for metrics in (1, 5):
            rates = []
            for world in (WORLDS["families of 3, not named"], PLAIN):
                rng = np.random.default_rng([seed, n, metrics])
                errors = [mean_errors(*panel([world] * metrics, n, 50, rng)) for _ in range(trials)]
                rates.append(float(np.mean([adjacent_inputs_p(each) < LEVEL for each in errors])))
            rows.append(
                {
                    "systems × inputs": f"{n} × 50",
                    "metrics": metrics,
                    "hint with families of 3": rates[0],
                    "hint without families": rates[1],
                    "data sets": trials,
                }
            )
    return rows


@using(Local(threads=1))
def flag_floor(bad_outputs: int, from_systems: int, n: int, m: int, trials: int, *, seed: int = 40) -> Row:
    """Coverage of the area under the ROC curve with few bad outputs, with the floor switched off."""
    import nlgauge.stats.correlation.uses as module

    rng = np.random.default_rng([seed, bad_outputs, from_systems, n, m])
    kept = module.MIN_BAD, module.MIN_BAD_SYSTEMS
    module.MIN_BAD, module.MIN_BAD_SYSTEMS = 2, 1
    ends = []
    try:
        for _ in range(trials):
            x, z = panel([replace(PLAIN, levels=0)], n, m, rng)
            worst = np.argsort(z.mean(axis=1))[:from_systems]
            bad = np.zeros(z.shape, bool)
            low = z[worst].ravel().argsort()[: 4 * bad_outputs]  # bad ones, drawn among the lowest of these systems
            picked = rng.choice(low, bad_outputs, replace=False)
            bad[worst[picked // m], picked % m] = True
            each = flag_shares(x, z, bad, None)
            ends.append(np.array([each.value, each.low, each.high]))
    finally:
        module.MIN_BAD, module.MIN_BAD_SYSTEMS = kept
    row = _covered("flag", "plain", n, m, np.stack(ends, axis=-1))
    return {**row, "statement": "floor", "bad outputs": bad_outputs, "from systems": from_systems}
