"""Sections of the report: one question each, a plain answer computed from the tables, and what it does not say.

A section registers itself with `@section(key, order=, question=, not_said=)`; the first look-up imports every module of
this folder. What does not apply to the data raises NeedsMissing: the page then says why in one line.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.report.sections.words import name_of, one_line
from nlgauge.table import Table

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

GATE = "input/kendall"
FULL, QUICK = 1000, 200  # draws
LEVEL = 0.05
MOST_WORK = 4e9  # pairs × outputs × draws of the tests of all pairs: some twenty seconds an aspect


class Source(Protocol):
    """The data and what of it was asked for; the CLI's Selection is one."""

    @property
    def data(self) -> Dataset: ...
    @property
    def aspects(self) -> Sequence[str] | None: ...
    @property
    def metrics(self) -> Sequence[str] | None: ...
    @property
    def by(self) -> Sequence[str] | None: ...
    @property
    def keep_people(self) -> bool: ...
    @property
    def aggregate(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def card(self) -> list[str]: ...
    def each(self, analysis: str, **options: Any) -> list[Table]: ...


@dataclass
class Run:
    """What a section sees: the data, analyses on demand (each computed once), and how much effort is wanted."""

    source: Source
    quick: bool = False
    measures: Sequence[str] | None = None
    gate: str = GATE
    known: dict[str, list[Table] | NlgaugeError] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)  # what the section at work had to go without

    @property
    def data(self) -> Dataset:
        return self.source.data

    @property
    def draws(self) -> int:
        """Tests of all pairs grow with the square of the metrics: fewer draws where there are many."""
        many = len(self.source.metrics or self.data.metrics) > 20
        return QUICK if self.quick or many else FULL

    @property
    def pair_draws(self) -> int:
        """Draws of the tests of all pairs: Holm's correction multiplies the smallest p, 1 / (draws + 1), by their number."""
        k = len(self.source.metrics or self.data.metrics)
        pairs = max(1, k * (k - 1) // 2)
        wanted = max(self.draws, round((1.25 if self.quick else 2) * pairs / LEVEL))
        return min(wanted, max(QUICK, int(MOST_WORK / (pairs * len(self.data)))))

    def can_tell(self, metrics: int) -> bool:
        """Whether any difference could be significant with so many metrics and these draws."""
        return metrics * (metrics - 1) / 2 / (self.pair_draws + 1) < LEVEL

    @property
    def aspects(self) -> list[str]:
        return list(self.source.aspects or self.data.aspects)

    def each(self, analysis: str, **options: Any) -> list[Table]:
        key = json.dumps([analysis, options], sort_keys=True, default=str)
        if key not in self.known:
            try:
                self.known[key] = self.source.each(analysis, **options)
            except NlgaugeError as error:
                self.known[key] = error
        found = self.known[key]
        if isinstance(found, NlgaugeError):
            raise found
        return found

    def also(self, analysis: str, **options: Any) -> list[Table]:
        """Tables that stand beside others: none when they cannot be had, and a line that says so."""
        try:
            return self.each(analysis, **options)
        except NameUnknown:
            raise
        except NlgaugeError as error:
            self.left.append(f"{analysis} left out: {one_line(str(error))}")
            return []

    def about(self, table: Table) -> str:
        """Which part of the data a table is about: its group and its aspect."""
        return name_of(table, self.source.by or ())


@dataclass
class Part:
    """The answer for one aspect (or for all of them, about ""), and the tables behind it, the first one unfolded.

    `under` holds small print for cells of the first table: (line, column) -> text.
    """

    about: str
    answer: str
    tables: list[Table]
    under: dict[tuple[Any, Any], str] = field(default_factory=dict)


@dataclass
class Card:
    """One output to read: facts about it, and its texts under their names; `words` are (text, score) of the output."""

    title: str
    facts: str
    texts: list[tuple[str, str]]
    about: str = ""
    words: list[tuple[str, float | None]] = field(default_factory=list)


@dataclass
class Found:
    """What a section has found."""

    parts: list[Part] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    points: dict[str, Any] | None = None  # for the picture in which outputs are chosen


@dataclass(frozen=True)
class Section:
    key: str
    order: int
    question: str
    not_said: str
    function: Callable[[Run], Found]


@dataclass
class Answered:
    """A section with what it found, or with the reason why it found nothing."""

    section: Section
    found: Found
    missing: str = ""

    @property
    def tables(self) -> Iterator[Table]:
        return (table for part in self.found.parts for table in part.tables)


_found: dict[str, Section] = {}
_complete: set[str] = set()


def section(
    key: str, *, order: int, question: str, not_said: str
) -> Callable[[Callable[[Run], Found]], Callable[[Run], Found]]:
    """Decorator: this function answers that question."""

    def keep(function: Callable[[Run], Found]) -> Callable[[Run], Found]:
        _found[key] = Section(key, order, question, not_said, function)
        return function

    return keep


def sections() -> list[Section]:
    """All of them, in the order of the page."""
    if not _complete:
        for module in pkgutil.iter_modules(__path__, f"{__name__}."):
            importlib.import_module(module.name)
        _complete.add("all")
    return sorted(_found.values(), key=lambda s: s.order)


def answer_all(run: Run) -> list[Answered]:
    """Every section; a wrong name is the user's to mend, anything else that is missing is said on the page."""
    answered = []
    for each in sections():
        run.left = []
        try:
            found = each.function(run)
            found.lines = [*found.lines, *dict.fromkeys(run.left)]
            answered.append(Answered(each, found))
        except NameUnknown:
            raise
        except NlgaugeError as error:
            answered.append(Answered(each, Found(), one_line(str(error))))
    return answered
