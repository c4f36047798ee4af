"""Base class of metrics that run a model on the texts of each sample."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.metrics.base import Metric
from nlgauge.metrics.batch import UNDEFINED, Scores, Usable, readable
from nlgauge.text.batch import Batch


class OnSamples(Metric):
    """One value per sample that has all needed texts; without such samples no model is loaded."""

    undefined = UNDEFINED  # the reason where the value of a sample is NaN

    def values(self, batch: Batch, found: Usable) -> Sequence[float]:
        """Return one value for each of `found.samples`; NaN if it has no value."""
        raise NotImplementedError

    def score(self, batch: Batch) -> Scores:
        result = readable(batch, self.facts.needs)
        return result.scattered(self.values(batch, result) if result.samples else [], self.undefined)
