"""BLEURT: a BERT with a regression head that was trained on human ratings of output and reference."""

from __future__ import annotations

import math
from pathlib import Path

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Best, Usable, fold
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.classifier import classifier
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch


@metric(
    "bleurt",
    family="learned",
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="sellam-etal-2020-bleurt",
    extra="neural",
    weights="a BLEURT checkpoint for transformers by name or folder (Elron/bleurt-base-512), or one of Google's "
    "that was converted with papers/tools/bleurt_checkpoint.py",
)
class Bleurt(OnSamples):
    """A trained regression of human ratings on the pair of reference and output.

    model: a checkpoint in the format of transformers with one label, by name or folder. The script
    papers/tools/bleurt_checkpoint.py converts Google's checkpoints (bleurt-tiny, -base, -large) without TensorFlow. The
    scale is the checkpoint's; most values lie between -1.5 and 1.
    """

    model: str = "Elron/bleurt-base-512"
    references: Best = "max"

    model_options = ("model",)

    def ready(self) -> None:
        if (Path(self.model).expanduser() / "bleurt_config.json").is_file():
            raise NlgaugeError(
                f"bleurt: model='{self.model}' is a TensorFlow checkpoint. Convert it once with "
                "papers/tools/bleurt_checkpoint.py from the source repository, and name the folder that it writes."
            )
        super().ready()

    @property
    def signature(self) -> str:
        return self.signed(refs=self.references)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model = classifier(self.model)
        if (labels := int(model.model.config.num_labels)) != 1:
            raise NlgaugeError(f"bleurt: model='{self.model}' has {labels} labels; a BLEURT has one.")
        told = model.logits([(r, s.output) for s in found.samples for r in s.references])
        counts = [len(s.references) for s in found.samples]
        found.note((cut for _, cut in told), CUT, counts)
        return fold([float(v[0]) for v, _ in told], counts, self.references)
