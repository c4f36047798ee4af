"""N-grams of outputs and references that recur in a batch, for metrics that weight them by frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.kernels.recurring import frequencies, number
from nlgauge.metrics.batch import Usable
from nlgauge.metrics.overlap.matches import vocabulary_size
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Ids, Ints


@dataclass(frozen=True)
class Recurring:
    """`numbers[n, i]` is the number of the n-gram at position i (−1: it occurs once in the batch).

    The positions of a text are `first[place[text]] : first[place[text] + 1]`; `parent[g]` is n-gram g without its last
    token.
    """

    numbers: Ids
    first: Ints
    parent: Ids
    place: Ints

    def frequencies(self, texts: Ints, start: Ints) -> tuple[Ids, Ids]:
        """Count for every n-gram the documents that contain it, and its occurrences; document d:
        `texts[start[d]:start[d + 1]]`.
        """
        result: tuple[Ids, Ids] = frequencies(self.numbers, self.first, self.place[texts], start, len(self.parent))
        return result


def recurring(batch: Batch, key: Any, tokens: Tokens, pairs: Usable, order: int) -> Recurring:
    """Return the recurring n-grams of outputs and references; `key` names the tokens, so that metrics share them."""

    def make() -> Recurring:
        used = np.bincount(np.concatenate([pairs.of_sample, pairs.reference]), minlength=len(tokens.length))
        listed = np.flatnonzero(used)
        place = np.full(len(tokens.length), -1, np.int64)
        place[listed] = np.arange(len(listed))
        # N-grams of a text used twice recur too: the output may be its own reference.
        numbers, first, parent = number(
            tokens.ids, tokens.start, tokens.length, listed, np.minimum(used[listed], 2), order, vocabulary_size(tokens)
        )
        return Recurring(numbers, first, parent, place)

    return batch.keep(("recurring", key, order), make)
