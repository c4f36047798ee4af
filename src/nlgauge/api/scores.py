"""Scores of outputs, by metrics or by judges: the Python interface to scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.api.questions import dataset
from nlgauge.data.choice import listed
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.registry import did_you_mean

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.metrics.alignment.explained import AlignedOutput
    from nlgauge.metrics.base import MetricLike
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judge_data import JudgedData
    from nlgauge.types import Names, Progress

Texts = str | Sequence[str] | None


def score(
    data: Any = None,
    metrics: Sequence[MetricLike] | MetricLike | None = None,
    *,
    outputs: Texts = None,
    references: Sequence[str | Sequence[str]] | str | None = None,
    sources: Texts = None,
    contexts: Texts = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Dataset:
    """Score outputs with metrics: the data with one more column of scores per metric, named by its spec.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection, optional
        Or the texts themselves in `outputs`.
    metrics : str, Metric, function or a sequence of them, optional
        As 'bleu' or 'rouge-l(stem=True)'; by default all quick ones that the data allow. The parameters of a function
        are any of `output`, `reference`, `references`, `source`, `context` and `control`; it returns a number.
    outputs, references, sources, contexts : str or sequence of str, optional
        Texts instead of data; an output may have several references.
    progress : callable, optional
        Called with the metric, the number of outputs done, and of how many.
    workers : int, optional
        Threads; the values do not depend on them.

    Returns
    -------
    Dataset
        Its `scores` have null where an output has no value; the reason stands in `failures`.

    Examples
    --------
    >>> import nlgauge as ng
    >>> scored = ng.score(outputs=["the cat sat"], references=["the cat sat down"], metrics="rouge-1")
    >>> round(scored.scores["rouge-1"][0], 3)
    0.857
    >>> ng.score(ng.example(), ["len", "wps"]).metrics[-2:]
    ['len', 'wps']
    """
    from nlgauge.scoring.plan import suggested
    from nlgauge.scoring.score import score as run

    texts = {"output": outputs, "references": references, "source": sources, "context": contexts}
    if (data is None) == (outputs is None):
        raise NlgaugeError("score needs data or outputs: one of the two.")
    chosen = _from_texts(texts) if outputs is not None else dataset(data)
    tick = None if progress is None else lambda done, total, metric: progress(metric, done, total)
    return run(chosen, suggested(chosen) if metrics is None else metrics, progress=tick, workers=workers)


def from_text_files(
    outputs: str | Path, references: Sequence[str | Path] = (), source: str | Path | None = None
) -> Dataset:
    """Read outputs, references and sources from plain text files with one text per line.

    Parameters
    ----------
    outputs : path
        Its name without suffix is the name of the system.
    references : sequence of paths
        One file per reference; an empty line means that an output lacks this reference.
    source : path, optional
    """
    files = {"output": [outputs], "references": list(references), "source": [] if source is None else [source]}
    lines = {str(path): _lines(Path(path)) for paths in files.values() for path in paths}
    counts = {path: len(texts) for path, texts in lines.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{path} has {n:,}" for path, n in counts.items())
        raise NlgaugeError(f"text files must have the same number of lines: {shown}.")
    texts: dict[str, Any] = {name: lines[str(paths[0])] for name, paths in files.items() if paths}
    if references:
        rows = zip(*(lines[str(path)] for path in references), strict=True)
        texts["references"] = [[text for text in row if text.strip()] for row in rows]
    return _from_texts(texts, Path(outputs).stem)


def _lines(path: Path) -> list[str]:
    """The lines of a text file; the end of the last one is not another line."""
    from nlgauge.data.files import decode, read_bytes

    lines = decode(path, read_bytes(path)).replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _from_texts(texts: Mapping[str, Any], system: str = "outputs") -> Dataset:
    """One system's outputs, numbered from 1."""
    import polars as pl

    from nlgauge.data.dataset import Dataset

    columns = {name: [t] if isinstance(t, str) else list(t) for name, t in texts.items() if t is not None}
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{n} of {name}" for name, n in sizes.items())
        raise NlgaugeError(f"every output needs its own texts, in the same order; found {found}.")
    if "references" in columns:
        columns["references"] = [[r] if isinstance(r, str) else list(r) for r in columns["references"]]
    for name, column in columns.items():
        wrong = [t for t in column if t is not None and not isinstance(t, str) and name != "references"]
        if wrong:
            raise NlgaugeError(f"{name}: a text is needed; found {type(wrong[0]).__name__}.")
    keys = {"system": system, "input": [str(i + 1) for i in range(sizes["output"])]}
    return Dataset.of("texts", pl.DataFrame({**keys, **columns}), people=())


def judge(
    data: Any,
    judges: str | Judge | Sequence[Judge] = "summarisation",
    *,
    model: str = "",
    aspect: Names = None,
    setting: Names = None,
    base_url: str = "",
    how: Asking | None = None,
    keep_draws: bool = False,
    progress: Progress | None = None,
) -> JudgedData:
    """Let a language model judge the outputs, from any OpenAI-compatible endpoint.

    Every reply is kept at once (NLGAUGE_STORE): the same call goes on where it was, and never asks twice.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    judges : str, Judge or a sequence of Judges, default 'summarisation'
        A shipped task, the path of your own YAML, or judges with all their settings.
    model, base_url : str
        The model's name and the endpoint (or NLGAUGE_MODEL, NLGAUGE_BASE_URL).
    aspect : str or sequence of str, optional
        All of the task by default.
    setting : str or sequence of str, optional
        Settings that the task has by name, as 'GPT4o_T=1_1_10' of 'gao2025'; 'all' is every one.
    how : Asking, optional
        Requests at once, attempts, limits, key, budget.
    keep_draws : bool, default False
        Also keep each draw as a column.
    progress : callable, optional
        Called with the aspect, the number of requests done, and of how many.

    Returns
    -------
    JudgedData
        `data` with the judges' columns, `table`, and `stopped`: why it ended early, if it did.

    Examples
    --------
    >>> import nlgauge as ng
    >>> done = ng.judge("outputs.csv", "dialogue", model="llama3", base_url="http://localhost:11434")  # doctest: +SKIP
    >>> ng.correlate(done.data)    # doctest: +SKIP
    """
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judge_data import judge_data, judges_of

    if isinstance(judges, str):
        chosen = judges_of(judges, listed(aspect), settings=listed(setting), model=model, base_url=base_url)
    elif model or base_url or aspect or setting:
        raise NlgaugeError("judge: a Judge has its own model, base_url, aspect and setting; name them there.")
    else:
        chosen = [judges] if isinstance(judges, Judge) else list(judges)
    done = judge_data(dataset(data), chosen, how=how, keep_draws=keep_draws, progress=progress)
    if done.nothing:
        raise NlgaugeError(done.nothing)
    return done


def align(
    data: Any = None,
    metric: str = "ctc",
    *,
    system: str | None = None,
    input: str | None = None,
    output: str | None = None,
    source: str | None = None,
    context: str | None = None,
    references: Sequence[str] = (),
) -> AlignedOutput:
    """Which words of an output are grounded, and which are not: token scores of one output.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection, optional
        Or the texts themselves, the output in `output`.
    metric : str, default 'ctc'
        ctc(aspect='…') or align-expr(expr='mean(y>x)').
    system, input : str, optional
        Whose output for which input; the first by default.
    output, source, context, references : str, optional
        Texts instead of data.

    Returns
    -------
    AlignedOutput
        The score, and for each part of it the tokens with their scores.

    Examples
    --------
    >>> import nlgauge as ng
    >>> found = ng.align(output="He is a hockey fan.", source="He is a fan of football.")    # doctest: +SKIP
    >>> found.score, found.parts[0].alignment.tokens    # doctest: +SKIP
    """
    from nlgauge.metrics import Batch, metric_from_spec
    from nlgauge.metrics.alignment.explained import aligned_output

    chosen = metric_from_spec(metric, allow_code=True)
    if output is not None:
        batch, which = Batch.from_columns([output], [source], [context], [list(references)]), ""
    elif data is None:
        raise NlgaugeError("name a file, or give the texts with --output and --source.")
    else:
        one = _one_output(dataset(data), system, input)
        sample = one.samples.row(0, named=True)
        batch, which = Batch.of(one), f"{one.name}: system {sample['system']}, input {sample['input']}"
    return aligned_output(chosen, batch, which)


def _one_output(data: Dataset, system: str | None, input: str | None) -> Dataset:
    import polars as pl

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
