"""Printing of tables at any terminal width: no name or word is broken, and omitted columns are named.

A matrix (a Table with a Layout) that is too wide goes on below with the line names again. A list first gives columns
that are constant to a line of their own, then leaves out the least important ones and names them; rows
with texts that find no room are shown one below the other. Where names are longer than half the line, they stand above
their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from nlgauge.foreign_text import for_terminal

if TYPE_CHECKING:
    from rich.text import Text

    from nlgauge.table import Cell, Table

WIDE_GAP, GAP = 3, 2  # signs between columns: where there is room, and else
REPORT = "report"  # the progress of a whole report, which has a bar of its own
PROSE = 24  # a cell with more signs than this, and spaces, is a text that may wrap
BLOCKS = 4  # a matrix that would need more of them is cut; its columns are named
KEYS = ("metric", "aspect", "measure", "judge", "system", "input", "data")  # columns that say whose a row is
FIRST, LAST = ("value", "low", "high", "p"), ("n", "dropped", "left_out", "reason")


def shown(tables: Sequence[Table], width: int) -> Iterator[Text]:
    """Yield the lines of the tables one after the other. Shared headlines and notes are printed once."""
    from rich.text import Text

    small = [[t for t in table.remarks() if t not in table.answers] for table in tables]
    shared = set.intersection(*map(set, small)) if len(tables) > 1 else set()
    for i, table in enumerate(tables):
        if i:
            yield Text()
        said = {text for before in tables[:i] for text in before.headlines}
        headlines = [text for text in table.headlines if text not in said]
        for style, texts in (("bold red", headlines), ("bold", [table.title])):
            yield from (Text(line, style=style) for text in texts for line in wrapped(text, width))
        yield from _cells(table, width)
        yield from (Text(line) for text in table.answers for line in wrapped(text, width))
        last = i == len(tables) - 1
        below = [text for text in small[i] if last or text not in shared]
        yield from (Text(line, style="dim") for text in below for line in wrapped(text, width))


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of whole words; a signature (a|b|c) may be broken after a bar, an interval [a b] is not broken.

    >>> wrapped("bleu .91 [.69 .98] and rouge", 14)
    ['bleu .91', '[.69 .98] and', 'rouge']
    >>> wrapped("nlgauge:1|aspect:fluency|seed:0", 24)
    ['nlgauge:1|', 'aspect:fluency|seed:0']
    >>> wrapped("in /home/ann/.cache/nlgauge/scores", 16)
    ['in /home/ann/', '.cache/nlgauge/', 'scores']
    """
    from rich.cells import cell_len

    lines, line = [], ""
    for piece in _pieces(for_terminal(text)):
        if line and cell_len((line + piece).rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    """Split a text where a line may be broken: at spaces outside brackets, at bars, and at slashes of paths."""
    pieces, piece, inside, path = [], "", False, False
    for sign, following in zip_longest(text, text[1:], fillvalue=""):
        path = sign == "/" if not piece and not path else path and sign != " "
        piece += sign
        inside = (inside and sign != "]") or (sign == "[" and "]" in text)
        bar = sign == "|" and " " not in text and following
        if (sign == " " and not inside) or bar or (path and sign == "/" and len(piece) > 1):
            pieces.append(piece)
            piece = ""
    return [*pieces, piece] if piece else pieces


@dataclass
class _Column:
    head: str  # this and the texts of the cells went through `for_terminal`
    cells: list[Cell]
    name: str = ""  # of the column in the rows, where the table is a list
    key: bool = False  # says whose a line is: never left out

    def __post_init__(self) -> None:
        from rich.cells import cell_len

        texts = [cell.text for cell in self.cells]
        self.empty = all(text in ("", "–") for text in texts)
        self.right = not self.key and all(cell.is_number for cell in self.cells)
        # A short heading takes two lines, so that twelve measures fit next to each other.
        self.natural = max(cell_len(text) for text in [*texts, *self._head_lines()])
        whole = [piece.rstrip() for text in [*texts, self.head] for piece in _pieces(text)]
        self.prose = any(len(text) > PROSE and " " in text and "[" not in text for text in texts)
        self.least = max(max(map(cell_len, whole), default=1), min(self.natural, PROSE) if self.prose else 0)
        self.width = self.natural

    def _head_lines(self) -> list[str]:
        return self.head.split(" ", 1) if len(self.head) < PROSE else [self.head]

    def head_lines(self) -> list[str]:
        return [line for part in self._head_lines() for line in wrapped(part, self.width)]


def _cells(table: Table, width: int) -> Iterator[Text]:
    from rich.text import Text

    if not table.rows:
        yield from (Text("nothing", style="bold"), Text("─" * len("nothing")))
        return
    columns = _columns(table)
    keys, others = [c for c in columns if c.key], [c for c in columns if not c.key]
    matrix = table.layout is not None
    said: list[str] = []
    if not matrix and len(table.rows) > 1 and _needed(columns) > width:
        keys, others, said = _without_constants(keys, others)
    gap = WIDE_GAP if _needed([*keys, *others], gap=WIDE_GAP) <= width else GAP
    tall = _needed(keys) > width // 2 and _needed([*keys, *others]) > width
    blocks, left = _fitted(keys, others, width, tall, matrix)
    if any(c.prose for c in left):
        yield from _records(keys, others, width)
        blocks, left = [], []
    for block in blocks:
        yield from _block(keys, block, width, gap, tall, len(table.groups))
    if left:
        said.append(f"left out at {width} columns: {', '.join(c.head for c in left)}")
        said[-1] += " (a wider terminal or a CSV file shows all)"
    yield from (Text(line, style="italic dim") for text in said for line in wrapped(text, width))


def _columns(table: Table) -> list[_Column]:
    """Return the printed columns; columns without any value are omitted."""
    header, body = table.grid()
    names = [*table.groups, *(table.shown or table.columns)] if table.layout is None else []
    names = names if len(names) == len(header) else [""] * len(header)
    first = next((i for i in range(1, len(header)) if all(cells[i].is_number for cells in body)), len(header))
    columns = []
    for i, (head, name) in enumerate(zip(header, names, strict=True)):
        lead = i <= len(table.groups) if table.layout or table.groups else i == 0 or (name in KEYS and i < first + 2)
        texts = [replace(cells[i], text=for_terminal(cells[i].text)) for cells in body]
        columns.append(_Column(for_terminal(head), texts, name, lead))
    return [c for c in columns if c.key or not c.empty]


def _without_constants(keys: list[_Column], others: list[_Column]) -> tuple[list[_Column], list[_Column], list[str]]:
    """Move constant columns from the table to one line of text."""
    same = [c for c in [*keys, *others] if len({cell.text for cell in c.cells}) == 1 and c.name != "value"]
    if not same or len(same) == len(keys) + len(others):
        return keys, others, []
    stay = [c for c in keys if c not in same]
    rest = [c for c in others if c not in same]
    if not stay:
        stay, rest = rest[:1], rest[1:]
        stay[0].key = True
    return stay, rest, ["in every row: " + ", ".join(f"{c.head} {c.cells[0].text}" for c in same)]


def _needed(columns: Sequence[_Column], least: bool = False, gap: int = GAP) -> int:
    return sum((c.least if least else c.natural) + gap for c in columns) - gap if columns else 0


def _fitted(
    keys: list[_Column], others: list[_Column], width: int, tall: bool, matrix: bool
) -> tuple[list[list[_Column]], list[_Column]]:
    """Return blocks of columns that fit next to the keys, and columns that are left out; set the widths."""
    for c in keys:
        c.width = min(c.natural, width) if tall else c.natural
    room = width - GAP if tall else width - _needed(keys) - GAP
    if not tall and _needed([*keys, *others], least=True) <= width:
        _squeeze([*keys, *others], width)
        return [others], []
    if matrix:
        blocks: list[list[_Column]] = [[]]
        for c in others:
            c.width = min(c.natural, room)
            if blocks[-1] and _needed([*blocks[-1], c]) > room:
                blocks.append(_kin(blocks[-1], c))
            blocks[-1].append(c)
        return blocks[:BLOCKS], [c for block in blocks[BLOCKS:] for c in block]
    chosen: list[_Column] = []
    for c in sorted(others, key=_importance):
        if _needed([*chosen, c], least=True) <= room:
            chosen.append(c)
    kept = [c for c in others if c in chosen]
    _squeeze(kept, room)
    return [kept], [c for c in others if c not in chosen]


def _kin(block: list[_Column], column: _Column) -> list[_Column]:
    """Return the columns at the end of a block that belong to the next one, as `global r` belongs to `global τ`."""
    word = column.head.split(" ")[0]
    start = next((i for i in range(len(block), 0, -1) if block[i - 1].head.split(" ")[0] != word), 0)
    moved = block[start:] if start and " " in column.head else []
    del block[len(block) - len(moved) :]
    return moved


def _importance(column: _Column) -> int:
    return 0 if column.name in FIRST else 2 if column.name in LAST else 1


def _squeeze(columns: list[_Column], room: int) -> None:
    """Narrow the widest columns, none below the longest piece that stays whole, until all fit."""
    for c in columns:
        c.width = c.natural
    while sum(c.width + GAP for c in columns) - GAP > room:
        widest = max((c for c in columns if c.width > c.least), key=lambda c: c.width, default=None)
        if widest is None:
            return
        widest.width -= 1


def _block(keys: list[_Column], others: list[_Column], width: int, gap: int, tall: bool, groups: int) -> Iterator[Text]:
    """Return heading, rule and lines; a group is named where it begins, and tall tables have headings above values."""
    from rich.text import Text

    columns = others if tall else [*keys, *others]
    indent = " " * GAP if tall else ""
    if tall:
        yield from (Text(line, style="bold") for line in wrapped(", ".join(c.head for c in keys), width))
    heads = [c.head_lines() for c in columns]
    depth = max(map(len, heads), default=0)
    for n in range(depth):
        texts = [lines[n - depth + len(lines)] if n >= depth - len(lines) else "" for lines in heads]
        yield Text(indent + _line(texts, columns, gap), style="bold")
    yield Text("─" * min(width, len(indent) + sum(c.width + gap for c in columns) - gap))
    before: list[str] = []
    for row in range(len(columns[0].cells) if columns else 0):
        names = [c.cells[row].text for c in keys]
        if tall:
            yield from (Text(line) for line in wrapped(", ".join(names), width))
        same = [not tall and i < groups and names[: i + 1] == before[: i + 1] for i in range(len(names))]
        before = names
        cells = [c.cells[row] for c in columns]
        texts = ["" if i < len(same) and same[i] and not tall else cell.text for i, cell in enumerate(cells)]
        pieces = [wrapped(text, c.width) for text, c in zip(texts, columns, strict=True)]
        for parts in zip_longest(*pieces, fillvalue=""):
            yield _styled(indent, parts, columns, cells, gap)


def _records(keys: list[_Column], others: list[_Column], width: int) -> Iterator[Text]:
    """Format rows whose texts do not fit into a table as consecutive blocks of the name, numbers and texts of a row."""
    from rich.text import Text

    for row in range(len(keys[0].cells)):
        yield Text(" · ".join(c.cells[row].text for c in keys), style="bold")
        texts = [(c, f"{c.head}: {c.cells[row].text}") for c in others if c.cells[row].text not in ("", "–")]
        short = "; ".join(text for c, text in texts if not c.prose)
        for text in [*([short] if short else []), *(text for c, text in texts if c.prose)]:
            first, *more = wrapped(text, width - 4)
            yield from (Text(f"  {first}"), *(Text(f"    {line}") for line in more))


def _line(texts: Sequence[str], columns: Sequence[_Column], gap: int) -> str:
    from rich.cells import cell_len

    padded = []
    for text, c in zip(texts, columns, strict=True):
        space = " " * (c.width - cell_len(text))
        padded.append(space + text if c.right else text + space)
    return (" " * gap).join(padded).rstrip()


def _styled(indent: str, texts: Sequence[str], columns: Sequence[_Column], cells: Sequence[Cell], gap: int) -> Text:
    """Return a line in which the best values are highlighted."""
    from rich.text import Text

    line = Text(indent + _line(texts, columns, gap))
    at = len(indent)
    for c, cell in zip(columns, cells, strict=True):
        if cell.best:
            line.stylize("bold green", at, at + c.width)
        at += c.width + gap
    return line
