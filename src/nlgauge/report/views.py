"""What the page shows of each section: its tables as grids, its figures as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.report.figures import figure_of
from nlgauge.report.foreign_text import CELL, cut, for_script
from nlgauge.report.sections import Answered, Card, Finding
from nlgauge.table import Cell, Table

MOST_ROWS = 200  # of a table on the page; all of them are in the results file
OPEN_ROWS = 25  # longer tables are folded
# Below these a word is: hardly grounded, weakly grounded, grounded.
GROUNDED = ((0.45, "w0"), (0.6, "w1"), (0.75, "w2"), (2.0, "w3"))


@dataclass
class CellView:
    text: str
    best: bool = False
    value: float | None = None
    under: str = ""
    long: bool = False
    words: bool = False


@dataclass
class TableView:
    """A table as the page shows it, with the data of its figure."""

    number: int
    table: Table
    heads: list[str]
    rows: list[list[CellView]]
    left_out: int
    figure: str | None
    described: str
    texts: set[int]  # columns that hold words, not numbers

    @property
    def folded(self) -> bool:
        return len(self.rows) > OPEN_ROWS

    @property
    def words(self) -> list[str]:
        return [t for t in (self.table.method, *self.table.answers, *self.table.notes) if t]

    @property
    def small(self) -> list[str]:
        return [*(f"{n}: {t}" for n, t in self.table.definitions.items()), *filter(None, [self.table.signature])]


@dataclass
class PartView:
    about: str
    answer: str
    tables: list[TableView]


@dataclass
class SectionView:
    key: str
    question: str
    parts: list[PartView] = field(default_factory=list)
    not_said: str = ""
    missing: str = ""
    lines: list[str] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    points: str | None = None
    metrics: list[str] = field(default_factory=list)
    aspects: list[str] = field(default_factory=list)


def grouped(parts: list[PartView]) -> dict[str, list[str]]:
    """Answers in their order, each with what it is about: what holds for all aspects is said once."""
    said: dict[str, list[str]] = {}
    for part in parts:
        if part.answer:
            said.setdefault(part.answer, []).append(part.about)
    return said


def by_aspect(cards: list[Card]) -> dict[str, list[Card]]:
    found: dict[str, list[Card]] = {}
    for card in cards:
        found.setdefault(card.about, []).append(card)
    return found


class Views:
    """Numbers figures and tables through the page, and takes out of the figures what they all share."""

    def __init__(self) -> None:
        self.number = 0
        self.template: Any = None
        self.drawn: dict[int, tuple[Table, str | None]] = {}

    def draw(self, answered: Answered) -> None:
        """The figures of a section, while others are still computed."""
        self.drawn.update({id(table): (table, self._figure(table)) for table in answered.tables})

    def part(self, part: Finding) -> PartView:
        answer = part.answer
        views = [self.table(t, answer, part.under if k == 0 else {}) for k, t in enumerate(part.tables)]
        return PartView(part.about, answer, views)

    def table(self, table: Table, answer: str = "", under: dict[tuple[Any, Any], str] | None = None) -> TableView:
        self.number += 1
        heads, body = table.grid()
        across = _columns(table)
        rows = [
            [_cell(c, (under or {}).get((cells[0].value, across[k - 1]), "") if 0 < k <= len(across) else "") for k,
             c in enumerate(cells)]
            for cells in body[:MOST_ROWS]
        ]  # fmt: skip
        described = answer or table.title
        return TableView(
            self.number, table, heads, rows, max(0, len(body) - MOST_ROWS), self._figure(table), described,
            _aligned(rows)
        )  # fmt: skip

    def _figure(self, table: Table) -> str | None:
        if id(table) in self.drawn:
            return self.drawn[id(table)][1]
        figure = figure_of(table)
        if figure is None:
            return None
        plain = json.loads(figure.to_json() or "{}")
        self.template = plain["layout"].pop("template", None) or self.template  # the same for all, and long
        return for_script(plain)


def _columns(table: Table) -> list[Any]:
    layout = table.layout
    return [] if layout is None else list(dict.fromkeys(layout.place(row)[1] for row in table))


def _cell(cell: Cell, under: str) -> CellView:
    value = cell.value
    number = float(value) if isinstance(value, int | float) and not math.isnan(value) else _leading(cell.text)
    text = cut(cell.text, CELL)
    return CellView(text, cell.best, number, under, len(text) > 40, number is None and text not in ("", "–"))


def _aligned(rows: list[list[CellView]]) -> set[int]:
    """Columns in which words outnumber numbers; all cells of a column, also the dashes, then stand at the same side."""
    texts = set()
    for k, column in enumerate(zip(*rows, strict=True)):
        words, numbers = sum(c.words for c in column), sum(c.value is not None for c in column)
        if k and words > numbers:
            texts.add(k)
        for cell in column:
            cell.words = k in texts
    return texts


def _leading(text: str) -> float | None:
    """The number by which to sort `yes .83 [.80 .86]` or `62%`.

    >>> _leading("weak .66 [.58 .76]"), _leading("62%"), _leading("ROUGE_1"), _leading("–")
    (0.66, 62.0, None, None)
    """
    words = text.split()
    for word in words[:2]:
        try:
            return float(word.rstrip("%").replace(",", ""))
        except ValueError:
            continue
    return None


def sections_of(answered: Sequence[Answered], views: Views) -> Iterator[SectionView]:
    for each in answered:
        found = each.found
        points = found.points
        yield SectionView(
            each.section.key, each.section.question, [views.part(p) for p in found.parts], each.section.not_said,
            each.missing,
            found.lines, found.cards, None if points is None else for_script(points),
            [] if points is None else list(points["metrics"]), [] if points is None else list(points["aspects"]),
        )  # fmt: skip
