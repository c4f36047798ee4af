"""BARTScore: likelihood of the output given source or reference, or the reverse, under a sequence-to-sequence model."""

from __future__ import annotations

import math
from typing import Literal

from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Best, Sample, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.seq2seq import seq2seq
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch

NEEDS = {"s-h": ("source",), "r-h": ("references",), "h-r": ("references",), "f": ("references",)}


@metric(
    "bartscore",
    family="likelihood",
    needs=("source",),
    bounds=(-math.inf, 0.0),
    year=2021,
    cite="yuan-etal-2021-bartscore",
    extra="neural",
    weights="facebook/bart-large-cnn, or another sequence-to-sequence model, by name or folder",
)
class BartScore(OnSamples):
    """Mean log-probability of the output's tokens given the source, under BART fine-tuned on news summaries.

    direction: 's-h' output given source (faithfulness), 'r-h' output given reference (precision), 'h-r' reference given
    output (recall), 'f' the mean of the last two. prompt: words such as 'in other words', after the encoder's text
    (at='source') or before the decoder's (at='target'); of several the mean. With a causal model: lm-score.
    """

    direction: Literal["s-h", "r-h", "h-r", "f"] = "s-h"
    references: Best = "mean"
    prompt: str | tuple[str, ...] = ""
    at: Literal["source", "target"] = "source"
    model: str = "facebook/bart-large-cnn"

    instead = "lm-score"
    model_options = ("model",)

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, NEEDS[self.direction])

    @property
    def signature(self) -> str:
        prompt = str(self.prompt) if self.prompt else None
        refs = self.references if self.direction != "s-h" else None
        return self.signed(dir=self.direction, prompt=prompt, at=self.at if prompt else None, refs=refs)

    def pairs(self, sample: Sample) -> list[tuple[str, str]]:
        """Return condition and target for each reference and prompt."""
        if self.direction == "s-h":
            plain = [(sample.source, sample.output)]
        else:
            plain = [(r, sample.output) for r in sample.references if self.direction != "h-r"]
            plain += [(sample.output, r) for r in sample.references if self.direction != "r-h"]
        prompts = [self.prompt] if isinstance(self.prompt, str) else self.prompt
        return [self._prompted(pair, prompt) for pair in plain for prompt in prompts or ("",)]

    def _prompted(self, pair: tuple[str, str], prompt: str) -> tuple[str, str]:
        read, asked = pair
        if not prompt:
            return pair
        return (f"{read} {prompt},", asked) if self.at == "source" else (read, f"{prompt}, {asked}")

    def values(self, batch: Batch, found: Usable) -> list[float]:
        asked = [self.pairs(s) for s in found.samples]
        told = seq2seq(self.model).told([p for each in asked for p in each])
        counts = [len(each) for each in asked]
        found.note((t.cut for t in told), CUT, counts)
        means = [float(t.logs.mean()) for t in told]
        prompts = 1 if isinstance(self.prompt, str) else max(1, len(self.prompt))
        each = fold(means, [prompts] * (len(means) // prompts), "mean")
        return self._values(each, [n // prompts for n in counts])

    def _values(self, means: list[float], counts: list[int]) -> list[float]:
        if self.direction != "f":
            return fold(means, counts, self.references)
        halves = [n // 2 for n in counts for _ in range(2)]  # precision of all references, then recall
        return fold(fold(means, halves, self.references), [2] * len(counts), "mean")
