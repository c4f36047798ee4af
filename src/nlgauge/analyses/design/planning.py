"""Power of a comparison of two metrics by the number of inputs, systems or annotators (Algorithm 1, simulation)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, counted, human_note, measures_of, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NeedsMissing, NlgaugeError
from nlgauge.number import number
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.planning import Axis, MetricPair, Power, Raters, Strength, swap_test
from nlgauge.stats.design.planning import power as simulated_power
from nlgauge.stats.design.simulate import SimulationParams, fit_panel
from nlgauge.stats.resampling.canonical import table_order
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Bounds

Swapped = Literal["systems", "inputs", "both", "cells"]
LEAST_SYSTEMS = 6  # 2⁶ swaps: with fewer, p of a test that swaps systems cannot be below .05
STEPS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@analysis(
    "plan",
    paper="gao2025",
    question="How many inputs, systems or annotators does a comparison of two metrics need (power analysis)?",
    also=("chance",),
)
def plan(
    panel: Panel,
    *,
    measure: Named = "input/kendall",
    axis: Axis = "inputs",
    power: float = 0.8,
    sizes: Sequence[int] | None = None,
    how: Swapped = "systems",
    level: float = 0.05,
    trials: Annotated[int, Bounds(1)] = 100,
    draws: int = 199,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Estimate the power of a comparison of two metrics at increasing sample sizes.

    The panel holds the two metrics (`metrics=[a, b]`).

    Parameters
    ----------
    axis : {'inputs', 'systems', 'raters'}, default 'inputs'
        What to increase: the number of `inputs`, `systems` or `raters` (annotators).
    power : float, default 0.8
        Target power: the share of simulated studies in which the better metric is significantly better.
    sizes : sequence of int, optional
        Sample sizes to simulate. Default: increasing sizes up to the first with sufficient power.
    how : {'systems', 'inputs', 'both', 'cells'}, default 'systems'
        What the permutation test swaps. `systems` generalizes to other systems. `both` tests only the systems in the
        data: it needs far smaller samples, and as a test of metrics in general it has too many false positives.
    draws : int, default 199
        Number of permutations of each test.

    Returns
    -------
    Table
        One row per sample size: power with its standard error, share of studies in which the other metric wins
        significantly, and mean difference.

    Notes
    -----
    Studies are simulated by Algorithm 1 of Gao et al. (2025), fitted to the two metrics and the existing ratings.
    """
    chosen = measures_of(measure)[0]
    _check(panel, axis, power, how, level)
    pair = describe(panel, chosen, axis)
    steps = [int(s) for s in sizes] if sizes else _sizes(panel, axis, pair)
    # The metrics are simulated in an order that does not depend on names; the difference is first minus second.
    sign = 1.0 if table_order(panel.oriented())[0] == 0 else -1.0
    points: list[tuple[int, Power]] = []
    seeds = np.random.SeedSequence(seed).spawn(len(steps))
    for size, own in counted(list(zip(steps, seeds, strict=True)), progress):
        study = simulated_power(
            pair.sized(axis, size), chosen, own, test=swap_test(how, draws), level=level, trials=trials
        )
        points.append((size, replace(study, difference=sign * study.difference)))
        if study.power >= power and sizes is None:
            break
    swapped = "systems and inputs" if how == "both" else how
    first, second = panel.names
    observed = evaluate(panel.oriented(), panel.human, [chosen]).value[:, 0]
    return Table(
        title=Title(
            panel.name, f"power to distinguish {first} and {second} by number of {axis}, {panel.aspect}, {chosen}"
        ),
        rows=_rows(panel, points, chosen, axis, power),
        shown=[axis, "power", "se", "wrong", "difference"],
        definitions={
            str(chosen): chosen.definition,
            "power": "share of simulated studies in which the better metric is significantly better; wrong: in which "
            "the other one is",
        },
        method=f"Algorithm 1 fitted to the two metrics; {trials} simulated studies per sample size, permutation test "
        "swapping "
        f"{swapped}, {draws} draws, two-sided at {level:g}, seed {seed}; otherwise as in the data "
        f"({panel.n_systems} systems × {panel.n_inputs} inputs).",
        answers=[answer(points, axis, power, first, second)],
        notes=[*_warnings(panel, pair, points, observed, axis), *human_note(panel)],
        signature=signature(panel, measure=chosen, axis=axis, power=power, trials=trials, draws=draws, seed=seed),
    )


def _rows(panel: Panel, points: list[tuple[int, Power]], measure: Measure, axis: Axis, target: float) -> list[Row]:
    """Return a row per sample size."""
    return [
        {
            axis: size,
            "measure": str(measure),
            "aspect": panel.aspect,
            "power": p.power,
            "se": p.se,
            "wrong": p.wrong,
            "difference": p.difference,
            "undefined": p.undefined,
            "target": target,
            "now": size == _now(panel, axis),
        }
        for size, p in points
    ]


def describe(panel: Panel, measure: Measure, axis: Axis = "inputs") -> MetricPair:
    """Fit both metrics, with a common ratio of the SDs within and between systems (the mean of both).

    Ratings are noisy: to change the number of raters, their noise is taken out of human scores (and the correlations
    within systems raised accordingly), and put back for the new number.
    """
    scores = panel.oriented()
    people, (x, y) = panel.human, scores[table_order(scores)]  # independent of the order of names
    if measure.grouping == "input":
        # Effects of inputs are equal for all systems and cancel at this level; Algorithm 1 has none.
        people, x, y = (_without_inputs(v) for v in (people, x, y))
    flat = NeedsMissing("the variance of the metrics or the ratings is too small for planning.", code="constant")
    try:
        one, two = fit_panel(x, people), fit_panel(y, people)
    except DataError:
        raise flat from None
    ratio = float(np.mean([_inside(f.within_m) / f.sigma_m for f in (one, two)]))
    within_h, raise_by, raters = _inside(one.within_h), 1.0, None
    if axis == "raters":
        within_h, raise_by, raters = _without_noise(panel, one.sigma_h, within_h)
    params = replace(
        SimulationParams(N=panel.n_systems, M=panel.n_inputs),
        sigma_m=1.0,
        within_m=ratio,
        sigma_h=one.sigma_h,
        within_h=within_h,
        sigma_rho=_known(float(np.mean([one.sigma_rho, two.sigma_rho]))),
    )
    first, second = (Strength(_bound(f.rho_sys), _bound(f.mu_rho * raise_by)) for f in (one, two))
    if np.isnan([ratio, within_h, first.rho_sys, second.rho_sys, first.mu_rho, second.mu_rho]).any():
        raise flat
    return MetricPair(params, first, second, _shared_error(x, y, people, measure), raters)


def answer(points: list[tuple[int, Power]], axis: Axis, target: float, first: str, second: str) -> str:
    """State the sample size that is needed, or the largest power that was reached."""
    enough = [size for size, p in points if p.power >= target]
    if enough:
        least = " or fewer" if enough[0] == points[0][0] else ""
        return f"About {enough[0]} {axis}{least} tell {first} from {second} with power {target:g}."
    size, best = max(points, key=lambda item: item[1].power)
    return (
        f"Power {target:g} is not reached: it is {number(best.power, 2)} ± {number(best.se, 2)} at most, at {size} "
        f"{axis}" + ("; more systems would help more than more inputs." if axis == "inputs" else ".")
    )


def _check(panel: Panel, axis: str, target: float, how: str, level: float) -> None:
    if len(panel.metrics) != 2:
        available = f"; found {', '.join(panel.names)}" if panel.metrics else ""
        raise NlgaugeError(
            f"{panel.name}: planning requires two metrics: select them with "
            f"{option('metrics', ['a', 'b'], choice=True)}{available}."
        )
    if not 0 < target < 1 or not 0 < level < 1:
        raise NlgaugeError(
            f"{option('power')} and {option('level')} must be between 0 and 1; got {target:g} and {level:g}."
        )
    if panel.n_systems < 2 or panel.n_inputs < 2:
        raise NeedsMissing("planning requires at least 2 systems and 2 inputs.", code="too_few_systems")
    if how == "systems" and axis != "systems" and panel.n_systems < LEAST_SYSTEMS:
        raise NeedsMissing(
            f"with {panel.n_systems} systems no test that generalizes to other systems reaches p = .05 (it "
            f"requires {LEAST_SYSTEMS}), whatever the number of {axis}; set {option('axis', 'systems')}, or "
            f"{option('how', 'both')} for a test "
            "on these systems only.",
            code="too_few_systems",
        )


def _sizes(panel: Panel, axis: Axis, pair: MetricPair) -> list[int]:
    if axis == "raters":
        return [1, 2, 3, 4, 6, 8, 12]
    if axis == "systems":
        return [LEAST_SYSTEMS, 8, 12, 16, 24, 32, 48]
    return sorted({max(4, round(panel.n_inputs * step)) for step in STEPS})


def _now(panel: Panel, axis: Axis) -> int:
    if axis == "raters":
        return round(_ratings_an_output(panel.raters[panel.aspect]))
    return panel.n_inputs if axis == "inputs" else panel.n_systems


def _without_noise(panel: Panel, between: float, within: float) -> tuple[float, float, Raters]:
    """Return the SD within systems without rating noise, the disattenuation factor, and the reliability of a rating."""
    ratings = ratings_of(panel, "planning the number of annotators")
    count = (~np.isnan(ratings)).sum(axis=0)
    noise = float(np.mean(np.nanvar(ratings[:, count >= 2], axis=0, ddof=1))) if (count >= 2).any() else float("nan")
    k = _ratings_an_output(ratings)
    # At least a tenth of the variance remains: more estimated noise is chance, and would give correlations above 1.
    true = max(within**2 - noise / k, 0.1 * within**2)
    reliability = (between**2 + true) / (between**2 + true + noise)
    if not 0 < reliability <= 1:
        raise NeedsMissing("no output has two ratings, so the rating noise is unknown.", code="too_few_raters")
    return float(np.sqrt(true)), within / float(np.sqrt(true)), Raters(max(1, round(k)), reliability)


def _ratings_an_output(ratings: Array) -> float:
    count = (~np.isnan(ratings)).sum(axis=0)
    return float(count[count > 0].mean())


def _shared_error(x: Array, y: Array, z: Array, measure: Measure) -> float:
    """Return the partial correlations of two metrics given the human ratings, between and within systems."""
    both = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    x, y, z = (np.where(both, v, np.nan) for v in (x, y, z))
    with np.errstate(invalid="ignore"):
        means = [np.nanmean(v[both.any(axis=1)], axis=1) for v in (x, y, z)]
        inside = [(v - np.nanmean(v, axis=1, keepdims=True))[both] for v in (x, y, z)]
    across, within = _partial(*means), _partial(*inside)
    by = {"system": [across], "item": [within]}.get(measure.grouping, [across, within])
    known = [v for v in by if not np.isnan(v)]
    return float(np.clip(np.mean(known), -0.95, 0.95)) if known else 0.0


def _partial(a: Array, b: Array, given: Array) -> float:
    if len(a) < 4 or min(v.std() for v in (a, b, given)) == 0:
        return float("nan")
    r = np.corrcoef([a, b, given])
    below = np.sqrt((1 - r[0, 2] ** 2) * (1 - r[1, 2] ** 2))
    return float((r[0, 1] - r[0, 2] * r[1, 2]) / below) if below > 1e-9 else float("nan")


def _warnings(
    panel: Panel, pair: MetricPair, points: list[tuple[int, Power]], observed: Array, axis: Axis
) -> list[str]:
    difference = float(observed[0] - observed[1])
    simulated = next((p.difference for size, p in points if size == _now(panel, axis)), points[-1][1].difference)
    text = f"Difference in the data {number(difference, sign=True)}, in the simulation {number(simulated, sign=True)}"
    if np.sign(difference) != np.sign(simulated) or not 0.5 <= abs(simulated) / max(abs(difference), 1e-9) <= 2:
        text += ": they differ, so the power is approximate"
    worse = [
        f"power is accurate to ±{number(1.96 * max(p.se for _, p in points), 2)} (more {option('trials')} increase "
        "accuracy)."
    ]
    return [f"{text}. Error correlation of the two metrics: {number(pair.between, 2)}.", *worse]


def _without_inputs(v: Array) -> Array:
    known = np.isfinite(v)
    mean = np.where(known, v, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.asarray(v - mean)


def _inside(within: float | tuple[float, ...] | None) -> float:
    known = np.asarray(within, np.float64)
    known = known[~np.isnan(known)]
    return float(np.sqrt(np.mean(known**2))) if known.size else float("nan")


def _bound(r: float) -> float:
    return float(np.clip(r, -0.99, 0.99))


def _known(value: float) -> float:
    return 0.15 if np.isnan(value) else float(value)
