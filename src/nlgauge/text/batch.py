"""The distinct texts of a run, each numbered once, and the samples of a batch as numbers of texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
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
        return cls(texts, outputs, sources, contexts, reference, start, rest, _numbers(system), _numbers(input))

    def __len__(self) -> int:
        return len(self.output)

    def view(self, key: Any, make: Callable[[list[str]], V]) -> V:
        return self.texts.view(key, make)

    def keep(self, key: Hashable, make: Callable[[], V]) -> V:
        """Something computed once for these samples and shared by the metrics of a run (matches of output and
        reference).
        """
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
