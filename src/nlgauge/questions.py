"""The questions one asks of data, a function each. Every command calls one of these or a function of a room below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge.errors import NlgaugeError
from nlgauge.session import Names, Progress, Selection, listed

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Aggregate
    from nlgauge.metrics import Metric
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judge_data import JudgedData
    from nlgauge.table import Table

Metrics = str | Sequence[str] | None
Texts = str | Sequence[str] | None


def dataset(data: Any) -> Dataset:
    """Whatever holds data as a Dataset: a path, the name of a published set, 'example', a frame, rows, a Selection."""
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Panel

    if isinstance(data, Dataset):
        return data
    if isinstance(data, Selection):
        return data.data
    if isinstance(data, Panel):
        if data.data is None:
            raise NlgaugeError("found a Panel where a data set is needed; use panel.analyse(…).")
        return data.data
    if isinstance(data, str) and data == "example" and not Path(data).exists():
        from nlgauge.data.example import example

        return example()
    from nlgauge.papers.catalogue.load import load

    return load(data)


def select(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    by: Names = None,
    keep_people: bool = False,
    aggregate: Aggregate = "mean",
    seed: int = 0,
    progress: Progress | None = None,
) -> Selection:
    """Choose what of the data every question is about.

    Parameters
    ----------
    data : path, data frame, rows, Dataset, list of Datasets or Selection
        A list of data sets, paths or names: each is analysed like the first.
    aspect, metrics, by : str or sequence of str, optional
        Aspects and metrics to use (all by default), and columns whose values part the data.
    keep_people : bool, default False
        Keep outputs written by people among the systems.
    aggregate : {'mean', 'median', 'mace'}, default 'mean'
        How the ratings of one output become one.
    seed : int, default 0
        Of everything random.
    progress : callable, optional
        Called with the analysis, the number of steps done, and of how many.

    Returns
    -------
    Selection
        Takes the place of the data in every other function, and remembers what it computed. Of a Selection, the
        same one, or with other aspects, metrics or groups a new one.

    Examples
    --------
    >>> import nlgauge as ng
    >>> chosen = ng.select(ng.example(), metrics=["unigram_f1", "char3_f1"], seed=1)
    >>> len(ng.correlate(chosen, measures="input/kendall"))
    2
    """
    from nlgauge.data.dataset import Dataset

    if isinstance(data, Selection):
        given = {"aspects": listed(aspect), "metrics": listed(metrics), "by": listed(by)}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(data, **changes) if changes else data
    several = (
        isinstance(data, list | tuple) and data and all(isinstance(d, Dataset | Path | str) for d in data)
    )
    first, *others = [dataset(d) for d in data] if several else [dataset(data)]
    return Selection(
        first, listed(aspect), listed(metrics), listed(by), keep_people, aggregate, seed, others, progress
    )


def analyse(name: str, data: Any, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
    """Any analysis of `nlgauge list analyses`, with its options.

    Parameters
    ----------
    name : str
        Of the analysis, or file.py@name for one of your own.
    data : path, data frame, rows, Dataset, list of Datasets or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    **options
        Of the analysis; an unknown one is answered with those there are.

    Returns
    -------
    Table
        With several aspects or groups the rows follow each other; `Table.parts` are the single tables.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.analyse("inter-metric", ng.example(), measure="global/spearman")
    >>> table.kind, len(table) > 0
    ('inter-metric', True)
    """
    return select(data, aspect, metrics).analyse(name, **options)


def correlate(
    data: Any, aspect: Names = None, metrics: Names = None, *, measures: Names = None, sort: str | None = None
) -> Table:  # fmt: skip
    """Which metric agrees with people? The metrics × measures table.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    measures : str or sequence of str, optional
        Such as 'input/kendall'; the twelve by default.
    sort : str, optional
        Measure by which the metrics are sorted.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.correlate(ng.example(), measures=["input/kendall", "system/pearson"])
    >>> [(row["metric"], row["measure"], round(row["value"], 2)) for row in table][:2]
    [('unigram_f1', 'input/kendall', 0.78), ('unigram_f1', 'system/pearson', 0.95)]
    """
    return analyse("correlation", data, aspect, metrics, measures=listed(measures), sort=sort)


def compare(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    measure: str = "input/kendall",
    test: Literal["auto", "permutation", "williams", "bootstrap"] = "auto",
    correction: Literal["holm", "bh", "none"] = "holm",
    draws: int | None = None,
    pairs: bool = False,
) -> Table:
    """Is one metric really better than another? Ranks with significance, or all pairs.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    measure : str, default 'input/kendall'
    test : {'auto', 'permutation', 'williams', 'bootstrap'}
        'auto' asks whether a difference would hold for systems and inputs like these.
    correction : {'holm', 'bh', 'none'}
        For many pairs.
    draws : int, optional
        Random draws of the test.
    pairs : bool, default False
        One row per pair of metrics (the analysis 'significance') instead of one per metric ('ranking').

    Examples
    --------
    >>> import nlgauge as ng
    >>> [(row["metric"], row["rank"]) for row in ng.compare(ng.example())]
    [('unigram_f1', 1), ('char3_f1', 1), ('source_overlap', 1), ('length_ratio', 1), ('random', 2)]
    """
    name = "significance" if pairs else "ranking"
    return analyse(
        name, data, aspect, metrics, measure=measure, test=test, correction=correction, draws=draws
    )


def agreement(
    data: Any,
    aspect: Names = None,
    *,
    level: Literal["nominal", "ordinal", "interval", "ratio"] = "interval",
    draws: int = 1000,
    bootstrap: Literal["units", "pairs"] = "units",
) -> Table:
    """Can people agree? Krippendorff's alpha, ICC and kappa with intervals.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect : str or sequence of str, optional
        All by default.
    level : {'nominal', 'ordinal', 'interval', 'ratio'}
        Scale of the ratings.
    draws : int, default 1000
        Bootstrap draws.
    bootstrap : {'units', 'pairs'}
        What alpha's interval resamples.

    Examples
    --------
    >>> import nlgauge as ng
    >>> round(ng.agreement(ng.example(), draws=200).rows[0]["value"], 2)
    0.79
    """
    return analyse("agreement", data, aspect, level=level, draws=draws, bootstrap=bootstrap)


def stability(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    measures: Names = None,
    test: Literal["permutation", "williams"] = "permutation",
    draws: int = 1000,
    trials: int = 1000,
    profile: str = "nlgauge",
) -> Table:
    """Which measure can be trusted on these data? Discriminative power and ranking consistency of the measures.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
    aspect, metrics : str or sequence of str, optional
        All by default.
    measures : str or sequence of str, optional
        The twelve by default.
    test : {'permutation', 'williams'}
    draws, trials : int, default 1000
        Draws of each test, and random halves of the inputs.
    profile : str, default 'nlgauge'
        Conventions of another tool.

    Examples
    --------
    >>> import nlgauge as ng
    >>> len(ng.stability(ng.example(), measures=["input/kendall", "system/kendall"], draws=50, trials=50))
    2
    """
    options = {
        "measures": listed(measures),
        "test": test,
        "draws": draws,
        "trials": trials,
        "profile": profile,
    }
    return analyse("stability", data, aspect, metrics, **options)


def score(
    data: Any = None,
    metrics: Sequence[str | Metric] | str | Metric | None = None,
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
    metrics : str, Metric or a sequence of them, optional
        As 'bleu' or 'rouge-l(stem=True)'; by default all quick ones that the data allow.
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


def _from_texts(texts: Mapping[str, Any]) -> Dataset:
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
    keys = {"system": "outputs", "input": [str(i + 1) for i in range(sizes["output"])]}
    return Dataset.of("texts", pl.DataFrame({**keys, **columns}), people=())


def judge(
    data: Any,
    judges: str | Judge | Sequence[Judge] = "summarisation",
    *,
    model: str = "",
    aspect: Names = None,
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
    >>> done = ng.judge("outputs.csv", "dialogue", model="llama3", base_url="http://localhost:11434/v1")    # doctest: +SKIP
    >>> ng.correlate(done.data)    # doctest: +SKIP
    """
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judge_data import judge_data, judges_of

    if isinstance(judges, str):
        chosen = judges_of(judges, listed(aspect), model=model, base_url=base_url)
    elif model or base_url or aspect:
        raise NlgaugeError("judge: a Judge has its own model, base_url and aspect; name them there.")
    else:
        chosen = [judges] if isinstance(judges, Judge) else list(judges)
    done = judge_data(dataset(data), chosen, how=how, keep_draws=keep_draws, progress=progress)
    if done.nothing:
        raise NlgaugeError(done.nothing)
    return done
