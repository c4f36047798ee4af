"""N-grams of texts as sorted lists of numbers with counts; the numbers are common to all texts of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.kernels.ngrams import HIGHEST, SUM, counts_in, rank
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array, Ids, Ints


@dataclass(frozen=True)
class Ngrams:
    """Distinct n-grams of orders 1 to `order` with counts; `place[text]` finds a text in the lists (−1: not there)."""

    order: int
    offsets: Ints
    grams: Ids
    counts: Ids
    parent: Ids
    place: Ints

    def span(self, texts: Ints) -> tuple[Ints, Ints, Ints]:
        """Return all n-grams of these texts as three arrays: position of the text in `texts`, order
        (0 …), and entry.
        """
        index = self.place[texts]
        first, last = self.offsets[index * self.order], self.offsets[(index + 1) * self.order]
        many = last - first
        owner = np.repeat(np.arange(len(texts)), many)
        entry = np.arange(int(many.sum())) + np.repeat(first - (np.cumsum(many) - many), many)
        level = np.searchsorted(self.offsets, entry, side="right") - 1
        return owner, level % self.order, entry

    def found_in(self, texts: Ints, others: Ints, start: Ints, *, highest: bool) -> Ids:
        """Return for each entry of `span(texts)` how often `others[start[i]:start[i + 1]]` have the n-gram of
        `texts[i]`.
        """
        result: Ids = counts_in(
            self.offsets,
            self.grams,
            self.counts,
            self.order,
            self.place[texts],
            self.place[others],
            start,
            HIGHEST if highest else SUM,
        )
        return result

    def occurrences(self, texts: Ints) -> Ints:
        """Count how often each n-gram occurs in those texts."""
        _, _, entry = self.span(texts)
        times = np.bincount(self.grams[entry], weights=self.counts[entry], minlength=len(self.parent))
        return times.astype(np.int64)

    def documents(self, texts: Ints, start: Ints) -> Ints:
        """Count the documents that have each n-gram; document d has `texts[start[d]:start[d + 1]]`."""
        owner, _, entry = self.span(texts)
        document = np.repeat(np.arange(len(start) - 1), np.diff(start))[owner]
        keys = np.sort(document * len(self.parent) + self.grams[entry])
        first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        return np.bincount(keys[first] % max(len(self.parent), 1), minlength=len(self.parent))

    def sums(self, texts: Ints, owner: Ints, level: Ints, values: Array) -> Array:
        """Sum values that are parallel to `span(texts)` per text and order.

        Values are added from the smallest to the largest, because the numbering of n-grams depends on the other texts
        and a sum must not.
        """
        where = owner * self.order + level
        if values.dtype.kind == "f":
            order = np.lexsort((values, where))
            where, values = where[order], values[order]
        flat: Array = np.bincount(where, weights=values, minlength=len(texts) * self.order)  # type: ignore[assignment]
        return flat.reshape(len(texts), self.order)


def ngrams(batch: Batch, key: Any, tokens: Tokens, order: int, *texts: Ints) -> Ngrams:
    """Return the n-grams of these texts; `key` identifies tokens and texts, so that metrics share the n-grams."""

    def make() -> Ngrams:
        kinds = int(tokens.ids.max(initial=0)) + 1
        asked = np.zeros(len(tokens.length), np.bool_)
        for numbers in texts:
            asked[numbers[numbers >= 0]] = True
        listed = np.flatnonzero(asked)
        place = np.full(len(tokens.length), -1, np.int64)
        place[listed] = np.arange(len(listed))
        offsets, grams, counts, parent = rank(tokens.ids, tokens.start, tokens.length, listed, order, kinds)
        return Ngrams(order, offsets, grams, counts, parent, place)

    return batch.keep(("ngrams", key, order), make)
