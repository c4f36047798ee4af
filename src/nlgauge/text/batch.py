"""The distinct texts of a run, each numbered once, and the samples of a batch as numbers of texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from nlgauge.types import Ints

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

V = TypeVar("V")
Listed = list[str]  # `Texts.list` hides the name


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
        """Return the number of a text, a new number if needed."""
        return self.numbers.setdefault(text, len(self.numbers))

    def __len__(self) -> int:
        return len(self.numbers)

    def __reduce__(self) -> tuple[type[Texts], tuple[Iterable[str]]]:
        return Texts, (tuple(self.numbers),)  # another process computes its own views

    def list(self) -> list[str]:
        """Return all distinct texts in the order of their numbers."""
        if len(self._list) != len(self.numbers):
            self._list = list(self.numbers)
        return self._list

    def view(self, key: Any, make: Callable[[Listed], V]) -> V:
        """Return the view of all texts under this key, which `make` creates from the list of distinct texts."""
        with self.lock:
            if key not in self._views:
                self._views[key] = make(self.list())
            result: V = self._views[key]
            return result


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
    criterion: Sequence[str | None] = ()  # item of a rubric; empty without rubrics
    system: Ints | None = None
    input: Ints | None = None
    _kept: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, data: Dataset) -> Batch:
        """Make a batch of all samples of a Dataset."""
        columns = ("output", "source", "context", "references", "control", "system", "input")
        there = data.samples.columns
        batch = cls.from_columns(*(data.samples[c].to_list() if c in there else None for c in columns))
        if "criterion" in there:
            batch.criterion = data.samples["criterion"].to_list()
        return batch

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
        """Make a batch from parallel columns; None (a column or a text) means missing."""
        given = (c for c in (output, source, context, references, control, system, input) if c is not None)
        n = len(next(given, ()))
        lists = [refs or () for refs in references] if references is not None else [()] * n
        start = np.zeros(n + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lists), np.int64, n), out=start[1:])
        batch = cls.from_flat(output, source, context, list(chain.from_iterable(lists)), start)
        batch.control = control if control is not None else [None] * n
        batch.system, batch.input = _numbers(system), _numbers(input)
        return batch

    @classmethod
    def from_flat(
        cls,
        output: Sequence[str | None] | None,
        source: Sequence[str | None] | None,
        context: Sequence[str | None] | None,
        references: Sequence[str | None] | None,
        start: Ints,
    ) -> Batch:
        """Make a batch from columns of texts, the references of all samples one after the other.

        Those of sample i are `references[start[i]:start[i + 1]]`; None among them is left out.
        """
        n = len(start) - 1
        texts, (outputs, sources, contexts, reference) = numbered(n, output, source, context, references or ())
        if len(reference) and reference.min() < 0:
            there = reference >= 0
            many = np.bincount(np.repeat(np.arange(n), np.diff(start))[there], minlength=n)
            start = np.zeros(n + 1, np.int64)
            np.cumsum(many, out=start[1:])
            reference = reference[there]
        return cls(texts, outputs, sources, contexts, reference, start, [None] * n)

    def __len__(self) -> int:
        return len(self.output)

    def view(self, key: Any, make: Callable[[list[str]], V]) -> V:
        """Return the view of all distinct texts under a key; `make` computes it once."""
        return self.texts.view(key, make)

    def keep(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return something computed once for these samples and shared by the metrics of a run (matches with
        references).
        """
        if key not in self._kept:
            self._kept[key] = make()
        result: V = self._kept[key]
        return result

    def text(self, number: int) -> str | None:
        """Return a text by its number; None for -1."""
        return None if number < 0 else self.texts.list()[number]


def numbered(n: int, *columns: Sequence[str | None] | None) -> tuple[Texts, list[Ints]]:
    """Return the distinct texts of columns, and each column as their numbers; −1: no text.

    A column that is None has n entries without text.
    """
    seen: dict[Any, int] = {}  # the position, in all columns, of the first occurrence of a text
    place = count()
    results = [
        np.full(n, -1, np.int64) if c is None else np.fromiter(map(seen.setdefault, c, place), np.int64, len(c))
        for c in columns
    ]
    total = next(place)
    texts = Texts()
    if len(seen) == total and None not in seen:  # then positions are numbers
        texts.numbers = seen
        return texts, results
    number = np.full(total + 1, -1, np.int64)  # the last: no text
    seen.pop(None, None)
    number[np.fromiter(seen.values(), np.int64, len(seen))] = np.arange(len(seen))
    texts.numbers = dict(zip(seen, count(), strict=False))
    return texts, [number[f] for f in results]


def take(batch: Batch, rows: Ints) -> Batch:
    """Return some samples of a batch; texts and what is known of them stay shared.

    Parameters
    ----------
    batch : Batch
    rows : array of int
        Numbers of the samples, in the requested order.

    Returns
    -------
    Batch
    """
    if len(rows) == len(batch) and bool((rows == np.arange(len(batch))).all()):
        return batch
    lengths = (batch.start[1:] - batch.start[:-1])[rows]
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    # Position in the batch of each selected reference.
    place = np.repeat(batch.start[:-1][rows] - start[:-1], lengths) + np.arange(start[-1])
    return replace(
        batch,
        output=batch.output[rows],
        source=batch.source[rows],
        context=batch.context[rows],
        reference=batch.reference[place],
        start=start,
        control=[batch.control[i] for i in rows.tolist()],
        criterion=[batch.criterion[i] for i in rows.tolist()] if batch.criterion else (),
        system=None if batch.system is None else batch.system[rows],
        input=None if batch.input is None else batch.input[rows],
        _kept={},
    )


def _numbers(column: Sequence[Hashable] | None) -> Ints | None:
    if column is None:
        return None
    seen: dict[Hashable, int] = {}
    return np.array([seen.setdefault(name, len(seen)) for name in column], np.int64)
