"""How far would a correlation move with other systems and inputs like these? Delete-one intervals and tests.

Systems and inputs are both samples: the outputs of one system share its faults, the outputs of one input its
difficulty. Each system is left out in turn, then each input, and the spread of the values so found gives two variances;
what they have in common (chance in single outputs, which both see) is counted once, from leaving out sets of outputs
that hit all systems and inputs alike. Nothing is drawn at random, so nothing depends on a seed. `bench/coverage.py`
shows how often the intervals hold and how often the tests raise a false alarm.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit

from nlgauge.errors import NlgaugeError
from nlgauge.stats.correlation.evaluate_groups import Wanted, all_pairs, arrays, wanted
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.canonical import canonical_order
from nlgauge.stats.resampling.rank_intervals import CUT, kendall_interval, perfect, spearman_interval
from nlgauge.stats.tests.permutation import PairTests, permutation_pairs
from nlgauge.types import Array, Ints, Mask, Steps

Over = Literal["auto", "both", "inputs"]
Labels = Ints

SYSTEMS = 6  # with fewer nothing can be said of other systems
INPUTS = 10  # with fewer there is no interval
SETS = 20  # sets of outputs that are left out together, at most
GROUPS = 250  # inputs beyond this number are left out in groups
SWAPS = 2000  # draws of the test of systems' means
MOST = 1 - 1e-12  # a correlation from here on is perfect

UNITS = {"both": "systems and inputs like these", "inputs": "these systems and inputs like these"}


class Spread(NamedTuple):
    """Variance of a value and the degrees of freedom behind it, any shape; NaN where it cannot be known."""

    variance: Array
    free: Array


@dataclass(frozen=True)
class WithoutEach:
    """Values (… ) and what they become without each system, group of inputs and set of outputs (last axis)."""

    value: Array
    systems: Array | None
    inputs: Array
    outputs: Array | None

    def moved(self, change: Callable[..., Array], *others: WithoutEach) -> WithoutEach:
        """The same on another scale, or what `change` makes of these and others that were found without these units."""
        all_of = [(each.value, each.systems, each.inputs, each.outputs) for each in (self, *others)]
        value, systems, inputs, outputs = (
            None if any(v is None for v in values) else change(*values) for values in zip(*all_of, strict=True)
        )
        return WithoutEach(value, systems, inputs, outputs)  # type: ignore[arg-type]

    def minus(self, first: Labels, second: Labels) -> WithoutEach:
        """Differences between values of the first axis."""
        return self.moved(lambda values: values[first] - values[second])

    def spread(self) -> Spread:
        """V = V(systems) + V(inputs) − V(outputs), never below either of the first two; freedom after Satterthwaite."""
        inputs, m = _delete_one(self.inputs)
        if self.systems is None:
            return Spread(inputs, m - 1)
        systems, n = _delete_one(self.systems)
        # Few systems spread a little less than many would: this much more keeps the promise (bench/coverage.py).
        systems = systems * n / (n - 0.5)
        outputs = np.nan_to_num(_delete_one(self.outputs)[0]) if self.outputs is not None else 0.0
        own = np.maximum(inputs - outputs, 0.0)
        variance = np.maximum(systems + own, inputs)
        with np.errstate(invalid="ignore", divide="ignore"):
            free = (systems + own) ** 2 / (systems**2 / (n - 1) + own**2 / (m - 1))
        least = np.minimum(n, m) - 1
        return Spread(variance, np.where(np.isfinite(free), np.clip(free, least, np.maximum(n, m) - 1), least))


@dataclass(frozen=True)
class Intervals:
    """Ends K×L with the value; where there is none, `reason` says why."""

    value: Array
    low: Array
    high: Array
    reason: NDArray[np.object_]
    over: str
    method: str


def over_of(over: Over, systems: int) -> Literal["both", "inputs"]:
    """What may be otherwise: systems and inputs, or inputs only where there are too few systems to speak of others."""
    if over == "auto":
        return "both" if systems >= SYSTEMS else "inputs"
    if over not in UNITS:
        raise NlgaugeError(f"intervals speak of both (systems and inputs) or inputs; found {over!r}")
    return over


def too_few(
    systems: int, inputs: int, over: Literal["both", "inputs"], grouping: str = "input", word: str = "inputs",
    what: str = "an interval"
) -> str | None:  # fmt: skip
    """Why there can be no interval (or test), with what would be needed; None where there can be one."""
    if over == "both" and systems < SYSTEMS:
        return f"{what} for other systems needs at least {SYSTEMS} systems; here are {systems}"
    if inputs < INPUTS and not (over == "both" and grouping == "system"):
        return f"{what} needs at least {INPUTS} {word}; here are {inputs}"
    return None


def unit_word(clusters: ArrayLike | None) -> str:
    """What is counted: inputs, or the documents or conversations that hold them together."""
    return "inputs" if clusters is None else "documents or conversations"


def intervals(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    over: Over = "auto",
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    progress: Steps | None = None,
) -> Intervals:
    """Intervals of K metrics (K×N×M) under every measure, on the scale of Fisher's z with Student's t.

    Rank correlations of systems' means take few values when a system is left out: theirs are `kendall_interval` and
    `spearman_interval`. What is covered is the measure's mean over other sets of as many systems and inputs. `clusters`
    names the document or conversation of each input.

    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(1, 6, (8, 30)).astype(float)
    >>> found = intervals(z + rng.normal(0, 1, z.shape), z, ["input/kendall"])
    >>> bool(found.low[0, 0] < found.value[0, 0] < found.high[0, 0])
    True
    """
    if not 0 < level < 1:
        raise NlgaugeError(f"the confidence level must lie between 0 and 1; found {level}")
    metrics, human = arrays(x, z)
    want, unit = wanted(measures), over_of(over, len(human))
    left = left_out(metrics, human, want, unit, clusters, progress)
    wide = left.moved(widened)
    spread = wide.spread()
    half = stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance)
    low, high = np.tanh(wide.value - half), np.tanh(wide.value + half)
    reason = np.full(left.value.shape, None, object)
    there = np.isfinite(metrics) & np.isfinite(human)
    groups = input_groups(metrics, human, clusters) if clusters is not None else np.arange(human.shape[1])
    for k, j in np.ndindex(left.value.shape):
        measure, value = want.measures[j], float(left.value[k, j])
        systems, inputs = int(there[k].any(axis=1).sum()), len(np.unique(groups[there[k].any(axis=0)]))
        if unit == "both" and str(measure) == "system/kendall":
            low[k, j], high[k, j] = kendall_interval(value, systems, level)
        elif unit == "both" and str(measure) == "system/spearman":
            tau = evaluate(metrics[k : k + 1], human, [Measure("system", "kendall")]).value[0, 0]
            low[k, j], high[k, j] = spearman_interval(value, float(tau), systems, level)
        elif abs(value) >= MOST:
            end = perfect(systems if unit == "both" else inputs, level)
            low[k, j], high[k, j] = (end, 1.0) if value > 0 else (-1.0, -end)
        reason[k, j] = too_few(systems, inputs, unit, measure.grouping, unit_word(clusters))
        if unit == "inputs" and measure.grouping == "system" and measure.coefficient != "pearson":
            reason[k, j] = (
                reason[k, j] or "ranks of a few systems that stay the same take too few values for an interval"
            )
        if reason[k, j] is None and np.isfinite(value) and not np.isfinite(low[k, j]):
            reason[k, j] = "too many of the values without one system or input are undefined"
        if reason[k, j] is not None:
            low[k, j], high[k, j] = np.nan, np.nan
    method = (
        f"{level:.0%} interval for {UNITS[unit]}: delete-one jackknife over "
        f"{'systems and inputs' if unit == 'both' else 'inputs'}{'' if clusters is None else ' (whole clusters)'}, "
        "Fisher's z, Student's t; no random draws"
    )
    return Intervals(left.value, low, high, reason, unit, method)


def difference_tests(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    over: Over = "auto",
    clusters: ArrayLike | None = None,
    seed: int = 0,
    draws: int | None = None,
    progress: Steps | None = None,
) -> PairTests:
    """Would one metric agree better with people than the other on systems and inputs like these too? Two-sided p.

    The difference of two metrics over the outputs that both scored, divided by its delete-one standard error, against
    Student's t; measures of systems' means by swapping the two metrics on whole systems (`draws`). Too few systems or
    inputs: p is NaN and the method says what would be needed.
    """
    metrics, human = arrays(x, z)
    want, unit = wanted(measures), over_of(over, len(human))
    chosen = all_pairs(len(metrics))
    shape = (len(chosen), len(want))
    difference, p = np.full(shape, np.nan), np.full(shape, np.nan)
    undefined, cells = np.zeros(shape, np.int64), np.zeros(len(chosen), np.int64)
    there = np.isfinite(metrics) & np.isfinite(human)
    groups = input_groups(metrics, human, clusters) if clusters is not None else np.arange(human.shape[1])
    for mask, at in _by_shared(there, chosen).items():
        shared: Mask = np.frombuffer(mask, bool).reshape(human.shape)
        cells[at] = int(shared.sum())
        used = np.unique(chosen[at])
        place = np.full(len(metrics), -1, np.int64)
        place[used] = np.arange(len(used))
        left = left_out(metrics[used], np.where(shared, human, np.nan), want, unit, clusters, None)
        gap = left.minus(place[chosen[at, 0]], place[chosen[at, 1]])
        systems, inputs = int(shared.any(axis=1).sum()), len(np.unique(groups[shared.any(axis=0)]))
        difference[at], p[at] = gap.value, student_p(gap)
        for j, measure in enumerate(want.measures):
            if too_few(systems, inputs, unit, measure.grouping):
                p[at, j] = np.nan
        if progress is not None:
            progress(int((cells > 0).sum()), len(chosen))
    means = [j for j, m in enumerate(want.measures) if m.grouping == "system" and unit == "both"]
    total = SWAPS if draws is None else draws
    if means and len(human) >= SYSTEMS:
        which = [want.measures[j] for j in means]
        swapped = permutation_pairs(metrics, human, which, how="systems", draws=total, seed=seed)
        p[:, means], undefined[:, means] = swapped.p, swapped.undefined
    method = _test_method(want, unit, clusters is not None, bool(means), total, seed)
    return PairTests(want.names, chosen, difference, p, undefined, cells, total if means else 0, method)


def change_intervals(
    old: ArrayLike, new: ArrayLike, z: ArrayLike, measures: Iterable[object], *, clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Intervals:  # fmt: skip
    """New less old value of every measure (1×L) over the outputs that both and people have, with Student's t."""
    pair, human = arrays(np.stack([np.asarray(old, np.float64), np.asarray(new, np.float64)]), z)
    human = np.where(np.isfinite(pair).all(axis=0), human, np.nan)
    want, unit = wanted(measures), over_of("auto", int(np.isfinite(human).any(axis=1).sum()))
    there = np.isfinite(human)
    groups = input_groups(pair, human, clusters) if clusters is not None else np.arange(human.shape[1])
    inputs = len(np.unique(groups[there.any(axis=0)]))
    gap = left_out(pair, human, want, unit, clusters).minus(np.array([1]), np.array([0]))
    spread = gap.spread()
    half = stdtrit(spread.free, 0.5 + level / 2) * np.sqrt(spread.variance)
    reason = np.full(gap.value.shape, None, object)
    for j, measure in enumerate(want.measures):
        reason[0, j] = too_few(int(there.any(axis=1).sum()), inputs, unit, measure.grouping, unit_word(clusters)) or (
            "changes of rank correlations of systems' means take too few values for an interval"
            if measure.grouping == "system" and measure.coefficient != "pearson"
            else None
            if np.isfinite(half[0, j])
            else "not defined in one of the two runs"
        )
    half = np.where(reason == None, half, np.nan)  # noqa: E711
    return Intervals(gap.value, gap.value - half, gap.value + half, reason, unit, "delete-one jackknife, Student's t")


def left_out(
    x: Array,
    z: Array,
    want: Wanted,
    over: Literal["both", "inputs"],
    clusters: ArrayLike | None = None,
    progress: Steps | None = None,
) -> WithoutEach:
    """All measures of all metrics, whole and without each unit."""
    one = len(z) if over == "both" else 0
    rows, cols = without_each(z.shape, input_groups(x, z, clusters), over)
    found = weighted(x, z, rows, cols, want, progress=progress)
    outputs = None
    if over == "both":
        sets = output_sets(z)
        outputs = np.stack(
            [
                evaluate(x, np.where(sets == s, np.nan, z), want.measures).value
                for s in range(int(sets.max(initial=-1)) + 1)
            ],
            axis=-1,
        )
    systems = found[:, :, 1 : 1 + one] if one else None
    return WithoutEach(found[:, :, 0], systems, found[:, :, 1 + one :], outputs)


def without_each(shape: tuple[int, int], groups: Labels, over: Literal["both", "inputs"]) -> tuple[Array, Array]:
    """How often each system and each input counts: all once, then each system left out, then each group of inputs."""
    n, m = shape
    kept = (groups[None, :] != np.arange(int(groups.max(initial=-1)) + 1)[:, None]).astype(np.float64)
    one = n if over == "both" else 0
    rows = np.concatenate([np.ones((1, n)), 1.0 - np.eye(n)[:one], np.ones((len(kept), n))])
    return rows, np.concatenate([np.ones((1, m)), np.ones((one, m)), kept])


def input_groups(x: Array, z: Array, clusters: ArrayLike | None = None) -> Labels:
    """Which inputs are left out together: clusters, single inputs, or groups of even size where there are very many."""
    m = z.shape[1]
    if clusters is not None:
        return np.unique(np.asarray(clusters), return_inverse=True)[1].reshape(-1).astype(np.int64)
    if m <= GROUPS:
        return np.arange(m)
    groups = np.empty(m, np.int64)
    groups[canonical_order([z], list(x)).inputs] = np.arange(m) % GROUPS
    return groups


def output_sets(z: Array) -> Labels:
    """Sets of outputs that take from every input at most one system (or every SETS-th) and from every system its share.

    The start in each input comes from people's ratings of it, not from its place in the file or its name.
    """
    n, m = z.shape
    size = min(n, SETS)
    order = canonical_order([z]).systems
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    ranks = np.zeros(z.shape, np.int64)
    there = np.isfinite(z)
    ranks[there] = np.unique(z[there], return_inverse=True)[1] + 1
    start = [
        int.from_bytes(hashlib.blake2b(column.tobytes(), digest_size=4).digest(), "big") % size
        for column in np.ascontiguousarray(ranks[order].T)
    ]
    return np.asarray((place[:, None] + np.array(start, np.int64).reshape(1, m)) % max(size, 1), np.int64)


def _delete_one(values: Array) -> tuple[Array, Array]:
    """Delete-one variance over the last axis and the number of units; NaN where a fifth of the values is undefined."""
    there = np.isfinite(values)
    n = there.sum(axis=-1).astype(np.float64)
    some = np.maximum(n, 1.0)
    mean = np.where(there, values, 0.0).sum(axis=-1) / some
    square = (np.where(there, values - mean[..., None], 0.0) ** 2).sum(axis=-1)
    enough = (n >= 2) & (n >= 0.8 * values.shape[-1])
    return np.where(enough, (n - 1) / some * square, np.nan), n


def student_p(gap: WithoutEach) -> Array:
    """Two-sided p of the differences; 1 for two metrics that never differ."""
    spread = gap.spread()
    with np.errstate(invalid="ignore", divide="ignore"):
        p = 2 * stdtr(spread.free, -np.abs(gap.value) / np.sqrt(spread.variance))
    same = (np.abs(gap.value) < 1e-12) & ~(spread.variance > 0)
    return np.where(same, 1.0, np.where(spread.variance > 0, p, np.nan))


def _by_shared(there: Mask, pairs: Labels) -> dict[bytes, Labels]:
    """Pairs by the outputs that both metrics scored."""
    found: dict[bytes, list[int]] = {}
    for at, (i, j) in enumerate(pairs):
        found.setdefault(np.asarray(there[i] & there[j]).tobytes(), []).append(at)
    return {mask: np.array(at, np.int64) for mask, at in found.items()}


def _test_method(want: Wanted, unit: str, clustered: bool, means: bool, draws: int, seed: int) -> str:
    parts = []
    if any(m.grouping != "system" for m in want.measures) or not means:
        parts.append(
            f"difference over its delete-one standard error ({'systems and inputs' if unit == 'both' else 'inputs'}"
            f"{', whole clusters' if clustered else ''}) against Student's t, two-sided"
        )
    if means:
        parts.append(f"systems' means: metrics swapped on whole systems, two-sided, {draws} draws, seed {seed}")
    return (
        f"test for {UNITS[unit]}: " + "; ".join(parts) + "; an output counts where people and both metrics have a score"
    )


def widened(values: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.arctanh(np.clip(values, -CUT, CUT))
