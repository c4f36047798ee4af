"""Likelihood of a text under a causal language model, alone or after another text: log-probabilities of its tokens.

Texts with the same beginning (outputs of one source, follow-ups of one dialogue) share the computation of the common
prefix. Long texts are read in windows; nothing is truncated.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.models.loading import SMOL_START, SMOLLM2, LoadedModel
from nlgauge.models.tensors import by_length, padded, threads
from nlgauge.text.batch import Batch
from nlgauge.types import Array

SHARE = 16  # minimum number of shared tokens that justifies a separate forward pass
NEW_TOKENS = 1024  # of a batch: their logits over the vocabulary are the largest thing in memory
ALL_TOKENS = 8192  # with what they share, which is kept for each row
PACK = 256  # tokens in one row, where what they share is shorter: each sees all, masked
Question = tuple[str, str]  # context, target


@dataclass(frozen=True, slots=True)
class TokenLogs:
    """Natural logarithms of the probabilities of a target's tokens; `windows`: it was too long to be read at once."""

    logs: Array
    windows: bool = False

    @property
    def mean(self) -> float:
        """Mean log-probability of a token; NaN without tokens."""
        return float(self.logs.mean()) if len(self.logs) else float("nan")

    @property
    def sum(self) -> float:
        """Log-probability of the target; NaN without tokens."""
        return float(self.logs.sum()) if len(self.logs) else float("nan")


@dataclass(frozen=True, slots=True)
class Row:
    """Token ids, and from which place on they are asked for (the first needs one before it)."""

    ids: tuple[int, ...]
    first: int


class Likelihood(LoadedModel):
    """A causal model by name or folder. `start` is the token before a text: the model's own begin or end token."""

    kind = "causal"

    def __init__(self, name: str) -> None:
        super().__init__(name, "lm")
        mark = next((i for i in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id) if i is not None), None)
        self.start = SMOL_START if name == SMOLLM2 else mark
        self.few = {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(self.model.forward).parameters else {}

    def row(self, context: str, target: str, start: bool = True) -> Row:
        """Encode a context and a target as one row.

        A space at the end of the context is moved to the target, because models encode it together with the word that
        follows.
        """
        selected = context.rstrip(" ")
        before = self.plain_ids(selected) if selected else []
        if start and self.start is not None:
            before = [self.start, *before]
        return Row((*before, *self.plain_ids(context[len(selected) :] + target)), max(1, len(before)))

    def told(self, questions: Sequence[Question], start: bool = True) -> list[TokenLogs]:
        """Compute log p(token | context, tokens before it) of each target; a first token without context is left
        out.
        """
        rows = [self.row(context, target, start) for context, target in questions]
        long = [len(r.ids) > self.longest for r in rows]
        short = list(dict.fromkeys(r for r, too in zip(rows, long, strict=True) if not too))
        with threads():
            result = dict(self._walk(sorted(short, key=lambda r: r.ids), 0, None))
            for r in dict.fromkeys(r for r, too in zip(rows, long, strict=True) if too):
                result[r] = self._windowed(r)
        return [TokenLogs(result[r], too) for r, too in zip(rows, long, strict=True)]

    def _walk(self, rows: list[Row], depth: int, past: Any) -> Iterator[tuple[Row, Array]]:
        """Yield rows with their log-probabilities, in the order of their token IDs.

        All rows agree in the first `depth` tokens; `past` is the model's key-value cache of these.
        """
        alone: list[Row] = []
        index = 0
        while index < len(rows):
            end, common = index + 1, 0
            while end < len(rows):
                shared = min(_common(rows[index].ids, rows[end].ids), *(rows[i].first - 1 for i in (index, end)))
                if shared < depth + SHARE:
                    break
                common = min(shared, common or shared)
                end += 1
            some = rows[index:end]
            # The last shared token is read with the rest, because the probability of the next token is needed.
            if len(some) > 1:
                memory = self._read(some[0].ids[depth:common], past, depth)
                if memory is not None:
                    yield from self._walk(some, common, memory)
                else:
                    alone += some
            else:
                alone += some
            index = end
        yield from self._together(alone, depth, past)

    def _read(self, ids: Sequence[int], past: Any, depth: int) -> Any:
        """Return the key-value cache after these tokens; None if the model has no cache that can be copied for several
        rows.
        """
        import torch

        table = torch.tensor([list(ids)], device=self.model.device)
        given = {"past_key_values": _fork(past, 1)} if depth else {}
        memory = self.model(input_ids=table, use_cache=True, **given, **self.few).past_key_values
        plain = all(getattr(layer, "keys", None) is not None for layer in getattr(memory, "layers", [None]))
        return memory if plain else None

    def _together(self, rows: list[Row], depth: int, past: Any) -> Iterator[tuple[Row, Array]]:
        sizes = [len(r.ids) - depth for r in rows]
        if depth and len(rows) > 1 and self.packs:
            for places in _fitting(sizes, min(NEW_TOKENS, max(depth, PACK))):
                some = [rows[i] for i in places]
                yield from zip(some, self._packed(some, depth, past), strict=True)
            return
        widest = max(sizes, default=1)
        # What is shared is repeated for each row.
        budget = min(NEW_TOKENS, max(1, ALL_TOKENS // (depth + widest)) * widest)
        for places in by_length(sizes, budget):
            some = [rows[i] for i in places]
            yield from zip(some, self._batch([r.ids[depth:] for r in some], some, depth, past), strict=True)

    def _batch(self, ids: Sequence[Sequence[int]], rows: Sequence[Row], depth: int, past: Any) -> list[Array]:
        import torch

        table, mask = padded(ids, 0, self.model.device)
        given: dict[str, Any] = {}
        if depth:
            seen = torch.ones((len(rows), depth), dtype=mask.dtype, device=mask.device)
            given = {"past_key_values": _fork(past, len(rows)), "use_cache": True}
            mask = torch.cat([seen, mask], dim=1)
        logits = self.model(input_ids=table, attention_mask=mask, **given).logits
        results = []
        for k, row in enumerate(rows):
            first, last = row.first - depth, len(row.ids) - depth
            results.append(_logs(logits[k, first - 1 : last - 1], table[k, first:last]))
        return results

    @functools.cached_property
    def packs(self) -> bool:
        """Whether the model can process several continuations in one row with a mask, tested on a few tokens.

        Their common prefix is then not repeated. Models with a sliding window are excluded, because its effect would
        only be visible in longer texts.
        """
        config = self.model.config
        if getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
            return False
        first = [i % config.vocab_size for i in range(1, 5)]
        rows = [Row((*first, *(i % config.vocab_size for i in more)), 4) for more in ((5, 6, 7), (8, 9))]
        with threads():
            try:
                memory = self._read(first[:3], None, 0)
                result = self._packed(rows, 3, memory) if memory is not None else []
            except (TypeError, ValueError, RuntimeError):
                return False
            alone = [self._batch([r.ids], [r], 0, None)[0] for r in rows]
        return len(result) == 2 and all(np.allclose(a, b, atol=1e-3) for a, b in zip(result, alone, strict=True))

    def _packed(self, rows: Sequence[Row], depth: int, past: Any) -> list[Array]:
        import torch

        sizes = [len(r.ids) - depth for r in rows]
        table = torch.tensor([[t for r in rows for t in r.ids[depth:]]], device=self.model.device)
        own = torch.repeat_interleave(torch.arange(len(rows)), torch.tensor(sizes))
        place = torch.cat([torch.arange(depth, depth + n) for n in sizes])
        seen = (own[:, None] == own[None]) & (place[:, None] >= place[None])
        seen = torch.cat([torch.ones((len(place), depth), dtype=torch.bool), seen], dim=1)
        kind = self.model.dtype
        mask = torch.zeros(seen.shape, dtype=kind).masked_fill(~seen, torch.finfo(kind).min)
        logits = self.model(
            input_ids=table,
            attention_mask=mask[None, None].to(table.device),
            position_ids=place[None].to(table.device),
            past_key_values=_fork(past, 1),
            use_cache=True,
        ).logits[0]
        result, begin = [], 0
        for row, n in zip(rows, sizes, strict=True):
            first = begin + row.first - depth
            result.append(_logs(logits[first - 1 : begin + n - 1], table[0, first : begin + n]))
            begin += n
        return result

    def _windowed(self, row: Row) -> Array:
        """Compute the log-probability of every token with as much context as fits, at least half a window."""
        result, index, n = [], row.first, len(row.ids)
        while index < n:
            end = min(n, max(self.longest, index + max(1, self.longest // 2)))
            begin = max(0, end - self.longest)
            part = Row(row.ids[begin:end], index - begin)
            result += self._batch([part.ids], [part], 0, None)
            index = end
        return np.concatenate(result)


def _logs(logits: Any, ids: Any) -> Array:
    """Return the log-probability of each token, predicted from the position before it."""
    asked = logits.float()
    result: Array = (asked.gather(1, ids[:, None])[:, 0] - asked.logsumexp(dim=1)).double().cpu().numpy()
    return result


def _fitting(sizes: Sequence[int], most: int) -> Iterator[list[int]]:
    """Split positions into consecutive runs whose sizes sum to at most `most`; a larger item forms its own run.

    >>> list(_fitting([3, 4, 9, 2], 8))
    [[0, 1], [2], [3]]
    """
    some: list[int] = []
    for i, n in enumerate(sizes):
        if some and sum(sizes[k] for k in some) + n > most:
            yield some
            some = []
        some.append(i)
    if some:
        yield some


def _fork(past: Any, n: int) -> Any:
    """Expand the key-value cache to n rows without a copy, because the model appends to it by making new tensors."""
    forked = copy.copy(past)
    forked.layers = [copy.copy(layer) for layer in past.layers]
    for layer in forked.layers:
        layer.keys, layer.values = (t.expand(n, *t.shape[1:]) for t in (layer.keys, layer.values))
    return forked


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Count the tokens at the beginning that two rows have in common."""
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return min(len(a), len(b))


@functools.lru_cache(2)
def likelihood(name: str) -> Likelihood:
    """Return the language model with this name, which is loaded once."""
    return Likelihood(name)


class Answers:
    """Results of a model in this run: metrics with the same query (perplexity and PMI) share them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: dict[tuple[str, str, bool], TokenLogs] = {}

    def of(self, questions: Sequence[Question], start: bool = True) -> list[TokenLogs]:
        """Return the log-probabilities of each target; only new queries run through the model."""
        new = [q for q in dict.fromkeys(questions) if (*q, start) not in self.known]
        if new:
            for q, told in zip(new, likelihood(self.name).told(new, start), strict=True):
                self.known[*q, start] = told
        return [self.known[*q, start] for q in questions]


def answers(batch: Batch, name: str) -> Answers:
    """Return the answers of a model that the metrics of a run share."""
    return batch.view(("likelihood", name), lambda _: Answers(name))
