"""The base class of metrics: declared properties, `score(batch)`, and optional hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, TypeVar, dataclass_transform

from nlgauge import __version__, registry
from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics.batch import NEEDS, Scores, limited_scores, limited_stats
from nlgauge.metrics.published_names import published
from nlgauge.models.loading import check_ready, fingerprint
from nlgauge.number import either
from nlgauge.registry import did_you_mean
from nlgauge.spec import allowed_words, format_spec, make, parse_spec
from nlgauge.text.batch import Batch
from nlgauge.types import Array

SACREBLEU = "2.6.0"  # the version whose corpus scores are ours: tests/parity/test_corpus_scores.py compares them
C = TypeVar("C", bound="type[Metric]")
MetricLike: TypeAlias = "str | Metric | Callable[..., float | None]"  # a spec, a metric, or a function of texts


@dataclass(frozen=True)
class Facts:
    """Facts about a metric; `nlgauge list metrics` shows them.

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
    """Descriptor: `Bleu.facts` are the properties of the class, `bleu.facts` those under the options of an instance."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def __get__(self, metric: Metric | None, cls: type[Metric]) -> Facts:
        if metric is None:
            return self.facts
        result = vars(metric)["facts"] = metric.own_facts(self.facts)
        return result


class Metric:
    """The base class. A metric is a frozen dataclass of its options, decorated with `@metric(…)`, that defines
    `score`.
    """

    facts: Facts
    instead = ""  # a metric of the same kind whose weights are included in a package
    model_options: tuple[str, ...] = ()  # options that name a model
    aspect: str = "overall"  # the aspect that it scores, if it is specific to one; often an option

    def score(self, batch: Batch) -> Scores:
        """Return one value per sample; a missing value is NaN and has a reason."""
        raise NotImplementedError

    def __call__(
        self,
        outputs: Iterable[str],
        references: Iterable[str | Sequence[str]] | None = None,
        *,
        source: Iterable[str] | None = None,
        context: Iterable[str] | None = None,
    ) -> Array:
        """Return the scores of outputs: those of `nlgauge.score` with this metric.

        Parameters
        ----------
        outputs : sequence of str
        references : sequence of str, or of sequences of str, optional
            One reference for each output, or several.
        source : sequence of str, optional
        context : sequence of str, optional

        Returns
        -------
        array of outputs
            NaN where an output has no score; `nlgauge.score` says why.

        Examples
        --------
        >>> from nlgauge.metrics import RougeL
        >>> RougeL()(["the cat sat", "a dog"], ["the cat sat", "the dog"]).tolist()
        [1.0, 0.5]
        """
        import nlgauge

        if isinstance(outputs, str):
            raise NlgaugeError(f"outputs: expected a list of texts; got the single text {outputs[:40]!r}.")
        scored = nlgauge.score(list(outputs), self, ref=references, src=source, context=context)  # type: ignore[arg-type]
        return scored.values()

    def __post_init__(self) -> None:
        cls: Any = type(self)
        allowed = allowed_words(cls)
        for option in (field.name for field in fields(cls) if field.name in allowed):
            value = getattr(self, option)
            if value not in allowed[option]:
                available = [str(word) for word in allowed[option] if word not in (None, "")]
                hint = did_you_mean(value, available) if isinstance(value, str) else ""
                raise NameUnknown(
                    f"{cls.facts.name}: {option} must be {either(available)}. Got {value!r} instead.{hint}"
                )
        self.check()

    def check(self) -> None:
        """Raise NlgaugeError for options that do not fit together; values that a Literal lists are checked before."""

    def own_facts(self, facts: Facts) -> Facts:
        """Return the properties under these options, which may affect needs and bounds."""
        return facts

    @property
    def signature(self) -> str:
        """One line that is printed with the numbers so that others can repeat them; by default only our version.

        The spec (`str(metric)`) contains the options, so only other settings are added here.
        """
        return signature()

    def corpus_signature(self, references: str) -> str:
        """Return the line that is printed with the score of a corpus: sacreBLEU's own where the score is sacreBLEU's.

        `references` is how many each output has, or `var`.
        """
        return self.signature

    def models(self) -> dict[str, str]:
        """Return the models that are used: option -> name or folder."""
        return {option: getattr(self, option) for option in self.model_options}

    def ready(self) -> None:
        """Raise NeedsMissing or NlgaugeError for missing packages and files, before any work."""
        if models := self.models():
            check_ready(self.facts.name, self.instead, **models)

    def prepare(self, batch: Batch) -> None:
        """Announce the texts of all metrics of a run before any is scored, so that they share one pass of a model."""

    def remarks(self, batch: Batch) -> list[str]:
        """Return remarks for readers of these scores, one sentence each."""
        return []

    def tally(self, batch: Batch) -> dict[str, int]:
        """Return counts that are summed over the parts of a run and printed."""
        return {}

    def stats(self, batch: Batch) -> Array:
        """Return samples × statistics whose sums give the corpus score; zeros for a sample without a value."""
        raise NotImplementedError

    def from_stats(self, stats: Array) -> Array:
        """Return the values of sums of statistics (one or several rows); corpus BLEU is not the mean of sentence
        BLEUs.
        """
        raise NotImplementedError

    def pooled(self, batch: Batch) -> float:
        """Return the corpus score of a metric whose corpus score is not a function of sums (distinct-n)."""
        raise NotImplementedError

    @property
    def has_stats(self) -> bool:
        """Return whether sums of `stats` give the corpus score."""
        return type(self).from_stats is not Metric.from_stats

    @property
    def has_pooled(self) -> bool:
        """Return whether `pooled` gives the corpus score."""
        return type(self).pooled is not Metric.pooled

    @property
    def has_corpus(self) -> bool:
        """Return whether the corpus score differs from the mean of the outputs' scores."""
        return self.has_stats or self.has_pooled

    def __str__(self) -> str:
        spec = vars(self).get("_spec")
        if spec is None:
            spec = vars(self)["_spec"] = format_spec(self.facts.name, self)
        return str(spec)

    def signed(self, **settings: Any) -> str:
        """Return a signature: the models with a hash of their weights, these settings, our version."""
        return signature(
            **{option: fingerprint(name) for option, name in self.models().items()},
            **{k: spaceless(v) for k, v in settings.items()},
        )


def needing(facts: Facts, needs: Iterable[str], bounds: tuple[float, float] | None = None) -> Facts:
    """Return the facts with other needs than the output, and perhaps other bounds."""
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
    """Make a class a metric: a frozen dataclass of its options, with facts about it, known by name.

    Parameters
    ----------
    name : str
        Unique; options follow it in a spec, as in `bleu(order=2)`.
    family : str
        Metrics of one family are variants of each other.
    needs : sequence of {'source', 'context', 'references', 'control'}
        What a sample must have besides its output.
    lower : bool, default False
        Lower is better.
    bounds : two numbers, default (0, 1)
    year : int
    cite : str
        Citation key.
    extra : str, optional
        What must be installed.
    weights : str, optional
        Which weights it loads.
    corpus : bool, default False
        Whether the value of a sample depends on the other samples.
    longest : int, optional
        Length in characters of the longest text that is scored.

    Returns
    -------
    callable
        The decorator of a class below `Metric`.
    """
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
    """Make a metric from its spec.

    Parameters
    ----------
    spec : str
        A name, perhaps with options: `bleu(order=2)`.
    allow_code : bool, default False
        The spec was typed by the user, so it may name a file of theirs (`my.py@wit`), which is run.

    Returns
    -------
    Metric

    Raises
    ------
    NameUnknown
        With the nearest names or options.
    """
    typed, parenthesis, rest = spec.strip().partition("(")
    entry = published(typed)
    if entry is None or typed in registry.names("metric"):
        name, options = parse_spec(spec)
    elif entry.spec:
        name, options = parse_spec(entry.spec)
        options |= parse_spec(f"{name}{parenthesis}{rest}")[1]
    else:
        raise NameUnknown(f"'{typed}' {entry.text}")
    cls = registry.get("metric", name, allow_code=allow_code)
    if not (isinstance(cls, type) and issubclass(cls, Metric)):
        raise NlgaugeError(f"'{name}': expected a subclass of nlgauge.metrics.Metric; got {cls!r}.")
    result: Metric = make(cls, name.rpartition("@")[2], options)
    return result


def signature(**settings: Any) -> str:
    """Return the line that is printed with a metric's values so that others can repeat them, as sacrebleu does.

    Parameters
    ----------
    **settings
        Those that are None are left out.

    Returns
    -------
    str

    Examples
    --------
    >>> signature(tok="13a", lowercase=False).rpartition("|")[0]
    'tok:13a|lowercase:no'
    """
    return _joined(settings, f"nlgauge-{__version__}")


def sacrebleu_signature(**settings: Any) -> str:
    """Return the signature that sacreBLEU prints with the same score."""
    return _joined(settings, SACREBLEU)


def _joined(settings: dict[str, Any], version: str) -> str:
    words = {True: "yes", False: "no"}
    pairs = [f"{k}:{words[v] if isinstance(v, bool) else v}" for k, v in settings.items() if v is not None]
    return "|".join([*pairs, f"version:{version}"])


def spaceless(value: Any) -> Any:
    """Return a text as one word, so that a signature has no spaces."""
    return repr(value).replace(" ", "_") if isinstance(value, str) and set(value) & set(" \n|:") else value
