"""The expected rating from token probabilities (G-Eval): finer than one number, from one reply."""

from __future__ import annotations

import math
import re

from nlgauge.metrics.judge.replies import Reply
from nlgauge.metrics.judge.scale import Scale


def expected_rating(reply: Reply, scale: Scale) -> float | None:
    """The mean of the scale's points weighted by their probability where the reply states its rating.

    The rating stands at the last token that is a point of the scale; what probability its alternatives do not cover is
    left out. None when the server told no alternatives there, or when the rating is written in several tokens (85 as 8
    and 5): the alternatives of one of its digits are no ratings.

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
                if _word(token) in points and not math.isnan(logprob):  # a server may say NaN, or more than certain
                    value = points[_word(token)]
                    weights[value] = weights.get(value, 0.0) + math.exp(min(logprob, 0.0))
            total = sum(weights.values())
            return sum(v * w for v, w in weights.items()) / total if total > 0 else None
    return None


def _continues(told: tuple[tuple[tuple[str, float], ...], ...], k: int) -> bool:
    """Whether this token is one digit or another of a longer number."""
    here = told[k][0][0]
    before = told[k - 1][0][0] if k and told[k - 1] else ""
    after = told[k + 1][0][0] if k + 1 < len(told) and told[k + 1] else ""
    return (before[-1:].isdigit() and here[:1].isdigit()) or (here[-1:].isdigit() and after[:1].isdigit())


def _word(token: str) -> str:
    return re.sub(r"[\s▁Ġ*:.]+", "", token)
