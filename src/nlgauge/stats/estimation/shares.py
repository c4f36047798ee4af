"""Interval of a share of verdicts that few labelled rows tell, right where few passes, few fails or few errors of the
judge are among them.

To the labelled rows half a pass and half a fail are added, each where the judge would say the opposite, as Jeffreys'
prior adds half of each to a count; the interval is that of the gamma distribution with the variance and the skewness
of all these rows (the Bayesian bootstrap by its first three moments, without draws). So an error that was not seen yet
counts, and rare errors of one kind make one end longer, in every design. An estimate with the steps of a count (labels
alone, a judge's verdicts at full weight, a judge that hardly counts) adds at each end .7 of the row on its own side and
.3 of the other, which is what the leaner Clopper-Pearson interval does (stats/agreement/proportion.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
OWN = 0.7  # of the row on the side of an end, where the estimate has steps; else half
NORMAL = 1e5  # rows of equal influence above which a gamma distribution is normal


class OneMore(NamedTuple):
    """What one more labelled row would do: weight among the labels, and influence on the share, of a pass and a fail
    that the judge gets wrong (all at least 0)."""

    pass_weight: Any
    fail_weight: Any
    up: Any
    down: Any


class ShareEnds(NamedTuple):
    low: Any
    high: Any
    worth: Any  # verdicts drawn at random with the same variance


def share_interval(
    value: Any, influence: Floats, unseen: OneMore, seen: OneMore, tail: Any, *, steps: Any, tuned: bool,
    equal_tails: bool,
) -> ShareEnds:  # fmt: skip
    """Ends of the share at `value`; `influence` of every row, or cluster, on it; `tail`: error rate of one end.

    `unseen`: the row on the side of an end, which may weigh more than those seen; `seen`: that on the other side.

    `tuned`: without a pass the judge has no weight, so the upper end is never below that of a count of 0, and what lies
    below that end cannot be missed from above: the lower end may then use the rate of both (not with `equal_tails`).

    >>> y = np.repeat([1.0, 0.0], [12, 18])
    >>> more = OneMore(1 / 30, 1 / 30, 0.6 / 30, 0.4 / 30)
    >>> found = share_interval(0.4, (y - 0.4) / 30, more, more, 0.025, steps=True, tuned=True, equal_tails=False)
    >>> round(float(found.low), 3), round(float(found.high), 3)
    (0.231, 0.589)
    """
    square, cube = (influence**2).sum(axis=-1), (influence**3).sum(axis=-1)
    own = np.where(steps, OWN, 0.5)

    def low_end(p: Any) -> Any:
        more = OneMore(seen.pass_weight, unseen.fail_weight, seen.up, unseen.down)
        centre, variance, third = _with_more(value, square, cube, more, (1 - own, own))
        return centre + _gamma_quantile(variance, third, p)

    def high_end(p: Any) -> Any:
        more = OneMore(unseen.pass_weight, seen.fail_weight, unseen.up, seen.down)
        centre, variance, third = _with_more(value, square, cube, more, (own, 1 - own))
        return centre + _gamma_quantile(variance, third, 1 - p)

    low, high = low_end(tail), high_end(tail)
    if tuned:
        no_pass, no_fail = (1 - (tail / OWN) ** w for w in (unseen.pass_weight, unseen.fail_weight))
        if not equal_tails:
            low = np.maximum(low, np.minimum(low_end(2 * tail), no_pass))
            high = np.minimum(high, np.maximum(high_end(2 * tail), 1 - no_fail))
        low, high = np.minimum(low, 1 - no_fail), np.maximum(high, no_pass)
    inside = np.clip(value, 0.0, 1.0)
    centre, variance, _ = _with_more(inside, square, cube, unseen, (0.5, 0.5))
    low, high = np.clip(np.minimum(low, inside), 0, 1), np.clip(np.maximum(high, inside), 0, 1)
    return ShareEnds(low[()], high[()], np.maximum(centre * (1 - centre) / variance - 1, 1.0)[()])


def _with_more(value: Any, square: Any, cube: Any, more: OneMore, added: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Mean, variance and sum of cubes with parts of a pass and a fail added."""
    passes, fails = added
    all_rows = 1 + passes * more.pass_weight + fails * more.fail_weight
    return (
        value + (passes * more.up - fails * more.down) / all_rows,
        (square + passes * more.up**2 + fails * more.down**2) / all_rows**2,
        (cube + passes * more.up**3 - fails * more.down**3) / all_rows**3,
    )


def _gamma_quantile(variance: Any, third: Any, p: Any) -> Any:
    """Of rows with gamma-distributed weights, off their mean; `third`: sum of the cubes of their influence."""
    from scipy.special import gammaincinv, ndtri

    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scale = third / variance
        shape = variance / scale**2
        normal = ~(shape < NORMAL)
        shape = np.where(normal, 1.0, shape)
        found = scale * (gammaincinv(shape, np.where(scale > 0, p, 1 - p)) - shape)
        return np.where(normal, ndtri(p) * np.sqrt(variance), found)
