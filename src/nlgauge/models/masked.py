"""Predictions of a masked language model at masked positions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from nlgauge.errors import NlgaugeError
from nlgauge.models.loading import LoadedModel
from nlgauge.models.tensors import by_length, padded, threads

T = TypeVar("T")
TOKENS = 1024  # of a batch: logits over the vocabulary are the largest thing in memory


@dataclass(frozen=True, slots=True)
class Cloze:
    """Token IDs with masks, including special tokens; the masked positions and the original tokens."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    answers: tuple[int, ...]


class Masked(LoadedModel):
    """A masked language model by name or folder."""

    kind = "masked"

    def __init__(self, name: str, option: str) -> None:
        super().__init__(name, option)
        if self.tokenizer.mask_token_id is None:
            raise NlgaugeError(f"{option}='{name}': its tokenizer has no mask token.")
        self.mask = int(self.tokenizer.mask_token_id)
        self.begin = [i for i in (self.tokenizer.cls_token_id,) if i is not None]
        self.end = [i for i in (self.tokenizer.sep_token_id,) if i is not None]

    def guesses(self, asked: Sequence[Cloze], model: Any = None) -> list[tuple[int, ...]]:
        """Return the most likely token at each masked position."""
        return self._each(asked, lambda logits, c: tuple(logits.argmax(dim=1).tolist()), model)

    def logs(self, asked: Sequence[Cloze]) -> list[tuple[float, ...]]:
        """Return the log-probability of the original token at each masked position."""
        import torch

        def right(logits: Any, c: Cloze) -> tuple[float, ...]:
            wanted = torch.tensor(c.answers, device=logits.device)[:, None]
            return tuple((logits.gather(1, wanted)[:, 0] - logits.logsumexp(dim=1)).double().tolist())

        return self._each(asked, right)

    def _each(self, asked: Sequence[Cloze], take: Callable[[Any, Cloze], T], model: Any = None) -> list[T]:
        distinct = list(dict.fromkeys(asked))
        results: dict[Cloze, T] = {}
        with threads():
            for rows in by_length([len(c.ids) for c in distinct], TOKENS):
                some = [distinct[i] for i in rows]
                used = model or self.model
                table, mask = padded([c.ids for c in some], self.pad, used.device)
                logits = used(input_ids=table, attention_mask=mask).logits
                for k, c in enumerate(some):
                    results[c] = take(logits[k, list(c.places)].float(), c)
        return [results[c] for c in asked]


@functools.lru_cache(2)
def masked(name: str, option: str = "model") -> Masked:
    """Return the masked language model with this name, which is loaded once."""
    return Masked(name, option)
