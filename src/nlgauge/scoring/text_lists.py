"""Texts given as lists, as a batch for metrics and as a Dataset for analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch
from nlgauge.types import Ints

Column = list[str | None]


@dataclass(frozen=True)
class TextLists:
    """Outputs of one system, numbered from 1, and the texts that belong to each of them.

    The references are one flat list; those of output i are `references[start[i]:start[i + 1]]`. A metric needs no data
    frame, so one is made only when the Dataset is asked for.
    """

    output: Column
    others: dict[str, Column]  # source, context
    references: Column | None
    start: Ints | None
    system: str = "outputs"
    name: str = "texts"

    @classmethod
    def of(cls, texts: Mapping[str, Any], system: str = "outputs", name: str = "texts") -> TextLists:
        """Check the lists; `references` has a text for each output, or a list of texts."""
        columns: dict[str, Any] = {
            role: [t] if isinstance(t, str) else list(t) for role, t in texts.items() if t is not None
        }
        sizes = {role: len(column) for role, column in columns.items()}
        if len(set(sizes.values())) > 1:
            sizes_text = ", ".join(f"{n} of {role}" for role, n in sizes.items())
            raise NlgaugeError(f"expected lists of equal length, in the same order; got {sizes_text}.")
        references, start = _flat(columns.pop("references")) if "references" in columns else (None, None)
        for role, column in columns.items() if references is None else {**columns, "references": references}.items():
            if other := set(map(type, column)) - {str, type(None)}:
                wrong = [kind for kind in other if not issubclass(kind, str)]
                if wrong:
                    raise NlgaugeError(f"{role}: expected a text; got {wrong[0].__name__}.")
        return cls(columns.pop("output"), columns, references, start, system, name)

    def __len__(self) -> int:
        return len(self.output)

    @property
    def columns(self) -> list[str]:
        """Return the names of the columns that the Dataset has."""
        references = [] if self.references is None else ["references"]
        return ["system", "input", "output", *self.others, *references]

    @property
    def has(self) -> set[str]:
        """Return which texts at least one output has."""
        present = {"output"} if any(text is not None for text in self.output) else set()
        present |= {role for role, column in self.others.items() if any(text and text.strip() for text in column)}
        return present | ({"references"} if self.references else set())

    @cached_property
    def batch(self) -> Batch:
        """The texts as numbers, each distinct one once."""
        n = len(self)
        start = np.zeros(n + 1, np.int64) if self.start is None else self.start
        batch = Batch.from_flat(
            self.output, self.others.get("source"), self.others.get("context"), self.references, start
        )
        batch.system, batch.input = np.zeros(n, np.int64), np.arange(n, dtype=np.int64)
        return batch

    @cached_property
    def dataset(self) -> Dataset:
        """The same texts as a Dataset."""
        n = len(self)
        columns: dict[str, Any] = {"output": self.output, **self.others}
        frame = pl.DataFrame(
            {"system": [self.system] * n, "input": list(map(str, range(1, n + 1)))}
            | {role: pl.Series(role, column, pl.String) for role, column in columns.items()}
        )
        if self.references is not None and self.start is not None:
            frame = frame.with_columns(_listed(self.references, self.start).alias("references"))
        return Dataset.of(self.name, frame, human_systems=())


def _flat(references: Sequence[Any]) -> tuple[Column, Ints]:
    """Return all references in one list, and the position at which those of each output begin."""
    n = len(references)
    if all(kind is str for kind in set(map(type, references))):
        return list(references), np.arange(n + 1, dtype=np.int64)
    try:
        lists = [[refs] if refs is None or isinstance(refs, str) else list(refs) for refs in references]
    except TypeError:
        wrong = next(type(refs) for refs in references if refs is not None and not hasattr(type(refs), "__iter__"))
        raise NlgaugeError(f"references: expected a text or a list of texts; got {wrong.__name__}.") from None
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.fromiter(map(len, lists), np.int64, n), out=start[1:])
    return list(chain.from_iterable(lists)), start


def _listed(references: Column, start: Ints) -> pl.Series:
    """Return the references as a column of lists.

    Polars creates a Series per row from a list of lists, which takes twenty times as long.
    """
    flat, n = pl.Series(references, dtype=pl.String), len(start) - 1
    if n and len(flat) == n and start[1] == 1 and (np.diff(start) == 1).all():
        return flat.reshape((n, 1)).cast(pl.List(pl.String))
    owner = np.repeat(np.arange(n), np.diff(start))
    lists = pl.DataFrame({"owner": owner, "text": flat}).group_by("owner", maintain_order=True).agg("text")
    rows = pl.DataFrame({"owner": np.arange(n)}).join(lists, on="owner", how="left", maintain_order="left")
    return rows["text"].fill_null(pl.Series([[]], dtype=pl.List(pl.String)).first())
