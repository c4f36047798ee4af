"""Choice: a Dataset with the selected aspects, metrics and groups; the input of analyses of several panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Aggregate, Panel
    from nlgauge.types import Names

Group = Mapping[str, Any]  # the value of each column of `by`


@dataclass(frozen=True)
class Choice:
    """A Dataset with the selected aspects, metrics and groups.

    Attributes
    ----------
    data : Dataset
    aspects, metrics : sequence of str, optional
        Those to use; all by default.
    by : sequence of str, optional
        Columns: each combination of their values is analyzed separately.
    keep_human : bool
        Include human-written outputs among the systems.
    aggregate : {'mean', 'median', 'mace'}
        How the ratings of one output are combined.
    seed : int
        Seed of all random numbers.
    others : sequence of Dataset
        Further data sets, each analyzed like the first; an analysis of several data sets gets all at once.
    group : mapping
        The values of the columns `by` that define a part of the data.
    """

    data: Dataset
    aspects: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    by: Sequence[str] | None = None
    keep_human: bool = False
    aggregate: Aggregate = "mean"
    seed: int = 0
    others: Sequence[Dataset] = ()
    group: Group = field(default_factory=dict, kw_only=True)

    @property
    def datasets(self) -> list[Dataset]:
        """The data set and those compared with it."""
        return [self.data, *self.others]

    @property
    def columns(self) -> list[str]:
        """Columns that define the groups; none by default."""
        return list(self.by or ())

    @property
    def wanted(self) -> list[str]:
        """The selected aspects, all by default."""
        return [self.data.aspect(a) for a in self.aspects or self.data.aspects]

    def panel(self, aspect: str | None = None, canonical: bool = False) -> Panel:
        """Return the panel of one aspect; `canonical`: ordered by content, as analyses need it."""
        return self.data.panel(
            aspect,
            canonical=canonical,
            metrics=self.metrics,
            keep_human=self.keep_human,
            aggregate=self.aggregate,
            seed=self.seed,
        )

    @cached_property
    def parts(self) -> list[Self]:
        """The data by the values of the columns `by` (also `mr_type=inform`); the whole set without columns.

        A part that is one system includes it even if its outputs are human-written.
        """
        return (
            [
                replace(self, data=part, by=None, group=group, keep_human=self.keep_human or "system" in group)
                for group, part in self.data.by(*self.by)
            ]
            if self.by
            else [self]
        )

    @property
    def name(self) -> str:
        """The values of the columns of a part."""
        return ", ".join(map(str, self.group.values())) or "all"


OPTIONS = ("aspects", "metrics", "by", "keep_human", "aggregate", "seed", "others")


def listed(names: Names) -> list[str] | None:
    """Return one name or several as a list.

    >>> listed("bleu"), listed(("a", "b")), listed(None)
    (['bleu'], ['a', 'b'], None)
    """
    return None if names is None else [names] if isinstance(names, str) else list(names)


def chosen(data: Any, options: Mapping[str, Any]) -> Choice:
    """Return a Choice from a Dataset, several, or another Choice, with the given options."""
    first, *others = data if isinstance(data, list | tuple) else [data]
    choice = first if isinstance(first, Choice) else Choice(first, others=others)
    given: dict[str, Any] = {
        k: listed(v) if k in ("aspects", "metrics", "by") else v for k, v in options.items() if k in OPTIONS
    }
    return replace(choice, **given) if given else choice
