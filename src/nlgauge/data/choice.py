"""Choice: a Dataset and what of it was asked for; what an analysis of more than one panel is given."""

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
    """A Dataset and what of it was asked for.

    Attributes
    ----------
    data : Dataset
    aspects, metrics : sequence of str, optional
        Those to use; all by default.
    by : sequence of str, optional
        Columns: each combination of their values is analyzed by itself.
    keep_people : bool
        Keep outputs written by people among the systems.
    aggregate : {'mean', 'median', 'mace'}
        How the ratings of one output become one.
    seed : int
        Of everything random.
    others : sequence of Dataset
        Further data sets, each analyzed like the first; an analysis that takes several gets all at once.
    group : mapping
        Of a part of the data: the value of each column that made it.
    """

    data: Dataset
    aspects: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    by: Sequence[str] | None = None
    keep_people: bool = False
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
        """Columns that part the data; none by default."""
        return list(self.by or ())

    @property
    def wanted(self) -> list[str]:
        """The aspects asked for, all by default."""
        return [self.data.aspect(a) for a in self.aspects or self.data.aspects]

    def panel(self, aspect: str | None = None, canonical: bool = False) -> Panel:
        """Return the panel of one aspect; `canonical`: ordered by content, as analyses need it."""
        return self.data.panel(
            aspect,
            canonical=canonical,
            metrics=self.metrics,
            keep_people=self.keep_people,
            aggregate=self.aggregate,
            seed=self.seed,
        )

    @cached_property
    def parts(self) -> list[Self]:
        """The data by the values of the columns `by` (`mr_type=inform` is one too); the whole set without columns.

        A part that is one system keeps it, whoever wrote it.
        """
        return (
            [
                replace(self, data=part, by=None, group=group, keep_people=self.keep_people or "system" in group)
                for group, part in self.data.by(*self.by)
            ]
            if self.by
            else [self]
        )

    @property
    def name(self) -> str:
        """Of a part: the values of its columns."""
        return ", ".join(map(str, self.group.values())) or "all"


OPTIONS = ("aspects", "metrics", "by", "keep_people", "aggregate", "seed", "others")


def listed(names: Names) -> list[str] | None:
    """One name or several, as a list.

    >>> listed("bleu"), listed(("a", "b")), listed(None)
    (['bleu'], ['a', 'b'], None)
    """
    return None if names is None else [names] if isinstance(names, str) else list(names)


def chosen(data: Any, options: Mapping[str, Any]) -> Choice:
    """A Choice of a Dataset, of several, or of another Choice, with the fields of it that are among the options."""
    first, *others = data if isinstance(data, list | tuple) else [data]
    choice = first if isinstance(first, Choice) else Choice(first, others=others)
    given: dict[str, Any] = {
        k: listed(v) if k in ("aspects", "metrics", "by") else v for k, v in options.items() if k in OPTIONS
    }
    return replace(choice, **given) if given else choice
