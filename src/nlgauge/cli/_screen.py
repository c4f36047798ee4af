"""Output of a command: answers and tables on stdout; remarks and progress on stderr, so that stdout can be piped."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.errors import NeedsMissing, NlgaugeError, PartlyDone
from nlgauge.foreign_text import for_json, for_terminal
from nlgauge.table import FORMATS, CommandOutput, Table, joined
from nlgauge.terminal import REPORT, shown, wrapped
from nlgauge.writing import write_whole

if TYPE_CHECKING:
    from rich.console import Console

    from nlgauge.table import Table

FIGURES = ("svg", "png", "pdf", "html")  # -o with one of these saves the picture of the table
COLORS = {"reliable": "green", "inconclusive": "yellow", "not reliable": "red"}  # of badges
WIDE = 160  # columns of piped output, which is also read by humans, without a terminal's limits


def console() -> Console:
    """Return the console; a file or pipe has no width unless COLUMNS gives one."""
    from rich.console import Console

    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return Console(highlight=False)
    return Console(width=_watched() or WIDE, highlight=False)


def _watched() -> int | None:
    """Return the width of the terminal at the end of a pipe, as in `nlgauge … | less`."""
    import stat

    try:
        piped = stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
        return os.get_terminal_size(sys.stderr.fileno()).columns if piped and sys.stderr.isatty() else None
    except (OSError, ValueError):  # a stream without a file, as in a notebook
        return None


def log_remarks(lines: Sequence[str]) -> None:
    """Print remarks on stderr, so that stdout stays a table or JSON."""
    from rich.console import Console
    from rich.text import Text

    bar.close()
    screen = Console(stderr=True, highlight=False)
    for i, line in enumerate(lines):
        indent = "  " if i else ""
        for part in wrapped(line, screen.width - len(indent)):
            # a command longer than the line stays in one piece, to be copied
            screen.print(Text(indent + part, style="" if i else "bold"), soft_wrap=True)


def print_lines(lines: Sequence[str], colors: Mapping[str, str] | None = None) -> None:
    """Print short answers on stdout; a badge in a column of its own may have a color."""
    from rich.text import Text

    bar.close()
    screen = console()
    for line in lines:
        text = Text(for_terminal(line))
        for word, color in (colors or {}).items():
            text.highlight_regex(rf"(?<=  ){word}(?=  |$)", color)
        screen.print(text)


def print_answer(
    answer: Any, format: str = "table", out: Path | None = None, figure: str | None = None, by: Sequence[str] = ()
) -> None:
    """Print what a function gave back, and end as it says: with its exit code, or as partly done.

    A Table, several, a text, or something with `tables`, `lines` for readers and `remarks`.
    """
    if answer is None:
        return
    if isinstance(answer, str):
        answer = CommandOutput([Table("text", [{"text": answer}], kind="text")], answer.splitlines())
    elif isinstance(answer, Table):
        answer = CommandOutput([answer])
    elif isinstance(answer, list):
        answer = CommandOutput(answer)
    if format == "table" and out is None and hasattr(answer, "__rich_console__"):
        bar.close()
        console().print(answer)
    elif format == "table" and out is None and answer.lines is not None:
        print_lines(answer.lines, COLORS)
    elif answer.tables:
        print_tables(answer.tables, format, out, figure, by)
    log_remarks(answer.remarks)
    if error := getattr(answer, "error", ""):
        raise NeedsMissing(error)
    if getattr(answer, "unfinished", ""):
        raise PartlyDone(answer.unfinished)
    if code := max((table.exit_code for table in answer.tables), default=0):
        raise SystemExit(code)


def check_format(format: str) -> None:
    """Raise an error for an unknown format before anything is computed."""
    if format not in ("table", *FORMATS):
        raise NlgaugeError(f"--format {format}: use table, {', '.join(FORMATS)}.")


def print_tables(
    tables: Sequence[Table],
    form: str = "table",
    out: Path | None = None,
    figure: str | None = None,
    by: Sequence[str] = (),
) -> None:
    """Print the tables in a format and write them to a file, in the format of its suffix; groups (`by`) as one."""
    if figure is not None and (out is None or out.suffix.lower().lstrip(".") not in FIGURES):
        raise NlgaugeError(f"--figure {figure}: name the file that it goes to: -o figure.svg, .png, .pdf or .html.")
    written = [] if out is None else _write(tables, out, figure, by)
    if form != "table" or not sys.stdout.isatty():  # else they stand above the table, on the same screen
        for line in dict.fromkeys(line for table in tables for line in table.headlines):
            log_remarks([line])
    bar.close()
    if form != "table":
        print(together(tables, form, by), end="")
        return

    screen = console()
    printed = [part for table in _grouped(tables, by) for part in table.printed]
    screen.print(*shown(printed, screen.width), "", sep="\n")
    if written:
        log_remarks([f"written: {', '.join(map(str, written))}"])


def _write(tables: Sequence[Table], out: Path, figure: str | None, by: Sequence[str]) -> list[Path]:
    """Write the tables, or their figures if the suffix is that of an image, and return the paths."""
    suffix = out.suffix.lower().lstrip(".")
    if suffix in FIGURES:
        # Imported late: only tables written as pictures need the figures.
        from nlgauge.report.save import save_tables

        return save_tables(tables, out, figure=figure)
    if suffix not in FORMATS:
        known = ", ".join("." + f for f in (*FORMATS, *FIGURES))
        raise NlgaugeError(f"-o {out}: cannot write '{out.suffix}'; use {known}.")
    write_whole(out, together(tables, suffix, by))
    return [out]


def together(tables: Sequence[Table], form: str, by: Sequence[str] = ()) -> str:
    """Return several tables as text: JSON keeps them apart, CSV is one long table, others combine groups (`by`)."""
    if form == "json":
        return for_json(json.dumps({"tables": [t.to_dict() for t in tables]}, ensure_ascii=False, indent=1)) + "\n"
    if form == "csv":
        return Table("", [row for table in tables for row in table.csv_rows]).to_csv()
    return "\n".join(FORMATS[form](table) for table in _grouped(tables, by))


def _grouped(tables: Sequence[Table], by: Sequence[str]) -> list[Table]:
    """Return one table of each kind if the data are grouped."""
    if not by:
        return list(tables)
    kinds = dict.fromkeys(table.kind for table in tables)
    return [joined([table for table in tables if table.kind == kind], by) for kind in kinds]


class _Bars:
    """Progress bars on stderr, one for a report and one per active thread; none if stderr is not a terminal."""

    def __init__(self) -> None:
        self.live: Any = None
        self.tasks: dict[object, Any] = {}
        self.lock = threading.RLock()

    def __call__(self, words: str, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            return
        with self.lock:
            if self.live is None:
                self.live = _live()
            key = REPORT if words == REPORT else threading.get_ident()
            if key not in self.tasks:
                self.tasks[key] = self.live.add_task("", total=total)
            description = for_terminal(words).replace("[", r"\[")
            self.live.update(self.tasks[key], completed=done, total=total, description=description)
            if done >= total:
                self.live.remove_task(self.tasks.pop(key))
                if not self.tasks:
                    self.close()

    def close(self) -> None:
        """Leave no bar on the screen: before anything is printed, and at the end."""
        with self.lock:
            if self.live is not None:
                self.live.stop()
            self.live, self.tasks = None, {}


def _live() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    live = Progress(*columns, console=Console(stderr=True), transient=True)
    live.start()
    return live


bar = _Bars()
