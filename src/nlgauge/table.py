"""Tables: typed rows that print as publishable tables, and export to CSV, JSON, Markdown and LaTeX.

The rows are the result, long and complete: a cell holds a number, a bool, a name or a reason, a column is called
`metric, aspect, measure, value, low, high, p, n, reason` or by other plain words in snake_case. What people see is said
apart: a `Layout` names the column of the lines, the one that spreads over the page, and the value in the cells; `heads`
and `cells` say how a column is headed and how its cells are written. No layout: the rows themselves are shown.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.errors import NlgaugeError
from nlgauge.foreign_text import for_json, for_markdown, for_spreadsheet
from nlgauge.markup import html, latex
from nlgauge.number import Title as Title  # noqa: PLC0414 (also for importers of this module)
from nlgauge.number import is_p, missing, number, p_value, some
from nlgauge.terminal import shown
from nlgauge.writing import write_whole

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from plotly.graph_objects import Figure
    from rich.console import Console, ConsoleOptions

    from nlgauge.bibliography import Reference

Row = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """lines × across, `value` in the cells. Lines and columns are identified by one column, or by several together.

    `best` orients a row's value: the highest of each column is marked. `heads` gives shorter headings, `line` a shown
    name of a line, `extra` more columns at the right, each made from all rows of a line: a number, a text or a Cell.
    """

    lines: str | tuple[str, ...]
    across: str | tuple[str, ...]
    value: str
    best: Callable[[Row], float] | None = None
    heads: dict[Any, str] = field(default_factory=dict)
    counts: dict[Any, int] = field(default_factory=dict)  # of outputs, after a heading
    extra: dict[str, Callable[[list[Row]], Any]] = field(default_factory=dict)
    line: Callable[[Any], str] | None = None

    def place(self, row: Row) -> tuple[Any, Any]:
        """Return the line and the column of a row."""
        return _key(row, self.lines), _key(row, self.across)

    def line_text(self, line: Any) -> str:
        """Return the name of a line."""
        return self.line(line) if self.line else _joined(line, ", ")

    def head(self, column: Any, counted: bool = True) -> str:
        """Return the heading of a column, with its count where there is one."""
        count = f" ({self.counts[column]})" if counted and column in self.counts else ""
        return (self.heads.get(column) or _joined(column, " ")) + count


@dataclass
class Table:
    title: str
    rows: list[Row]
    layout: Layout | None = None
    method: str = ""
    notes: list[str] = field(default_factory=list)
    signature: str = ""
    decimals: int = 3
    definitions: dict[str, str] = field(default_factory=dict)
    kind: str = ""  # the analysis that made it
    data: str = ""  # the name of its data set
    shown: list[str] = field(default_factory=list)  # printed columns if there is no layout; all by default
    headlines: list[str] = field(default_factory=list)  # what must be read before the numbers
    heads: dict[str, str] = field(default_factory=dict)  # column -> heading, where it is not its name
    cells: dict[str, Callable[[Row], str]] = field(default_factory=dict)  # column -> text of its cells
    facts: dict[str, Any] = field(default_factory=dict)  # what is true of the table and not of one row
    parts: list[Table] = field(default_factory=list)  # tables whose rows these are; they are printed separately
    answers: list[str] = field(default_factory=list)  # what the numbers say, in sentences; printed before the notes
    exit_code: int = 0  # of a command whose answer this is: 0, or what its verdict means to a script
    groups: tuple[str, ...] = ()  # columns that identify the parts: the parts then print as one table

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns, in the order in which rows first have them."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    # --- export ---

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data: rows, method, notes, facts; NaN becomes None."""
        return {
            "analysis": self.kind,
            "title": self.title,
            "method": self.method,
            "signature": self.signature,
            **({"answers": self.answers} if self.answers else {}),
            "notes": self.notes,
            **({"headlines": self.headlines} if self.headlines else {}),
            "definitions": self.definitions,
            **({"facts": _plain(self.facts)} if self.facts else {}),
            "rows": [{k: _plain(v) for k, v in row.items()} for row in self.rows],
        }

    def to_json(self) -> str:
        """Return the table as JSON text."""
        return for_json(json.dumps(self.to_dict(), ensure_ascii=False, indent=1))

    @property
    def csv_rows(self) -> list[Row]:
        """Return the rows of this table in a CSV file of several tables; a kind of table may have its own format."""
        return self.rows

    def to_csv(self) -> str:
        """Return the rows as CSV text; NaN becomes an empty cell, and no text can run as a formula of a spreadsheet."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([_csv(name) for name in self.columns])
        writer.writerows([_csv(row.get(name)) for name in self.columns] for row in self.rows)
        return out.getvalue()

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a polars data frame; NaN becomes null."""
        import polars as pl

        return pl.DataFrame([{k: _plain(v) for k, v in row.items()} for row in self.rows], infer_schema_length=None)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise NlgaugeError("to_pandas() needs pandas: pip install pandas") from None
        return pd.DataFrame(self.rows, columns=self.columns)

    def to_arrow(self) -> pyarrow.Table:
        """Return the rows as a pyarrow table; NaN becomes null."""
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise NlgaugeError("to_arrow() needs pyarrow: pip install pyarrow") from None
        return self.to_polars().to_arrow()

    def plot(self, figure: str | None = None) -> Figure:
        """Return the plotly figure of this table, as in the report, or a custom one (file.py@name).

        >>> import nlgauge as ng
        >>> ng.correlate(ng.example()).plot().layout.height > 0
        True
        """
        # The only upward import: figures are defined in `report`.
        return importlib.import_module("nlgauge.report.figures").plot(self, figure)

    def cite(self) -> list[Reference]:
        """Return the papers of the analysis and of the metrics that it names: author, year, link and `.bibtex`.

        >>> import nlgauge as ng
        >>> [entry.short for entry in ng.correlate(ng.example()).cite()]
        ['Gao et al. (2025)', 'Novikova et al. (2017)']
        """
        # Looks upward, like `plot`: only the registries know papers of analyses and metrics.
        return list(importlib.import_module("nlgauge.analyses").citations(self))

    # --- printing ---

    def heading(self, column: str) -> str:
        """Return the printed name of a column: `p_corrected` is printed as `p corrected`."""
        return self.heads.get(column) or column.replace("_", " ")

    def text(self, row: Row, column: str) -> str:
        """Return the printed form of one cell."""
        value, write = row.get(column), self.cells.get(column)
        if write is not None and row:
            return write(row)
        if missing(value):
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if not isinstance(value, float):
            return str(value)
        return (p_value if is_p(column) else number)(value, self.decimals)

    def line_name(self, row: Row) -> str:
        """Return the name of the line of the layout that has a row."""
        return self.layout.line_text(self.layout.place(row)[0]) if self.layout else str(row[self.columns[0]])

    @property
    def printed(self) -> list[Table]:
        """Return the printed tables: itself, or its parts."""
        return self.parts if self.parts and not self.groups else [self]

    def grid(self, counted: bool = True) -> tuple[list[str], list[list[Cell]]]:
        """Return header and cells as printed; a table without rows gets a line that says so."""
        layout = self.layout
        if self.groups:
            return self._one_below_the_other()
        if not self.rows:
            return ["nothing"], []
        if layout is None:
            columns = self.shown or self.columns
            body = [[self._cell(row, c) for c in columns] for row in self.rows]
            return [self.heading(c) for c in columns], body
        at = {layout.place(row): row for row in self.rows}
        lines, across = (list(dict.fromkeys(place[side] for place in at)) for side in (0, 1))
        best = self._best(layout)
        body = []
        for line in lines:
            cells = [Cell(layout.line_text(line), line)]
            for column in across:
                row = at.get((line, column), {})
                cells.append(self._cell(row, layout.value, (line, column) in best))
            mine = [row for row in self.rows if layout.place(row)[0] == line]
            body.append([*cells, *(self._cell({"x": show(mine)}, "x") for show in layout.extra.values())])
        named = [layout.lines] if isinstance(layout.lines, str) else layout.lines
        first = ", ".join(self.heading(c) for c in named)
        return [first, *(layout.head(c, counted) for c in across), *layout.extra], body

    def _cell(self, row: Row, column: str, best: bool = False) -> Cell:
        """Return a cell; its interval stands in `low` and `high` of the value, in `X_low` and `X_high` of others."""
        if isinstance(value := row.get(column), Cell):
            return value
        of = "" if column == "value" else f"{column}_"
        ends = [row.get(f"{of}{end}") for end in ("low", "high")] if column in self.cells else []
        given = [float(end) for end in ends if isinstance(end, int | float) and math.isfinite(end)]
        return Cell(self.text(row, column), value, best, (given[0], given[1]) if len(given) == 2 else None)

    def _one_below_the_other(self) -> tuple[list[str], list[list[Cell]]]:
        """Return the cells of all parts, each line preceded by the values of the groups; columns are matched by
        heading.
        """
        grids = [part.grid(counted=False) for part in self.parts]
        lead = [self.heading(c) for c in self.groups]
        header = [head for head in dict.fromkeys(head for heads, _ in grids for head in heads) if head not in lead]
        body = []
        for part, (heads, lines) in zip(self.parts, grids, strict=True):
            group = [Cell(part.text(part.rows[0], c), part.rows[0][c]) for c in self.groups]
            for cells in lines:
                at = dict(zip(heads, cells, strict=True))
                body.append([*group, *(at.get(head, Cell("–")) for head in header)])
        return [*lead, *header], body

    def _best(self, layout: Layout) -> set[tuple[Any, Any]]:
        """Return the positions of the highest value of each column; values that print alike are all best."""
        if layout.best is None:
            return set()
        size = {
            layout.place(row): round(layout.best(row), self.decimals)
            for row in self.rows
            if not missing(row[layout.value])
        }
        top: dict[Any, float] = {}
        for (_, column), value in size.items():
            top[column] = max(top.get(column, -math.inf), value)
        return {place for place, value in size.items() if value == top[place[1]]}

    def to_markdown(self) -> str:
        """Return the printed table as Markdown, with method and notes."""
        if self.printed != [self]:
            return "\n".join(part.to_markdown() for part in self.parts)
        header, body = self.grid()
        said = [line for text in self.headlines for line in (f"**{for_markdown(text)}**", "")]
        answers = [line for text in self.answers for line in (for_markdown(text), "")]
        lines = [
            *said,
            f"**{for_markdown(self.title)}**",
            "",
            *answers,
            "| " + " | ".join(for_markdown(h) for h in header) + " |",
        ]
        right = [i > 0 and all(row[i].is_number for row in body) for i in range(len(header))]
        lines.append("|" + "|".join(" ---: " if number else " --- " for number in right) + "|")
        lines += [
            "| " + " | ".join(f"**{for_markdown(c.text)}**" if c.best else for_markdown(c.text) for c in cells) + " |"
            for cells in body
        ]
        lines += ["", *(f"{for_markdown(text)}  " for text in self.remarks() if text not in self.answers)]
        return "\n".join(lines).rstrip() + "\n"

    def to_latex(self) -> str:
        """Return a booktabs table with siunitx columns and significance marks; it requires both LaTeX packages."""
        return "\n".join(latex(part) for part in self.printed)

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        return "\n".join(html(part) for part in self.printed)

    def remarks(self) -> list[str]:
        """Return definitions, method, answers, notes and signature, which are printed below the numbers."""
        meaning = [f"{name}: {text}" for name, text in self.definitions.items()]
        return [t for t in [*meaning, self.method, *self.answers, *self.notes, self.signature] if t]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        """Yield the table at the width of the console; columns that do not fit are continued below, never truncated."""
        yield from shown(self.printed, options.max_width)

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=160, no_color=True, file=io.StringIO(), highlight=False)
        console.print(self)
        return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]

    def write(self, path: str | Path) -> Path:
        """Write in the format of the suffix: .csv, .json, .md or .tex."""
        path = Path(path)
        form = FORMATS.get(path.suffix.lower().lstrip("."))
        if form is None:
            raise NlgaugeError(f"{path}: cannot write '{path.suffix}'; use {', '.join('.' + f for f in FORMATS)}.")
        write_whole(path, form(self))
        return path


@dataclass(frozen=True)
class Cell:
    """Text and value of a cell of a printed table."""

    text: str
    value: Any = None
    best: bool = False
    interval: tuple[float, float] | None = None

    @property
    def is_number(self) -> bool:
        """Return whether the text reads as a number, so that it is set to the right."""
        digits = self.text.lstrip("<-.").replace(".", "", 1).replace("–", "", 1).replace(",", "")
        return self.text in ("", "–") or digits.isdigit()


FORMATS = {"csv": Table.to_csv, "json": Table.to_json, "md": Table.to_markdown, "tex": Table.to_latex}


def _key(row: Row, columns: str | tuple[str, ...]) -> Any:
    return row[columns] if isinstance(columns, str) else tuple(row[c] for c in columns)


def _joined(key: Any, between: str) -> str:
    return between.join(str(part) for part in key if part not in ("", None)) if isinstance(key, tuple) else str(key)


def _plain(value: Any) -> Any:
    """Return a value for JSON, which has no NaN: missing values are null."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if missing(value):
        return None
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def _csv(value: Any) -> Any:
    """Return a value as a cell of a CSV file."""
    if _plain(value) is None:
        return ""
    return value if isinstance(value, int | float) else for_spreadsheet(str(value))


def joined(tables: Sequence[Table], by: Sequence[str] = ()) -> Table:
    """Return one table with the rows of several tables of the same kind.

    With `by`, columns whose values identify the tables, they print as one: those columns first, then the aspect
    where there are several.

    >>> both = joined([Table("a", [{"n": 1}]), Table("b", [{"n": 2}])])
    >>> [row["n"] for row in both], both.title
    ([1, 2], 'a; b')
    >>> joined([Table("x: 1", [{"g": 1, "n": 3}]), Table("x: 2", [{"g": 2, "n": 4}])], by=["g"]).grid()[0]
    ['g', 'n']
    """
    if len(tables) == 1:
        return tables[0]
    groups, data = _groups(tables, by), tables[0].data
    same = {table.signature for table in tables}
    title = "; ".join(table.title for table in tables)
    if groups:
        title = f"{tables[0].kind.replace('-', ' ')} by {some(groups, len(groups))}"
        title = Title(data, title) if data else title
    method = tables[0].method
    if groups and len({table.method for table in tables}) > 1:
        where = ", ".join(str(tables[0].rows[0][c]) for c in groups)
        method = f"{where} (the others in the same way): {method}"
    return Table(
        title,
        [row for table in tables for row in table.rows],
        kind=tables[0].kind,
        data=data,
        definitions={name: text for table in tables for name, text in table.definitions.items()},
        answers=_told(tables, groups, "answers"),
        notes=_told(tables, groups, "notes"),
        headlines=list(dict.fromkeys(line for table in tables for line in table.headlines)),
        exit_code=max(table.exit_code for table in tables),
        method=method,
        signature=tables[0].signature if len(same) == 1 else "",
        parts=list(tables),
        groups=groups,
    )


def _told(tables: Sequence[Table], groups: Sequence[str], part: str) -> list[str]:
    """Return the sentences of all tables without repetition; one that does not apply to all groups names its group."""
    told = [(", ".join(str(t.rows[0][c]) for c in groups if t.rows), getattr(t, part)) for t in tables]
    of_all = set.intersection(*(set(texts) for _, texts in told))
    return list(dict.fromkeys(f"{w}: {x}" if w and x not in of_all else x for w, texts in told for x in texts))


def _groups(tables: Sequence[Table], by: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of `by`, and the aspect, that are constant within each table but differ between tables."""

    def differs(column: str) -> bool:
        values = [{row.get(column) for row in table.rows} for table in tables]
        return all(len(v) == 1 and None not in v for v in values) and len(set.union(*values)) > 1

    if not by or not all(any(c in row for table in tables for row in table.rows) for c in by):
        return ()
    told = [c for c in dict.fromkeys([*by, "aspect"]) if differs(c)]
    keys = {tuple(table.rows[0].get(c) for c in told) for table in tables if table.rows}
    return tuple(told) if len(keys) == len(tables) else ()


def grouped(rows: Iterable[Row], *columns: str) -> dict[Any, list[Row]]:
    """Return the rows by their values in one or several columns, in the order of the rows.

    >>> grouped([{"a": 1, "b": 2}, {"a": 1, "b": 3}], "a")
    {1: [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]}
    """
    found: dict[Any, list[Row]] = {}
    for row in rows:
        key = row[columns[0]] if len(columns) == 1 else tuple(row[c] for c in columns)
        found.setdefault(key, []).append(row)
    return found


@dataclass(frozen=True)
class CommandOutput:
    """Tables with the remarks that are printed next to them.

    Attributes
    ----------
    tables : list of Table
        For programs, and for readers if there are no `lines`.
    lines : list of str, optional
        Text printed instead of the tables.
    remarks : list of str
        Further remarks; the command line writes them to stderr.
    unfinished : str
        Why a part could not be done, while the rest is done and kept (exit code 3).
    error : str
        What was requested and is not available (exit code 2).
    """

    tables: Sequence[Table]
    lines: Sequence[str] | None = None
    remarks: Sequence[str] = ()
    unfinished: str = ""
    error: str = ""


def command_output(kind: str, rows: Sequence[Row], lines: Sequence[str], remarks: Sequence[str] = ()) -> CommandOutput:
    """Return what was done as lines to print, and as the rows of a table."""
    plain = [{k: v if isinstance(v, int | float | None) else str(v) for k, v in row.items()} for row in rows]
    return CommandOutput([Table(f"nlgauge {kind}", plain, kind=kind)], lines, remarks)
