"""A Table on a terminal, as wide as it allows; columns that do not fit go below with the line names again, never cut
off.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nlgauge.table import Cell, Table, is_number

if TYPE_CHECKING:
    from rich.table import Table as RichTable


def shown(table: Table, width: int) -> Iterator[Any]:
    """What rich prints: headlines, title, the cells in blocks of columns, then definitions, method and notes."""
    from rich.text import Text

    header, body = table.grid()
    for text in table.headlines:
        yield Text(text, style="bold red")
    yield Text(table.title, style="bold")
    for columns in _blocks(header, body, width):
        yield _block(header, body, columns)
    for text in table.remarks():
        yield Text(text, style="dim")


def _block(header: list[str], body: list[list[Cell]], columns: list[int]) -> RichTable:
    from rich import box
    from rich.markup import escape
    from rich.table import Table as RichTable

    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    for i in columns:
        number = all(is_number(cells[i]) for cells in body) if i else False
        table.add_column(
            escape(_stacked(header[i])), justify="right" if number else "left", overflow="fold", no_wrap=number
        )
    for cells in body:
        texts = [(escape(cells[i].text), cells[i].best) for i in columns]
        table.add_row(*(f"[bold green]{text}[/]" if best else text for text, best in texts))
    return table


def _stacked(head: str) -> str:
    """`input τ` on two lines: twelve measures then fit beside each other."""
    return head.replace(" ", "\n", 1) if len(head) < 24 else head


def _blocks(header: list[str], body: list[list[Cell]], width: int) -> list[list[int]]:
    """Columns that fit side by side; the first column stands in every block."""
    widths = [
        max(len(part) for part in [*_stacked(header[i]).split("\n"), *(cells[i].text for cells in body)]) + 3
        for i in range(len(header))
    ]
    if not all(is_number(cells[i]) for cells in body for i in range(1, len(header))):
        return [list(range(len(header)))]  # texts wrap by themselves
    room = max(width - min(widths[0], width // 2), 12)
    blocks: list[list[int]] = [[0]]
    used = 0
    for i in range(1, len(header)):
        if used + widths[i] > room and len(blocks[-1]) > 1:
            blocks.append([0])
            used = 0
        blocks[-1].append(i)
        used += widths[i]
    return blocks
