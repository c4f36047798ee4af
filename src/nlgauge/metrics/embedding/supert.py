"""SUPERT: contextual tokens of the output against those of the first sentences of the source."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Scores, TextPair, over_pairs
from nlgauge.metrics.embedding._transport import best_of_each
from nlgauge.metrics.embedding.bertscore import WEIGHTS, Contextual, embedding
from nlgauge.models.encoder import Encoded
from nlgauge.text.batch import Batch
from nlgauge.text.stopwords import stop_signature, stop_words_of
from nlgauge.text.windows import windows


@embedding("supert", needs=("source",), bounds=(-1.0, 1.0), year=2020, cite="gao-etal-2020-supert", weights=WEIGHTS)
class Supert(Contextual):
    """SUPERT: F of token matching between the output and a pseudo-reference, the first sentences of the source.

    sentences: 15 as the authors' program has it now, which advises 30 for single documents. Sentences are encoded one
    by one; punctuation and pieces of words take part. The authors' encoder is
    sentence-transformers/bert-large-nli-stsb-mean-tokens, their stop words are nltk's. stop: '' is our own list, else a
    file with one word in a line (nltk's corpora/stopwords/english).
    """

    sentences: int = 15
    encoder: str = "minilm"
    layer: int | None = -1
    stop: str = ""

    side = "source"

    def check(self) -> None:
        if self.sentences < 1:
            raise NlgaugeError(f"supert: sentences must be at least 1; got {self.sentences}.")

    @property
    def _stop(self) -> frozenset[str]:
        return stop_words_of(self.stop)

    def ready(self) -> None:
        super().ready()
        _ = self._stop

    @property
    def signature(self) -> str:
        stop = stop_signature(self.stop) or "ours"
        return self.signed(sentences=self.sentences, tokens="pieces", stop=stop)

    def parts(self, text: str, source: bool) -> list[str]:
        """Return the sentences of a text that are encoded; of a source the first ones."""
        return windows(text, 1)[: self.sentences if source else None]

    def read(self, batch: Batch) -> Iterable[str]:
        texts = batch.texts.list()
        for places, source in ((batch.output, False), (batch.source, True)):
            for i in set(places.tolist()) - {-1}:
                yield from self.parts(texts[i], source)

    def score(self, batch: Batch) -> Scores:
        selected, layer = self.vectors(batch)
        stop = self._stop
        name = selected.encoder.tokenizer.id_to_token
        available: dict[tuple[str, bool], Any] = {}

        def tokens(found: Encoded) -> Any:
            wanted = [str(name(i)).lstrip("Ġ▁").lower() not in stop for i in found.pieces.ids.tolist()]
            return found.tokens[np.array(wanted, np.bool_)]

        def bag(text: str, source: bool) -> Any:
            if (text, source) not in available:
                each = selected.of(self.parts(text, source), layer)
                available[text, source] = np.concatenate([tokens(e) for e in each])
            return available[text, source]

        def score(pairs: list[TextPair]) -> list[float]:
            found = []
            for output, source in pairs:
                a, b = bag(output, False), bag(source, True)
                if not len(a) or not len(b):
                    found.append(math.nan)
                    continue
                p, r = (float(part.mean()) for part in best_of_each(a, b))
                found.append(2 * p * r / (p + r) if p + r else 0.0)
            return found

        return over_pairs(batch, "source", score)
