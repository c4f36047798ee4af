"""The literature behind analyses and metrics: author, year, link and BibTeX, read from references.bib."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files

ENTRY = re.compile(r"^@(\w+)\{([^,]+), (.*)\}$", re.M)
FIELD = re.compile(r"(\w+)=\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
LETTERS = {r"{\^e}": "ê", r"{\'e}": "é", r"\_": "_", r"{\v{s}}": "š", r"{\v{r}}": "ř", r"{\'c}": "ć", r"{\"a}": "ä"}


@dataclass(frozen=True)
class Reference:
    """One entry of the bibliography.

    Attributes
    ----------
    key : str
        Citation key.
    kind : str
        Type of the BibTeX entry.
    fields : dict of str to str
        As in the file.
    """

    key: str
    kind: str
    fields: dict[str, str] = field(repr=False)

    @property
    def authors(self) -> list[str]:
        """Return the family names of the authors."""
        names = [_plain(name) for name in self.fields["author"].split(" and ")]
        return [name.partition(",")[0] for name in names]

    @property
    def year(self) -> str:
        """Return the year of publication."""
        return self.fields["year"]

    @property
    def title(self) -> str:
        """Return the title."""
        return _plain(self.fields["title"])

    @property
    def link(self) -> str:
        """Return the address of the publication."""
        return self.fields["url"]

    @property
    def short(self) -> str:
        """Return the citation as cited in a text: `Deutsch et al. (2021)`."""
        names = self.authors
        who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
        return f"{who} ({self.year})"

    @property
    def bibtex(self) -> str:
        """Return the BibTeX entry."""
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in self.fields.items() if name != "analyses")
        return f"@{self.kind}{{{self.key},\n{lines}\n}}"

    def __str__(self) -> str:
        return f"{self.short}. {self.title}. {self.link}"


def _plain(text: str) -> str:
    for written, letter in LETTERS.items():
        text = text.replace(written, letter)
    return text.replace("{", "").replace("}", "")


@functools.cache
def bibliography() -> dict[str, Reference]:
    """Return all entries by their keys.

    >>> bibliography()["gao2025"].short
    'Gao et al. (2025)'
    """
    text = files("nlgauge").joinpath("references.bib").read_text(encoding="utf-8")
    return {key: Reference(key, kind, dict(FIELD.findall(rest))) for kind, key, rest in ENTRY.findall(text)}


def reference(key: str) -> Reference:
    """Return the entry of a citation key."""
    return bibliography()[key]


def cited(analysis: str, paper: str = "") -> list[Reference]:
    """Return what an analysis follows: its paper, and the entries that name it.

    >>> [entry.short for entry in cited("replacement")]
    ['Calderon et al. (2025)']
    """
    known = bibliography()
    named = [e for e in known.values() if analysis in [n.strip() for n in e.fields.get("analyses", "").split(",")]]
    return [*([known[paper]] if paper in known else []), *(e for e in named if e.key != paper)]


def bibtex(entries: Sequence[Reference]) -> str:
    """Return entries as the text of a .bib file."""
    return "\n\n".join(entry.bibtex for entry in entries) + ("\n" if entries else "")
