"""BLEURT: a BERT with a regression head that was trained on human ratings of output and reference."""

from __future__ import annotations

import math

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import metric, signature
from nlgauge.metrics.batch import Best, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch


@metric(
    "bleurt",
    family="learned",
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="sellam-etal-2020-bleurt",
    extra="neural",
    weights="a BLEURT checkpoint by name or folder: Google's own (bleurt-base-128 …; converted on first use) or one "
    "for transformers (Elron/bleurt-base-512)",
)
class Bleurt(OnSamples):
    """A trained regression of human ratings on the pair of reference and output.

    model: a folder as Google publishes it (bleurt-tiny, -base, -large; converted once, without TensorFlow), or a
    checkpoint in transformers' form with one label. The scale is the checkpoint's; most values lie between -1.5 and 1.
    """

    model: str = "Elron/bleurt-base-512"
    references: Best = "max"

    model_options = ("model",)

    def ready(self) -> None:
        from nlgauge.models.bleurt_checkpoint import check, is_google

        super().ready()
        if is_google(self.model):
            check(self.model)

    def folder(self) -> str:
        """Name or folder of the weights in transformers' form."""
        from nlgauge.models.bleurt_checkpoint import converted, is_google

        return converted(self.model) if is_google(self.model) else self.model

    @property
    def signature(self) -> str:
        from nlgauge.models.bleurt_checkpoint import is_google, place

        if is_google(self.model):  # its weights are in files of another kind
            return signature(model=place(self.model).name, refs=self.references)
        return self.signed(refs=self.references)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        from nlgauge.models.classifier import classifier

        model = classifier(self.folder())
        if (labels := int(model.model.config.num_labels)) != 1:
            raise NlgaugeError(f"bleurt: model='{self.model}' has {labels} labels; a BLEURT has one.")
        told = model.logits([(r, s.output) for s in found.samples for r in s.references])
        counts = [len(s.references) for s in found.samples]
        found.note((cut for _, cut in told), CUT, counts)
        return fold([float(v[0]) for v, _ in told], counts, self.references)
