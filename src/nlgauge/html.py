"""A Table as plain HTML, for notebooks: the cells people see, then definitions, method, notes and signature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nlgauge.foreign_text import for_html

if TYPE_CHECKING:
    from nlgauge.table import Table


def html(table: Table) -> str:
    """Return the table as HTML.

    >>> from nlgauge.table import Table
    >>> html(Table("Two", [{"metric": "<a>", "value": 0.5}])).split("\\n")[-3]
    '<tr><td style="text-align:left">&lt;a&gt;</td><td style="text-align:right">0.500</td></tr>'
    """
    header, body = table.grid()
    right = [i > 0 and all(cells[i].is_number for cells in body) for i in range(len(header))]
    lines = [f"<p><strong>{for_html(text)}</strong></p>" for text in table.headlines]
    lines += [f'<p style="margin:1em 0 0"><strong>{for_html(table.title)}</strong></p>', "<table>", "<thead>"]
    lines += [_row("th", [(head, False) for head in header], right), "</thead>", "<tbody>"]
    lines += [_row("td", [(cell.text, cell.best) for cell in cells], right) for cells in body]
    lines += ["</tbody>", "</table>"]
    return "\n".join([*lines, *(f"<small>{for_html(text)}</small><br>" for text in table.remarks())])


def _row(tag: str, cells: Sequence[tuple[str, bool]], right: Sequence[bool]) -> str:
    found = []
    for (text, best), number in zip(cells, right, strict=True):
        inner = f"<strong>{for_html(text)}</strong>" if best else for_html(text)
        found.append(f'<{tag} style="text-align:{"right" if number else "left"}">{inner}</{tag}>')
    return f"<tr>{''.join(found)}</tr>"
