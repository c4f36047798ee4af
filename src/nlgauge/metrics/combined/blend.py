"""Mean of other metrics, each on a fixed scale, so that a score does not depend on the other outputs scored."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np

from nlgauge.metrics.base import Facts, Metric, metric_from_spec
from nlgauge.metrics.batch import Scores
from nlgauge.text.batch import Batch


class PartScale(NamedTuple):
    """Mean and standard deviation of a part on the outputs (not the ratings) of the selection sets; a negative
    standard deviation means that lower is better.
    """

    center: float
    spread: float


class Blend(Metric):
    """`parts`: spec of a metric -> its scale.

    0 is an average output of the selection sets, 1 is one standard deviation better in every part.
    """

    parts: ClassVar[Mapping[str, PartScale]]

    @functools.cached_property
    def members(self) -> list[Metric]:
        """Return the metrics that are averaged."""
        return [metric_from_spec(spec) for spec in self.parts]

    def own_facts(self, facts: Facts) -> Facts:
        needs = frozenset().union(*(m.facts.needs for m in self.members))
        return replace(facts, needs=needs, bounds=(-math.inf, math.inf))

    @property
    def signature(self) -> str:
        each = (f"{m}[{m.signature}]@{s.center:g}/{s.spread:g}" for m, s in self._with_scales())
        return "|".join(each).replace(" ", "")

    def _with_scales(self) -> list[tuple[Metric, PartScale]]:
        return list(zip(self.members, self.parts.values(), strict=True))

    def ready(self) -> None:
        for member in self.members:
            member.ready()

    def prepare(self, batch: Batch) -> None:
        for member in self.members:
            member.prepare(batch)

    def remarks(self, batch: Batch) -> list[str]:
        return list(dict.fromkeys(line for m in self.members for line in m.remarks(batch)))

    def score(self, batch: Batch) -> Scores:
        total = np.zeros(len(batch))
        reasons: dict[int, str] = {}
        notes: dict[int, str] = {}
        for member, scale in self._with_scales():
            result = member.score(batch)
            total += (result.values - scale.center) / scale.spread
            reasons = result.reasons | reasons
            notes = result.notes | notes
        return Scores(total / len(self.parts), reasons, notes)
