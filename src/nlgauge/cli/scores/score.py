"""Score texts with metrics: values per output, means and corpus values per system.

[bold]Examples[/bold]

  nlgauge score outputs.jsonl --metrics bleu,rouge-l(stem=True),flesch -o scored.jsonl

  nlgauge score hyp.txt --ref ref.txt -m bleu,chrf     (plain text, one output per line; --ref again for another)

  nlgauge score outputs.csv                     (all quick metrics that the columns allow)

  nlgauge score outputs.csv -m len,wps --by dataset --format csv

  nlgauge score big.jsonl -m bleu,chrf --batch 20000 -o scores.parquet    (any size, in bounded memory)

  nlgauge score big.jsonl -m bertscore -o scores.parquet --engine ray --address auto
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, with_columns

if TYPE_CHECKING:
    from nlgauge.metrics import Metric
    from nlgauge.scoring.stream import Streamed
    from nlgauge.table import Table

UNREAD = ("human", "metric", "rater", "person_rater", "model_rater", "lower", "higher", "reader", "repeats", "labels")
TEXTS = ("system", "input", "output", "source", "context", "references", "control")


@with_columns
def command(
    columns: Columns,
    metrics: Annotated[list[str] | None, o.choice(
        "--metrics", "-m", "Metrics as in bleu,rouge-l(stem=True),file.py@mine; recommended: those that agree best "
        "with people; by default all that are quick."
    )] = None,
    by: Annotated[str, o.choice("--by", "Column whose values are the lines of the table.")] = "system",
    ref: Annotated[list[Path] | None, o.column("--ref", "Text file with one reference per line, FILE with one "
                                                        "output per line; again for another reference.")] = None,
    src: Annotated[Path | None, o.column("--src", "Text file with one source per line.")] = None,
    format: o.Format = "table",
    out: Annotated[Path | None, o.output("-o", "--out", "File for the data with their scores: .jsonl (keeps "
                                                        "all), .csv or .parquet.")] = None,
    batch: Annotated[int | None, o.output("--batch", "Score in batches of that many rows, in bounded memory; an "
                                                     "interrupted run goes on where it was. Tables of more than "
                                                     "256 MiB are scored so unasked.", min=1)] = None,
    engine: o.EngineName = "local",
    address: o.Address = None,
) -> None:  # fmt: skip
    from nlgauge.data.export import check_suffix, export
    from nlgauge.engines import engine_of, using
    from nlgauge.scoring.aggregate import aggregate
    from nlgauge.scoring.plan import plan, suggested
    from nlgauge.scoring.score import run
    from nlgauge.scoring.stream import BATCH, stream
    from nlgauge.scoring.table_batches import TableFile

    check_suffix(out)
    file, asked = columns.file, o.listed(metrics)
    chosen_engine = engine_of(engine, address)
    if batch is None and chosen_engine.far:
        batch = BATCH
    unread = [f"--{name.replace('_', '-')}" for name in columns.said(*UNREAD)]
    if size := _batch_size(file, batch, asked, unread):
        with using(chosen_engine):
            done = stream(
                TableFile(Path(file), columns.given["encoding"]), asked, out, batch=size, by=by,
                columns=columns.said(*TEXTS),
                progress=lambda read, of, rows: o.bar(f"{rows:,} rows", read, of),
            )  # fmt: skip
        if again := getattr(chosen_engine, "lost", 0):
            o.tell([f"{again} batches were begun again, because their worker or machine was lost"])
        _tell(file, asked, out, size, done, format)
        return
    if ref or src or file.endswith(".txt"):
        from nlgauge.api.scores import from_text_files

        data = from_text_files(file, ref or (), src)
        o.tell([f"{file}: {len(data):,} outputs, one per line"])
    else:
        data = columns.load_and_tell()
    chosen: list[Metric] = plan(data, asked) if asked else suggested(data)
    if not asked:
        o.tell([f"no --metrics given; these {len(chosen)}: {', '.join(map(str, chosen))}"])
    scored = run(data, chosen, progress=lambda done, total, metric: o.bar(metric, done, total))
    lost = _lost(scored.table)
    means = aggregate(scored.data, scored.metrics, by, batch=scored.batch)
    # The file first: whoever reads the table (head) may go away.
    kept = [] if out is None else export(scored.data, out)
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
    """Rows of a batch; 0: the whole file at once."""
    from nlgauge.errors import NlgaugeError
    from nlgauge.scoring.stream import BATCH, is_large, look_at_all, streams

    path = Path(file)
    if batch is not None:
        if unread:
            raise NlgaugeError(f"--batch scores every row by itself: {', '.join(unread)} has no meaning there.")
        if path.is_file() and not streams(path):
            raise NlgaugeError(
                f"{path}: --batch needs a plain table with one row per output; `nlgauge data convert` may write one."
            )
        return batch
    if unread or not is_large(path):
        return 0
    if whole := look_at_all(asked or ()):
        o.tell([f"{path}: large, yet read at once, because {', '.join(whole)} looks at all outputs"])
        return 0
    return BATCH


def _tell(file: str, asked: list[str] | None, out: Path | None, size: int, done: Streamed, format: str) -> None:
    lines = [f"{file}: {done.rows:,} rows in batches of {size:,}"]
    if not asked:
        lines.append(f"no --metrics given; these {len(done.metrics)}: {', '.join(map(str, done.metrics))}")
    if done.resumed:
        lines.append(f"{done.resumed} batches were done by an earlier run")
    o.tell(lines)
    lost = _lost(done.table)
    o.show([done.table, done.groups], format)
    unkept = "the scores of single outputs are not kept; -o scores.parquet keeps them"
    o.tell([unkept if out is None else _written(out)])
    _end(lost)


def _written(out: Path) -> str:
    kept = "every line with its scores" if ".jsonl" in out.name else "row, system, input and the scores"
    return f"written: {out} ({kept})"
