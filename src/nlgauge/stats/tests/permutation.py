"""Permutation tests for pairs of metrics (Deutsch et al. 2021): do two correlations with human ratings differ?

If the two metrics were equally good, their scores could be exchanged. Each draw swaps them on random systems, inputs or
outputs, recomputes both correlations and compares the difference with the observed one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.kernels.shared import NEAR
from nlgauge.stats.correlation.evaluate_groups import (
    MeasurePlan,
    SortedPanel,
    all_pairs,
    arrays,
    plan_measures,
    run_all,
    scale_of,
    swap_pair,
    table,
)
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.correlation.profiles import Profile, apply_missing, profile_of
from nlgauge.stats.resampling.draws import Masks, Swap, block_masks, blocks_of, swap_masks
from nlgauge.types import Array, Ints, Steps


@dataclass(frozen=True)
class PairTests:
    """Tests of P metric pairs under L measures.

    `p` and `difference` (first minus second) are P×L; `cells` is the number of outputs used; `undefined` counts draws
    with an undefined correlation (all groups constant): they are left out of p, except under the count rule "plain",
    which keeps them in the denominator.
    """

    measures: tuple[str, ...]
    pairs: Ints
    difference: Array
    p: Array
    undefined: Ints
    cells: Ints
    draws: int
    method: str


@dataclass(frozen=True)
class PermutationTest:
    """One pair: `difference`, `p` and `undefined` per measure; `samples` (L × draws) are the permuted differences."""

    measures: tuple[str, ...]
    difference: Array
    p: Array
    undefined: Ints
    cells: int
    samples: Array
    method: str


def permutation_test(
    x1: ArrayLike,
    x2: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    how: Swap | None = None,
    draws: int | None = None,
    seed: int = 0,
    profile: str | Profile = "nlgauge",
) -> PermutationTest:
    """Test metric 1 against metric 2 (systems × inputs each) under every measure.

    Only outputs with a human rating and both scores are used: otherwise a swap could move a missing value from one
    metric to the other and change what is compared. Each metric is standardized over those outputs; human ratings are
    not (that would break their ties). With the alternative "greater" of a profile, the test is whether metric 1 is
    better.

    >>> rng = np.random.default_rng(1)
    >>> z = rng.integers(1, 6, (8, 30)).astype(float)
    >>> good, bad = z + rng.normal(0, 1, z.shape), z + rng.normal(0, 9, z.shape)
    >>> test = permutation_test(good, bad, z, ["input/kendall", "global/pearson"], seed=1)
    >>> bool((test.p < 0.01).all())
    True
    """
    stacked, human = arrays(np.stack([np.asarray(x1, float), np.asarray(x2, float)]), z)
    rules, want = profile_of(profile, how), plan_measures(measures)
    stacked, human = apply_missing(rules.missing, stacked, human)
    data, total = table(stacked, human, want), rules.draws if draws is None else draws
    blocks = [
        _differences(data, (0, 1), masks, want, rules)
        for masks in swap_masks(rules.swap, data.systems, data.inputs, total, seed, rules.legacy)
    ]
    observed, samples = blocks[0][:, 0], np.concatenate([b[:, 1:] for b in blocks], axis=1)
    exceed, undefined = _compare(samples, observed, rules)
    p = _p_values(exceed, undefined, observed, total, rules)
    used = int(data.shared(0, 1).sum())
    return PermutationTest(want.names, observed, p, undefined, used, samples, rules.method(total, seed))


def permutation_pairs(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    *,
    how: Swap | None = None,
    draws: int | None = None,
    seed: int = 0,
    profile: str | Profile = "nlgauge",
    progress: Steps | None = None,
) -> PairTests:
    """Test all pairs of metrics by permutation tests.

    Parameters
    ----------
    x : array of K × N × M
        Scores of K metrics, systems × inputs, NaN where missing.
    z : array of N × M
        Ratings.
    measures : sequence of Measure or str
    how : {'both', 'inputs', 'systems', 'cells'}, optional
        Units in which scores are exchanged. Default: those of the profile.
    draws : int, optional
        Number of draws, which are shared by all pairs and measures. Default: that of the profile.
    seed : int, default 0
    profile : str, default 'nlgauge'
        Conventions of another tool.
    progress : callable, optional
        Called with the number of pairs done and the total.

    Returns
    -------
    PairTests
        `pairs`, `difference` and `p` (pairs × measures), `cells`, `undefined`, and the `method` in words.

    Notes
    -----
    The test of Deutsch, Dror and Roth (2021): if two metrics were equally good, their (standardized) scores could be
    exchanged. p is (count + 1) / (draws + 1) of differences at least as large. Only outputs count that have a rating
    and scores of both metrics.
    """
    rules = profile_of(profile, how)
    rules = rules if draws is None else replace(rules, draws=draws)
    return permutation_of_pairs(x, z, measures, all_pairs(len(arrays(x, z)[0])), rules, seed=seed, progress=progress)


def permutation_of_pairs(
    x: ArrayLike,
    z: ArrayLike,
    measures: Iterable[object],
    chosen: Ints,
    rules: Profile,
    *,
    seed: int = 0,
    progress: Steps | None = None,
) -> PairTests:
    """Test the chosen pairs (P × 2) under the conventions and number of draws of a profile."""
    (stacked, human), want = arrays(x, z), plan_measures(measures)
    stacked, human = apply_missing(rules.missing, stacked, human)
    data, total = table(stacked, human, want), rules.draws
    shape = (len(chosen), len(want))
    observed, exceed, undefined = np.full(shape, np.nan), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    work = _Swapped(data, want, rules, chosen, total, seed)
    jobs = [(block, index) for block in range(blocks_of(total)) for index in range(len(chosen))]
    for (_, index), result in zip(jobs, run_all(work, jobs, progress), strict=True):
        observed[index] = result[0]
        exceed[index] += result[1]
        undefined[index] += result[2]
    p = _p_values(exceed, undefined, observed, total, rules)
    cells = np.array([data.shared(*pair).sum() for pair in chosen], np.int64)
    return PairTests(want.names, chosen, observed, p, undefined, cells, total, rules.method(total, seed))


@dataclass
class _Swapped:
    """A job is a block of draws and a pair; the result is the observed differences and the two counts of `_compare`."""

    data: SortedPanel
    want: MeasurePlan
    rules: Profile
    pairs: Ints
    draws: int
    seed: int
    _masks: tuple[int, Masks] | None = field(
        default=None, init=False
    )  # masks of the previous block, which is usually this one

    def __call__(self, job: tuple[int, int]) -> tuple[Array, Ints, Ints]:
        block, index = job
        pair = (int(self.pairs[index, 0]), int(self.pairs[index, 1]))
        result = _differences(self.data, pair, self._of(block), self.want, self.rules)
        return result[:, 0], *_compare(result[:, 1:], result[:, 0], self.rules)

    def _of(self, block: int) -> Masks:
        """Return the masks of a block, regenerated from the seed in each process instead of being sent."""
        selected = self._masks
        if selected is None or selected[0] != block:
            how, systems, inputs = self.rules.swap, self.data.systems, self.data.inputs
            selected = block, block_masks(how, systems, inputs, self.draws, self.seed, self.rules.legacy, block)
            self._masks = selected
        return selected[1]


def _differences(data: SortedPanel, pair: tuple[int, int], masks: Masks, want: MeasurePlan, rules: Profile) -> Array:
    """Compute the first minus the second correlation, measures × (1 + draws), the observed difference first."""
    both = swap_pair(
        data,
        pair,
        masks,
        want,
        near=NEAR if rules.snap else 0.0,
        standardize=rules.standardize,
        constant_is_zero=rules.constant == "zero",
    )
    result: Array = both[0] - both[1]
    if want.slow:
        result[list(want.slow)] = _slowly(data, pair, masks, want, rules)
    return result


def _slowly(data: SortedPanel, pair: tuple[int, int], masks: Masks, want: MeasurePlan, rules: Profile) -> Array:
    """Compute measures without a kernel: build each swapped pair of tables and evaluate it, which is far slower."""
    valid, shape = data.shared(*pair), (data.systems, data.inputs)
    x1, x2 = (np.where(valid, data.metrics[k].x, 0.0) for k in pair)
    scales = (scale_of(x, valid, rules.standardize) for x in (x1, x2))
    v1, v2 = ((x - mean) * unit for x, (mean, unit) in zip((x1, x2), scales, strict=True))
    human = np.where(valid, data.z, np.nan).reshape(shape)
    out = np.empty((len(want.slow), masks.draws + 1))
    for d in range(masks.draws + 1):
        strip, lane = divmod(d, masks.rows.shape[2])
        swap = (masks.rows[strip, masks.row, lane] ^ masks.cols[strip, masks.col, lane]).astype(bool)
        # if all scores or none are swapped, use the scores themselves, because standardized scores have lost small
        # differences
        one, two = (x1, x2) if (swap == swap[0])[valid].all() else (v1, v2)
        mixed = np.stack([np.where(swap, two, one).reshape(shape), np.where(swap, one, two).reshape(shape)])
        value = evaluate(mixed, human, want.slow_measures).value
        out[:, d] = value[0] - value[1]
    return out


def _compare(samples: Array, observed: Array, rules: Profile) -> tuple[Ints, Ints]:
    """Count the draws at least as extreme as the observed difference, and the undefined ones."""
    seen = observed[:, None]
    with np.errstate(invalid="ignore"):
        if rules.alternative == "two-sided":
            extreme = np.abs(samples) >= np.abs(seen) - rules.tolerance
        elif rules.alternative == "greater":
            extreme = samples >= seen - rules.tolerance
        else:
            extreme = samples <= seen + rules.tolerance
    return extreme.sum(axis=1), np.isnan(samples).sum(axis=1)


def _p_values(exceed: Ints, undefined: Ints, observed: Array, draws: int, rules: Profile) -> Array:
    # (count + 1) / (draws + 1): the observed data count as one of the draws, so p is never 0 and the test is valid
    p = (exceed + 1) / (draws - undefined + 1) if rules.count == "plus-one" else exceed / draws
    return np.where(np.isnan(observed), np.nan, p)
