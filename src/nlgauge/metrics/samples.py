"""The texts of each sample by field, with a reason where one that is needed is missing or empty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from nlgauge.metrics.base import Scores
from nlgauge.text.batch import Batch

FIELDS = ("output", "source", "context")


class Sample(NamedTuple):
    output: str
    source: str
    context: str
    references: tuple[str, ...]
    control: str


@dataclass
class Able:
    """The samples that can be scored, at their places, and why the others cannot."""

    n: int
    places: list[int] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)

    def scores(self, values: Sequence[float], why: str = "not defined for these texts") -> Scores:
        """One value per able sample; NaN gets the reason `why` unless it has one."""
        found = np.full(self.n, np.nan)
        reasons = dict(self.reasons)
        for place, value in zip(self.places, values, strict=True):
            found[place] = value
            if math.isnan(value):
                reasons.setdefault(place, why)
        return Scores(found, reasons, dict(self.notes))

    def note(self, which: Iterable[object], what: str) -> None:
        """Note something about those able samples of which it is true; a sample keeps its first note."""
        for place, true in zip(self.places, which, strict=True):
            if true:
                self.notes.setdefault(place, what)


def able(batch: Batch, needs: Iterable[str]) -> Able:
    """Texts without white space at their ends; a field that is not needed may be empty."""
    wanted = set(needs)
    texts = batch.texts.list()
    columns = {name: getattr(batch, name).tolist() for name in FIELDS}
    refs, start = batch.reference.tolist(), batch.start.tolist()
    found = Able(len(batch))
    for i in range(len(batch)):
        given = {name: texts[c[i]].strip() if c[i] >= 0 else None for name, c in columns.items()}
        control = batch.control[i] if i < len(batch.control) else None
        given["control"] = control.strip() if control is not None else None
        lists = [texts[r].strip() for r in refs[start[i] : start[i + 1]]]
        full = tuple(r for r in lists if r)
        missing = [
            f"no {name}" if given[name] is None else f"empty {name}"
            for name in (*FIELDS, "control")
            if name in wanted and not given[name]
        ]
        if "references" in wanted and not full:
            missing.append("empty reference" if lists else "no references")
        if missing:
            found.reasons[i] = missing[0]
            continue
        if "references" in wanted and len(full) < len(lists):
            found.notes[i] = f"{len(lists) - len(full)} empty references left out"
        found.places.append(i)
        found.samples.append(
            Sample(
                given["output"] or "",
                given["source"] or "",
                given["context"] or "",
                full,
                given["control"] or "",
            )
        )
    return found


def fold(values: Sequence[float], counts: Sequence[int], how: str) -> list[float]:
    """One value for each run of `counts[i]` values: their mean, sum, max or min; NaN for an empty run.

    >>> fold([1.0, 3.0, 5.0], [2, 1], "mean")
    [2.0, 5.0]
    """
    found, at = [], 0
    for n in counts:
        some = list(values[at : at + n])
        at += n
        if not some:
            found.append(math.nan)
        elif how in ("mean", "sum"):
            found.append(math.fsum(some) / (n if how == "mean" else 1))
        else:
            found.append(max(some) if how == "max" else min(some))
    return found
