"""COMET, through its authors' package where that is installed."""

from __future__ import annotations

import functools
import importlib.util
import math
from pathlib import Path
from typing import Any

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics.base import Facts, Metric, metric, needing
from nlgauge.metrics.batch import Best, Scores, fold, readable
from nlgauge.text.batch import Batch

EIGHT = 8  # pairs in a batch, the package's own default


@functools.lru_cache(1)
def _model(name: str) -> Any:
    import comet

    try:
        path = name if name.endswith(".ckpt") else comet.download_model(name)
        return comet.load_from_checkpoint(str(Path(path).expanduser()))
    except Exception as error:  # the package raises the errors of its downloader
        raise NlgaugeError(f"comet: model='{name}': {type(error).__name__}: {str(error)[:160]}") from None


def _gpus() -> int:
    """Return the number of GPUs to use: one if available, as for all other models."""
    import torch

    return 1 if torch.cuda.is_available() else 0


@metric(
    "comet",
    family="learned",
    needs=("source", "references"),
    bounds=(-math.inf, math.inf),
    year=2020,
    cite="rei-etal-2020-comet",
    extra="neural",
    weights="Unbabel/wmt22-comet-da by name or a .ckpt file, through the package unbabel-comet (install it yourself)",
)
class Comet(Metric):
    """A trained regression of human ratings on source, output and reference, run by the package unbabel-comet.

    qe: the model takes no reference (Unbabel/wmt22-cometkiwi-da). The package unpickles its checkpoints: use only
    those that you trust.
    """

    model: str = "Unbabel/wmt22-comet-da"
    qe: bool = False
    references: Best = "max"

    model_options = ("model",)

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, ("source",) if self.qe else ("source", "references"))

    def ready(self) -> None:
        if importlib.util.find_spec("comet") is None:
            # With its dependencies pip would downgrade numpy, transformers and protobuf.
            raise NeedsMissing(
                "'comet' needs the package unbabel-comet, without the old versions that it asks for: pip install "
                "--no-deps "
                'unbabel-comet "entmax<2" jsonargparse==3.13.1 "pytorch-lightning<3" lightning-utilities '
                '"torchmetrics<0.11" '
                '"sentencepiece<0.3"'
            )
        if self.model.endswith(".ckpt") and not Path(self.model).expanduser().is_file():
            raise NlgaugeError(f"comet: model='{self.model}': no such file.")

    @property
    def signature(self) -> str:
        return self.signed(qe=self.qe, refs=None if self.qe else self.references)

    def score(self, batch: Batch) -> Scores:
        self.ready()
        result = readable(batch, self.facts.needs)
        rows = [
            {"src": s.source, "mt": s.output, **({} if self.qe else {"ref": ref})}
            for s in result.samples
            for ref in (("",) if self.qe else s.references)
        ]
        if not rows:
            return result.scattered([])
        told = _model(self.model).predict(rows, batch_size=EIGHT, gpus=_gpus(), progress_bar=False)
        values = [float(v) for v in told["scores"]]
        return result.scattered(
            fold(values, [1 if self.qe else len(s.references) for s in result.samples], self.references)
        )
