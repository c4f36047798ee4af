"""Options that several verbs share, and the two things every verb does: load a file, show tables."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.errors import NlgaugeError
from nlgauge.writing import write_whole

if TYPE_CHECKING:
    from nlgauge.table import Table

COLUMNS, CHOICE, OUT = "Which column is which", "What to compare", "Output"
WORK = "Where the work is done"
FIGURES = ("svg", "png", "pdf", "html")  # -o with one of these saves the picture of the table

File = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, JSONL, JSON, Parquet (also .gz) or Excel, a known layout, or 'example'.",
        metavar="FILE",
    ),
]
System = Annotated[
    str | None, typer.Option("--system", help="Column that names the system.", rich_help_panel=COLUMNS)
]
Input = Annotated[
    str | None, typer.Option("--input", help="Column that names the input.", rich_help_panel=COLUMNS)
]
Output = Annotated[
    str | None, typer.Option("--output", help="Column with the output text.", rich_help_panel=COLUMNS)
]
Human = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        help="Columns with people's ratings: a,b; +c adds one; q=a+b are raters of q.",
        rich_help_panel=COLUMNS,
    ),
]
MetricColumns = Annotated[
    list[str] | None,
    typer.Option("--metric", help="Columns with metric scores: a,b; +c adds one.", rich_help_panel=COLUMNS),
]
Rater = Annotated[
    str | None, typer.Option("--rater", help="Column that names the rater.", rich_help_panel=COLUMNS)
]
PersonRaters = Annotated[
    list[str] | None,
    typer.Option(
        "--person-rater", help="Raters who are persons, whatever their names say.", rich_help_panel=COLUMNS
    ),
]
ModelRaters = Annotated[
    list[str] | None,
    typer.Option(
        "--model-rater", help="Raters that are models: their ratings are scores.", rich_help_panel=COLUMNS
    ),
]
Lower = Annotated[
    list[str] | None,
    typer.Option("--lower", help="Metrics of which less is better.", rich_help_panel=COLUMNS),
]
Higher = Annotated[
    list[str] | None,
    typer.Option(
        "--higher", help="Metrics of which more is better, whatever their names say.", rich_help_panel=COLUMNS
    ),
]
Source = Annotated[
    str | None,
    typer.Option(
        "--source", help="Column with the text that the output was made from.", rich_help_panel=COLUMNS
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        "--context",
        help="Column with the knowledge or facts that the output may use.",
        rich_help_panel=COLUMNS,
    ),
]
References = Annotated[
    str | None, typer.Option("--references", help="Column with the references.", rich_help_panel=COLUMNS)
]
Control = Annotated[
    str | None,
    typer.Option(
        "--control",
        help="Column with the attribute asked for (sentiment, topic, …).",
        rich_help_panel=COLUMNS,
    ),
]
Repeats = Annotated[
    str,
    typer.Option(
        "--repeats", help="Rows that repeat (system, input): auto, number or mean.", rich_help_panel=COLUMNS
    ),
]
Values = Annotated[
    str | None,
    typer.Option("--values", help="What words are worth: good=3,ok=2,bad=1.", rich_help_panel=COLUMNS),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of an Excel file.", rich_help_panel=COLUMNS)
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Text encoding, when not UTF-8.", rich_help_panel=COLUMNS)
]
Reader = Annotated[
    str | None,
    typer.Option("--reader", help="Format, when it is not found by looking.", rich_help_panel=COLUMNS),
]

Aspects = Annotated[
    list[str] | None, typer.Option("--aspect", help="Aspects to use; all by default.", rich_help_panel=CHOICE)
]
Measures = Annotated[
    list[str] | None,
    typer.Option(
        "--measure", help="Measures such as input/kendall; the twelve by default.", rich_help_panel=CHOICE
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", help="Metrics to show; all by default.", rich_help_panel=CHOICE),
]
By = Annotated[
    list[str] | None,
    typer.Option("--by", help="Columns: one table per combination of their values.", rich_help_panel=CHOICE),
]
KeepPeople = Annotated[
    bool,
    typer.Option(
        "--keep-people", help="Keep human-written outputs among the systems.", rich_help_panel=CHOICE
    ),
]
Aggregate = Annotated[
    str,
    typer.Option(
        "--aggregate", help="One rating of those of an output: mean, median or mace.", rich_help_panel=CHOICE
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.", rich_help_panel=CHOICE)]

EngineName = Annotated[
    str,
    typer.Option("--engine", help="Where the work is done: local (all cores) or ray.", rich_help_panel=WORK),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Of a Ray cluster, as in auto or 10.0.0.1:6379; without it Ray starts on this machine.",
        rich_help_panel=WORK,
    ),
]

Format = Annotated[
    str, typer.Option("--format", "-f", help="table, json, csv, md or tex.", rich_help_panel=OUT)
]
Out = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--out",
        help="File to write; its suffix is the format (a table, or .svg, .pdf, .png, .html: its figure).",
        rich_help_panel=OUT,
    ),
]


def listed(values: Sequence[str] | None) -> list[str] | None:
    """`--aspect a,b --aspect c` as [a, b, c]. Commas inside parentheses belong to a spec, e.g. bleu(order=2,smooth='exp')."""
    if not values:
        return None
    found: list[str] = []
    for value in values:
        depth, part = 0, ""
        for sign in value:
            depth += (sign in "([") - (sign in ")]")
            if sign == "," and depth == 0:
                found.append(part.strip())
                part = ""
            else:
                part += sign
        found.append(part.strip())
    return [v for v in found if v]


def again(*more: str) -> str:
    """The command that was typed, to be typed again."""
    import shlex

    return shlex.join(["nlgauge", *sys.argv[1:], *more])


def tell(lines: Sequence[str]) -> None:
    """Remarks go to stderr, so that stdout stays a table or JSON."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    for i, line in enumerate(lines):
        console.print(("" if i == 0 else "  ") + line, markup=False, style="bold" if i == 0 else None)


def say(lines: Sequence[str]) -> None:
    """Short answers on stdout."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    for line in lines:
        console.print(line, markup=False)


def show(tables: Sequence[Table], form: str = "table", out: Path | None = None) -> None:
    """Print the tables in a format and write them to a file, in the format of its suffix."""
    from nlgauge.table import FORMATS

    if form not in ("table", *FORMATS):
        raise NlgaugeError(f"--format {form}: use table, {', '.join(FORMATS)}.")
    written = [] if out is None else _write(tables, out)
    for line in dict.fromkeys(line for table in tables for line in table.headlines):
        tell([line])
    if form != "table":
        print(together(tables, form), end="")
        return
    from rich.console import Console

    # Piped output is for people too: wide enough for the table, without a terminal's limits.
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    for table in tables:
        console.print(table)
        console.print()
    if written:
        tell([f"written: {', '.join(map(str, written))}"])


def _write(tables: Sequence[Table], out: Path) -> list[Path]:
    """The tables, or with the suffix of a picture their figures."""
    from nlgauge.table import FORMATS

    suffix = out.suffix.lower().lstrip(".")
    if suffix in FIGURES:
        from nlgauge.report.save import save_tables

        return save_tables(tables, out)
    if suffix not in FORMATS:
        known = ", ".join("." + f for f in (*FORMATS, *FIGURES))
        raise NlgaugeError(f"-o {out}: cannot write '{out.suffix}'; use {known}.")
    write_whole(out, together(tables, suffix))
    return [out]


def together(tables: Sequence[Table], form: str) -> str:
    """Several tables in one file: JSON keeps them apart, CSV is one long table, the others follow each other."""
    from nlgauge.table import FORMATS, Table

    if form == "json":
        return json.dumps({"tables": [t.to_dict() for t in tables]}, ensure_ascii=False, indent=1) + "\n"
    if form == "csv":
        return Table("", [row for table in tables for row in table.rows]).to_csv()
    return "\n".join(FORMATS[form](table) for table in tables)
