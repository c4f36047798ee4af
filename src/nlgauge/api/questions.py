"""Analyses as functions of data, and the selection of data that all of them share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, get_type_hints

from nlgauge import registry
from nlgauge.analyses import Analysis
from nlgauge.api.arrays import from_arrays
from nlgauge.data.choice import listed
from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example
from nlgauge.data.panel import Aggregate, Panel
from nlgauge.datasets.load import load
from nlgauge.datasets.results import data_of_results, holds_results
from nlgauge.docstrings import completed, defaults_of
from nlgauge.engines import engine_of, using
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.options import ROLES, parse_columns
from nlgauge.session import Session, check_options
from nlgauge.spec import parse_spec
from nlgauge.table import CommandOutput, Table
from nlgauge.types import Names, Progress

Paths = str | Path | Sequence[str | Path] | None


class FileOptions(TypedDict, total=False):
    """Options for reading the file.

    Attributes
    ----------
    columns : str or mapping
        Column roles that cannot be inferred from names: 'system=model,input=doc,human=coherence+fluency,lower=ter'.
    labels : path, data frame or Dataset, or a sequence of paths
        File with human labels of these outputs, joined by system and input.
    """

    columns: str | Mapping[str, Any] | None
    labels: Paths


class ChoiceOptions(FileOptions, total=False):
    """Options that select parts of the data, and how they are used.

    Attributes
    ----------
    by : str or sequence of str
        Columns by which the data are split: each combination of their values is analyzed separately.
    cluster : str
        Column that identifies clusters of inputs that are not independent, such as documents or conversations.
    family : str
        Column that identifies systems that are not independent, such as systems with the same base model; or a regular
        expression with one group that matches the family in the system name, such as '^([a-z0-9]+)-'.
    keep_human : bool
        Include human-written outputs among the systems; they are excluded by default.
    aggregate : {'mean', 'median', 'mace'}
        How to aggregate the ratings of one output: `mean`, `median` or `mace`. Default: mean.
    seed : int
        Seed of the random number generator. Default: 0.
    progress : callable
        Called with the name of the analysis, the number of steps done and the number of all steps.
    """

    by: Names
    cluster: str | None
    family: str | None
    keep_human: bool
    aggregate: Aggregate
    seed: int
    progress: Progress | None


CHOICE = tuple(get_type_hints(ChoiceOptions))
COLUMN_OPTIONS = tuple(role for role in ROLES if role != "metrics")  # as of `load`: human="coherence"


def dataset(data: Any, columns: str | Mapping[str, Any] | None = None, labels: Any = None) -> Dataset:
    """Convert data to a Dataset: a path, the name of a published set, 'example', a frame, rows, or a Session."""
    if columns is None and labels is None:
        if isinstance(data, Dataset):
            return data
        if isinstance(inner := getattr(data, "data", None), Dataset):  # a Session, judged data, a Panel of data
            return inner
        if isinstance(data, Panel):
            raise NlgaugeError("expected a data set; got a Panel. Use panel.analyze(…).")
    if columns is not None and isinstance(data, Dataset):
        raise NlgaugeError(f"{data.name}: roles of columns are declared when data are loaded; pass them to load(…).")
    if isinstance(data, str) and data == "example" and not Path(data).exists():
        if labels is not None:
            raise NlgaugeError("labels: the example has human ratings already.")
        return example()
    if holds_results(data):
        return data_of_results(data)
    return load(data, columns=columns, labels=labels)


def _holds_numbers(values: Any) -> bool:
    """Return whether the values are ratings of outputs rather than names of aspects."""
    if values is None or isinstance(values, str):
        return False
    return not (isinstance(values, Sequence) and all(isinstance(each, str) for each in values))


def select(data: Any, aspect: Names = None, metrics: Names = None, **choice: Unpack[ChoiceOptions]) -> Session:
    """Choose what of the data every question is about.

    Parameters
    ----------
    data : path, data frame, rows, Dataset, list of Datasets or Session
        A list of data sets, paths or names: each is analyzed like the first. Or scores, with the ratings of the same
        outputs in place of `aspect`: two arrays of outputs, or of systems × inputs.
    aspect, metrics : str or sequence of str, optional
        Aspects and metrics to use; all by default.
    **choice
        As in `ChoiceOptions`; and roles of columns as in `load`, such as human='coherence'.

    Returns
    -------
    Session
        Takes the place of the data in every other function, and remembers what it computed. Of a Session, the same
        one, or with other aspects, metrics or groups a new one.

    Examples
    --------
    >>> import nlgauge as ng
    >>> session = select(ng.example(), metrics=["unigram_f1", "char3_f1"], seed=1)
    >>> len(ng.correlate(session, measures="input/kendall"))
    2
    """
    if roles := {name: value for name, value in choice.items() if name in COLUMN_OPTIONS}:
        columns = choice.get("columns") or {}
        roles = {**(parse_columns(columns) if isinstance(columns, str) else columns), **roles}
        choice = {name: value for name, value in choice.items() if name not in COLUMN_OPTIONS} | {"columns": roles}  # type: ignore[assignment]
    if unknown := [name for name in choice if name not in CHOICE]:
        raise NlgaugeError(f"no option '{unknown[0]}'.{registry.did_you_mean(unknown[0], CHOICE)}")
    cluster, family = choice.pop("cluster", None), choice.pop("family", None)
    file: dict[str, Any] = {name: choice.pop(name) for name in ("columns", "labels") if name in choice}  # type: ignore[misc]
    if _holds_numbers(aspect):
        data, aspect = from_arrays(data, aspect), None
    given: dict[str, Any] = {
        "aspects": listed(aspect),
        "metrics": listed(metrics),
        **choice,
        "by": listed(choice.get("by")),
    }
    changes = {name: value for name, value in given.items() if value is not None}
    if isinstance(data, Session):
        session = replace(data, **changes) if changes else data
    else:
        several = isinstance(data, list | tuple) and data and all(isinstance(d, Dataset | Path | str) for d in data)
        first, *others = [dataset(d, **file) for d in data] if several else [dataset(data, **file)]
        source = data[0] if several else data
        session = Session(first, others=others, source=str(source) if isinstance(source, str | Path) else "", **changes)
    return session.clustered(cluster).with_family(family)


def analyze(name: str, data: Any, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
    """Run an analysis of `nlgauge analyze`, with its options.

    Parameters
    ----------
    name : str
        Of the analysis, or file.py@name for one of your own.
    data : path, data frame, rows, Dataset, list of Datasets, Session or Panel
    aspect, metrics : str or sequence of str, optional
        All by default.
    **options
        Of the analysis, and those of the choice of data (`by`, `cluster`, `columns`, …); an unknown one is answered
        with those there are.

    Returns
    -------
    Table
        With several aspects or groups the rows follow each other; `Table.parts` are the single tables.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.analyze("inter-metric", ng.example(), measure="global/spearman")
    >>> table.kind, len(table) > 0
    ('inter-metric', True)
    """
    run: Analysis = registry.get("analysis", name, allow_code=True)
    if isinstance(data, Panel) and not _holds_numbers(aspect):
        return _of_panel(run, name, data if aspect is None else data.with_aspect(str(aspect)), metrics, options)
    if run.of_files is not None and (table := run.of_files(data)) is not None:
        return table
    session, own = _session(run, data, aspect, metrics, options)
    return session.analyze(name, **own)


def _session(
    run: Analysis, data: Any, aspect: Names, metrics: Names, options: Mapping[str, Any]
) -> tuple[Session, dict[str, Any]]:
    """Return the Session that the options select, and the remaining options of the analysis."""
    own = {p.name for p in run.parameters} - {"seed", "progress"}
    choice: Any = {
        name: value for name, value in options.items() if name in (*CHOICE, *COLUMN_OPTIONS) and name not in own
    }
    session = select(data, aspect, metrics, **choice)
    return session.declared() if run.declared else session, {k: v for k, v in options.items() if k not in choice}


def _of_panel(run: Analysis, name: str, panel: Panel, metrics: Names, options: dict[str, Any]) -> Table:
    """Run an analysis on a panel; an analysis of a data set is run on the data of the panel."""
    if run.takes == "panel" and metrics is None:
        check_options(run, options)
        return run(panel, **options)
    if panel.data is None or run.takes == "datasets":
        asked = "data sets" if run.takes == "datasets" else "a data set"
        raise NeedsMissing(f"'{name}' requires {asked}, not one panel: use nlgauge.analyze('{name}', data).")
    fewer = panel.names if set(panel.names) != set(panel.data.metrics) else None
    session = select(panel.data, panel.aspect, metrics or fewer, keep_human=bool(panel.kept), aggregate=panel.aggregate)
    return session.analyze(name, **options)


def with_companions(
    name: str,
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    **options: Any,
) -> CommandOutput:
    """Run an analysis and its companions; companions that do not apply to these data are omitted with the reason."""
    run: Analysis = registry.get("analysis", name, allow_code=True)
    if run.of_files is not None and (table := run.of_files(data)) is not None:
        return CommandOutput([table])
    session, own = _session(run, data, aspect, metrics, options)
    tables: list[Table] = []
    refused: list[tuple[str, NlgaugeError]] = []
    with using(engine_of(engine, address)) as chosen:
        for k, (other, given) in enumerate([(name, own), *_companions(run, own)]):
            try:
                tables += session.each(other, **given)
            except NlgaugeError as error:
                if not k and not (run.either and isinstance(error, NeedsMissing)):
                    raise
                if not k or any(r.code != "unordered_classes" for r in error.refusals):
                    refused.append((other, error))
    if not tables:
        raise refused[0][1]
    unfinished = "; ".join(table.facts["unfinished"] for table in tables if "unfinished" in table.facts)
    remarks = [f"{other} is not computed: {error}" for other, error in refused]
    if not getattr(chosen, "used", True):
        remarks.append(f"engine {engine}: '{name}' has no jobs to distribute and was computed in this process")
    return CommandOutput(tables, remarks=remarks, unfinished=unfinished)


def _companions(run: Analysis, given: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the companion analyses of an analysis, with the given options that they have.

    One that sets an option of its own is not asked where that option is given: `estimate --part ranks` is one table.
    """
    found = []
    for spec in run.also:
        name, own = parse_spec(spec)
        known = {p.name for p in registry.get("analysis", name).parameters}
        if not own.keys() & given.keys():
            found.append((name, {k: v for k, v in given.items() if k in known} | own))
    return found


# Parameters of an analysis that are set by the selection of the data.
HIDDEN = ("aspect", "seed", "progress")


@cache
def question(name: str, companions: bool = False) -> Callable[..., Any]:
    """Return an analysis as a function of data, with the signature and the docstring of the analysis.

    With `companions`, the function answers with the tables of `with_companions`.
    """
    run: Analysis = registry.get("analysis", name, allow_code=True)
    function = inspect.unwrap(run.function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError:  # a file of one's own that imports a type for type checkers alone
        hints = {}
    own = [
        p.replace(kind=p.KEYWORD_ONLY, annotation=hints.get(p.name, Any))
        for p in run.parameters
        if p.name not in HIDDEN and p.kind is not p.VAR_KEYWORD
    ]
    answer: Callable[..., Any] = with_companions if companions else analyze

    def ask(data: Any, aspect: Names = None, metrics: Names = None, **choice: Unpack[ChoiceOptions]) -> Any:
        return answer(name, data, aspect, metrics, **choice)

    *lead, choice = inspect.signature(ask, eval_str=True).parameters.values()
    if companions:
        own += [p for p in inspect.signature(answer, eval_str=True).parameters.values() if p.kind is p.KEYWORD_ONLY]
    ask.__name__ = ask.__qualname__ = name.rpartition("@")[2].replace("-", "_")
    ask.__module__ = function.__module__
    ask.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*lead, *own, choice], return_annotation=CommandOutput if companions else Table
    )
    ask.__doc__ = completed(function.__doc__ or run.question, defaults_of(ask))
    ask.analysis = name  # type: ignore[attr-defined]
    ask.reads_files = lambda files: bool(run.of_files and run.of_files(files))  # type: ignore[attr-defined]
    return ask
