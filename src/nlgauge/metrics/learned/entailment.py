"""Does the source entail the output? FactCC, and any natural-language-inference model, on whole texts or sentence by
sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Sample, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences

Split = Literal["none", "output", "both"]
ENTAILED = ("entailment", "entail", "entailed", "supported", "consistent")
AGAINST = ("contradiction", "contradict", "refutes", "inconsistent")
entails = partial(metric, family="entailment", needs=("source",), extra="neural")


class Entailing(OnSamples):
    """Probability of a label for pairs of source and output, as a whole or by sentences."""

    model: str
    split: str
    known: Sequence[str] = ENTAILED
    over: str = "mean"
    minus: bool = False
    label: str | int

    model_options = ("model",)

    def grid(self, sample: Sample) -> list[list[tuple[str, str]]]:
        """Premise and claim: one row for each claim, in it one pair for each premise."""
        claims = [sample.output] if self.split == "none" else sentences(sample.output) or [sample.output]
        premises = sentences(sample.source) if self.split == "both" else [sample.source]
        return [[(premise, claim) for premise in premises or [sample.source]] for claim in claims]

    def values(self, batch: Batch, found: Usable) -> list[float]:
        from nlgauge.models.classifier import classifier

        model = classifier(self.model)
        grids = [self.grid(s) for s in found.samples]
        pairs = [pair for grid in grids for row in grid for pair in row]
        told = model.probabilities(pairs, model.label(self.label, self.known))
        values = [p for p, _ in told]
        if self.minus:
            against = model.probabilities(pairs, model.label("", AGAINST))
            values = [p - q for p, (q, _) in zip(values, against, strict=True)]
        widths = [len(row) for grid in grids for row in grid]
        heights = [len(grid) for grid in grids]
        found.note(fold(fold([float(c) for _, c in told], widths, "max"), heights, "max"), CUT)
        # A claim is as good as the sentence that supports it best; a text is as good as its claims on average.
        return fold(fold(values, widths, "max"), heights, self.over)


@entails(
    "factcc",
    year=2020,
    cite="kryscinski-etal-2020-evaluating",
    weights="manueldeprada/FactCC, or another copy of it, by name or folder",
)
class FactCC(Entailing):
    """Probability that the output is correct given the source, by a BERT trained on damaged sentences.

    split: 'output' judges each sentence and takes the mean, 'none' the whole output at once.
    """

    split: Literal["output", "none"] = "output"
    label: str | int = ""
    model: str = "manueldeprada/FactCC"

    known = ("correct", *ENTAILED)

    @property
    def signature(self) -> str:
        return self.signed(split=self.split, label=self.label or None)


@entails(
    "entailment",
    year=2022,
    cite="laban-etal-2022-summac",
    weights="FacebookAI/roberta-large-mnli, or any inference model, by name or folder",
)
class Entailment(Entailing):
    """Probability that the source entails the output, under any inference model.

    split: 'both' takes for each sentence of the output the source sentence that supports it best, as SummaC-ZS does;
    'output' shows each the whole source; 'none' whole texts. over: mean or min of the output's sentences. minus: less
    the probability of contradiction.
    """

    split: Split = "both"
    over: Literal["mean", "min"] = "mean"
    minus: bool = False
    label: str | int = ""
    model: str = "FacebookAI/roberta-large-mnli"

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, ("source",), (-1.0, 1.0) if self.minus else None)

    @property
    def signature(self) -> str:
        return self.signed(split=self.split, over=self.over, minus=self.minus, label=self.label or None)
