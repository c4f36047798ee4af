"""The five papers, table by table: each published cell compared with ours.

A study recomputes one table. The cells that the paper prints are in `<paper>/published/<table>.csv` (key columns, then
`printed` as in the paper, then optionally `mark`); the function returns our value for each key. Claims, which a paper
does not print as numbers, have `stated` instead: the number of statements into which we split a sentence of the paper.

@study("novikova2017", "10", title="Spearman per data set", sets=["bagel-sf"], tolerance=0.01)
def table_10(sources: Sources) -> Ours:
    return Ours({("BAGEL", "inf", "TER"): -0.19, ...})
"""

from __future__ import annotations

import csv
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nlgauge import NlgaugeError
from nlgauge.datasets import load_set
from nlgauge.plugins import NameUnknown, NeedsMissing, NotHere, did_you_mean

if TYPE_CHECKING:
    from nlgauge import Dataset, Table

PAPERS = Path(__file__).parent
_STUDIES: dict[str, Study] = {}
Key = tuple[str, ...]
Tell = Callable[[str], None]


# The rule for cells without a verdict, the same for all metrics. Scores from a released table, whoever computed them,
# and scores that we compute from the texts by the same formula get a verdict. Two kinds are only shown next to the
# printed cell without a verdict: scores that we compute with other weights than the paper's, and means over fewer
# sets than the paper's.
Difference = Literal["other weights", "fewer sets"]


# Why there is no value: the type of a reason is the verdict of its cells. A plain reason (str) means nothing to
# compute.
class NeverPublished(str):
    """Required data were never published: only the authors can compute it."""


class NeedsDownload(str):
    """Published elsewhere: computed once the file is present (`nlgauge data get NAME` downloads it or says where it
    is).
    """


class NeedsWeights(str):
    """The code is here; the weights are distributed separately, by name or by their authors, and are not installed."""


class LeftOut(str):
    """Not requested (--no-slow), or an extra is not installed."""


def why_absent(error: NlgaugeError) -> str:
    """Return a missing set or extra as a reason; raise the error of a damaged file."""
    if isinstance(error, NotHere):
        return NeedsDownload(error)
    return LeftOut(error) if isinstance(error, NeedsMissing) else str(error)


@dataclass(frozen=True)
class Ours:
    """Our values by key, and notes about cells that differ or are not available.

    A reason applies to every key that starts with its own; () is the whole table. It explains, and its type says why a
    value is absent; it changes no verdict on a value. `notes` are printed below the table. `other`: cells shown next to
    the printed ones without a verdict, with what is different (see Difference). `chosen`: cells whose annotator was
    selected because the ratings match the printed value. `additional`: more columns, by heading: values of the same
    cells under other rules. `slips`: values after reproducing an error of the paper on purpose (two rows exchanged, a
    tie broken by rounding); they are shown next to our value, and a cell that equals only such a value has its own
    verdict. The reason names the error, for which the paper's own numbers must be evidence: a guess is not enough.
    """

    values: Mapping[Key, float]
    reasons: Mapping[Key, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    other: Mapping[Key, Difference] = field(default_factory=dict)
    chosen: Container[Key] = ()
    additional: Mapping[str, Mapping[Key, float]] = field(default_factory=dict)
    slips: Mapping[Key, float] = field(default_factory=dict)

    def reason(self, key: Key, absent: bool = False) -> str:
        """Return the most specific reason of a cell; for one without a value preferably that of its absence."""
        fitting = [k for k in self.reasons if key[: len(k)] == k]
        if absent:
            fitting = [k for k in fitting if type(self.reasons[k]) is not str] or fitting
        return self.reasons[max(fitting, key=len)] if fitting else ""


def published_file(paper: str, table: str) -> Path:
    """Return the file of the cells that a paper prints in a table."""
    return PAPERS / paper / "published" / f"{table}.csv"


def published_rows(paper: str, table: str) -> list[dict[str, str]]:
    """Return the cells that a paper prints in a table: key columns, then `printed` (or `stated`), then optionally
    `mark`.
    """
    with published_file(paper, table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Sources:
    """The published sets, each loaded once; `store` caches slow scores, `tell` reports progress.

    `slow` is False when rows that run a model are not requested: a study with such rows leaves them out. `weights`: run
    the paper's models where they are available: in the folder `models`, in the cache or on the hub.
    """

    def __init__(
        self,
        mirror: str | Path | None = None,
        store: str | Path | None = None,
        tell: Tell = lambda line: None,
        slow: bool = True,
        weights: bool = False,
        models: str | Path | None = None,
    ) -> None:
        self.mirror, self.store, self.tell, self.slow = mirror, store, tell, slow
        self.weights, self.models = weights or models is not None, models
        self._load = cache(self._fresh)

    def __call__(self, name: str, **options: Any) -> Dataset:
        """Return the set of that name; options are those of `load_set`, such as domain="news"."""
        return self._load(name, **options)

    def _fresh(self, name: str, **options: Any) -> Dataset:

        return load_set(name, mirror=self.mirror, **options)


@dataclass(frozen=True)
class Study:
    """One table of one paper. `tolerance` is the largest difference of a reproduced cell; `slow` runs a model.

    `claims`: the paper prints no such table; its statements in words are counted here, and how many of them hold.
    `further`: our own tables about the paper, with options; they have no printed cells, so they are not on the
    scoreboard.
    """

    paper: str
    table: str
    title: str
    sets: Sequence[str]
    function: Callable[..., Any]
    tolerance: float = 0.0
    slow: bool = False
    claims: bool = False
    further: bool = False

    @property
    def name(self) -> str:
        """Return the paper and the table, such as novikova2017/9."""
        return f"{self.paper}/{self.table}"

    @property
    def label(self) -> str:
        """Return `Table 9`, `Table D.1`; other results have their own name."""
        numbered = self.table[:1].isdigit() or self.table[1:2] == "."
        return f"Table {self.table}" if numbered else self.table

    @property
    def published(self) -> Path:
        """Return the file of the cells that the paper prints."""
        return published_file(self.paper, self.table)

    def __call__(self, sources: Sources) -> Ours:
        ours: Ours = self.function(sources)
        return ours

    def tables(self, sources: Sources, **options: Any) -> list[Table]:
        """Return the tables of a further study; an unknown option raises an error that lists the known ones."""
        available = list(inspect.signature(self.function).parameters)[1:]
        for name in options:
            if name not in available:
                there = f"it has {', '.join(available)}" if available else "it has none"
                raise NameUnknown(
                    f"{self.name}: no option '{name}'.{did_you_mean(name, available)} {there.capitalize()}."
                )
        result: list[Table] = self.function(sources, **options)
        return result


def study(
    paper: str,
    table: str,
    *,
    title: str,
    sets: Sequence[str],
    tolerance: float = 0.0,
    slow: bool = False,
    claims: bool = False,
) -> Callable[[Callable[[Sources], Ours]], Callable[[Sources], Ours]]:
    """Register a function as the recomputation of a table."""

    def keep(function: Callable[[Sources], Ours]) -> Callable[[Sources], Ours]:
        made = Study(paper, table, title, tuple(sets), function, tolerance, slow, claims)
        _STUDIES[made.name] = made
        return function

    return keep


def further(
    paper: str, name: str, *, title: str, sets: Sequence[str]
) -> Callable[[Callable[..., list[Table]]], Callable[..., list[Table]]]:
    """Register a function from Sources and options to tables: our own study about a paper."""

    def keep(function: Callable[..., list[Table]]) -> Callable[..., list[Table]]:
        made = Study(paper, name, title, tuple(sets), function, slow=True, further=True)
        _STUDIES[made.name] = made
        return function

    return keep


@cache
def all_studies() -> Mapping[str, Study]:
    """Return every study by name, such as "novikova2017/9"; the modules of all papers are imported."""
    for module in pkgutil.walk_packages([str(PAPERS)], f"{__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_STUDIES.items()))
