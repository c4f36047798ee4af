"""What a metric is: a class with facts about itself and `score(batch)`, and hooks that most leave as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from nlgauge import registry
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics.batch import NEEDS, Scores, limited_scores, limited_stats
from nlgauge.number import either
from nlgauge.registry import did_you_mean
from nlgauge.spec import allowed_words, format_spec, make, parse_spec
from nlgauge.text.batch import Batch
from nlgauge.types import Array

C = TypeVar("C", bound="type[Metric]")
MetricLike: TypeAlias = "str | Metric | Callable[..., float | None]"  # a spec, a metric, or a function of texts


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


class FactsOf:
    """`Bleu.facts` are those of the class, `bleu.facts` those under the options of an instance, worked out once."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def __get__(self, metric: Metric | None, cls: type[Metric]) -> Facts:
        if metric is None:
            return self.facts
        found = vars(metric)["facts"] = metric.own_facts(self.facts)
        return found


class Metric:
    """The base class. A metric is a frozen dataclass of its options below `@metric(…)` and defines `score`."""

    facts: Facts
    instead = ""  # a metric of the same kind whose weights come inside a package
    model_options: tuple[str, ...] = ()  # options that name a model
    aspect: str = "overall"  # what it scores, where it is made for one aspect; often an option

    def score(self, batch: Batch) -> Scores:
        """One value per sample."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        cls: Any = type(self)
        allowed = allowed_words(cls)
        for option in (field.name for field in fields(cls) if field.name in allowed):
            value = getattr(self, option)
            if value not in allowed[option]:
                known = [str(word) for word in allowed[option] if word not in (None, "")]
                hint = did_you_mean(value, known) if isinstance(value, str) else ""
                raise NameUnknown(f"{cls.facts.name}: {option} must be {either(known)}. Got {value!r} instead.{hint}")
        self.check()

    def check(self) -> None:
        """Refuse options that mean nothing together; those whose annotation lists the values are checked already."""

    def own_facts(self, facts: Facts) -> Facts:
        """The facts under these options: what is needed and how high a value can be may depend on them."""
        return facts

    @property
    def signature(self) -> str:
        """One line that is printed with the numbers so that others can repeat them; by default only our version.

        The spec (`str(metric)`) holds the options, so only what the options leave open needs to be added here.
        """
        return signature()

    def models(self) -> dict[str, str]:
        """Option -> name or folder of a model."""
        return {option: getattr(self, option) for option in self.model_options}

    def ready(self) -> None:
        """Refuse, before any work, what cannot run on this machine: packages and folders that are missing."""
        if models := self.models():
            from nlgauge.models.loading import check_ready

            check_ready(self.facts.name, self.instead, **models)

    def prepare(self, batch: Batch) -> None:
        """Called for all metrics of a run before the first is scored, so that they can share one pass of a model."""

    def remarks(self, batch: Batch) -> list[str]:
        """What a reader of these scores should know."""
        return []

    def tally(self, batch: Batch) -> dict[str, int]:
        """Counts to be summed over the parts of a run and printed."""
        return {}

    def stats(self, batch: Batch) -> Array:
        """Samples × statistics, whose sums give the value of a corpus or system; zeros for a sample without a value."""
        raise NotImplementedError

    def from_stats(self, stats: Array) -> Array:
        """The values of sums of statistics (one row or several), as corpus BLEU, which is no mean of sentence BLEUs."""
        raise NotImplementedError

    def pooled(self, batch: Batch) -> float:
        """The value of all outputs together where no sums give it (distinct-n)."""
        raise NotImplementedError

    @property
    def has_stats(self) -> bool:
        return type(self).from_stats is not Metric.from_stats

    @property
    def has_pooled(self) -> bool:
        return type(self).pooled is not Metric.pooled

    def __str__(self) -> str:
        return format_spec(self.facts.name, self)

    def signed(self, **settings: Any) -> str:
        """A signature: the models with a hash of their weights, these settings, our version."""
        from nlgauge.models.loading import fingerprint

        return signature(
            **{option: fingerprint(name) for option, name in self.models().items()},
            **{k: spaceless(v) for k, v in settings.items()},
        )


def needing(facts: Facts, needs: Iterable[str], bounds: tuple[float, float] | None = None) -> Facts:
    """The facts with other needs beside the output, and perhaps other bounds."""
    return replace(facts, needs=frozenset({"output", *needs}), bounds=bounds or facts.bounds)


@dataclass_transform(frozen_default=True)
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
) -> Callable[[C], C]:
    """Class decorator: make it a frozen dataclass of its options, state the facts, and register it."""
    wants = frozenset({"output", *needs})
    if not wants <= set(NEEDS):
        raise ValueError(f"metric {name}: unknown needs {sorted(wants - set(NEEDS))}")

    def keep(cls: C) -> C:
        if not issubclass(cls, Metric):
            raise TypeError(f"metric {name}: write class {cls.__name__}(Metric).")
        made: Any = cls if "__dataclass_fields__" in vars(cls) else dataclass(frozen=True)(cls)
        summary = " ".join((made.__doc__ or "").strip().partition("\n\n")[0].split())
        made.facts = FactsOf(
            Facts(name, family, wants, lower, bounds, year, cite, extra, weights, summary, corpus, longest)
        )
        if longest:
            made.score = limited_scores(made.score)
            made.stats = limited_stats(made.stats)
        return registry.register("metric", name)(made)  # type: ignore[no-any-return]

    return keep


def metric_from_spec(spec: str, *, allow_code: bool = False) -> Metric:
    """`bleu(order=2)` -> the metric; unknown names and options say what there is.

    allow_code: the spec was typed by the user, so it may name a file of theirs (`my.py@wit`), which is run.
    """
    name, options = parse_spec(spec)
    cls = registry.get("metric", name, allow_code=allow_code)
    if not (isinstance(cls, type) and issubclass(cls, Metric)):
        raise NlgaugeError(f"'{name}' is no metric: it is no class below nlgauge.metrics.Metric.")
    found: Metric = make(cls, name.rpartition("@")[2], options)
    return found


def signature(**settings: Any) -> str:
    """The line that is printed with a number, in the manner of sacrebleu; settings that are None are left out.

    >>> signature(tok="13a", lowercase=False).rpartition("|")[0]
    'tok:13a|lowercase:no'
    """
    from nlgauge import __version__

    words = {True: "yes", False: "no"}
    pairs = [f"{k}:{words[v] if isinstance(v, bool) else v}" for k, v in settings.items() if v is not None]
    return "|".join([*pairs, f"version:nlgauge-{__version__}"])


def spaceless(value: Any) -> Any:
    """Text as one word, so that a signature has no spaces."""
    return repr(value).replace(" ", "_") if isinstance(value, str) and set(value) & set(" \n|:") else value
