"""What a metric is: facts, `score(batch)`, and the batch that it sees."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from nlgauge import registry
from nlgauge.errors import NlgaugeError
from nlgauge.spec import format_spec, make, parse_spec

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
V = TypeVar("V")
Listed = list[str]  # `Texts.list` hides the name

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


class Texts:
    """Every distinct text of a run, once, with a number; views are kept per kind and computed once."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.numbers: dict[str, int] = {}
        self._views: dict[Any, Any] = {}
        self._list: list[str] = []
        self.lock = threading.RLock()
        for text in texts:
            self.number(text)

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def __len__(self) -> int:
        return len(self.numbers)

    def __reduce__(self) -> tuple[type[Texts], tuple[Iterable[str]]]:
        return Texts, (tuple(self.numbers),)  # another process computes its own views

    def list(self) -> list[str]:
        if len(self._list) != len(self.numbers):
            self._list = list(self.numbers)
        return self._list

    def view(self, key: Any, make: Callable[[Listed], V]) -> V:
        """The view of all texts under that key; `make` gets the list of distinct texts."""
        with self.lock:
            if key not in self._views:
                self._views[key] = make(self.list())
            found: V = self._views[key]
            return found


@dataclass
class Batch:
    """Samples as numbers of texts: `output[i]`, `source[i]`, `context[i]` (−1: none) and ragged `references`.

    `references` of sample i are `reference[start[i]:start[i + 1]]`. `system` and `input` number the systems and inputs,
    where they are known: for metrics that compare the outputs of one system or count each input's references once.
    """

    texts: Texts
    output: Ints
    source: Ints
    context: Ints
    reference: Ints
    start: Ints
    control: Sequence[str | None] = ()
    system: Ints | None = None
    input: Ints | None = None
    _kept: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, data: Dataset) -> Batch:
        columns = ("output", "source", "context", "references", "control", "system", "input")
        there = data.samples.columns
        return cls.from_columns(*(data.samples[c].to_list() if c in there else None for c in columns))

    @classmethod
    def from_columns(
        cls,
        output: Sequence[str | None] | None,
        source: Sequence[str | None] | None = None,
        context: Sequence[str | None] | None = None,
        references: Sequence[Sequence[str] | None] | None = None,
        control: Sequence[str | None] | None = None,
        system: Sequence[Hashable] | None = None,
        input: Sequence[Hashable] | None = None,
    ) -> Batch:
        given = (c for c in (output, source, context, references, control, system, input) if c is not None)
        n = len(next(given, ()))
        texts = Texts()
        numbers, number = texts.numbers, texts.numbers.setdefault

        def numbered(column: Sequence[str | None] | None) -> Ints:
            if column is None:
                return np.full(n, -1, np.int64)
            return np.array([-1 if t is None else number(t, len(numbers)) for t in column], np.int64)

        outputs, sources, contexts = numbered(output), numbered(source), numbered(context)
        lists: Sequence[Sequence[str] | None] = references if references is not None else [None] * n
        flat = [text for refs in lists if refs for text in refs]
        if None in flat:
            lists = [[text for text in refs or () if text is not None] for refs in lists]
            flat = [text for refs in lists if refs for text in refs]
        reference = np.array([number(text, len(numbers)) for text in flat], np.int64)
        start = np.zeros(n + 1, np.int64)
        np.cumsum([len(refs) if refs else 0 for refs in lists], out=start[1:])
        rest = control if control is not None else [None] * n
        return cls(
            texts, outputs, sources, contexts, reference, start, rest, _numbers(system), _numbers(input)
        )

    def __len__(self) -> int:
        return len(self.output)

    def view(self, key: Any, make: Callable[[list[str]], V]) -> V:
        return self.texts.view(key, make)

    def keep(self, key: Hashable, make: Callable[[], V]) -> V:
        """Something computed once for these samples and shared by the metrics of a run (matches of output and reference)."""
        if key not in self._kept:
            self._kept[key] = make()
        found: V = self._kept[key]
        return found

    def text(self, number: int) -> str | None:
        return None if number < 0 else self.texts.list()[number]


def take(batch: Batch, rows: Ints) -> Batch:
    """These samples of the batch, in this order."""
    if len(rows) == len(batch) and np.array_equal(rows, np.arange(len(batch))):
        return batch
    lengths = (batch.start[1:] - batch.start[:-1])[rows]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # Where each reference of the part stands in the batch.
    place = np.repeat(batch.start[:-1][rows] - start[:-1], lengths) + np.arange(start[-1])
    return replace(
        batch, output=batch.output[rows], source=batch.source[rows], context=batch.context[rows],
        reference=batch.reference[place], start=start, control=[batch.control[i] for i in rows.tolist()],
        system=None if batch.system is None else batch.system[rows],
        input=None if batch.input is None else batch.input[rows], _kept={},
    )  # fmt: skip


def _numbers(column: Sequence[Hashable] | None) -> Ints | None:
    if column is None:
        return None
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in column], np.int64)


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
