"""Confidence interval of a pass rate estimated from few labeled rows, for rare passes, failures or judge errors.

Half a pass and half a fail are added to the labeled rows, each where the judge predicts the opposite, as Jeffreys'
prior adds one half to each count, and the rows get gamma-distributed weights (Bayesian bootstrap). Rows that increase
the share and rows that decrease it are each summarized by their variance and skewness, and the quantiles of the
difference of the two gamma distributions are the limits (saddlepoint approximation, no random draws). An error that was
not observed is thus accounted for, and rare errors of one kind make one side longer, in every design. Labels without a
judge are a count with its discrete steps: each limit adds .7 of the row on its own side and .3 of the other, as the
shortened Clopper-Pearson interval does (stats/agreement/proportion.py), and approaches one half to the extent that
strata predict the verdict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COUNT = 0.7  # fraction of the row on the side of a limit that a count adds; otherwise one half
STEPS = 45  # bisection steps
MAX_DEVIATIONS = 1e4  # limit of the saddlepoint, in standard deviations


class OneMore(NamedTuple):
    """Effect of one more labeled row: weight among the labels, and influence on the share, of a pass and of a fail
    that the judge gets wrong (all at least 0).
    """

    pass_weight: Any
    fail_weight: Any
    up: Any
    down: Any


class ShareEnds(NamedTuple):
    low: Any
    high: Any
    worth: Any  # number of independent verdicts with the same variance


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
    """Return the limits of the share at `value`; `influence` of every row, or cluster, on it; `tail`: error rate of one
    limit.

    `unseen`: the row on the side of a limit, whose weight may exceed the observed ones; `seen`: that on the other side.
    `count`: labels without a judge.

    `tuned`: without a pass the judge has no weight, so the upper limit is never below that of a count of 0, and shares
    below that limit cannot be missed from above: the lower limit may then use the error rate of both tails (not with
    `equal_tails`).

    >>> y = np.repeat([1.0, 0.0], [12, 18])
    >>> more = OneMore(1 / 30, 1 / 30, 0.6 / 30, 0.4 / 30)
    >>> result = share_interval(0.4, (y - 0.4) / 30, more, more, 0.025, count=True, tuned=True, equal_tails=False)
    >>> round(float(result.low), 3), round(float(result.high), 3)
    (0.229, 0.59)
    """
    up, down = np.maximum(influence, 0.0), np.maximum(-influence, 0.0)
    sums = [(part**power).sum(axis=-1) for part in (up, down) for power in (2, 3)]
    plain = unseen.pass_weight * (1 - value) + unseen.fail_weight * value
    errors = unseen.up + unseen.down - plain  # part explained by strata and judge
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


Moments = tuple[Any, Any]  # sums of squares and cubes of the influence of rows


def _with_more(value: Any, sums: list[Any], more: OneMore, added: tuple[Any, Any]) -> tuple[Any, Moments, Moments]:
    """Return the mean, and the moments of the rows that increase and decrease it, with fractions of a pass and a
    fail added.
    """
    passes, fails = added
    rows = 1 + passes * more.pass_weight + fails * more.fail_weight
    return (
        value + (passes * more.up - fails * more.down) / rows,
        ((sums[0] + passes * more.up**2) / rows**2, (sums[1] + passes * more.up**3) / rows**3),
        ((sums[2] + fails * more.down**2) / rows**2, (sums[3] + fails * more.down**3) / rows**3),
    )


def _upper_quantile(rising: Moments, falling: Moments, p: Any) -> Any:
    """Return the upper quantile of the difference of two gamma distributions, relative to its mean, for p below one
    half.

    Barndorff-Nielsen's form of the saddlepoint approximation, solved by bisection.
    """
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
            result = root + np.log(t * np.sqrt(curve) / root) / root
            below = result < wanted
            low, high = np.where(below, t, low), np.where(below, high, t)
        return np.where(sd > 0, off, 0.0)


def _gamma(square: Any, cube: Any) -> tuple[Any, Any]:
    """Return shape and scale of the gamma distribution for rows with these sums of squares and cubes."""
    square, cube = np.asarray(square, np.float64), np.asarray(cube, np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(square > 0, cube / square, 1e-300)
        return np.where(square > 0, square / scale**2, 0.0), scale
