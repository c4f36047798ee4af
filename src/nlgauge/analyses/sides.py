"""Panels with several human aspects next to the metrics (Colombo et al. 2023), their rankings and notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.analyses._common import Named, flipped_note, human_note, measures_of, signature
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError
from nlgauge.stats.correlation.measure import Measure
from nlgauge.types import Array, Mask

HUMAN_PREFIX = "H:"  # the paper marks human aspects among the metrics in this way


@dataclass(frozen=True)
class Sides:
    """Human aspects and metrics of one data set on one grid; higher is always better."""

    panel: Panel
    humans: dict[str, Array]
    notes: list[str]

    @classmethod
    def of(cls, choice: Choice) -> Sides:
        """Return the requested aspects that have ratings, and the metrics; raise an error if there is no rating."""
        chosen = choice.wanted or [choice.data.aspect()]
        panel = choice.panel(chosen[0], canonical=True)
        humans = {a: panel.humans[a] for a in chosen if a in panel.humans}
        empty = [a for a in chosen if a not in humans or np.isnan(humans[a]).all()]
        notes = [f"no ratings for: {', '.join(empty)}."] if empty else []
        humans = {a: h for a, h in humans.items() if a not in empty}
        if not humans:
            raise DataError("there are no rated outputs.", code="no_ratings")
        return cls(panel, humans, notes)

    @property
    def names(self) -> list[str]:
        """Return the aspects (marked H:), then the metrics."""
        return [*(HUMAN_PREFIX + a for a in self.humans), *self.panel.metrics]

    @property
    def human(self) -> Mask:
        """Return which of `names` are human aspects."""
        return np.arange(len(self.names)) < len(self.humans)

    def people(self) -> Array:
        """Return the mean ratings, aspects × systems × inputs."""
        return np.stack(list(self.humans.values()))

    def automatic(self) -> Array:
        """Return the scores of the metrics, oriented so that higher is better; an empty array without metrics."""
        return self.panel.oriented() if self.panel.metrics else np.empty((0, *self.people().shape[1:]))

    def scores(self) -> Array:
        """Return aspects and metrics as one array, in the order of `names`."""
        return np.concatenate([self.people(), self.automatic()])

    def remarks(self) -> list[str]:
        """Return the notes for every table of these data."""
        notes = [*self.notes, *human_note(self.panel), *flipped_note(self.panel)]
        missing = int(np.isnan(self.scores()).sum())
        if missing:
            notes.append(f"{missing} of {self.scores().size} ratings and scores are missing.")
        return notes

    def signature(self, **more: object) -> str:
        """Return the line with the settings that reproduce the numbers, with all aspects."""
        return signature(self.panel, aspect=",".join(self.humans), **more)


def measure_for(panel: Panel, measure: Named | None) -> Measure:
    """Return the requested measure; by default Kendall's tau within inputs, or over all outputs of a single system."""

    return measures_of(measure or ("input/kendall" if panel.n_systems > 1 else "global/kendall"))[0]
