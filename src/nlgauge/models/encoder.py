"""One encoder for all embedding metrics: distinct texts once, sorted by length, only as many layers as needed.

`Encoder` turns texts into token vectors and is independent of metrics; `embeddings.py` caches them for a run.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.models.loading import MINILM, check_packages, load_fresh
from nlgauge.models.precision import split_precision
from nlgauge.models.tensors import by_length, cores, longest_input, padded, threads
from nlgauge.types import Ids, Singles, Steps

DEFAULT = MINILM
# The layer whose vectors match best, where someone has measured it (bert-score's choice, deng2021's code; ours for
# minilm).
LAYERS = {DEFAULT: 5, "bert-base-uncased": 9, "bert-base-cased": 9, "roberta-large": 17, "bert-large-uncased": 18,
          "roberta-base": 10, "bert-base-multilingual-cased": 9, "xlm-roberta-base": 9,
          "xlm-roberta-large": 17}  # fmt: skip
TOKENS, GPU_TOKENS = 512, 16_384  # of a batch; on a CPU so few that all of it stays in the cache
OVERLAP = 128  # tokens that two neighboring windows of a long text share


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text as word pieces: ids, their positions in the text, and the word of each."""

    ids: Ids
    starts: Ids
    ends: Ids


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as vectors at one layer: `unit` rows of length 1, `norms` their lengths, special tokens at both ends."""

    pieces: Pieces
    unit: Singles
    norms: Singles
    prefix: int
    suffix: int
    windows: int = 1

    @property
    def tokens(self) -> Singles:
        """Unit vectors without special tokens."""
        return self.unit[self.prefix : len(self.unit) - self.suffix]

    def raw(self) -> Singles:
        """Return the unnormalized vectors of the model, including special tokens."""
        result: Singles = self.unit * self.norms[:, None]
        return result

    def mean(self) -> Singles:
        """Return one vector for the text: the mean over all tokens, as in sentence-transformers."""
        result: Singles = self.raw().mean(axis=0)
        return result

    @property
    def nbytes(self) -> int:
        """Memory of the vectors in bytes."""
        return self.unit.nbytes + self.norms.nbytes + 12 * len(self.pieces.ids)


@functools.lru_cache(maxsize=4)
def encoder(name: str = DEFAULT) -> Encoder:
    """Return the encoder with this name, which is loaded once: 'minilm' (inside a package), a folder, or a Hugging Face
    name.
    """
    check_packages("an encoder", name)
    return Encoder(name)


class Encoder:
    """A Hugging Face model with its tokenizer. Weights are safetensors only: nothing is unpickled."""

    def __init__(self, name: str) -> None:
        import torch

        self.name = name
        self.lock = threading.Lock()  # one pass at a time: a pass may run fewer layers than the next
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        tokenizer, self.model = _load(name)
        self.model.to(self.device)
        # The tokenizer may carry a cut of its own (this one: 128 tokens); long texts are windowed here instead.
        self.tokenizer = tokenizer.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.pad = int(tokenizer.pad_token_id or 0)
        special = self.tokenizer.encode("a").special_tokens_mask
        self.prefix = special.index(0)
        self.suffix = len(special) - 1 - (len(special) - 1 - special[::-1].index(0))
        self.before = self.tokenizer.encode("a").ids[: self.prefix]
        self.after = self.tokenizer.encode("a").ids[len(special) - self.suffix :]
        self.longest = longest_input(tokenizer, self.model.config, 512) - self.prefix - self.suffix
        self.stack = _stack(self.model)
        self.layers = len(self.stack[1]) if self.stack else int(self.model.config.num_hidden_layers)
        self.dim = int(self.model.config.hidden_size)
        # transformers hooks the layers that it finds in the first call: that call must see all of them.
        self._forward([[*self.before, *self.after]], [0])

    def layer(self, asked: int | None) -> int:
        """Return the number of a hidden state: 0 the input vectors, −1 the last; None the recommended one."""
        result = LAYERS.get(split_precision(self.name)[0], self.layers) if asked is None else asked
        result = result + self.layers + 1 if result < 0 else result
        if not 0 <= result <= self.layers:
            raise NlgaugeError(f"layer={asked}: encoder '{self.name}' has layers 0 to {self.layers}.")
        return result

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """Split texts into word pieces, without special tokens."""
        results = []
        for given in self.tokenizer.encode_batch(list(texts), add_special_tokens=False):
            spans = np.array(given.offsets, np.int32).reshape(-1, 2)
            results.append(Pieces(np.array(given.ids, np.int32), spans[:, 0], spans[:, 1]))
        return results

    def encode(
        self, texts: Sequence[str], layers: Sequence[int], progress: Steps | None = None
    ) -> list[dict[int, Encoded]]:
        """Encode every text at every requested layer. The vectors of a text do not depend on the other texts in the
        list.
        """
        pieces = self.pieces(texts)
        cuts = [_cuts(len(p.ids), self.longest) for p in pieces]
        parts = [(t, a, b) for t, spans in enumerate(cuts) for a, b in spans]
        ids = [[*self.before, *pieces[t].ids[a:b].tolist(), *self.after] for t, a, b in parts]
        states = self._run(ids, sorted(set(layers)), progress)
        results: list[dict[int, Encoded]] = []
        place = 0
        for p, spans in zip(pieces, cuts, strict=True):
            own = states[place : place + len(spans)]
            place += len(spans)
            each = {}
            for layer in set(layers):
                unit, norms = (self._joined([m[layer][k] for m in own], spans) for k in (0, 1))
                each[layer] = Encoded(p, unit, norms, self.prefix, self.suffix, len(spans))
            results.append(each)
        return results

    def _joined(self, parts: list[Singles], spans: list[tuple[int, int]]) -> Singles:
        """Join the windows of a long text: each token from the window in which it is farthest from the edge."""
        if len(parts) == 1:
            return parts[0]
        selected = [parts[0][: self.prefix]]
        for i, (part, (a, b)) in enumerate(zip(parts, spans, strict=True)):
            left = a if i == 0 else (a + spans[i - 1][1]) // 2
            right = b if i == len(spans) - 1 else (spans[i + 1][0] + b) // 2
            selected.append(part[self.prefix + left - a : self.prefix + right - a])
        return np.concatenate([*selected, parts[-1][len(parts[-1]) - self.suffix :]])

    def _run(
        self, ids: list[list[int]], layers: list[int], progress: Steps | None
    ) -> list[dict[int, tuple[Singles, Singles]]]:
        """Return unit vectors and their lengths for each row and layer."""
        results: list[dict[int, tuple[Singles, Singles]]] = [{} for _ in ids]
        sizes = [len(row) for row in ids]
        batches = equal_lengths(sizes) if self.device == "cpu" else list(by_length(sizes, GPU_TOKENS))

        def work(rows: list[int]) -> int:
            for layer, state in zip(layers, self._forward([ids[i] for i in rows], layers), strict=True):
                norms = np.maximum(np.linalg.norm(state, axis=2), 1e-12).astype(np.float32)
                for r, i in enumerate(rows):
                    n = len(ids[i])
                    results[i][layer] = state[r, :n] / norms[r, :n, None], norms[r, :n].copy()
            return len(rows)

        done = 0
        with self.lock, _only(self.stack, max(layers)), each_core_one_batch(self.device) as pool:
            for n in pool.map(work, batches):
                done += n
                if progress:
                    progress(done, len(ids))
        return results

    def _forward(self, ids: list[list[int]], layers: list[int]) -> list[Singles]:
        """Return the hidden states of one batch; padding is masked, so that its attention weight is exactly 0."""
        import torch

        table, mask = padded(ids, self.pad, self.device)
        with torch.inference_mode():  # of this thread
            out = self.model(input_ids=table, attention_mask=mask, output_hidden_states=True)
        return [out.hidden_states[layer].float().cpu().numpy() for layer in layers]


@contextmanager
def each_core_one_batch(device: str) -> Iterator[ThreadPoolExecutor]:
    """Yield an executor that runs batches in parallel with one thread each.

    Threads inside an operation would wait for each other on a busy machine.
    """
    workers = cores() if device == "cpu" else 1
    with threads(max(1, cores() // workers)), ThreadPoolExecutor(workers) as pool:
        yield pool


class _only:
    """Run the first n layers only, because the others are not needed."""

    def __init__(self, stack: tuple[Any, Any, str] | None, n: int) -> None:
        self.stack, self.n = stack, n

    def __enter__(self) -> None:
        if self.stack:
            owner, layers, name = self.stack
            setattr(owner, name, layers[: self.n])

    def __exit__(self, *_: object) -> None:
        if self.stack:
            owner, layers, name = self.stack
            setattr(owner, name, layers)


def _stack(model: Any) -> tuple[Any, Any, str] | None:
    """Return where a model of the BERT family keeps its layers; other models run completely."""
    for owner in (getattr(model, "encoder", None), getattr(model, "transformer", None)):
        if owner is not None and type(getattr(owner, "layer", None)).__name__ == "ModuleList":
            return owner, owner.layer, "layer"
    return None


def _load(name: str) -> tuple[Any, Any]:
    advice = "give a folder, or encoder='minilm' for the one inside the package."
    tokenizer, model = load_fresh("encoder", name, "encoder", advice)
    if not getattr(tokenizer, "is_fast", False):
        raise NlgaugeError(f"encoder='{name}': it has no fast tokenizer (tokenizer.json), so tokens have no positions.")
    return tokenizer, model


def equal_lengths(sizes: Sequence[int]) -> list[list[int]]:
    """Return positions in batches of equal length: without padding, a row has the same bits in any batch.

    >>> equal_lengths([3, 9, 3])
    [[1], [0, 2]]
    """
    groups: dict[int, list[int]] = {}
    for i, n in enumerate(sizes):
        groups.setdefault(n, []).append(i)
    steps = {n: max(1, TOKENS // max(n, 1)) for n in groups}
    return [
        g[index : index + steps[n]]
        for n, g in sorted(groups.items(), reverse=True)
        for index in range(0, len(g), steps[n])
    ]


def _cuts(n: int, longest: int) -> list[tuple[int, int]]:
    """Return windows of a text of n tokens: the whole, or overlapping ones that cover every token.

    >>> _cuts(1000, 510)
    [(0, 510), (245, 755), (490, 1000)]
    """
    if n <= longest:
        return [(0, n)]
    overlap = min(OVERLAP, longest // 2)
    count = 1 + -(-(n - longest) // (longest - overlap))
    firsts = [round(i * (n - longest) / (count - 1)) for i in range(count)]
    return [(first, first + longest) for first in firsts]
