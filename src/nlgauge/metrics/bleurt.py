"""BLEURT: a BERT with a regression head that was trained on human ratings of output and reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from nlgauge.errors import NlgaugeError
from nlgauge.metrics._base import Batch, Scores, metric
from nlgauge.metrics._byname import ByName
from nlgauge.metrics._pairs import MultiRef, check_multiref
from nlgauge.metrics._samples import able, fold


@metric(
    "bleurt",
    family="learned",
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="sellam-etal-2020-bleurt",
    extra="neural",
    weights="a BLEURT checkpoint for transformers (Elron/bleurt-base-512 and others) by name or folder",
)
@dataclass(frozen=True)
class Bleurt(ByName):
    """A trained regression of human ratings on the pair of reference and output.

    model: a checkpoint in transformers' form with one label; Google's own (TensorFlow) must be converted first. The scale
    is the checkpoint's; most values lie between -1.5 and 1.
    """

    model: str = "Elron/bleurt-base-512"
    references: MultiRef = "max"

    def __post_init__(self) -> None:
        check_multiref("bleurt", self.references)

    def ready(self) -> None:
        folder = Path(self.model).expanduser()
        if (folder / "saved_model.pb").is_file() or (folder / "bleurt_config.json").is_file():
            raise NlgaugeError(
                f"bleurt: model='{self.model}' is a TensorFlow checkpoint; convert it to transformers' form "
                "(config.json, model.safetensors, tokenizer.json) where TensorFlow is installed, then name that folder."
            )
        super().ready()

    @property
    def signature(self) -> str:
        return self._signature(refs=self.references)

    def score(self, batch: Batch) -> Scores:
        from nlgauge.metrics._classify import CUT, classifier

        found = able(batch, self.facts.needs)
        if not found.samples:
            return found.scores([])
        model = classifier(self.model)
        if (labels := int(model.model.config.num_labels)) != 1:
            raise NlgaugeError(f"bleurt: model='{self.model}' has {labels} labels; a BLEURT has one.")
        told = model.logits([(r, s.output) for s in found.samples for r in s.references])
        counts = [len(s.references) for s in found.samples]
        found.note(fold([float(cut) for _, cut in told], counts, "max"), CUT)
        return found.scores(fold([float(v[0]) for v, _ in told], counts, self.references))
