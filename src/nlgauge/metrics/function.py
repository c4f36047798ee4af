"""Plain Python functions as metrics: the parameter names determine which texts are needed."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import Facts, Metric
from nlgauge.metrics.batch import Sample, Scores, readable
from nlgauge.number import either
from nlgauge.text.batch import Batch

# Parameter of the function -> what it needs of a sample.
PARAMETERS = {
    "output": "output",
    "reference": "references",
    "references": "references",
    "source": "source",
    "context": "context",
    "control": "control",
}


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A function of texts that returns a number; higher is better.

    Parameters
    ----------
    function : callable
        Its parameters are any of `output`, `reference`, `references` (a list), `source`, `context` and `control`;
        parameters with a default are not set. With `reference`, an output that has several references gets the
        highest value. None or NaN means no score.

    Examples
    --------
    >>> import nlgauge as ng
    >>> def overlap(output, reference):
    ...     return len(set(output.split()) & set(reference.split())) / len(set(reference.split()))
    >>> scored = ng.score(["the cat sat"], overlap, ref=["the cat sat down"])
    >>> scored.scores["overlap"][0]
    0.75
    """

    function: Callable[..., float | None]
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.function).parameters.values()
        open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        required = [p.name for p in parameters if p.default is p.empty and p.kind not in open_ended]
        if not required or not set(required) <= PARAMETERS.keys():
            raise NlgaugeError(
                f"{self._name}: the parameters of a function that is used as a metric must be "
                f"{either(list(PARAMETERS))}; got {', '.join(required) or 'none'}."
            )
        object.__setattr__(self, "names", tuple(required))

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        """Properties derived from the function: its name, its needs and its summary."""
        needs = frozenset({"output", *(PARAMETERS[name] for name in self.names)})
        summary = " ".join((inspect.getdoc(self.function) or "").partition("\n\n")[0].split())
        return Facts(self._name, "function", needs, False, (-math.inf, math.inf), 0, "", "", "", summary)

    def __str__(self) -> str:
        return self._name

    def score(self, batch: Batch) -> Scores:
        """Call the function once per sample, or once per reference if it takes a reference."""
        result = readable(batch, self.facts.needs)
        return result.scattered([self._value(sample) for sample in result.samples], "the function returned no number")

    def _value(self, sample: Sample) -> float:
        texts: dict[str, Any] = {name: getattr(sample, name) for name in self.names if name != "reference"}
        if "references" in texts:
            texts["references"] = list(sample.references)
        if "reference" not in self.names:
            return _number(self.function(**texts))
        values = [_number(self.function(**texts, reference=reference)) for reference in sample.references]
        return max((value for value in values if not math.isnan(value)), default=math.nan)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
