"""Token vectors of a run: each distinct text is encoded once and shared by every metric; memory is limited."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from nlgauge.models.encoder import DEFAULT, Encoded, Encoder, encoder
from nlgauge.text.batch import Batch
from nlgauge.types import Steps

BUDGET = int(float(os.environ.get("NLGAUGE_EMBEDDING_MB", "1500")) * 1e6)


class Embeddings:
    """Cached vectors of one encoder. Beyond the budget the least recently used ones are dropped and recomputed on
    demand.

    `want(layer, texts)` before the first text is read makes one pass serve metrics that use different layers; a text
    runs through no more layers than the deepest that is needed.
    """

    def __init__(self, encoder: Encoder, budget: int = BUDGET) -> None:
        self.encoder, self.budget = encoder, budget
        self.kept: OrderedDict[tuple[str, int], Encoded] = OrderedDict()
        self.size = 0
        self.wanted: dict[str, int] = {}  # text -> its layers, as bits
        self.encoded = 0  # texts that went through the model
        self.windowed = 0  # of them longer than the model takes, so encoded in overlapping windows
        self.lock = threading.RLock()

    def want(self, layer: int | None, texts: Iterable[str] = ()) -> int:
        """Return the number of a layer at which these texts will be needed."""
        result = self.encoder.layer(layer)
        with self.lock:
            for text in texts:
                self.wanted[text] = self.wanted.get(text, 0) | 1 << result
        return result

    def of(self, texts: Sequence[str], layer: int, progress: Steps | None = None) -> list[Encoded]:
        """Return the vectors of these texts at a layer (as `want` returned it), encoding those that are not cached."""
        with self.lock:
            missing: dict[int, dict[str, None]] = {}  # texts that are wanted at the same layers, each once
            for text in texts:
                if (text, layer) not in self.kept:
                    missing.setdefault(self.wanted.get(text, 0) | 1 << layer, {})[text] = None
            results = {}
            for bits, some in missing.items():
                layers = [index for index in range(bits.bit_length()) if bits >> index & 1]
                for text, each in zip(some, self.encoder.encode(list(some), layers, progress), strict=True):
                    results[text] = each[layer]
                    self.encoded += 1
                    self.windowed += each[layer].windows > 1
                    for index, vectors in each.items():
                        self._keep((text, index), vectors)
            for text in texts:
                if text not in results:
                    results[text] = self.kept[text, layer]
                    self.kept.move_to_end((text, layer))
            self._trim()
            return [results[text] for text in texts]

    def at(self, texts: Sequence[str], layers: Sequence[int]) -> list[list[Encoded]]:
        """Return the vectors of these texts at several layers, by layer."""
        for layer in layers:
            self.want(layer, texts)
        return [self.of(texts, layer) for layer in layers]

    def remarks(self) -> list[str]:
        """Return remarks for readers of the scores."""
        if not self.windowed:
            return []
        return [
            f"{self.windowed} of {self.encoded} texts are longer than the encoder takes ({self.encoder.longest} "
            "tokens): read in overlapping windows"
        ]

    def _keep(self, key: tuple[str, int], vectors: Encoded) -> None:
        old = self.kept.pop(key, None)
        self.size += vectors.nbytes - (old.nbytes if old else 0)
        self.kept[key] = vectors

    def _trim(self) -> None:
        while self.size > self.budget and len(self.kept) > 1:
            _, gone = self.kept.popitem(last=False)
            self.size -= gone.nbytes


def embeddings(batch: Batch | None = None, name: str = DEFAULT) -> Embeddings:
    """Return the shared vectors of a run (of a Batch), or new ones."""
    if batch is None:
        return Embeddings(encoder(name))
    return batch.view(("embeddings", name), lambda _: Embeddings(encoder(name)))
