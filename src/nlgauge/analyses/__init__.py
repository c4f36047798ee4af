"""Analyses: each answers one question and is a pure function from a Panel (or Choice) to a Table, in its own file."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, ParamSpec

from nlgauge import registry
from nlgauge.bibliography import Reference, bibliography, cited
from nlgauge.data.choice import OPTIONS, Choice, chosen
from nlgauge.data.units import base_inputs, has_parts, merge_trials
from nlgauge.docstrings import completed, defaults_of
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.number import either
from nlgauge.options import call, option
from nlgauge.registry import register
from nlgauge.spec import allowed_words
from nlgauge.stats.correlation.profiles import profile_of
from nlgauge.table import Table
from nlgauge.types import Steps

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Panel

P = ParamSpec("P")
Progress = Steps
Takes = Literal["panel", "dataset", "groups", "datasets"]
Trials = Literal["clusters", "mean", "first"]
MERGED = {
    "mean": "Each input counts once, with the means of its trials or parts.",
    "first": "Each input counts once, with its first trial or part.",
}
# The papers that analyses follow, by their citation keys.
PAPERS = {
    "nimah2023": "NLG Evaluation Metrics Beyond Correlation Analysis: An Empirical Metric Preference Checklist",
    "deng2021": "Compression, Transduction, and Creation: A Unified Framework for Evaluating Natural Language "
    "Generation",
    "gao2025": "Analyzing and Evaluating Correlation Measures in NLG Meta-Evaluation",
    "colombo2023": "The Glass Ceiling of Automatic Evaluation in Natural Language Generation",
    "novikova2017": "Why We Need New Evaluation Metrics for NLG",
}


@dataclass(frozen=True)
class Analysis:
    """A question with its function. `takes` is the input of the function: a panel (one aspect), or a Choice (a data set
    and the requested part of it) of each group, of all groups at once, or of all data sets at once.

    `classes`: the analysis also handles aspects of classes and sets of labels, whose values are codes.

    `also` names analyses that the command line shows after this one, with their options as in "wins(merge=True)"; with
    `either`, they are shown even if this one cannot be computed. `declared`: the analysis needs ratings that are
    declared to be human, not only assumed to be. `of_files` computes the answer for files that are not data sets.
    """

    name: str
    question: str
    paper: str
    takes: Takes
    function: Callable[..., Table]
    also: tuple[str, ...] = ()
    either: bool = False
    declared: bool = False
    of_files: Callable[[Any], Table | None] | None = None
    classes: bool = False

    def __call__(self, data: Any, **options: Any) -> Table:
        return self.function(data, **options)

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """Return the parameters of the function after the first."""
        return list(inspect.signature(self.function).parameters.values())[1:]

    @property
    def options(self) -> list[str]:
        """Return the names of its options: parameters of the function, and fields of the Choice."""
        own = [p.name for p in self.parameters if p.kind is not p.VAR_KEYWORD]
        return [*own, *_chosen_by_name(self.takes, own)]


def analysis(
    name: str, *, question: str, paper: str = "", takes: Takes = "panel", trials: Trials = "clusters", **more: Any
) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Register a function as an analysis.

    Parameters
    ----------
    name : str
        Its name in `nlgauge analyze NAME` and `analyze(NAME, data)`.
    question : str
        The question that it answers.
    paper : str, optional
        Citation key of the paper it follows.
    takes : {'panel', 'dataset', 'groups', 'datasets'}
        Input of the function: a Panel for each aspect, or a Choice of one data set, of each group (`by`) in one
        table, or of all data sets.
    trials : {'clusters', 'mean', 'first'}
        If inputs have several trials, the function gets all of them (`clusters`), because it treats the units of
        `data.units.units_of` as clusters; or one output per input, because it treats inputs as independent.
    **more
        `also`, `either`, `declared`, `classes` and `of_files` of `Analysis`.

    Returns
    -------
    callable
        The decorator of a function from a Panel or a Choice to a Table. The parameters after the first are options;
        those that the docstring does not describe are described in `nlgauge.docstrings`.

    Notes
    -----
    Data and aspect are added to an error that does not name them.

    The function gets a panel in canonical order, so that no draw depends on the order of the file or on names. Only a
    profile that repeats another tool's random numbers gets the order of the caller, as that tool does.
    """

    def decorate(function: Callable[P, Table]) -> Callable[P, Table]:
        by_name = _chosen_by_name(takes, inspect.signature(function).parameters)

        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> Table:
            _check_choices(function, kwargs)
            source: Any = args[0]
            if takes != "panel":
                source = chosen(source, {n: kwargs.pop(n) for n in by_name if n in kwargs})
            if not more.get("classes"):
                source = _without_classes(source)
            clustered = trials == "clusters" or (more.get("classes") and _counts_classes(source))
            merged = source if clustered else _merge_trials(source, trials)  # type: ignore[arg-type]
            merge_note = [] if merged is source else [MERGED[trials]]
            source = merged
            if takes == "panel" and not profile_of(kwargs.get("profile", "nlgauge")).legacy:  # type: ignore[arg-type]
                source = source.canonical()
            source, excluded = _only_families(source, takes, kwargs.get("families"))
            args = (source, *args[1:])  # type: ignore[assignment]
            try:
                table = function(*args, **kwargs)
            except (DataError, NeedsMissing) as error:
                if takes == "panel":
                    error.locate(source.name, source.aspect)
                elif takes != "datasets":
                    error.locate(source.data.name, str(kwargs.get("aspect") or ""))
                raise
            table.kind = name
            table.notes = [*table.notes, *merge_note]
            if excluded:
                table.notes = [*table.notes, f"excluded because no family contains them: {', '.join(excluded)}."]
            return table

        named.__doc__ = completed(function.__doc__ or question, defaults_of(function))
        register("analysis", name)(Analysis(name, question, paper, takes, named, **more))
        return named

    return decorate


def _without_classes(source: Panel | Choice) -> Panel | Choice:
    """Exclude aspects of classes, whose values are codes and not numbers."""
    if isinstance(source, Choice):
        unordered = [a for data in source.datasets for a in data.unordered]
        if (unordered and source.aspects and set(source.aspects) <= set(unordered)) or (
            unordered and set(unordered) >= set(source.data.aspects)
        ):
            raise _of_classes(source.data.name, unordered[0])
        sets = [data.numeric() for data in source.datasets]
        if all(one is other for one, other in zip(sets, source.datasets, strict=True)):
            return source
        aspects = None if source.aspects is None else [a for a in source.aspects if a not in unordered]
        return replace(source, data=sets[0], others=sets[1:], aspects=aspects)
    if source.scale.unordered:
        raise _of_classes(source.name, source.aspect)
    return source


def _of_classes(name: str, aspect: str) -> NeedsMissing:
    return NeedsMissing(
        f"{aspect} has classes without an order, which have no mean or rank; use {call('analyze verdicts FILE')} or "
        f"{call('analyze agreement FILE')}. If the classes have an order, declare their values with "
        f"{option('values')}.",
        data=name,
        aspect=aspect,
        code="unordered_classes",
    )


def _counts_classes(source: Panel | Choice) -> bool:
    """Return whether an analysis of classes counts by cluster: unordered classes, and verdicts on parts of outputs."""
    if isinstance(source, Choice):
        return False
    return source.scale.unordered or (source.data is not None and has_parts(source.data.samples))


def _merge_trials(source: Panel | Choice, how: Literal["mean", "first"]) -> Panel | Choice:
    """Keep one output per input; data without trials, or whose trials `by` separates, are returned unchanged."""
    if isinstance(source, Choice):
        sets = [
            data if _separates_trials(data, source.columns) else merge_trials(data, how) for data in source.datasets
        ]
        same = all(one is other for one, other in zip(sets, source.datasets, strict=True))
        return source if same else replace(source, data=sets[0], others=sets[1:])
    merged = source.data and merge_trials(source.data, how)
    if merged is source.data or merged is None:
        return source
    options: dict[str, Any] = {"keep_human": not source.human_systems, "aggregate": source.aggregate}
    return replace(type(source).of(merged, source.aspect, **options), name=source.name)


def _separates_trials(data: Dataset, columns: Collection[str]) -> bool:
    """Return whether the columns put trials of one input into different parts."""
    keys = data.samples.select("system", base_inputs(data.samples).alias("input"))
    named = [c.partition("=")[0] if c not in data.samples.columns else c for c in columns]
    parted = keys.with_columns(data.samples[c].alias(f"__{c}__") for c in named if c in data.samples.columns)
    return parted.n_unique() > keys.n_unique()


def _chosen_by_name(takes: Takes, own: Collection[str]) -> list[str]:
    """Return the fields of a Choice that apply to an analysis with these parameters."""
    if takes == "panel":
        return []
    unused = {*own, *([] if takes == "groups" else ["by", "others"]), *(["aspects"] if "aspect" in own else [])}
    return [name for name in OPTIONS if name not in unused]


def _check_choices(function: Callable[..., Table], options: Mapping[str, Any]) -> None:
    """Require that an option with a Literal type has one of its values."""
    for name, words in allowed_words(function).items():
        if name in options and options[name] not in words:
            allowed = [str(word) for word in words if word is not None]
            raise NameUnknown(f"{name} must be {either(allowed)}; got '{options[name]}'.")


def _only_families(source: Panel | Choice, takes: Takes, families: object) -> tuple[Panel | Choice, list[str]]:
    """Restrict the data to the metrics of `families={name: [metrics]}`; return it with the metrics that are "
    "excluded."""
    if not isinstance(families, Mapping) or not any(not isinstance(v, str) for v in families.values()):
        return source, []
    members = {m for key, value in families.items() for m in ([key] if isinstance(value, str) else value)}
    if isinstance(source, Choice):
        sets = source.datasets if takes == "datasets" else [source.data]
        metrics = source.metrics or list(dict.fromkeys(m for data in sets for m in data.metrics))
        included = [m for m in metrics if m in members]
        return replace(source, metrics=included), [m for m in metrics if m not in members]
    scores = {m: v for m, v in source.metrics.items() if m in members}
    excluded = [m for m in source.names if m not in members]
    return replace(source, metrics=scores, lower=source.lower & set(scores)), excluded


def citations(table: Table) -> list[Reference]:
    """Return the papers of the analysis that made a table, and of the registered metrics in its rows."""
    # Imported late: only citations need the metrics.
    from nlgauge.scoring.plan import known_metric

    entries_by_key = bibliography()
    paper = registry.get("analysis", table.kind).paper if table.kind in registry.names("analysis") else ""
    entries = {entry.key: entry for entry in cited(table.kind, paper)}
    for name in dict.fromkeys(row["metric"] for row in table if isinstance(row.get("metric"), str)):
        metric = known_metric(name)
        if metric is not None and metric.facts.cite in entries_by_key:
            entries.setdefault(metric.facts.cite, entries_by_key[metric.facts.cite])

    return list(entries.values())
