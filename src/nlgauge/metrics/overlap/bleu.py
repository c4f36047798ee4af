"""BLEU (Papineni et al. 2002) from its sufficient statistics, under the conventions that published numbers follow."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Metric, metric, sacrebleu_signature, signature
from nlgauge.metrics.batch import Scores, Usable
from nlgauge.metrics.overlap.matches import ngram_matches, tokenized_pairs
from nlgauge.metrics.references import MultiRef, over_references
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens
from nlgauge.types import Array

Smooth = Literal["exp", "floor", "add-k", "none"]
Preset = Literal["sacrebleu", "e2e", "coco", "torchmetrics"]
# tokenizer, lower-cased, smoothing
PRESETS: dict[str, tuple[str, bool, str]] = {
    "sacrebleu": ("13a", False, "exp"),
    "e2e": ("13a", True, "none"),
    "coco": ("coco", True, "none"),
    "torchmetrics": ("none", False, "none"),
}
SMOOTH_VALUE = {"exp": 0.0, "none": 0.0, "floor": 0.1, "add-k": 1.0}
TOKENIZERS = ("13a", "intl", "zh", "char", "none")  # which sacrebleu's signature names without parameters
LOG_OF_NOTHING = -9999999999.0  # as sacrebleu: the exponential is 0
TINY, SMALL = 1e-15, 1e-9


@metric("bleu", family="bleu", bounds=(0.0, 100.0), year=2002, cite="papineni-etal-2002-bleu")
class Bleu(Metric):
    """BLEU: n-gram precision with respect to the references, times a brevity penalty (0 to 100).

    Presets: `sacrebleu` (13a tokens, exponential smoothing, sentences by their effective order); `e2e`, the E2E
    challenge's script (13a, lower-cased, no smoothing, zero counts as 1e-15); `coco`, pycocoevalcap (PTB-like tokens,
    1e-15 and 1e-9 added to the counts); `torchmetrics` (split at white space, zero if any count is). Libraries
    other than sacrebleu print 0 to 1; here all are on 0 to 100. Options override the preset.
    The reference length is the closest, of two the shorter (torchmetrics: the first). An empty output scores 0.
    `effective_order`: orders longer than the output do not count; by default for single outputs, not for sums.
    """

    order: int = 4
    preset: Preset = "sacrebleu"
    smooth: Smooth | None = None
    smooth_value: float | None = None
    effective_order: bool | None = None
    tokenize: str | None = None
    lowercase: bool | None = None
    references: MultiRef = "closest"

    def check(self) -> None:
        if self.order < 1:
            raise NlgaugeError(f"bleu: order must be at least 1. Got {self.order} instead.")

    @property
    def tokenizer(self) -> str:
        """The tokenizer: the option, else that of the preset."""
        return self.tokenize or PRESETS[self.preset][0]

    @property
    def lower(self) -> bool:
        """Whether texts are lower-cased: the option, else the preset's."""
        return PRESETS[self.preset][1] if self.lowercase is None else self.lowercase

    @property
    def smoothing(self) -> str:
        """The smoothing: the option, else the preset's."""
        return self.smooth or PRESETS[self.preset][2]

    @property
    def signature(self) -> str:
        value = self.smooth_value if self.smooth_value is not None else SMOOTH_VALUE[self.smoothing] or None
        return signature(
            order=self.order,
            refs=self.references,
            case="lc" if self.lower else "mixed",
            tok=self.tokenizer,
            smooth=self.smoothing if value is None else f"{self.smoothing}[{value:g}]",
            eff=self.effective_order,
            rules=self.preset,
        )

    def corpus_signature(self, references: str) -> str:
        if (self.preset, self.references, self.order) != (
            "sacrebleu",
            "closest",
            4,
        ) or self.tokenizer not in TOKENIZERS:
            return self.signature
        usual = SMOOTH_VALUE[self.smoothing]
        value = f"[{usual if self.smooth_value is None else self.smooth_value:.2f}]" if usual else ""
        return sacrebleu_signature(
            nrefs=references,
            case="lc" if self.lower else "mixed",
            eff=bool(self.effective_order),
            tok=self.tokenizer,
            smooth=f"{self.smoothing}{value}",
        )

    def score(self, batch: Batch) -> Scores:
        pairs, rows, by_pair = self._rows(batch)
        sentence = self.effective_order if self.effective_order is not None else True
        values = self._values(rows, sentence)
        if by_pair:
            values = over_references(pairs, values, self.references, tokens=self._tokens(batch))
        return pairs.scores(values)

    def stats(self, batch: Batch) -> Array:
        """Return the columns output length, reference length, matches of order 1 …, n-grams of order 1 …"""
        pairs, rows, by_pair = self._rows(batch)
        if by_pair:
            rank = self._values(rows, True)
            rows = over_references(pairs, rows, self.references, rank=rank, tokens=self._tokens(batch))
        return pairs.zeroed(rows)

    def from_stats(self, stats: Array) -> Array:
        """Return BLEU from sums of statistics; sacrebleu's corpus score for the sum over a corpus."""
        return self._values(np.atleast_2d(np.asarray(stats, np.float64)), bool(self.effective_order))

    def _tokens(self, batch: Batch) -> Tokens:
        return tokenized_pairs(batch, self.tokenizer, lowercase=self.lower)[0]

    def _rows(self, batch: Batch) -> tuple[Usable, Array, bool]:
        """Return the statistics per sample, or per pair if references are used separately."""
        tokens, pairs = tokenized_pairs(batch, self.tokenizer, lowercase=self.lower)
        by_pair, by_sample = ngram_matches(batch, self.tokenizer, self.order, lowercase=self.lower)
        single = self.references != "closest"
        output = pairs.output if single else pairs.of_sample
        length = np.maximum(tokens.length[output], 0).astype(np.float64)
        if single:
            size = tokens.length[pairs.reference].astype(np.float64)
        else:
            size = closest_length(tokens, pairs, first=self.preset == "torchmetrics")
        total = length[:, None] - np.arange(self.order)
        if self.preset != "e2e":  # whose script allows values below 0
            total = np.maximum(total, 0.0)
        rows = np.column_stack([length, size, by_pair if single else by_sample, total]).astype(np.float64)
        return pairs, rows, single

    def _values(self, rows: Array, effective: bool) -> Array:
        n, value = self.order, self.smooth_value
        value = SMOOTH_VALUE[self.smoothing] if value is None else value
        length, size = rows[:, 0], rows[:, 1]
        correct, total = rows[:, 2 : 2 + n].copy(), rows[:, 2 + n :].copy()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.preset == "coco":
                ratio = (length + TINY) / (size + SMALL)
                share = np.prod((correct + TINY) / (total + SMALL), axis=1) ** (1 / n)
                brevity = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
            elif self.preset == "e2e":
                k = value if self.smoothing == "add-k" else 0.0
                share = geometric_mean(np.maximum(correct + k, TINY) / np.maximum(total + k, SMALL))
                brevity = np.where(length > size, 1.0, np.exp(1 - size / np.where(length > 0, length, 1e-5)))
            else:
                brevity = np.where(length < size, np.where(length > 0, np.exp(1 - size / length), 0.0), 1.0)
                if self.preset == "torchmetrics":
                    none = (correct == 0).any(axis=1)
                    if self.smoothing == "add-k":
                        correct[:, 1:] += value
                        total[:, 1:] += value
                    share = np.where(none, 0.0, geometric_mean(correct / total))
                else:
                    share = self._sacrebleu(correct, total, value, effective) / 100
        result: Array = 100 * (share * brevity)
        return result

    def _sacrebleu(self, correct: Array, total: Array, value: float, effective: bool) -> Array:
        """Compute the geometric mean of the smoothed precisions, as sacrebleu does."""
        any_match, smooth = correct.any(axis=1), self.smoothing
        if smooth == "add-k":
            correct[:, 1:] += value
            total[:, 1:] += value
        alive = np.logical_and.accumulate(total > 0, axis=1)
        nothing = alive & (correct == 0)
        share = 100.0 * correct / total
        if smooth == "exp":
            halves = 2.0 ** nothing.cumsum(axis=1)
            share[nothing] = 100.0 / (halves * total)[nothing]
        elif smooth == "floor":
            share[nothing] = 100.0 * value / total[nothing]
        logs = np.where(alive & (share > 0), np.log(share), LOG_OF_NOTHING)
        if not effective:
            return np.where(any_match, np.exp(logs.sum(axis=1) / self.order), 0.0)
        orders = np.maximum(alive.sum(axis=1), 1)
        return np.where(any_match, np.exp((logs * alive).sum(axis=1) / orders), 0.0)


def geometric_mean(rows: Array) -> Array:
    """Return the geometric mean of each row."""
    mean: Array = np.exp(np.log(rows).mean(axis=1))
    return mean


def closest_length(tokens: Tokens, pairs: Usable, *, first: bool = False) -> Array:
    """Return the reference length closest to each output; the shorter of two, or the first."""
    size = tokens.length[pairs.reference].astype(np.float64)
    if pairs.single:
        return size
    away = -np.abs(size - tokens.length[pairs.output])
    rank = away if first else away * (size.max(initial=0) + 1) - size
    return np.nan_to_num(over_references(pairs, size, "max", rank=rank))
