"""Scores of outputs by metrics: the Python interface to scoring, and the command `score`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import numpy as np
import polars as pl

from nlgauge.api.questions import FileOptions, dataset
from nlgauge.data.card import reading
from nlgauge.data.dataset import Dataset
from nlgauge.data.export import check_suffix, export
from nlgauge.data.files import decode, read_bytes
from nlgauge.docstrings import with_shared_parameters
from nlgauge.engines import Engine, engine_of, using
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics import Batch, Metric, metric_from_spec
from nlgauge.metrics.alignment.explained import AlignedOutput, aligned_output
from nlgauge.options import ONE_COLUMN, option, parse_columns, write_columns
from nlgauge.registry import did_you_mean
from nlgauge.scoring.aggregate import aggregate, check_column
from nlgauge.scoring.outcomes import corpus_first
from nlgauge.scoring.plan import fields_of, suggested
from nlgauge.scoring.recommended import Task, with_recommended
from nlgauge.scoring.score import Scored, run
from nlgauge.scoring.stream import BATCH, first_rows, is_large, look_at_all, stream, streams
from nlgauge.scoring.table_batches import TableFile
from nlgauge.scoring.text_lists import TextLists
from nlgauge.table import CommandOutput, Table
from nlgauge.types import Array, Bounds, Progress

Texts = str | Path | Sequence[str | Path] | None
Scorer = str | Metric | Callable[..., float | None]  # a spec, a metric, or a function of texts
Metrics = Scorer | Sequence[Scorer] | None
TEXTS = (*(role for role in ONE_COLUMN if role != "rater"), "references")
MAX_DEFERRED = 100_000  # outputs of which frames and tables are made only when they are asked for
UNKEPT = "the scores of single outputs are not stored; {option} stores them"


@dataclass(frozen=True, repr=False)
class ScoredDataset(Dataset):
    """A Dataset with the scores of metrics, and a table that describes how they were computed.

    Attributes
    ----------
    tables : list of Table
        What was run, per metric; means and corpus values per system.
    remarks : list of str
        What was assumed and written.
    unfinished : str
        Metrics that gave no output a value, where others did.

    Notes
    -----
    Frames and tables are created at the first access: `values` needs none of them.
    """

    tables: list[Table] = field(default_factory=list, compare=False)
    lines: None = field(default=None, compare=False)
    remarks: list[str] = field(default_factory=list, compare=False)
    unfinished: str = field(default="", compare=False)

    @classmethod
    def deferred(cls, scored: Scored, by: str, remarks: list[str], unfinished: str) -> ScoredDataset:
        """Wrap what was scored; of more than MAX_DEFERRED outputs at once, as the texts are then let go."""
        made = object.__new__(cls)
        vars(made).update(_deferred=(scored, by), remarks=remarks, unfinished=unfinished)
        if not isinstance(scored.source, TextLists):  # the fields with a default that a class has, too
            simple = [name for name in DATASET_FIELDS if name in vars(Dataset)]
            vars(made).update({name: getattr(scored.source, name) for name in simple})
            vars(made)["notes"] = (*scored.source.notes, *scored.notes)
        vars(made)["lower"] = frozenset((made.lower - set(scored.columns)) | scored.lower)
        if len(scored.batch) > MAX_DEFERRED:
            made.__getstate__()
        return made

    def values(self, metric: str | None = None) -> Array:
        """Return the scores of a metric as an array, in the order of the outputs; NaN where there is none.

        Parameters
        ----------
        metric : str, optional
            A metric that was scored; not needed where it is the only one.

        Returns
        -------
        array of outputs

        Examples
        --------
        >>> import nlgauge as ng
        >>> ng.score(["a b", "c"], "rouge-1", ref=["a b", "d"]).values().tolist()
        [1.0, 0.0]
        """
        deferred = vars(self).get("_deferred")
        columns = deferred[0].columns if deferred else {}
        names = list(columns) or self.metrics
        if metric is None and len(names) == 1:
            metric = names[0]
        if metric is None:
            raise NlgaugeError(f"metric must be one of {', '.join(names)}.")
        if metric in columns:
            return np.array(columns[metric].values, np.float64)
        return self.only_metrics([metric]).scores[metric].cast(pl.Float64).fill_null(np.nan).to_numpy()

    def __getattr__(self, name: str) -> Any:
        """Create the frames, or the tables, at the first access."""
        deferred = vars(self).get("_deferred")
        if deferred is None or name not in (*DATASET_FIELDS, "tables"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        scored, by = deferred
        if name == "tables":
            means = aggregate(scored.data, scored.metrics, by, batch=scored.batch)
            corpus_first(scored.table, means)
            vars(self)["tables"] = [scored.table, means]
        else:
            vars(self).update({each: getattr(scored.data, each) for each in DATASET_FIELDS})
        return vars(self)[name]

    def __getstate__(self) -> dict[str, Any]:
        """Return all fields, made if need be; what they were made from is let go."""
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        vars(self).pop("_deferred", None)
        return state


DATASET_FIELDS = tuple(each.name for each in fields(Dataset))


@with_shared_parameters
def score(
    data: Any,
    metrics: Metrics = None,
    *,
    ref: Texts = None,
    src: Texts = None,
    context: Texts = None,
    by: str = "system",
    task: Task | None = None,
    explain: bool = False,
    system: str | None = None,
    input: str | None = None,
    batch: Annotated[int, Bounds(1)] | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], object] | None = None,
    **file: Unpack[FileOptions],
) -> ScoredDataset:
    """Compute metric scores per output, and means and corpus-level scores per system.

    Parameters
    ----------
    data : path, data frame, rows, Dataset, Session or sequence of str
        A table of outputs, a text file (.txt) with one output per line, or a list of outputs.
    metrics : str, Metric, function or a sequence of them, optional
        Metrics, such as bleu,rouge-l(stem=True),file.py@mine, or `recommended` for those that agreed best with human
        ratings of the task. Default: all fast metrics that the data allow. In Python, also a function that returns a
        number and takes any of the parameters `output`, `reference`, `references`, `source`, `context` and `control`.
    ref : path or sequence of paths, or sequence of str, optional
        Text file with one reference per line, if the outputs are in a text file; repeat it to add references. If the
        outputs are passed as a list: one or more references per output.
    src : path, or sequence of str, optional
        Text file with one source per line, or a list of sources.
    context : path, or sequence of str, optional
        Text file with one context per line, or a list of contexts.
    by : str, default 'system'
        Column to group by in the table of means.
    task : str, optional
        Task for which `recommended` chooses metrics. Default: inferred from the texts, and printed.
    explain : bool, default False
        Show token-level scores of a single output (which words are grounded) instead of the table of means. The metric
        is ctc (the default) or align-expr.
    system : str, optional
        System of the output whose token-level scores are shown. Default: the first one.
    input : str, optional
        Input of the output whose token-level scores are shown. Default: the first one.
    batch : int, optional
        Number of rows per batch, which bounds the memory; an interrupted run resumes where it stopped. Files larger
        than 256 MiB are scored in batches automatically if an output file is named.
    workers : int, optional
        Number of threads. The scores do not depend on it.
    out : path, optional
        Output file for the data with their scores: .jsonl (lossless), .csv or .parquet.
    progress : callable, optional
        Called with the metric, the number of outputs done, and of how many.

    Returns
    -------
    ScoredDataset
        Its `scores` have null where an output has no value; the reason stands in `failures`. In batches a CommandOutput
        with the tables alone, and with `explain` an AlignedOutput.

    Examples
    --------
    >>> import nlgauge as ng
    >>> scored = ng.score(["the cat sat"], "rouge-1", ref=["the cat sat down"])
    >>> round(scored.scores["rouge-1"][0], 3)
    0.857
    >>> ng.score(ng.example(), ["len", "wps"]).metrics[-2:]
    ['len', 'wps']

    $ nlgauge score outputs.jsonl --metrics bleu,rouge-l(stem=True),flesch -o scored.jsonl

    $ nlgauge score hyp.txt --ref ref.txt -m bleu,chrf   (plain text, one output per line; --ref again for another)

    $ nlgauge score outputs.csv   (all quick metrics that the columns allow)

    $ nlgauge score big.jsonl -m bleu,chrf --batch 20000 -o scores.parquet   (any size, in bounded memory)

    $ nlgauge score big.jsonl -m bertscore -o scores.parquet --engine ray --address auto

    $ nlgauge score summaries.jsonl --explain --system M11 --input dm-test-1 -m ctc
    """
    say = tell or (lambda line: None)
    check_suffix(out)
    other: Any  # what is no Dataset, and is asked for by an option of its own
    texts = {"references": ref, "source": src, "context": context}
    if explain:
        other = _explained(_dataset(_read(data, texts, file)), metrics, system, input)
        return other  # type: ignore[no-any-return]
    chosen_engine = engine_of(engine, address)
    if size := _batch_size(data, batch, metrics, chosen_engine, file, say):
        options: dict[str, Any] = {"out": out, "by": by, "progress": progress, "task": task}
        other = _streamed(data, metrics, size, chosen_engine, file, options)
        return other  # type: ignore[no-any-return]
    read = _read(data, texts, file)
    if isinstance(data, str | Path):
        say(" ".join(reading(_dataset(read))))
    check_column(read.name, by, fields_of(read).columns)
    chosen, remarks = with_recommended(
        metrics, task, lambda: read.batch if isinstance(read, TextLists) else Batch.of(read)
    )
    if chosen is None:
        chosen = suggested(read)
        remarks = [_suggested(chosen)]
    tick = None if progress is None else lambda done, total, metric: progress(metric, done, total)
    scored = run(read, chosen, progress=tick, workers=workers)
    lost = _lost(scored.table) if scored.without_values else ""
    remarks += [UNKEPT.format(option=option("out", "scored.jsonl"))] if out is None else export(scored.data, out)
    return ScoredDataset.deferred(scored, by, remarks, lost)


def _suggested(metrics: Sequence[object]) -> str:
    return f"default metrics: {', '.join(map(str, metrics))}"


def _lost(table: Table) -> str:
    """Return a sentence on metrics without any value; raise an error if no metric has a value."""
    lost = [row["metric"] for row in table.rows if not row["scored"]]
    if len(lost) == len(table.rows):
        raise NlgaugeError(f"no output has a value: {'; '.join(table.notes[:3])}.")
    return (lost and f"incomplete: no output has a value of {', '.join(lost)}; the table has the reasons.") or ""


def _batch_size(
    data: Any, batch: int | None, metrics: Any, engine: Engine, file: FileOptions, say: Callable[[str], object]
) -> int:
    """Return the number of rows of a batch; 0 processes all rows at once."""
    path = Path(data) if isinstance(data, str | Path) else None
    if path is None:
        return 0
    if batch is None and engine.far:
        batch = BATCH
    columns = file.get("columns") or {}
    roles = parse_columns(columns) if isinstance(columns, str) else columns
    unread = [
        option("columns", write_columns({role: column}))
        for role, column in roles.items()
        if role not in (*TEXTS, "encoding")
    ]
    unread += [option("labels")] if file.get("labels") is not None else []
    if batch is not None:
        if unread:
            raise NlgaugeError(f"batches are scored from their texts alone; remove {', '.join(unread)}.")
        if path.is_file() and not streams(path):
            raise NlgaugeError(
                f"{path}: {option('batch')} requires a plain table with one row per output; `nlgauge data convert` may "
                "write one."
            )
        return batch
    if unread or not is_large(path):
        return 0
    names = [metrics] if isinstance(metrics, str) else list(metrics or ())
    if whole := look_at_all([name for name in names if isinstance(name, str)]):
        say(f"{path} is read as a whole, because {', '.join(whole)} uses all outputs")
        return 0
    return BATCH


def _streamed(
    data: str | Path, metrics: Any, size: int, engine: Engine, file: FileOptions, options: Mapping[str, Any]
) -> CommandOutput:
    """Score a file batch by batch."""
    columns = file.get("columns") or {}
    roles = dict(parse_columns(columns) if isinstance(columns, str) else columns)
    encoding, progress = roles.pop("encoding", None), options["progress"]
    roles = {role: names if isinstance(names, str) else "+".join(names) for role, names in roles.items()}
    tick = None if progress is None else lambda read, of, rows: progress(f"{rows:,} rows", read, of)
    table = TableFile(Path(data), encoding)
    chosen, recommended = with_recommended(metrics, options["task"], lambda: first_rows(table, roles))
    with using(engine):
        done = stream(table, chosen, options["out"], batch=size, by=options["by"], columns=roles, progress=tick)
    lost = _lost(done.table)
    remarks = [f"{data}: {done.rows:,} rows in batches of {size:,}"]
    remarks += recommended if metrics is not None else [_suggested(done.metrics)]
    remarks += [f"batches completed by an earlier run: {done.resumed}"] if done.resumed else []
    if again := getattr(engine, "lost", 0):
        remarks.append(f"{again} batches were restarted, because their worker or machine was lost")
    out = options["out"]
    if out is None:
        remarks.append(UNKEPT.format(option=option("out", "scores.parquet")))
    else:
        kept = "every line with its scores" if ".jsonl" in Path(out).name else "row, system, input and the scores"
        remarks.append(f"written: {out} ({kept})")
    return CommandOutput([done.table, done.groups], remarks=remarks, unfinished=lost)


def _explained(data: Dataset, metrics: Any, system: str | None, input: str | None) -> AlignedOutput:
    """Return the token scores of one output."""
    specs = ["ctc"] if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
    if len(specs) != 1:
        raise NlgaugeError(f"one metric can be explained at a time; got {len(specs)}.")
    metric = metric_from_spec(specs[0], allow_code=True) if isinstance(specs[0], str) else specs[0]
    one = _one_output(data, system, input)
    sample = one.samples.row(0, named=True)
    which = "" if one.name == "texts" else f"{one.name}: system {sample['system']}, input {sample['input']}"
    return aligned_output(metric, Batch.of(one), which)


def _dataset(read: Dataset | TextLists) -> Dataset:
    return read.dataset if isinstance(read, TextLists) else read


def _read(data: Any, texts: Mapping[str, Any], file: FileOptions) -> Dataset | TextLists:
    """Read the data from a table, text files with one text per line, or texts."""
    given = {name: value for name, value in texts.items() if value is not None}
    if isinstance(data, str | Path) and (given or Path(data).suffix.lower() == ".txt"):
        return from_text_files(data, given)
    if (
        isinstance(data, list | tuple)
        and (data or given)
        and all(issubclass(kind, str) for kind in set(map(type, data)))
    ):
        return TextLists.of({"output": data, **given})
    if given:
        raise NlgaugeError(f"{', '.join(given)}: only for outputs that are a text file or a list of texts.")
    return dataset(data, **file)


def from_text_files(outputs: str | Path, texts: Mapping[str, Any]) -> TextLists:
    """Read outputs, references, sources and contexts from text files with one text per line.

    Parameters
    ----------
    outputs : path
        Its name without suffix is the name of the system.
    texts : mapping
        Paths of `references` (several; an empty line means that an output lacks one), `source` and `context`.
    """
    files = {
        name: [given] if isinstance(given, str | Path) else list(given)
        for name, given in {"output": outputs, **texts}.items()
    }
    lines = {str(path): _lines(Path(path)) for paths in files.values() for path in paths}
    counts = {path: len(texts) for path, texts in lines.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{path} has {n:,}" for path, n in counts.items())
        raise NlgaugeError(f"text files must have the same number of lines: {shown}.")
    columns: dict[str, Any] = {name: lines[str(paths[0])] for name, paths in files.items()}
    if "references" in files:
        rows = zip(*(lines[str(path)] for path in files["references"]), strict=True)
        columns["references"] = [[text for text in row if text.strip()] for row in rows]
    return TextLists.of(columns, Path(outputs).stem, Path(outputs).name)


def _lines(path: Path) -> list[str]:
    """Return the lines of a text file; a newline at its end does not start another line."""
    lines = decode(path, read_bytes(path)).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _one_output(data: Dataset, system: str | None, input: str | None) -> Dataset:
    samples = data.samples
    for column, value in (("system", system), ("input", input)):
        if value is not None:
            if value not in samples[column].to_list():
                hint = did_you_mean(value, samples[column].unique().to_list())
                raise NameUnknown(f"{data.name}: no {column} '{value}'.{hint}")
            samples = samples.filter(pl.col(column) == value)
    if not samples.height:
        raise NlgaugeError(f"{data.name}: system '{system}' has no output for input '{input}'.")
    return data.where(samples.head(1))
