"""Score texts with metrics: one call for all of them, values per output, means and corpus values per system."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.metrics import Metric
    from nlgauge.scoring.score import Progress
    from nlgauge.scoring.shards import Shard
    from nlgauge.scoring.stream import Streamed, StreamProgress
    from nlgauge.table import Table

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
Written = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="File for the data with their scores: .jsonl (keeps all), .csv or .parquet.",
                 rich_help_panel=o.OUT),
]  # fmt: skip

Batches = Annotated[
    int | None,
    typer.Option("--batch", min=1, rich_help_panel=o.OUT,
                 help="Score in batches of that many rows, in bounded memory; an interrupted run goes on where it was. "
                 "Tables of more than 256 MiB are scored so unasked."),
]  # fmt: skip

ShardOf = Annotated[
    str | None,
    typer.Option("--shard", metavar="I/N", rich_help_panel=o.WORK,
                 help="Score only the I-th of N shards (1/8 to 8/8) and leave it for `nlgauge merge`."),
]  # fmt: skip


def command(
    file: o.File,
    metrics: Wanted = None,
    by: Group = "system",
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
    lower: o.Lower = None,
    higher: o.Higher = None,
    repeats: o.Repeats = "auto",
    values: o.Values = None,
    sheet: o.Sheet = None,
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    format: o.Format = "table",
    out: Written = None,
    batch: Batches = None,
    engine: o.EngineName = "local",
    address: o.Address = None,
    shard: ShardOf = None,
) -> None:
    """Score texts with metrics: values per output, means and corpus values per system.

    [bold]Examples[/bold]

      nlgauge score outputs.jsonl --metrics bleu,rouge-l(stem=True),flesch -o scored.jsonl

      nlgauge score outputs.csv                     (all quick metrics that the columns allow)

      nlgauge score outputs.csv -m len,wps --by dataset --format csv

      nlgauge score big.jsonl -m bleu,chrf --batch 20000 -o scores.parquet    (any size, in bounded memory)

      nlgauge score big.jsonl -m bertscore -o scores.parquet --engine ray --address auto

      nlgauge score big.jsonl -m bertscore -o scores.parquet --shard $SLURM_ARRAY_TASK_ID/8    (--array=1-8)
    """
    from nlgauge.cli._data import load
    from nlgauge.data.card import card
    from nlgauge.engines import engine_of
    from nlgauge.scoring.aggregate import aggregate
    from nlgauge.scoring.plan import plan, suggested
    from nlgauge.scoring.score import run
    from nlgauge.scoring.shards import Shard
    from nlgauge.scoring.stream import BATCH, stream

    _check(out)
    chosen_engine, part = engine_of(engine, address), None if shard is None else Shard.parse(shard)
    asked = o.listed(metrics)
    unread = {
        "--human": human,
        "--metric": metric,
        "--rater": rater,
        "--lower": lower,
        "--higher": higher,
        "--reader": reader,
    }
    unread["--repeats"] = None if repeats == "auto" else repeats
    if batch is None and (part or chosen_engine.far):
        batch = BATCH
    if size := _batch_size(file, batch, asked, [name for name, said in unread.items() if said]):
        said = {
            "system": system, "input": input, "output": output, "source": source, "context": context,
            "references": references, "control": control,
        }  # fmt: skip
        with _fraction() as tick:
            done = stream(
                file, asked, out, batch=size, by=by, columns={k: v for k, v in said.items() if v}, encoding=encoding,
                progress=tick, engine=chosen_engine, shard=part,
            )  # fmt: skip
        if lost := getattr(chosen_engine, "lost", 0):
            o.tell([f"{lost} batches were begun again, because their worker or machine was lost"])
        _tell(file, asked, out, size, done, part, format)
        return
    data = load(
        {"file": file, "system": system, "input": input, "output": output, "source": source, "context": context,
         "references": references, "control": control, "human": human, "metric": metric, "rater": rater, "lower": lower,
         "higher": higher, "repeats": repeats, "values": values, "sheet": sheet, "encoding": encoding, "reader": reader}
    )  # fmt: skip
    o.tell(card(data, keep_people=True))
    chosen: list[Metric] = plan(data, asked) if asked else suggested(data)
    if not asked:
        o.tell([f"no --metrics given; these {len(chosen)}: {', '.join(map(str, chosen))}"])
    with _progress() as progress:
        scored = run(data, chosen, progress=progress)
    lost = _lost(scored.table)
    means = aggregate(scored.data, scored.metrics, by, batch=scored.batch)
    # The file first: whoever reads the table (head) may go away.
    kept = [] if out is None else _write(scored.data, out)
    o.show([scored.table, means], format)
    o.tell(kept or ["the scores of single outputs are not kept; -o scored.jsonl keeps them"])
    _end(lost)


def _lost(table: Table) -> list[str]:
    """Metrics without a single value; when no metric has any, that is no result, and an error."""
    from nlgauge.errors import NlgaugeError

    lost = [row["metric"] for row in table.rows if not row["scored"]]
    if len(lost) == len(table.rows):
        raise NlgaugeError(f"no output got a value: {'; '.join(table.notes[:3])}.")
    return lost


def _end(lost: list[str]) -> None:
    from nlgauge.errors import PartlyDone

    if lost:
        raise PartlyDone(f"partly done: no output got a value from {', '.join(lost)}; the table says why.")


def _batch_size(file: str, batch: int | None, asked: list[str] | None, unread: list[str]) -> int:
    """Rows of a batch; 0: the whole file at once, because it is small, no plain table, or a metric looks at all of it."""
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import metric_from_spec
    from nlgauge.scoring.score import sees_all
    from nlgauge.scoring.stream import BATCH, LARGE, streams

    path = Path(file)
    if batch is not None:
        if unread:
            raise NlgaugeError(
                f"--batch scores every row by itself: {', '.join(unread)} has no meaning there."
            )
        if path.is_file() and not streams(path):
            raise NlgaugeError(
                f"{path}: is no plain table of one output a row, which --batch needs; `nlgauge convert` may write one."
            )
        return batch
    if unread or not path.is_file() or path.stat().st_size < LARGE or not streams(path):
        return 0
    if whole := [name for name in asked or [] if sees_all(metric_from_spec(name, allow_code=True))]:
        o.tell([f"{path}: large, yet read at once, because {', '.join(whole)} looks at all outputs"])
        return 0
    return BATCH


def _tell(
    file: str, asked: list[str] | None, out: Path | None, size: int, done: Streamed, shard: Shard | None, format: str
) -> None:  # fmt: skip
    lines = [f"{file}: {done.rows:,} rows in batches of {size:,}"]
    if shard is not None:
        lines = [
            f"{file}: shard {shard}, {done.scored} of {done.batches} batches of {size:,} ({done.rows:,} rows)"
        ]
    if not asked:
        lines.append(f"no --metrics given; these {len(done.metrics)}: {', '.join(map(str, done.metrics))}")
    if done.resumed:
        lines.append(f"{done.resumed} batches were done by an earlier run")
    if shard is not None:
        lines.append(f"when all {shard.of} shards are done: nlgauge merge {out}")
    o.tell(lines)
    if shard is not None:
        return
    lost = _lost(done.table)
    o.show([done.table, done.groups], format)
    o.tell(
        [
            "the scores of single outputs are not kept; -o scores.parquet keeps them"
            if out is None
            else written(out)
        ]
    )
    _end(lost)


def written(out: Path) -> str:
    kept = "every line with its scores" if ".jsonl" in out.name else "row, system, input and the scores"
    return f"written: {out} ({kept})"


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
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("scoring", total=None)

        def tick(done: int, total: int, metric: str) -> None:
            bar.update(task, completed=done, total=total, description=metric.replace("[", r"\["))

        yield tick


@contextmanager
def _fraction() -> Iterator[StreamProgress]:
    """The same for a file of which only the size is known beforehand."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task("scoring", total=None)

        def tick(done: int, total: int, rows: int) -> None:
            bar.update(task, completed=done, total=total, description=f"{rows:,} rows")

        yield tick
