"""The five papers, table by table: each published cell beside ours.

A study recomputes one table. The cells that the paper prints are in `<paper>/published/<table>.csv` (key columns, then
`printed` as it stands in the paper, then perhaps `mark`); the function gives our value for each key. Claims, which no
paper prints as numbers, have `stated` in its place: into how many statements we split a sentence of the paper.

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


# The one rule for what is not judged, the same for all metrics. Scores from a released table, whoever computed them,
# and scores that we compute from the texts by the same formula are judged like any other. Two things only stand beside
# the printed cell without a judgment: scores that we compute with other weights than the paper's, and means over fewer
# sets than the paper's.
Difference = Literal["other weights", "fewer sets"]


# Why there is no value: the type of a reason is the verdict of its cells. A plain reason (str) says there is nothing to
# compute.
class NeverPublished(str):
    """What it takes was never published: nobody but the authors can compute it."""


class NeedsDownload(str):
    """Published elsewhere: computed once the file is there (`nlgauge data get NAME` downloads it or says where)."""


class NeedsWeights(str):
    """The code is here; the weights are to be had by name, or from their authors, and are not here."""


class LeftOut(str):
    """Not asked for (--no-slow), or an extra is not installed."""


def why_absent(error: NlgaugeError) -> str:
    """A set that is not here, or an installation that lacks something, as a reason; a damaged file is neither."""
    if isinstance(error, NotHere):
        return NeedsDownload(error)
    return LeftOut(error) if isinstance(error, NeedsMissing) else str(error)


@dataclass(frozen=True)
class Ours:
    """Our values by key, and words about cells that differ or cannot be had.

    A reason belongs to every key that starts with its own; () means the whole table. It explains, and says by its type
    why a value is absent; it changes no verdict on a value. `notes` go below the table. `other`: cells that stand
    beside the printed ones and are not judged, with what is different (see Difference). `chosen`: cells whose rater was
    picked because the ratings match the print. `beside`: more columns, by heading: what other rules give for the same
    cells. `slips`: what comes out when a slip of the paper is repeated on purpose (two rows exchanged, a tie split by
    rounding); it stands beside our value, and a cell that equals only it has a verdict of its own. The reason names the
    slip, which the paper's own numbers must show: a guess is no slip.
    """

    values: Mapping[Key, float]
    reasons: Mapping[Key, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    other: Mapping[Key, Difference] = field(default_factory=dict)
    chosen: Container[Key] = ()
    beside: Mapping[str, Mapping[Key, float]] = field(default_factory=dict)
    slips: Mapping[Key, float] = field(default_factory=dict)

    def reason(self, key: Key, absent: bool = False) -> str:
        """The words nearest to the cell; for one without a value rather those that say why there is none."""
        fitting = [k for k in self.reasons if key[: len(k)] == k]
        if absent:
            fitting = [k for k in fitting if type(self.reasons[k]) is not str] or fitting
        return self.reasons[max(fitting, key=len)] if fitting else ""


def published_file(paper: str, table: str) -> Path:
    """The file of the cells that a paper prints in a table."""
    return PAPERS / paper / "published" / f"{table}.csv"


def published_rows(paper: str, table: str) -> list[dict[str, str]]:
    """The cells that a paper prints in a table: key columns, then `printed` (or `stated`), then perhaps `mark`."""
    with published_file(paper, table).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Sources:
    """The published sets, each loaded once; `store` keeps scores that cost time, `tell` reports progress.

    `slow` is False when rows that run a model are not wanted: a study with some such rows leaves them out. `weights`:
    run the paper's models where they are: in the folder `models`, in the cache or on the hub.
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
        """The set of that name; options are those of `load_set`, such as domain="news"."""
        return self._load(name, **options)

    def _fresh(self, name: str, **options: Any) -> Dataset:

        return load_set(name, mirror=self.mirror, **options)


@dataclass(frozen=True)
class Study:
    """One table of one paper. `tolerance` is how far a cell may be off and still count as recomputed; `slow` runs a
    model.

    `claims`: the paper prints no such table; what it says in words is counted here, so many statements and how many
    hold.
    `further`: tables of our own about the paper, with options; no printed cells, so not on the scoreboard.
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
        """`Table 9`, `Table D.1`; what is no table goes by its own name."""
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
        """The tables of a further study; an option it does not have is answered with those it has."""
        known = list(inspect.signature(self.function).parameters)[1:]
        for name in options:
            if name not in known:
                there = f"it has {', '.join(known)}" if known else "it has none"
                raise NameUnknown(f"{self.name}: no option '{name}'.{did_you_mean(name, known)} {there.capitalize()}.")
        found: list[Table] = self.function(sources, **options)
        return found


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
    """Register a function from Sources and options to tables: a study of our own about a paper."""

    def keep(function: Callable[..., list[Table]]) -> Callable[..., list[Table]]:
        made = Study(paper, name, title, tuple(sets), function, slow=True, further=True)
        _STUDIES[made.name] = made
        return function

    return keep


@cache
def all_studies() -> Mapping[str, Study]:
    """Every study by its name, such as "novikova2017/9"; the modules of all papers are imported."""
    for module in pkgutil.walk_packages([str(PAPERS)], f"{__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(_STUDIES.items()))
