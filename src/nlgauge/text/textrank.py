"""TextRank (Mihalcea and Tarau 2004): the most central sentences of a text, as a pseudo-summary."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nlgauge.text.porter import stem
from nlgauge.text.stopwords import STOP, WORD

DAMPING, ROUNDS = 0.85, 50


def textrank(sentences: Sequence[str]) -> list[int]:
    """Return the numbers of the sentences, the most central first.

    >>> textrank(["The bridge is closed.", "A bridge over the river is closed today.", "Tea is hot."])
    [0, 1, 2]
    """
    bags = [
        {stem(w[0].lower()) for w in WORD.finditer(s) if w[0].lower() not in STOP and w[0].isalnum()} for s in sentences
    ]
    n = len(bags)
    weight = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            size = math.log(max(len(bags[i]), 2)) + math.log(max(len(bags[j]), 2))
            weight[i, j] = weight[j, i] = len(bags[i] & bags[j]) / size
    out = weight.sum(axis=1)
    share = np.divide(weight, out[:, None], out=np.zeros_like(weight), where=out[:, None] > 0)
    rank = np.ones(n)
    for _ in range(ROUNDS):
        rank = 1 - DAMPING + DAMPING * share.T @ rank
    return np.argsort(-rank, kind="stable").tolist()  # type: ignore[no-any-return]
