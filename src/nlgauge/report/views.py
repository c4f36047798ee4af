"""What the page shows of each section: its tables as grids, its figures as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.foreign_text import CELL, cut
from nlgauge.report.figures import figure_of
from nlgauge.report.sections import Answered, Finding
from nlgauge.report.sections.words import sentence
from nlgauge.table import Cell, Table, Title

MOST_ROWS = 200  # of a table on the page; all of them are in the results file
OPEN_ROWS = 25  # longer tables are folded
PHONE = 340  # pixels that a figure has on a phone


@dataclass
class CellView:
    text: str
    best: bool = False
    value: float | None = None
    under: str = ""
    long: bool = False
    words: bool = False
    hidden: float | None = None  # the number by which to sort, where the text does not show one
    interval: tuple[float, float] | None = None
    bar: tuple[float, float, float] | None = None  # start, length and value of the interval, in % of its column


@dataclass
class FigureView:
    """A figure: its place in the packed data, the height that the page keeps free, the width that it needs."""

    key: str
    height: int
    width: int


@dataclass
class TableView:
    """A table as the page shows it, with its figure."""

    number: int
    table: Table
    title: str
    heads: list[str]
    rows: list[list[CellView]]
    left_out: int
    figure: FigureView | None
    described: str
    texts: set[int]  # columns that hold words, not numbers

    @property
    def method(self) -> list[str]:
        """What stands folded below it: also answers that the section's own does not repeat."""
        of = self.table
        said = [text for text in of.answers if text not in self.described]
        return [
            t
            for t in (of.method, *said, *of.notes, *(f"{n}: {t}" for n, t in of.definitions.items()), of.signature)
            if t
        ]


@dataclass
class PartView:
    about: str
    answer: str
    tables: list[TableView]
    folded: bool = False
    sentences: dict[str, str] = field(default_factory=dict)  # of single uses, where the section is about them

    @property
    def shown(self) -> TableView | None:
        """The one that stands in the open: the first with a figure, else the first if it is short."""
        if self.folded:
            return None
        drawn = next((t for t in self.tables if t.figure), None)
        return drawn or next((t for t in self.tables[:1] if len(t.rows) <= OPEN_ROWS), None)


@dataclass
class SectionView:
    key: str
    question: str
    parts: list[PartView] = field(default_factory=list)
    limitations: str = ""
    missing: str = ""
    lines: list[str] = field(default_factory=list)
    outputs: bool = False

    @property
    def drawn(self) -> bool:
        """Return whether the section has a figure."""
        return any(t.figure for part in self.parts for t in part.tables)


class Views:
    """Numbers figures and tables through the page; `packed` holds what the page unpacks when it needs it."""

    def __init__(self, name: str = "") -> None:
        self.name = name  # of the data; titles need not repeat it
        self.number = 0
        self.packed: dict[str, Any] = {"figures": {}, "tables": {}, "outputs": None, "template": None}
        self.drawn: dict[int, tuple[Table, FigureView | None]] = {}

    def draw(self, answered: Answered) -> None:
        """The figures of a section, while others are still computed."""
        for table in answered.tables:
            self._figure(table)

    def part(self, part: Finding) -> PartView:
        """Return what the template shows of one answer."""
        views = [self.table(t, part.answer, part.under if k == 0 else {}) for k, t in enumerate(part.tables)]
        return PartView(part.about, part.answer, views, part.folded)

    def table(self, table: Table, answer: str = "", under: dict[tuple[Any, Any], str] | None = None) -> TableView:
        """Return what the template shows of a table; `under` holds small print of its cells."""
        self.number += 1
        heads, body = table.grid()
        across = _columns(table)
        rows = [
            [
                _cell(c, (under or {}).get((cells[0].value, across[k - 1]), "") if 0 < k <= len(across) else "")
                for k, c in enumerate(cells)
            ]
            for cells in body[:MOST_ROWS]
        ]
        _bars(rows)
        whole = table.title
        title = sentence(whole.topic if isinstance(whole, Title) and whole.data == self.name else whole)
        return TableView(
            self.number,
            table,
            title,
            heads,
            rows,
            max(0, len(body) - MOST_ROWS),
            self._figure(table),
            answer or title,
            _aligned(rows),
        )

    def keep(self, html: str) -> str:
        """Packs the markup of a folded table; returns its place."""
        key = f"t{len(self.packed['tables'])}"
        self.packed["tables"][key] = str(html)
        return key

    def _figure(self, table: Table) -> FigureView | None:
        if id(table) not in self.drawn:
            figure = figure_of(table)
            plain = None if figure is None else json.loads(figure.to_json() or "{}")
            self.drawn[id(table)] = table, None if plain is None else self._packed(plain)
        return self.drawn[id(table)][1]

    def _packed(self, plain: dict[str, Any]) -> FigureView:
        layout, key = plain["layout"], f"d{len(self.packed['figures'])}"
        self.packed["template"] = layout.pop("template", None) or self.packed["template"]  # the same for all, and long
        self.packed["figures"][key] = plain
        return FigureView(key, layout.get("height", 400), _width(plain))


def _width(plain: dict[str, Any]) -> int:
    """Pixels below which a figure cannot be read: columns of a heat map, pictures beside each other."""
    columns = max((len(set(t["x"])) for t in plain["data"] if t["type"] == "heatmap" and "x" in t), default=0)
    axes = (axis for name, axis in plain["layout"].items() if name.startswith("xaxis"))
    beside = len({str(axis["domain"]) for axis in axes if axis.get("domain")})
    return max(120 + 40 * columns if columns else 0, PHONE * max(beside, 1))


def _columns(table: Table) -> list[Any]:
    layout = table.layout
    return [] if layout is None else list(dict.fromkeys(layout.place(row)[1] for row in table))


def _cell(cell: Cell, under: str) -> CellView:
    value = cell.value
    number = float(value) if isinstance(value, int | float) and not math.isnan(value) else None
    text = cut(cell.text, CELL)
    hidden = None if number is None else float(f"{number:.6g}")
    words = number is None and text not in ("", "–")
    return CellView(text, cell.best, number, under, len(text) > 40, words, hidden, cell.interval)


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


def _bars(rows: list[list[CellView]]) -> None:
    """Small bars beside intervals, on one scale for each column, where a column has at least two."""
    for column in zip(*rows, strict=True):
        intervals = [(c, c.value, *c.interval) for c in column if c.interval is not None and c.value is not None]
        if len(intervals) < 2:
            continue
        least, most = min(low for _, _, low, _ in intervals), max(high for *_, high in intervals)
        for cell, value, low, high in intervals:
            start, length, dot = (
                100 * part / ((most - least) or 1) for part in (low - least, high - low, value - least)
            )
            cell.bar = round(start, 1), round(length, 1), round(min(max(dot, 0), 100), 1)


def sections_of(answered: Sequence[Answered], views: Views) -> Iterator[SectionView]:
    """Iterate over the sections as the template shows them."""
    for each in answered:
        found = each.found
        views.packed["outputs"] = found.outputs or views.packed["outputs"]
        yield SectionView(
            each.section.key,
            each.section.question,
            [views.part(p) for p in found.parts],
            each.section.limitations,
            each.missing,
            found.lines,
            found.outputs is not None,
        )
