"""What analyses of several aspects beside the metrics (colombo2023) share: the panel, its rankings, the notes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nlgauge.analyses._common import Named, measures_of, people_note, signature, turned_note
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError
from nlgauge.stats.correlation.measure import Measure
from nlgauge.types import Array, Mask

H = "H:"  # as the paper marks people's ratings among the metrics


@dataclass(frozen=True)
class Sides:
    """People's aspects and the metrics of one data set on one grid, more always better."""

    panel: Panel
    humans: dict[str, Array]
    notes: list[str]

    @classmethod
    def of(cls, choice: Choice) -> Sides:
        """Return the aspects that have ratings and the metrics of the data asked for; an error without any rating."""
        data, chosen = choice.data, choice.wanted or [choice.data.aspect()]
        panel = choice.panel(chosen[0], canonical=True)
        humans = {a: panel.humans[a] for a in chosen if a in panel.humans}
        empty = [a for a in chosen if a not in humans or np.isnan(humans[a]).all()]
        notes = [f"no ratings left for: {', '.join(empty)}."] if empty else []
        humans = {a: h for a, h in humans.items() if a not in empty}
        if not humans:
            raise DataError("no rated outputs are left.", data=data.name, code="no_ratings")
        return cls(panel, humans, notes)

    @property
    def names(self) -> list[str]:
        """Aspects (marked H:), then metrics."""
        return [*(H + a for a in self.humans), *self.panel.metrics]

    @property
    def human(self) -> Mask:
        """Return which of `names` are human aspects."""
        return np.arange(len(self.names)) < len(self.humans)

    def people(self) -> Array:
        """Return the mean ratings, aspects × systems × inputs."""
        return np.stack(list(self.humans.values()))

    def automatic(self) -> Array:
        """Metrics, turned so that more is better; none is no error here."""
        return self.panel.oriented() if self.panel.metrics else np.empty((0, *self.people().shape[1:]))

    def scores(self) -> Array:
        """Aspects and metrics as one array, in the order of `names`."""
        return np.concatenate([self.people(), self.automatic()])

    def remarks(self) -> list[str]:
        """Notes that every table of these data carries."""
        notes = [*self.notes, *people_note(self.panel), *turned_note(self.panel)]
        missing = int(np.isnan(self.scores()).sum())
        if missing:
            notes.append(f"{missing} of {self.scores().size} ratings and scores are missing.")
        return notes

    def signature(self, **more: object) -> str:
        """Return the line that says how to repeat the numbers, with all aspects."""
        return signature(self.panel, aspect=",".join(self.humans), **more)


def measure_for(panel: Panel, measure: Named | None) -> Measure:
    """The measure asked for; else Kendall's tau within inputs, or over all outputs where there is one system."""
    return measures_of(measure or ("input/kendall" if panel.n_systems > 1 else "global/kendall"))[0]
