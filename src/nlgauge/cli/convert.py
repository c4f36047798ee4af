"""From any file that nlgauge reads to its own tidy format, or to a wide CSV or Parquet table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import load, settings

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

NEEDS_FILE = True
SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")


def command(
    file: o.File,
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--out", help="To write: .jsonl, .jsonl.gz, .csv or .parquet.", rich_help_panel=o.OUT
        ),
    ],
    set: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Option of the reader: NAME=VALUE, e.g. lp=en-de.", rich_help_panel=o.COLUMNS
        ),
    ] = None,
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    source: o.Source = None,
    context: o.Context = None,
    references: o.References = None,
    control: o.Control = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    person_rater: o.PersonRaters = None,
    model_rater: o.ModelRaters = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    repeats: o.Repeats = "auto",
    values: o.Values = None,
    sheet: o.Sheet = None,
    encoding: o.Encoding = None,
    reader: o.Reader = None,
) -> None:
    """From any file that nlgauge reads to its own tidy format, or to a wide CSV or Parquet table.

    [bold]Examples[/bold]

      nlgauge convert export.json -o ratings.jsonl.gz     (loses nothing)

      nlgauge convert wmt23 --set lp=en-de -o wmt23.parquet

    A table has one row per output and rater, with columns human.ASPECT and metric.NAME.
    """
    import nlgauge as ng
    from nlgauge.data.card import card
    from nlgauge.data.tidy import write_tidy
    from nlgauge.data.wide import write_wide
    from nlgauge.errors import NlgaugeError

    if not out.name.lower().endswith(SUFFIXES):
        raise NlgaugeError(f"-o {out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")
    if options := settings(set):  # then it is a reader's file, whose columns nobody needs to name
        data = ng.load(
            file, reader=reader, encoding=encoding, lower=o.listed(lower) or (), higher=o.listed(higher) or (), **options
        )  # fmt: skip
    else:
        data = load(
            {
                "file": file,
                "system": system,
                "input": input,
                "output": output,
                "source": source,
                "context": context,
                "references": references,
                "control": control,
                "human": human,
                "metric": metric,
                "rater": rater,
                "person_rater": person_rater,
                "model_rater": model_rater,
                "lower": lower,
                "higher": higher,
                "repeats": repeats,
                "values": values,
                "sheet": sheet,
                "encoding": encoding,
                "reader": reader,
            }
        )
    o.tell(card(data, keep_people=True))
    if out.suffix.lower() in (".csv", ".parquet"):
        lost = [f"the table does not hold {what}; .jsonl does" for what in write_wide(data, out)]
        o.tell([f"written: {out}", *lost, *_differences(data, out)])
    else:
        write_tidy(data, out)
        o.tell([f"written: {out}"])


def _differences(data: Dataset, out: Path) -> list[str]:
    """Names can mislead a table's reader; whoever converts should know before anyone relies on the file."""
    import nlgauge as ng

    back = ng.load(out, reader="table")
    found = []
    for what in ("systems", "inputs", "aspects", "metrics"):
        ours, theirs = frozenset(getattr(data, what)), frozenset(getattr(back, what))
        if ours != theirs:
            counts = f"{len(theirs)} for {len(ours)}, e.g. {', '.join(sorted(ours ^ theirs)[:3])}"
            found.append(f"reads back with other {what} ({counts}); use .jsonl to be safe")
    return found
