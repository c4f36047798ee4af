"""What a metric is: facts and `score(batch)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from nlgauge import registry
from nlgauge.errors import NlgaugeError
from nlgauge.spec import format_spec, make, parse_spec
from nlgauge.text.batch import Batch
from nlgauge.types import Array

V = TypeVar("V")

NEEDS = ("output", "references", "source", "context", "control")


@dataclass(frozen=True)
class Facts:
    """What a metric says about itself; `nlgauge list metrics` is written from it.

    corpus: the value of a sample depends on the other samples (CIDEr and NIST weigh n-grams by their frequency in all
    references, self-BLEU compares outputs with each other): such a metric must see the whole run in one batch.
    longest: characters of the longest text that the metric takes, where its work grows faster than the text (0: any).
    """

    name: str
    family: str
    needs: frozenset[str]
    lower: bool
    bounds: tuple[float, float]
    year: int
    cite: str
    extra: str
    weights: str
    summary: str
    corpus: bool = False
    longest: int = 0


@dataclass
class Scores:
    """One value per sample; NaN where there is none, and then a reason.

    notes: what to know about a value that is there, as "empty output" where the convention defines a score for it.
    """

    values: Array
    reasons: dict[int, str] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in np.flatnonzero(np.isnan(self.values)):
            self.reasons.setdefault(int(place), "not defined for these texts")


@runtime_checkable
class Metric(Protocol):
    """The shape of a metric. `facts` is set by the decorator `@metric`.

    A metric may have more:
    `signature`: one line to print beside its numbers, so that others can repeat them;
    `stats(batch)`: an array n × k whose sums over samples give the value of a corpus or system by `from_stats(sums)`
    (1-D or rows; a sample without a value has a row of zeros), as corpus BLEU, which is no mean of sentence BLEUs;
    `pooled(batch)`: the value of all outputs together where no sums exist (distinct-n).
    """

    facts: Facts

    def score(self, batch: Batch) -> Scores: ...


def metric(
    name: str,
    *,
    family: str,
    needs: Iterable[str] = ("references",),
    lower: bool = False,
    bounds: tuple[float, float] = (0.0, 1.0),
    year: int,
    cite: str,
    extra: str = "",
    weights: str = "",
    corpus: bool = False,
    longest: int = 0,
) -> Callable[[type[V]], type[V]]:
    """Class decorator: state the facts, make `str(metric)` its spec, and register it."""
    wants = frozenset({"output", *needs})
    if not wants <= set(NEEDS):
        raise ValueError(f"metric {name}: unknown needs {sorted(wants - set(NEEDS))}")

    def keep(cls: type[V]) -> type[V]:
        if not is_dataclass(cls):
            raise TypeError(f"metric {name}: put @metric above @dataclass(frozen=True)")
        summary = (cls.__doc__ or "").strip().split("\n")[0]
        cls.facts = Facts(  # type: ignore[attr-defined]
            name, family, wants, lower, bounds, year, cite, extra, weights, summary, corpus, longest
        )
        if longest:
            from nlgauge.metrics.longest import bounded

            bounded(cls, longest)
        if "__str__" not in vars(cls):  # a judge is called by a short name
            cls.__str__ = lambda self: format_spec(name, self)  # type: ignore[assignment]
        return registry.register("metric", name)(cls)

    return keep


def metric_from_spec(spec: str, *, allow_code: bool = False) -> Metric:
    """`bleu(order=2)` -> the metric; unknown names and options say what there is.

    allow_code: the spec was typed by the user, so it may name a file of theirs (`my.py@wit`), which is run.
    """
    name, options = parse_spec(spec)
    cls = registry.get("metric", name, allow_code=allow_code)
    found = make(cls, name.rpartition("@")[2], options)
    if not isinstance(found, Metric):
        raise NlgaugeError(f"'{name}' is no metric: it has no score(batch).")
    return found


def signature(**facts: Any) -> str:
    """The line that is printed with a number, in the manner of sacrebleu.

    >>> signature(tok="13a", lowercase=False).rpartition("|")[0]
    'tok:13a|lowercase:no'
    """
    from nlgauge import __version__

    said = {True: "yes", False: "no"}
    pairs = [f"{k}:{said.get(v, v) if isinstance(v, bool) else v}" for k, v in facts.items() if v is not None]
    return "|".join([*pairs, f"version:nlgauge-{__version__}"])


def option_names(cls: type[Any]) -> list[str]:
    return [f.name for f in fields(cls)]
