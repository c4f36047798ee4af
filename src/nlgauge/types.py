"""Types shared by modules: arrays, names, progress, and the scale of an aspect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Singles = np.ndarray[Any, np.dtype[np.float32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Ids = np.ndarray[Any, np.dtype[np.int32]]
Codes = np.ndarray[Any, np.dtype[np.uint32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]
Names = str | Sequence[str] | None  # one name, several, or all there are
Steps = Callable[[int, int], None]  # steps done, of how many
Progress = Callable[[str, int, int], None]  # of what, steps done, of how many


class Bounds(NamedTuple):
    """The smallest and the largest value of a number, as `Annotated[float, Bounds(0, 1)]`."""

    low: float | None = None
    high: float | None = None


# A class is a code in ratings and scores, as every value is a number there; its name is that of the code. A set of
# labels is one code, too: that of the set.
ScaleKind = Literal["numeric", "ordinal", "binary", "nominal", "multilabel"]
SCALE_KINDS: tuple[ScaleKind, ...] = get_args(ScaleKind)
BETWEEN = "; "  # labels of a set, in its name
MAX_ORDINAL_LEVELS = 11  # whole numbers from 0 to 10


@dataclass(frozen=True)
class AspectScale:
    """The type of an aspect.

    Attributes
    ----------
    kind : {'numeric', 'ordinal', 'binary', 'nominal', 'multilabel'}
    names : tuple of str
        Of the codes 0, 1, …: classes, or sets of labels joined by `BETWEEN`.
    declared : bool
        Whether the user or the format says so; otherwise it is inferred.
    """

    kind: ScaleKind
    names: tuple[str, ...] = ()
    declared: bool = False

    @property
    def unordered(self) -> bool:
        """Return whether the values are codes of classes or of sets of labels, for which no mean is defined."""
        return self.kind in ("nominal", "multilabel")

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the classes, or all labels that occur in the sets."""
        if self.kind != "multilabel":
            return self.names
        return tuple(sorted({label for name in self.names for label in split_labels(name)}))

    def members(self) -> Array:
        """Return codes × labels: 1 where the label is in the set of the code.

        >>> AspectScale("multilabel", ("", "a", "a; b")).members().tolist()
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
        """
        sets = [set(split_labels(name)) if self.kind == "multilabel" else {name} for name in self.names]
        return np.array([[label in each for label in self.labels] for each in sets], dtype=np.float64)


def split_labels(name: str) -> list[str]:
    """Return the labels of a set, given its name."""
    return [label for label in name.split(BETWEEN) if label]
