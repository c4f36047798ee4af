"""Options that several verbs share, one line each; the panel of the help they stand in is their function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from nlgauge.cli._screen import again, bar, console, done, say, show, tell, together

__all__ = ["again", "bar", "console", "done", "listed", "panel", "say", "show", "tell", "together"]

COLUMNS, CHOICE, OUT, WORK = "Which column is which", "What to compare", "Output", "Where the work is done"


def panel(name: str) -> Callable[..., Any]:
    """Options of one panel of the help: `choice("--draws", "Bootstrap draws.")`."""

    def option(*words: str, **more: Any) -> Any:
        *names, told = words
        return typer.Option(*names, help=told, rich_help_panel=name, **more)

    return option


column, choice, output, work = panel(COLUMNS), panel(CHOICE), panel(OUT), panel(WORK)
Name: TypeAlias = str | None
List: TypeAlias = list[str] | None

File = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV, JSONL, JSON, Parquet (also .gz) or Excel, a known layout, or 'example'.", metavar="FILE"
    ),
]
System = Annotated[Name, column("--system", "Column that names the system.")]
Input = Annotated[Name, column("--input", "Column that names the input.")]
Output = Annotated[Name, column("--output", "Column with the output text.")]
Source = Annotated[Name, column("--source", "Column with the text that the output was made from.")]
Context = Annotated[Name, column("--context", "Column with the knowledge or facts that the output may use.")]
References = Annotated[Name, column("--references", "Column with the references.")]
Control = Annotated[Name, column("--control", "Column with the attribute asked for (sentiment, topic, …).")]
Ignore = Annotated[List, column("--ignore", "Columns that are not read; patterns such as 'Flip_*' too.")]
Human = Annotated[List, column("--human", "Columns with people's ratings: a,b; +c adds one; q=a+b are raters of q.")]
MetricColumns = Annotated[List, column("--metric", "Columns with metric scores: a,b; +c adds one.")]
Rater = Annotated[Name, column("--rater", "Column that names the rater.")]
PersonRaters = Annotated[List, column("--person-rater", "Raters who are persons, whatever their names say.")]
ModelRaters = Annotated[List, column("--model-rater", "Raters that are models: their ratings are scores.")]
Lower = Annotated[List, column("--lower", "Metrics of which less is better.")]
Higher = Annotated[List, column("--higher", "Metrics of which more is better, whatever their names say.")]
Repeats = Annotated[str, column("--repeats", "Rows that repeat (system, input): auto, number or mean.")]
Values = Annotated[Name, column("--values", "What words are worth: good=3,ok=2,bad=1.")]
Sheet = Annotated[Name, column("--sheet", "Sheet of an Excel file.")]
Encoding = Annotated[Name, column("--encoding", "Text encoding, when not UTF-8.")]
Labels = Annotated[
    list[str] | None,
    column("--labels", "File with people's labels of these outputs, joined by id; again for another.", metavar="FILE"),
]
Reader = Annotated[
    Name, column("--reader", "Format, when it is not found by looking, or file.py@name for a reader of your own.")
]

Aspects = Annotated[List, choice("--aspect", "Aspects to use; all by default.")]
Measures = Annotated[List, choice("--measure", "Measures such as input/kendall; the twelve by default.")]
Measure = Annotated[str, choice("--measure", "One measure.")]
Metrics = Annotated[List, choice("--metrics", "Metrics to show; all by default.")]
By = Annotated[List, choice("--by", "Columns: each combination of their values by itself, in one table.")]
KeepPeople = Annotated[bool, choice("--keep-people", "Keep human-written outputs among the systems.")]
Aggregate = Annotated[str, choice("--aggregate", "One rating of those of an output: mean, median or mace.")]
Cluster = Annotated[
    Name, choice("--cluster", "Column whose value several rows share that are not independent (a conversation).")
]
Family = Annotated[
    Name,
    choice(
        "--family",
        "Systems that are variants of one model: the column that names it, or a pattern with one group for their "
        'names, as in "^([a-z0-9]+)-".',
        metavar="COLUMN_OR_PATTERN",
    ),
]
PeoplePassFrom = Annotated[
    float | None,
    choice("--people-pass-from", "The lowest rating of people that passes, where there are more than two."),
]
JudgePassFrom = Annotated[float | None, choice("--judge-pass-from", "The lowest number of a judge that passes.")]
Seed = Annotated[int, choice("--seed", "Seed of everything random.")]

EngineName = Annotated[str, work("--engine", "Where the work is done: local (all cores) or ray.")]
Address = Annotated[
    Name, work("--address", "Of a Ray cluster, as in auto or 10.0.0.1:6379; without it Ray starts on this machine.")
]  # fmt: skip

Format = Annotated[str, output("--format", "-f", "table, json, csv, md or tex.")]
Out = Annotated[
    Path | None,
    output("-o", "--out", "File to write; its suffix is the format (a table, or .svg, .pdf, .png, .html: its figure)."),
]  # fmt: skip


def listed(values: Sequence[str] | None) -> list[str] | None:
    """`--aspect a,b --aspect c` as [a, b, c]. Commas in parentheses belong to a spec: bleu(order=2,smooth='exp')."""
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
