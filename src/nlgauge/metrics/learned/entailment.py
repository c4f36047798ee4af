"""Entailment of the output by the source: FactCC and any NLI model, on whole texts or by sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Sample, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.classifier import Classifier, classifier
from nlgauge.models.tensors import CUT
from nlgauge.models.torch_weights import SUFFIXES, read_torch
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences
from nlgauge.types import Array

Split = Literal["none", "output", "both"]
ENTAILED = ("entailment", "entail", "entailed", "supported", "supports", "consistent")
# The authors' bins: percentiles of the probabilities of many summaries.
LOW_PERCENTILES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37)
PERCENTILES = [*LOW_PERCENTILES, *(p / 100 for p in range(90, 95)), *(p / 1000 for p in range(950, 1000, 5)), 1.0]
CLAIMS = 10  # sentences of an output that the convolution reads
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

    @property
    def signed_label(self) -> str | int | None:
        """The label in the signature; label 0 is one, only the default '' is left out."""
        return None if self.label == "" else self.label

    def grid(self, sample: Sample) -> list[list[tuple[str, str]]]:
        """Return premise and claim: one row per claim, with one pair per premise."""
        claims = [sample.output] if self.split == "none" else sentences(sample.output) or [sample.output]
        premises = sentences(sample.source) if self.split == "both" else [sample.source]
        return [[(premise, claim) for premise in premises or [sample.source]] for claim in claims]

    def told(self, found: Usable) -> tuple[Classifier, list[list[Array]]]:
        """Return the model, and for each sample and claim the probabilities, premises × labels."""
        model = classifier(self.model)
        grids = [self.grid(s) for s in found.samples]
        each = iter(model.probabilities([pair for grid in grids for row in grid for pair in row]))
        told = [[[next(each) for _ in row] for row in grid] for grid in grids]
        found.note((any(cut for row in grid for _, cut in row) for grid in told), CUT)
        return model, [[np.stack([p for p, _ in row]) for row in grid] for grid in told]

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model, told = self.told(found)
        label = model.label(self.label, self.known)
        against = model.label("", AGAINST) if self.minus else None
        # The best supporting sentence for each claim, then the mean over claims.
        claims = [_best(row, label) - _best(row, against) for grid in told for row in grid]
        return fold(claims, [len(grid) for grid in told], self.over)


def _best(row: Array, label: int | None) -> float:
    return 0.0 if label is None else float(row[:, label].max())


@entails(
    "factcc",
    year=2020,
    cite="kryscinski-etal-2020-evaluating",
    weights="manueldeprada/FactCC, or another copy of it, by name or folder",
)
class FactCC(Entailing):
    """Probability that the output is correct given the source, by a BERT trained on corrupted sentences.

    split: 'output' scores each sentence and averages, 'none' the whole output at once.
    """

    split: Literal["output", "none"] = "output"
    label: str | int = ""
    model: str = "manueldeprada/FactCC"

    known = ("correct", *ENTAILED)

    @property
    def signature(self) -> str:
        return self.signed(split=self.split, label=self.signed_label)


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
    the probability of contradiction by the source sentence that contradicts it most.
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
        return self.signed(split=self.split, over=self.over, minus=self.minus, label=self.signed_label)


@entails(
    "summac-conv",
    year=2022,
    cite="laban-etal-2022-summac",
    weights="tals/albert-xlarge-vitaminc-mnli, or any inference model, by name or folder; and head, a file with the "
    "trained convolution",
)
class SummaCConv(Entailing):
    """SummaC-Conv: a trained layer reads the histogram of entailment probabilities of an output sentence by source
    sentences.

    The first ten sentences of an output, their values averaged, then the probability of 'consistent'. head: the
    authors' summac_conv_vitc_sent_perc_e.bin saved as safetensors (mlp and layer_final), or as it is with
    NLGAUGE_TORCH_WEIGHTS=1; 23 bins are theirs by percentiles, any other number is evenly spaced.
    """

    head: str = ""
    label: str | int = ""
    model: str = "tals/albert-xlarge-vitaminc-mnli"

    split = "both"

    def ready(self) -> None:
        super().ready()
        if not self.head.strip():
            raise NlgaugeError(
                "summac-conv: head='': name the file with the trained convolution, as safetensors; without one, "
                "entailment(minus=True) is SummaC-ZS."
            )
        conv_head(self.head)

    @property
    def signature(self) -> str:
        return self.signed(head=digest(Path(self.head)).hex() if self.head else "none", label=self.signed_label)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        weight, bias, final, added = conv_head(self.head)
        n = weight.shape[1]
        bins = PERCENTILES if n == len(PERCENTILES) - 1 else [*np.arange(0, 1, 1 / n), 1.0]
        model, told = self.told(found)
        label = model.label(self.label, self.known)
        values = []
        for grid in told:
            counts = np.stack([np.histogram(row[:, label], bins=bins)[0] for row in grid[:CLAIMS]])
            logits = final @ np.full(3, (counts @ weight[0] + bias[0]).mean()) + added
            values.append(float(1 / (1 + np.exp(logits[0] - logits[1]))))
        return values


@lru_cache(4)
def conv_head(path: str) -> tuple[Array, Array, Array, Array]:
    """Return weights and biases of the convolution and of the following layer."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    names = ("mlp.weight", "mlp.bias", "layer_final.weight", "layer_final.bias")
    file = Path(path).expanduser()
    try:
        given: dict[str, Any] = (
            load_file(file)
            if file.suffix not in SUFFIXES
            else {name: tensor.numpy() for name, tensor in read_torch(file, f"summac-conv: head='{path}'").items()}
        )
        weight, bias, final, added = (given[name].astype(np.float64) for name in names)
    except (OSError, SafetensorError, KeyError) as error:
        raise NlgaugeError(
            f"summac-conv: head='{path}': not a safetensors file with {', '.join(names)} ({error})."
        ) from None
    return weight, bias, final, added
