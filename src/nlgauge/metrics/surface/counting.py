"""What metrics on counts of characters, words, sentences and syllables share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nlgauge.metrics.base import Scores, signature
from nlgauge.text.batch import Batch
from nlgauge.text.readability_counts import Counts, Preset, check, counts
from nlgauge.text.syllables import How, dictionary, source_of
from nlgauge.types import Array

NO_WORDS = "no words in the output"


def ratio(top: Array, bottom: Array, why: str = NO_WORDS) -> Scores:
    """top / bottom; where the bottom is 0 there is no value, and that is the reason."""
    return defined(bottom, lambda: top / bottom, why)


def defined(words: Array, formula: Callable[[], Array], why: str = NO_WORDS) -> Scores:
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(words > 0, formula(), np.nan)
    return Scores(values, {int(i): why for i in np.flatnonzero(words == 0)})


class Counting:
    """What metrics on counts share: their options checked before work starts, and their signature."""

    syllables: How = "auto"
    preset: Preset = ""
    counts_sentences = True
    counts_syllables = True

    def ready(self) -> None:
        check(self.syllables, self.preset)
        dictionary(self.syllables)

    def counts(self, batch: Batch) -> Counts:
        return counts(batch, self.syllables, self.preset)

    @property
    def signature(self) -> str:
        return signature(
            sent=("utterance" if self.preset else "rules") if self.counts_sentences else None,
            syl=source_of(self.syllables) if self.counts_syllables else None,
            preset=self.preset or None,
        )

    def tally(self, batch: Batch) -> dict[str, int]:
        """Where the syllables came from, to be summed over the parts of a run."""
        if not self.counts_syllables:
            return {}
        found = self.counts(batch)
        words, looked_up = (int(np.nansum(x)) for x in (found.words, found.looked_up))
        return {"words by the CMU dictionary": looked_up, "words by syllable rules": words - looked_up}
