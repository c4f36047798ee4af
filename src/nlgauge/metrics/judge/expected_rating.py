"""The expected rating from token probabilities (G-Eval): finer than one number, from one reply."""

from __future__ import annotations

import math
import re

from nlgauge.metrics.judge.replies import Reply
from nlgauge.metrics.judge.scale import Scale


def expected_rating(reply: Reply, scale: Scale) -> float | None:
    """The mean of the scale's points weighted by their probability where the reply states its rating.

    The rating stands at the last token that is a point of the scale; what probability its alternatives do not cover is
    left out. None when the server told no alternatives there.

    >>> reply = Reply("4", logprobs=((("4", math.log(0.75)), ("5", math.log(0.25)), ("the", -9.0)),))
    >>> expected_rating(reply, Scale.parse("1-5"))
    4.25
    """
    points = {str(p): float(p) for p in scale.points()}
    points |= {letter: scale.low + i for i, letter in enumerate(scale.letters)}
    for place in reversed(reply.logprobs):
        if place and _word(place[0][0]) in points:
            weights: dict[float, float] = {}
            for token, logprob in place:
                if _word(token) in points and not math.isnan(logprob):  # a server may say NaN, or more than certain
                    value = points[_word(token)]
                    weights[value] = weights.get(value, 0.0) + math.exp(min(logprob, 0.0))
            total = sum(weights.values())
            return sum(v * w for v, w in weights.items()) / total if total > 0 else None
    return None


def _word(token: str) -> str:
    return re.sub(r"[\s▁Ġ*:.]+", "", token)
