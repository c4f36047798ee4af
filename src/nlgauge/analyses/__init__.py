"""Analyses: one question of the papers each, a pure function from Panel (or Choice) to Table, one file."""

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
from nlgauge.errors import NameUnknown, NeedsMissing
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
    """A question with its function. `takes` says of what it is asked: a panel (one aspect), or a Choice (a data set and
    what of it was asked for): of each group, of all groups at once, or of all data sets at once.

    `classes`: it answers for aspects of classes and sets of labels, too, whose values are codes.

    `also` names analyses that the command line shows after it, with options of their own as in "wins(merge=True)"; with
    `either`, they are shown also where this one cannot be computed. `declared`: it needs ratings that are known to be
    human, not only assumed to be. `of_files` answers for files that are no data, where it can.
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
        """Of its function, after the first."""
        return list(inspect.signature(self.function).parameters.values())[1:]

    @property
    def options(self) -> list[str]:
        """Names of what may be given to it: parameters of the function, and what the Choice is made of."""
        own = [p.name for p in self.parameters if p.kind is not p.VAR_KEYWORD]
        return [*own, *_chosen_by_name(self.takes, own)]


def analysis(
    name: str, *, question: str, paper: str = "", takes: Takes = "panel", trials: Trials = "clusters", **more: Any
) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Register a function as an analysis.

    Parameters
    ----------
    name : str
        What it is called by: `nlgauge analyze NAME`, `analyze(NAME, data)`.
    question : str
        What it answers.
    paper : str, optional
        Citation key of the paper it follows.
    takes : {'panel', 'dataset', 'groups', 'datasets'}
        What the function is given: a Panel for each aspect, or a Choice of one data set, of each group (`by`) in one
        table, or of all data sets.
    trials : {'clusters', 'mean', 'first'}
        Where inputs have several trials the function is given all of them, because it takes the units of
        `data.units.units_of` as clusters; or one output per input, because it takes inputs as independent.
    **more
        `also`, `either`, `declared`, `classes` and `of_files` of `Analysis`.

    Returns
    -------
    callable
        The decorator of a function from a Panel or a Choice to a Table. The parameters after the first are options.

    Notes
    -----
    A panel comes to the function in canonical order, so that no draw depends on the order of the file or on names; only
    a profile that repeats another tool's random numbers gets the caller's order, because that tool had it.
    """

    def keep(function: Callable[P, Table]) -> Callable[P, Table]:
        by_name = _chosen_by_name(takes, inspect.signature(function).parameters)

        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> Table:
            _check_choices(function, kwargs)
            given: Any = args[0]
            if takes != "panel":
                given = chosen(given, {n: kwargs.pop(n) for n in by_name if n in kwargs})
            if not more.get("classes"):
                given = _without_classes(given)
            clustered = trials == "clusters" or (more.get("classes") and _counts_classes(given))
            merged = given if clustered else _merge_trials(given, trials)  # type: ignore[arg-type]
            merge_note = [] if merged is given else [MERGED[trials]]
            given = merged
            if takes == "panel" and not profile_of(kwargs.get("profile", "nlgauge")).legacy:  # type: ignore[arg-type]
                given = given.canonical()
            given, left = _only_families(given, takes, kwargs.get("families"))
            args = (given, *args[1:])  # type: ignore[assignment]
            table = function(*args, **kwargs)
            table.kind = name
            table.notes = [*table.notes, *merge_note]
            if left:
                table.notes = [*table.notes, f"in no family that you named, left out: {', '.join(left)}."]
            return table

        register("analysis", name)(Analysis(name, question, paper, takes, named, **more))
        return named

    return keep


def _without_classes(given: Panel | Choice) -> Panel | Choice:
    """The same without aspects of classes: no analysis but those that say so may take codes for numbers."""
    if isinstance(given, Choice):
        unordered = [a for data in given.datasets for a in data.unordered]
        if (unordered and given.aspects and set(given.aspects) <= set(unordered)) or (
            unordered and set(unordered) >= set(given.data.aspects)
        ):
            raise _of_classes(given.data.name, unordered[0])
        sets = [data.numeric() for data in given.datasets]
        if all(one is other for one, other in zip(sets, given.datasets, strict=True)):
            return given
        aspects = None if given.aspects is None else [a for a in given.aspects if a not in unordered]
        return replace(given, data=sets[0], others=sets[1:], aspects=aspects)
    if given.scale.unordered:
        raise _of_classes(given.name, given.aspect)
    return given


def _of_classes(name: str, aspect: str) -> NeedsMissing:
    return NeedsMissing(
        f"{aspect} has classes without an order, of which there is no mean or rank; {call('analyze verdicts FILE')} "
        f"and {call('analyze agreement FILE')} take them. If they have an order, say what they are worth "
        f"({option('values')}).",
        data=name,
        aspect=aspect,
        code="unordered_classes",
    )


def _counts_classes(given: Panel | Choice) -> bool:
    """Whether an analysis of classes counts them by cluster: unordered ones, and verdicts on the parts of outputs."""
    if isinstance(given, Choice):
        return False
    return given.scale.unordered or (given.data is not None and has_parts(given.data.samples))


def _merge_trials(given: Panel | Choice, how: Literal["mean", "first"]) -> Panel | Choice:
    """The same with one output per input; as it is where no input has several trials, or where `by` parts trials."""
    if isinstance(given, Choice):
        sets = [data if _parts_trials(data, given.columns) else merge_trials(data, how) for data in given.datasets]
        same = all(one is other for one, other in zip(sets, given.datasets, strict=True))
        return given if same else replace(given, data=sets[0], others=sets[1:])
    merged = given.data and merge_trials(given.data, how)
    if merged is given.data or merged is None:
        return given
    options: dict[str, Any] = {"keep_people": not given.people, "aggregate": given.aggregate}
    return replace(type(given).of(merged, given.aspect, **options), name=given.name)


def _parts_trials(data: Dataset, columns: Collection[str]) -> bool:
    """Whether the columns put trials of one input into different parts."""
    keys = data.samples.select("system", base_inputs(data.samples).alias("input"))
    named = [c.partition("=")[0] if c not in data.samples.columns else c for c in columns]
    parted = keys.with_columns(data.samples[c].alias(f"__{c}__") for c in named if c in data.samples.columns)
    return parted.n_unique() > keys.n_unique()


def _chosen_by_name(takes: Takes, own: Collection[str]) -> list[str]:
    """Fields of a Choice that mean something to an analysis with these parameters of its own."""
    if takes == "panel":
        return []
    useless = {*own, *([] if takes == "groups" else ["by", "others"]), *(["aspects"] if "aspect" in own else [])}
    return [name for name in OPTIONS if name not in useless]


def _check_choices(function: Callable[..., Table], options: Mapping[str, Any]) -> None:
    """An option whose type is a list of words (Literal) has one of them."""
    for name, words in allowed_words(function).items():
        if name in options and options[name] not in words:
            known = [str(word) for word in words if word is not None]
            raise NameUnknown(f"no {name} '{options[name]}'; use {either(known)}.")


def _only_families(given: Panel | Choice, takes: Takes, families: object) -> tuple[Panel | Choice, list[str]]:
    """`families={name: [metrics]}` says which metrics take part: others would join a family by name, or make one."""
    if not isinstance(families, Mapping) or not any(not isinstance(v, str) for v in families.values()):
        return given, []
    said = {m for key, value in families.items() for m in ([key] if isinstance(value, str) else value)}
    if isinstance(given, Choice):
        sets = given.datasets if takes == "datasets" else [given.data]
        asked = given.metrics or list(dict.fromkeys(m for data in sets for m in data.metrics))
        return replace(given, metrics=[m for m in asked if m in said]), [m for m in asked if m not in said]
    kept = {m: v for m, v in given.metrics.items() if m in said}
    return replace(given, metrics=kept, lower=given.lower & set(kept)), [m for m in given.names if m not in said]


def citations(table: Table) -> list[Reference]:
    """Return the papers of the analysis that made a table, and of the metrics in its rows that are known by name."""
    # Imported late: only citations need the metrics.
    from nlgauge.scoring.plan import known_metric

    known = bibliography()
    paper = registry.get("analysis", table.kind).paper if table.kind in registry.names("analysis") else ""
    entries = {entry.key: entry for entry in cited(table.kind, paper)}
    for name in dict.fromkeys(row["metric"] for row in table if isinstance(row.get("metric"), str)):
        metric = known_metric(name)
        if metric is not None and metric.facts.cite in known:
            entries.setdefault(metric.facts.cite, known[metric.facts.cite])
    return list(entries.values())
