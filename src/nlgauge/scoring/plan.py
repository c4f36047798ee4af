"""Before any work: which metrics were asked for, whether they exist, whether data and installation carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import Facts, Metric, metric_from_spec
from nlgauge.metrics.base import MetricLike
from nlgauge.metrics.function import FunctionMetric
from nlgauge.metrics.published_names import published
from nlgauge.options import option
from nlgauge.scoring.text_lists import TextLists

NEED_NAMES = {
    "output": "outputs",
    "references": "references",
    "source": "sources",
    "context": "contexts",
    "control": "control attributes",
}


class Fields(NamedTuple):
    """What samples have, as far as a plan needs to know: texts (outputs, references, …) and columns."""

    name: str
    has: set[str]
    columns: Sequence[str]


Samples = Dataset | TextLists | Fields


def fields_of(data: Samples) -> Fields | TextLists:
    """Return the fields that the samples have."""
    return Fields(data.name, there(data), data.samples.columns) if isinstance(data, Dataset) else data


def plan(data: Samples, metrics: Sequence[MetricLike] | MetricLike) -> list[Metric]:
    """Return the metrics to run, each once; one error names everything that is wrong with any of them.

    What is asked for is the caller's word, so it may name a Python file.

    >>> import nlgauge as ng
    >>> [str(m) for m in plan(ng.example(), ["len", "wps", "len"])]
    ['len', 'wps']
    """
    fields = fields_of(data)
    requested = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    if not requested:
        raise NlgaugeError("no metrics to score with; `nlgauge list metrics` shows all.")
    metrics_by_name: dict[str, Metric] = {}
    for metric in parse(requested, allow_code=True):
        if metrics_by_name.setdefault(str(metric), metric) != metric:
            raise NlgaugeError(f"two metrics have the name '{metric}'; set a different name='…' for one of them.")
    check_needs(fields, list(metrics_by_name.values()))
    for metric in metrics_by_name.values():
        metric.ready()
    return list(metrics_by_name.values())


def parse(metrics: Sequence[MetricLike], *, allow_code: bool = False) -> list[Metric]:
    """Return the metrics of these specs; one error names all unknown ones. allow_code: see `metric_from_spec`."""
    parsed, wrong = [], []
    for each in metrics:
        try:
            parsed.append(_metric(each, allow_code))
        except NlgaugeError as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        facts = [error.refusals[0].values for error in wrong]
        problems = [fact.get("problem", str(error)) for fact, error in zip(facts, wrong, strict=True)]
        remedy = f"`nlgauge list metrics` shows all {len(registry.names('metric'))}."
        raise NameUnknown(" ".join([*problems, remedy]), code="unknown_name")
    return parsed


def _metric(given: object, allow_code: bool) -> Metric:
    """Return a metric that is given as an object, as a spec, or as a plain function of texts."""
    if isinstance(given, str):
        return metric_from_spec(given, allow_code=allow_code)
    if isinstance(given, Metric):
        return given
    if callable(given) and not isinstance(given, type):
        return FunctionMetric(given)
    raise NlgaugeError(f"expected a Metric, a metric name or a callable; got {given!r}.")


def known_metric(name: str) -> Metric | None:
    """Return the metric that a column of scores is named after, or None.

    A column's name never imports a file, and a published name (BERTScore, COMET-22) does not say which options and
    weights made the scores.
    """
    if published(name.partition("(")[0]) and name.partition("(")[0] not in registry.names("metric"):
        return None
    try:
        return metric_from_spec(name)
    except NlgaugeError:
        return None


def there(data: Dataset) -> set[str]:
    """Return which texts at least one sample has: outputs, references, …"""
    fields = set()
    for need in NEED_NAMES:
        if need in data.samples.columns:
            column = data.samples[need].drop_nulls()
            if column.dtype == pl.String and need != "output":
                column = column.filter(column.str.strip_chars() != "")  # a text without a word is none
            if need == "references" and column.dtype.is_nested():
                column = column.filter(column.list.len() > 0)
            if len(column):
                fields.add(need)
    return fields


def missing(facts: Facts, has: set[str]) -> list[str]:
    """Return the needs of a metric that the samples do not meet."""
    return [need for need in NEED_NAMES if need in facts.needs and need not in has]


def check_needs(data: Samples, metrics: Sequence[Metric]) -> None:
    """Refuse metrics that need texts which the data do not have."""
    fields = fields_of(data)
    lacking: dict[tuple[str, ...], list[str]] = {}
    for metric in metrics:
        if gaps := missing(metric.facts, fields.has):
            lacking.setdefault(tuple(gaps), []).append(str(metric))
    if not lacking:
        return
    lines = [
        f"{', '.join(repr(name) for name in names)} {'needs' if len(names) == 1 else 'need'} "
        f"{' and '.join(NEED_NAMES[gap] for gap in gaps)}"
        for gaps, names in lacking.items()
    ]
    judged = any(metric.facts.family == "judge" for metric in metrics)  # whose references are no column
    options = [
        option(gap)
        for gap in NEED_NAMES
        if any(gap in gaps for gaps in lacking) and not (judged and gap == "references")
    ]
    hint = f" {' and '.join(options)} says which column holds them." if options else ""
    columns = ", ".join(fields.columns)
    raise NeedsMissing(f"{'; '.join(lines)}, which {fields.name} does not have (columns: {columns}).{hint}")


def suggested(data: Samples) -> list[Metric]:
    """Return the metrics that run by default: those whose needs the data meet, without extras and weights."""
    fields, suggested = fields_of(data), []
    for each in registry.names("metric"):
        facts = registry.get("metric", each).facts
        cheap = not facts.extra and not facts.weights and facts.family != "control"
        if cheap and not missing(facts, fields.has):
            suggested.append(metric_from_spec(each))
    if not suggested:
        raise NeedsMissing(f"{fields.name}: has no outputs to score (columns: {', '.join(fields.columns)}).")
    return suggested
