"""Contrast of a strong and a weak language model (called ContrastScore in 2025; that of colombo2023 is
sentence_cosine.py).
"""

from __future__ import annotations

import math

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Best, Usable, fold
from nlgauge.metrics.learned.language_model import DIRECTIONS, WINDOWS, Direction, LmScore
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.causal import answers, likelihood
from nlgauge.text.batch import Batch

LEAST = 1e-12  # log of a difference of 0 would be minus infinity


@metric(
    "lm-contrast",
    family="likelihood",
    needs=("source",),
    bounds=(-math.inf, 0.0),
    year=2025,
    cite="wang-etal-2025-contrastscore",
    extra="neural",
    weights="two causal language models with one tokenizer, as Qwen/Qwen2.5-3B and Qwen/Qwen2.5-0.5B, by name or "
    "folder",
)
class LmContrast(OnSamples):
    """Mean over the output's tokens of the log of the gap between p(expert) and gamma · p(amateur), given the source.

    direction as in lm-score. The two models must share a tokenizer. gamma between 0 (the expert alone) and
    1; the default is ours. Its authors (2025) call it ContrastScore; contrastscore is the older metric of that name.
    """

    direction: Direction = "s-h"
    gamma: float = 0.1
    join: str = "\n"
    references: Best = "mean"
    expert: str = "Qwen/Qwen2.5-3B"
    amateur: str = "Qwen/Qwen2.5-0.5B"

    model_options = ("expert", "amateur")

    def check(self) -> None:
        if not 0 <= self.gamma <= 1:
            raise NlgaugeError(f"lm-contrast: gamma must be between 0 and 1; got {self.gamma}.")

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, DIRECTIONS[self.direction])

    @property
    def signature(self) -> str:
        refs = self.references if "references" in self.facts.needs else None
        return self.signed(dir=self.direction, gamma=self.gamma, join=self.join, refs=refs)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        ask = LmScore(self.direction, join=self.join).questions
        asked = [ask(s) for s in found.samples]
        flat = [q for each in asked for q in each]
        for target in dict.fromkeys(t for _, t in flat):
            if likelihood(self.expert).plain_ids(target) != likelihood(self.amateur).plain_ids(target):
                raise NlgaugeError(
                    f"lm-contrast: '{self.expert}' and '{self.amateur}' use different tokenizers; name two "
                    "models of one family."
                )
        both = [answers(batch, name).of(flat) for name in (self.expert, self.amateur)]
        values = []
        for strong, weak in zip(*both, strict=True):
            gap = np.abs(np.exp(strong.logs) - self.gamma * np.exp(weak.logs))
            values.append(float(np.log(np.maximum(gap, LEAST)).mean()) if len(gap) else math.nan)
        counts = [len(each) for each in asked]
        windows = [float(a.windows or b.windows) for a, b in zip(*both, strict=True)]
        found.note(fold(windows, counts, "max"), WINDOWS)
        return fold(values, counts, self.references)
