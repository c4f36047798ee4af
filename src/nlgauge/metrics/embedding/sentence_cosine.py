"""ContrastScore of Colombo et al. (2023): similarity of output and source under a contrastively trained encoder."""

from __future__ import annotations

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Scores, TextPair, over_pairs
from nlgauge.metrics.embedding.bertscore import Contextual, embedding
from nlgauge.text.batch import Batch

LAST = -1


@embedding(
    "contrastscore",
    needs=("source",),
    bounds=(-1.0, 1.0),
    year=2022,
    cite="belouadi-eger-2023-uscore",
    weights="a sentence encoder trained by contrast, by name or folder; the authors' (from xlm-roberta-base) are "
    "not published",
)
class ContrastScore(Contextual):
    """Cosine of the sentence vectors of output and source, each the mean over all tokens of the last layer.

    encoder has no default, because the authors train theirs for each language pair and do not publish it. Across
    languages, sentence-transformers/LaBSE is similar (though it was trained on parallel text); within English, use
    'minilm'.
    """

    encoder: str = ""

    layer = LAST
    side = "source"

    def ready(self) -> None:
        if not self.encoder.strip():  # said with what to name
            raise NlgaugeError(
                "contrastscore: encoder='': name a sentence encoder, as sentence-transformers/LaBSE across languages, "
                "a folder, or 'minilm' within English (the authors' own are not published)."
            )
        super().ready()

    @property
    def signature(self) -> str:
        return self.signed(pool="mean")

    def score(self, batch: Batch) -> Scores:
        self.ready()

        def score(pairs: list[TextPair]) -> list[float]:
            vectors = [(a.mean(), b.mean()) for a, b in self._encoded(batch, pairs)]
            return [float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in vectors]

        return over_pairs(batch, "source", score)
