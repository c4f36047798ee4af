"""Interval of a share of verdicts that few labelled rows tell, right where few passes, few fails or few errors of the
judge are among them.

To the labelled rows half a pass and half a fail are added, each where the judge would say the opposite, as Jeffreys'
prior adds half of each to a count, and the rows get weights with gamma distributions (the Bayesian bootstrap). Rows
that push the share up and rows that push it down are each summed up by their variance and skewness, and the quantiles
of the difference of the two gamma distributions are the ends (saddlepoint approximation, no draws). So an error that
was not seen yet counts, and rare errors of one kind make one end longer, in every design. Labels without a judge are a
count, with its steps: at each end they add .7 of the row on its own side and .3 of the other, which is what the leaner
Clopper-Pearson interval does (stats/agreement/proportion.py), and come to the halves as far as strata tell the verdict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COUNT = 0.7  # of the row on the side of an end that a count adds; else half
STEPS = 45  # of halving towards a quantile
MAX_DEVIATIONS = 1e4  # standard deviations: no point of the saddlepoint lies further out


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
    value: Any,
    influence: Floats,
    unseen: OneMore,
    seen: OneMore,
    tail: Any,
    *,
    count: bool,
    tuned: bool,
    equal_tails: bool,
) -> ShareEnds:
    """Ends of the share at `value`; `influence` of every row, or cluster, on it; `tail`: error rate of one end.

    `unseen`: the row on the side of an end, which may weigh more than those seen; `seen`: that on the other side.
    `count`: labels without a judge.

    `tuned`: without a pass the judge has no weight, so the upper end is never below that of a count of 0, and what lies
    below that end cannot be missed from above: the lower end may then use the rate of both (not with `equal_tails`).

    >>> y = np.repeat([1.0, 0.0], [12, 18])
    >>> more = OneMore(1 / 30, 1 / 30, 0.6 / 30, 0.4 / 30)
    >>> found = share_interval(0.4, (y - 0.4) / 30, more, more, 0.025, count=True, tuned=True, equal_tails=False)
    >>> round(float(found.low), 3), round(float(found.high), 3)
    (0.229, 0.59)
    """
    up, down = np.maximum(influence, 0.0), np.maximum(-influence, 0.0)
    sums = [(part**power).sum(axis=-1) for part in (up, down) for power in (2, 3)]
    plain = unseen.pass_weight * (1 - value) + unseen.fail_weight * value
    errors = unseen.up + unseen.down - plain  # of strata and judge: nothing where they tell nothing
    own = 0.5 + (COUNT - 0.5) * np.clip((plain - errors) / (plain + errors), 0, 1) * count

    def low_end(p: Any) -> Any:
        more = OneMore(seen.pass_weight, unseen.fail_weight, seen.up, unseen.down)
        centre, rising, falling = _with_more(value, sums, more, (1 - own, own))
        return centre - _upper_quantile(falling, rising, p)

    def high_end(p: Any) -> Any:
        more = OneMore(unseen.pass_weight, seen.fail_weight, unseen.up, seen.down)
        centre, rising, falling = _with_more(value, sums, more, (own, 1 - own))
        return centre + _upper_quantile(rising, falling, p)

    low, high = low_end(tail), high_end(tail)
    if tuned:
        no_pass, no_fail = (1 - (tail / COUNT) ** w for w in (unseen.pass_weight, unseen.fail_weight))
        if not equal_tails:
            low = np.maximum(low, np.minimum(low_end(2 * tail), no_pass))
            high = np.minimum(high, np.maximum(high_end(2 * tail), 1 - no_fail))
        low, high = np.minimum(low, 1 - no_fail), np.maximum(high, no_pass)
    inside = np.clip(value, 0.0, 1.0)
    centre, rising, falling = _with_more(inside, sums, unseen, (0.5, 0.5))
    variance = rising[0] + falling[0]
    low, high = np.clip(np.minimum(low, inside), 0, 1), np.clip(np.maximum(high, inside), 0, 1)
    return ShareEnds(low[()], high[()], np.maximum(centre * (1 - centre) / variance - 1, 1.0)[()])


Moments = tuple[Any, Any]  # sums of squares and of cubes of the influence of rows


def _with_more(value: Any, sums: list[Any], more: OneMore, added: tuple[Any, Any]) -> tuple[Any, Moments, Moments]:
    """Mean, and moments of the rows that push it up and of those that push it down, with parts of a pass and a fail
    added."""
    passes, fails = added
    rows = 1 + passes * more.pass_weight + fails * more.fail_weight
    return (
        value + (passes * more.up - fails * more.down) / rows,
        ((sums[0] + passes * more.up**2) / rows**2, (sums[1] + passes * more.up**3) / rows**3),
        ((sums[2] + fails * more.down**2) / rows**2, (sums[3] + fails * more.down**3) / rows**3),
    )


def _upper_quantile(rising: Moments, falling: Moments, p: Any) -> Any:
    """How far above its mean the value lies that the difference of two gamma distributions exceeds with probability p
    (below a half): Barndorff-Nielsen's form of the saddlepoint approximation, solved for the point by halving."""
    from scipy.special import ndtri

    shapes, scales = zip(*(_gamma(*part) for part in (rising, falling)), strict=True)
    sd = np.sqrt(rising[0] + falling[0])
    wanted = -ndtri(p)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        low, high = np.zeros(np.shape(sd)), np.minimum(1 / scales[0], MAX_DEVIATIONS / sd) * (1 - 1e-12)
        off = low
        for _ in range(STEPS):
            t = (low + high) / 2
            a, b = scales[0] * t, scales[1] * t
            log_mean = -shapes[0] * (np.log1p(-a) + a) - shapes[1] * (np.log1p(b) - b)
            off = shapes[0] * scales[0] * a / (1 - a) + shapes[1] * scales[1] * b / (1 + b)
            curve = shapes[0] * (scales[0] / (1 - a)) ** 2 + shapes[1] * (scales[1] / (1 + b)) ** 2
            root = np.sqrt(2 * np.maximum(t * off - log_mean, 0.0))
            found = root + np.log(t * np.sqrt(curve) / root) / root
            below = found < wanted
            low, high = np.where(below, t, low), np.where(below, high, t)
        return np.where(sd > 0, off, 0.0)


def _gamma(square: Any, cube: Any) -> tuple[Any, Any]:
    """Shape and scale of the gamma distribution of rows with these sums of squares and cubes."""
    square, cube = np.asarray(square, np.float64), np.asarray(cube, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(square > 0, cube / square, 1e-300)
        return np.where(square > 0, square / scale**2, 0.0), scale
