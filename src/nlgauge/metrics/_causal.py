"""How likely a causal language model finds a text: the mean log-probability of its tokens."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nlgauge.errors import NlgaugeError

TOKENS_A_BATCH = 2048


def ready(metric: str, name: str) -> None:
    from nlgauge.alignment.encoder import _looks_like_path, ready

    ready(metric)
    if _looks_like_path(name) and not Path(name).expanduser().is_dir():
        raise NlgaugeError(f"lm='{name}': no such folder.")


class Causal:
    """A Hugging Face causal model, safetensors only. Long texts are read in windows, nothing is cut."""

    def __init__(self, name: str) -> None:
        self.tokenizer, self.model = _load(name)
        self.longest = int(getattr(self.model.config, "max_position_embeddings", 0) or 1024)

    def log_likelihoods(self, texts: Sequence[str]) -> list[float]:
        """Mean log-probability of each token given those before it, from the second token; NaN for a text of one token."""
        distinct = {
            text: self.tokenizer.encode(text, add_special_tokens=False).ids for text in dict.fromkeys(texts)
        }
        sums = dict.fromkeys(distinct, 0.0)
        parts = [(text, w) for text, ids in distinct.items() for w in self._windows(ids)]
        parts.sort(key=lambda part: len(part[1][0]))
        for some in _batches(parts):
            for (text, _), value in zip(some, self._sums([w for _, w in some]), strict=True):
                sums[text] += value
        found = {t: sums[t] / (len(ids) - 1) if len(ids) > 1 else math.nan for t, ids in distinct.items()}
        return [found[text] for text in texts]

    def _windows(self, ids: list[int]) -> Iterator[tuple[list[int], int]]:
        """Ids of a window, and from which place on they count: every later window has half of it as context."""
        step = max(1, self.longest // 2)
        end = min(self.longest, len(ids))
        yield ids[:end], 1
        while end < len(ids):
            new = min(end + step, len(ids))
            yield ids[max(0, new - self.longest) : new], self.longest - (new - end)
            end = new

    def _sums(self, windows: list[tuple[list[int], int]]) -> list[float]:
        import torch

        width = max(len(ids) for ids, _ in windows)
        table = torch.zeros((len(windows), width), dtype=torch.long)
        mask = torch.zeros_like(table)
        for row, (ids, _) in enumerate(windows):
            table[row, : len(ids)] = torch.tensor(ids)
            mask[row, : len(ids)] = 1
        with torch.inference_mode():
            logits = self.model(input_ids=table, attention_mask=mask).logits.float()
            scores = torch.log_softmax(logits[:, :-1], dim=-1).gather(2, table[:, 1:, None])[:, :, 0].double()
        return [
            float(scores[row, first - 1 : len(ids) - 1].sum()) for row, (ids, first) in enumerate(windows)
        ]


def _batches(parts: list[Any]) -> Iterator[list[Any]]:
    some: list[Any] = []
    for part in parts:
        if some and (len(some) + 1) * len(part[1][0]) > TOKENS_A_BATCH:
            yield some
            some = []
        some.append(part)
    if some:
        yield some


@functools.lru_cache(2)
def causal(name: str) -> Causal:
    """The language model of that name, loaded once: a folder, or a Hugging Face name."""
    return Causal(name)


def _load(name: str) -> tuple[Any, Any]:
    from nlgauge.alignment.hub import pretrained

    path = Path(name).expanduser()
    where = str(path) if path.is_dir() else name
    tokenizer, model = pretrained(name, where, "AutoModelForCausalLM", "lm", "give a folder.")
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend, model
