"""Score texts with metrics: one call for all of them, values per output, means and corpus values per system."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.metrics import Metric
    from nlgauge.scoring.score import Progress

NEEDS_FILE = True
SUFFIXES = (".jsonl", ".jsonl.gz", ".csv", ".parquet")

Wanted = Annotated[
    list[str] | None,
    typer.Option("--metrics", "-m", help="Metrics as in bleu,rouge-l(stem=True); by default all that are quick.",
                 rich_help_panel=o.CHOICE),
]  # fmt: skip
Group = Annotated[
    str,
    typer.Option("--by", help="Column whose values are the lines of the table.", rich_help_panel=o.CHOICE),
]
References = Annotated[
    str | None, typer.Option("--references", help="Column with the references.", rich_help_panel=o.COLUMNS)
]
Written = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="File for the data with their scores: .jsonl (keeps all), .csv or .parquet.",
                 rich_help_panel=o.OUT),
]  # fmt: skip


def command(
    file: o.File,
    metrics: Wanted = None,
    by: Group = "system",
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    references: References = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    lower: o.Lower = None,
    repeats: o.Repeats = "auto",
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    format: o.Format = "table",
    out: Written = None,
) -> None:
    """Score texts with metrics: values per output, means and corpus values per system.

    [bold]Examples[/bold]

      nlgauge score outputs.jsonl --metrics bleu,rouge-l(stem=True),flesch -o scored.jsonl

      nlgauge score outputs.csv                     (all quick metrics that the columns allow)

      nlgauge score outputs.csv -m len,wps --by dataset --format csv
    """
    from nlgauge.data.card import card
    from nlgauge.scoring.aggregate import aggregate
    from nlgauge.scoring.plan import plan, suggested
    from nlgauge.scoring.score import run

    _check(out)
    data = _load(
        references, file=file, system=system, input=input, output=output, human=human, metric=metric, rater=rater,
        lower=lower, repeats=repeats, encoding=encoding, reader=reader,
    )  # fmt: skip
    o.tell(card(data, keep_people=True))
    asked = o.listed(metrics)
    chosen: list[Metric] = plan(data, asked) if asked else suggested(data)
    if not asked:
        o.tell([f"no --metrics given; these {len(chosen)}: {', '.join(map(str, chosen))}"])
    with _progress() as progress:
        scored = run(data, chosen, progress=progress)
    o.show([scored.table, aggregate(scored.data, scored.metrics, by, batch=scored.batch)], format)
    if out is not None:
        o.tell(_write(scored.data, out))
    else:
        o.tell(["the scores of single outputs are not kept; -o scored.jsonl keeps them"])


def _load(references: str | None, **given: Any) -> Dataset:
    import nlgauge as ng
    from nlgauge.cli._data import load

    if references is None:
        return load(given)
    lists = {"human": "human", "metric": "metrics", "lower": "lower"}
    said: dict[str, Any] = {
        lists.get(k, k): o.listed(v) if k in lists else v for k, v in given.items() if v is not None
    }
    return ng.load(said.pop("file"), references=references, **said)


def _check(out: Path | None) -> None:
    """Before an hour of scoring, not after it."""
    from nlgauge.errors import NlgaugeError

    if out is not None and not out.name.lower().endswith(SUFFIXES):
        raise NlgaugeError(f"-o {out}: cannot write '{out.suffix}'; use {', '.join(SUFFIXES)}.")


def _write(data: Dataset, out: Path) -> list[str]:
    from nlgauge.data.tidy import write_tidy
    from nlgauge.data.wide import write_wide

    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix.lower() in (".csv", ".parquet"):
        lost = write_wide(data, out)
        return [f"written: {out}", *(f"the table does not hold {what}; .jsonl does" for what in lost)]
    write_tidy(data, out)
    return [f"written: {out}"]


@contextmanager
def _progress() -> Iterator[Progress]:
    """A bar on stderr where a person looks; nothing in a log."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("scoring", total=None)

        def tick(done: int, total: int, metric: str) -> None:
            bar.update(task, completed=done, total=total, description=metric.replace("[", r"\["))

        yield tick
