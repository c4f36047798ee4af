"""Views of a table on the page: its cells, its figure as SVG, and which table is shown first."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from nlgauge.foreign_text import CELL, cut, visible
from nlgauge.report.figures import figure_json
from nlgauge.report.figures.svg import svg_of
from nlgauge.report.sections import Finding
from nlgauge.report.sections.words import sentence
from nlgauge.table import Cell, Table, Title

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_ROWS = 30  # of a table on the page; all of them are in the results file
OPEN_ROWS = 25  # longer tables are folded


class Grid(NamedTuple):
    """Cells of a table, and the columns that contain words."""

    heads: list[str]
    rows: list[list[Cell]]
    left_out: int
    words: set[int]


def grid_of(table: Table) -> Grid:
    """Return the cells that the page shows."""
    heads, body = table.grid()
    rows = body[:MAX_ROWS]
    words = set()
    for k, column in enumerate(zip(*rows, strict=True)):
        texts = sum(as_number(c) is None and c.text not in ("", "–") for c in column)
        if k and texts > sum(as_number(c) is not None for c in column):
            words.add(k)
    return Grid(heads, rows, max(0, len(body) - MAX_ROWS), words)


def as_number(cell: Cell) -> float | None:
    """Return the number by which a cell sorts."""
    value = cell.value
    return float(f"{value:.5g}") if isinstance(value, int | float) and not math.isnan(value) else None


def sort_key(cell: Cell) -> float | None:
    """Return the number by which a cell sorts where its text is another one than the number itself."""
    number = as_number(cell)
    return None if number is None or re.fullmatch(r"-?[\d,]*\.?\d+", cell.text) else number


def cell_text(cell: Cell) -> str:
    """Return the text of a cell, cut where it is long."""
    return str(visible(cut(cell.text, CELL)))


def open_table(part: Finding) -> Table | None:
    """Return the table that is not folded: the first with a figure, else the first if it is short."""
    if part.folded or not part.tables:
        return None
    if part.table_first:
        return part.tables[0]
    drawn = next((t for t in part.tables if drawing(t)), None)
    return drawn or next((t for t in part.tables[:1] if len(t) <= OPEN_ROWS), None)


def drawing(table: Table) -> Markup | None:
    """Return the figure of a table as SVG; None where it has none."""
    from markupsafe import Markup

    svg: Markup | None
    if "__svg__" not in table.__dict__:
        figure = figure_json(table)
        svg = None if figure is None else Markup(visible(svg_of(figure, table.title)))
        table.__dict__["__svg__"] = svg
    svg = table.__dict__["__svg__"]
    return svg


def title_of(table: Table, name: str) -> str:
    """Return the title of a table without the name of the data, which the page has already."""
    whole = table.title
    return sentence(whole.topic if isinstance(whole, Title) and whole.data == name else whole)


def method_of(table: Table, answer: str = "") -> list[str]:
    """Return what stands folded below a table: also answers that the section's own does not repeat."""
    answers = [text for text in table.answers if text not in answer]
    meanings = [f"{name}: {text}" for name, text in table.definitions.items()]
    return [t for t in (table.method, *answers, *table.notes, *meanings, table.signature) if t]
