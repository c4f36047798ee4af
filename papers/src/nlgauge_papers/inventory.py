"""The inventory: every table, figure, metric, data set and algorithm of the five papers, and where it is implemented.

`inventory.toml` is the only source; docs/papers/inventory.md and `nlgauge reproduce` are generated from it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nlgauge.plugins import PAPERS, NameUnknown, did_you_mean
from nlgauge_papers import Study, all_studies

FILE = Path(__file__).with_name("inventory.toml")
KINDS = ("table", "figure", "metric", "data", "algorithm")
STATES = {
    "recomputed": "the paper's values are computed from published data; the scoreboard counts the matching cells",
    "partly": "some of these values are computed",
    "offered": "it is implemented; the paper prints no values, or they require models that are distributed separately",
    "to fetch": "a file has to be downloaded by hand; `nlgauge data get NAME` prints its address",
    "never published": "it is implemented, but only the authors have the data",
}


@dataclass(frozen=True)
class Paper:
    """A paper. `id` is its citation key: author and year."""

    id: str
    short: str
    title: str
    authors: str
    venue: str
    url: str
    bibtex: str


@dataclass(frozen=True)
class Item:
    """One item of a paper. `where`: module or command; `study`: the name of its study, if there is one."""

    paper: str
    kind: str
    name: str
    what: str
    state: str
    where: str = ""
    data: tuple[str, ...] = ()
    missing: str = ""
    study: str = ""


@cache
def _read() -> tuple[tuple[Paper, ...], tuple[Item, ...]]:
    result = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return (
        tuple(Paper(**p, title=PAPERS[p["id"]]) for p in result["paper"]),
        tuple(Item(**{**i, "data": tuple(i.get("data") or ())}) for i in result["item"]),
    )


def papers() -> tuple[Paper, ...]:
    """Return the five papers."""
    return _read()[0]


def items(paper: str | None = None, kind: str | None = None) -> list[Item]:
    """Return all items, or those of one paper or kind.

    >>> [item.name for item in items("gao2025", "algorithm")][:1]
    ['Algorithm 1']
    """
    return [i for i in _read()[1] if paper in (None, i.paper) and kind in (None, i.kind)]


def find_paper(name: str) -> Paper:
    """Return the paper of a citation key or short name: novikova2017, novikova.

    >>> find_paper("novikova").id
    'novikova2017'
    """
    for paper in papers():
        if name.lower() in (paper.id, paper.short):
            return paper
    available = [k for p in papers() for k in (p.id, p.short)]
    listed = ", ".join(f"{p.id} ({p.short})" for p in papers())
    raise NameUnknown(f"no paper '{name}'.{did_you_mean(name, available)} There are {listed}.")


def studies(paper: str | None = None) -> list[Study]:
    """Return the registered studies in the order of the inventory; unknown ones are last."""
    order = {item.study: place for place, item in reversed(list(enumerate(items()))) if item.study}
    rank = {paper.id: place for place, paper in enumerate(papers())}
    available = sorted(
        all_studies(), key=lambda name: (rank[name.partition("/")[0]], order.get(name, len(items())), name)
    )
    return [all_studies()[name] for name in available if paper in (None, name.partition("/")[0])]


def find_table(paper: str, table: str) -> tuple[list[Study], list[Item]]:
    """Return the studies and items of a table's name: 9, 'Table 9', D.1."""
    asked = table.lower().removeprefix("table").strip()
    there = [s for s in studies(paper) if s.table.lower() == asked]
    listed = [
        i
        for i in items(paper)
        if asked in (i.name.lower(), i.name.lower().removeprefix("table").strip())
        or (i.study and i.study.lower() == f"{paper}/{asked}")
    ]
    if not there and listed:
        there = [s for s in studies(paper) if s.name in {i.study for i in listed}]
    if not there and not listed:
        available = [*(s.table for s in studies(paper)), *(i.name for i in items(paper) if i.kind == "table")]
        tables = ", ".join(dict.fromkeys(s.table for s in studies(paper)))
        raise NameUnknown(f"paper {paper} has no table '{table}'.{did_you_mean(table, available)} There are {tables}.")
    return there, listed
