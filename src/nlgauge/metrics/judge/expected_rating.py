"""Expected rating from token probabilities (G-Eval): more precise than one number, from one reply."""

from __future__ import annotations

import math
import re

from nlgauge.metrics.judge.replies import Reply
from nlgauge.metrics.judge.scale import Scale


def expected_rating(reply: Reply, scale: Scale) -> float | None:
    """Compute the mean of the scale's points weighted by their probability where the reply states its rating.

    The rating is the last token that is a point of the scale; probability not covered by its alternatives is ignored.
    None without alternatives at that token, or when the rating consists of several tokens (85 as 8 and 5), because
    alternatives of a digit are not ratings.

    >>> reply = Reply("4", logprobs=((("4", math.log(0.75)), ("5", math.log(0.25)), ("the", -9.0)),))
    >>> expected_rating(reply, Scale.parse("1-5"))
    4.25
    """
    points = {str(p): float(p) for p in scale.points()}
    points |= {letter: scale.low + i for i, letter in enumerate(scale.letters)}
    for k in range(len(reply.logprobs) - 1, -1, -1):
        place = reply.logprobs[k]
        if place and _word(place[0][0]) in points:
            if _continues(reply.logprobs, k):
                return None
            weights: dict[float, float] = {}
            for token, logprob in place:
                if _word(token) in points and not math.isnan(logprob):  # a server may send NaN or a probability above 1
                    value = points[_word(token)]
                    weights[value] = weights.get(value, 0.0) + math.exp(min(logprob, 0.0))
            total = sum(weights.values())
            return sum(v * w for v, w in weights.items()) / total if total > 0 else None
    return None


def _continues(told: tuple[tuple[tuple[str, float], ...], ...], k: int) -> bool:
    """Return whether this token and the next are digits of one number."""
    here = told[k][0][0]
    before = told[k - 1][0][0] if k and told[k - 1] else ""
    after = told[k + 1][0][0] if k + 1 < len(told) and told[k + 1] else ""
    return (before[-1:].isdigit() and here[:1].isdigit()) or (here[-1:].isdigit() and after[:1].isdigit())


def _word(token: str) -> str:
    return re.sub(r"[\s▁Ġ*:.]+", "", token)
