"""Paraphrase matches of METEOR: phrases and their paraphrases from a table in METEOR's format.

Of a table with millions of pairs only those whose phrases both occur in the texts are loaded; the table is streamed
once per half a million words of different texts (paraphrase-en.gz: seconds), so it is never in memory as a whole.
"""

from __future__ import annotations

import functools
import gzip
import io
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.batch import Usable
from nlgauge.text.tokens import Tokens
from nlgauge.types import Ids, Ints

MAX_PHRASE_WORDS = 10  # maximum words of a phrase; METEOR's tables have up to 7
WORDS_PER_READ = 500_000  # words of texts per pass over the table
PARAPHRASE = 3
Phrase = bytes
Table = dict[Phrase, list[Phrase]]
Occurring = tuple[list[tuple[int, int, Phrase]], dict[Phrase, list[int]]]
Match = tuple[int, int, int, int]  # first word in the reference, words there, first word in the output, words there


def check_table(path: str) -> None:
    """Raise an error immediately if a file is not a paraphrase table."""
    with _opened(path) as file:
        head = [line for line, _ in zip(_lines(file, path), range(3), strict=False)]
    try:
        number, phrase, other = head
        float(number)
    except ValueError:
        raise NlgaugeError(_no_table(path, "it must begin with a number and two phrases, one per line")) from None
    if not phrase.strip() or not other.strip():
        raise NlgaugeError(_no_table(path, "a phrase is empty"))


@functools.lru_cache(8)
def table_hash(path: str, changed: int) -> str:
    """Return the hash of a paraphrase table; `changed`, its modification time, invalidates the cache."""
    return digest(Path(path)).hex()


def paraphrases_among(path: str, phrases: set[Phrase]) -> Table:
    """Return the paraphrases of each phrase, in the order of the table, where both are among `phrases`."""
    results: Table = {}
    with _opened(path) as file:
        lines = _lines(file, path)
        for _, phrase, other in zip(lines, lines, lines, strict=False):
            a, b = phrase.rstrip(), other.rstrip()
            if a in phrases and b in phrases:
                results.setdefault(a, []).append(b)
            elif len(a) + len(b) > 2 * MAX_PHRASE_WORDS and max(a.count(b" "), b.count(b" ")) >= MAX_PHRASE_WORDS:
                raise NlgaugeError(_no_table(path, f"a phrase has more than {MAX_PHRASE_WORDS} words"))
    return results


def phrases_of(words: list[bytes]) -> Iterator[tuple[int, int, Phrase]]:
    """Return position, number of words and text of each phrase: by position, then by length."""
    for i in range(len(words)):
        for n in range(1, min(MAX_PHRASE_WORDS, len(words) - i) + 1):
            yield i, n, b" ".join(words[i : i + n])


class Matcher:
    """All matches of the pairs of a batch: equal words, stems, words that share a synset, paraphrases."""

    def __init__(self, tokens: Tokens, pairs: Usable, stems: Ids, synsets: list[list[int]], path: str) -> None:
        self.tokens, self.pairs, self.stems, self.synsets, self.path = tokens, pairs, stems, synsets, path
        self.words = [word.encode() for word in tokens.words()]

    def all(self) -> tuple[Ints, Ints]:
        """Return where the matches of each pair begin, and the matches: start, span, position, width, kind."""
        counts, result = [0], []
        for rows in self._parts():
            table = self._table(rows)
            others = {phrase for some in table.values() for phrase in some}
            occurs = {text: self._occurring(text, table, others) for text in self._texts(rows)}
            for p in rows:
                made = self._of_pair(int(self.pairs.output[p]), int(self.pairs.reference[p]), table, occurs)
                counts.append(len(made))
                result.append(made)
        return np.cumsum(counts), np.concatenate(result) if result else np.zeros((0, 5), np.int64)

    def _parts(self) -> Iterator[range]:
        texts = np.column_stack([self.pairs.output, self.pairs.reference]).ravel()
        size = np.zeros(len(texts), np.int64)
        _, first = np.unique(texts, return_index=True)  # a text that stands in several pairs is counted once
        size[first] = self.tokens.length[texts[first]]
        part = np.cumsum(size.reshape(-1, 2).sum(axis=1)) // WORDS_PER_READ
        edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(part)]
        return (range(a, b) for a, b in pairwise(edges) if b > a)

    def _texts(self, rows: range) -> list[int]:
        some = slice(rows.start, rows.stop)
        return [int(t) for t in np.unique(np.concatenate([self.pairs.output[some], self.pairs.reference[some]]))]

    def _ids(self, text: int) -> Ids:
        first = int(self.tokens.start[text])
        return self.tokens.ids[first : first + max(0, int(self.tokens.length[text]))]

    def _table(self, rows: range) -> Table:
        texts = ([self.words[i] for i in self._ids(text)] for text in self._texts(rows))
        every = {phrase for words in texts for _, _, phrase in phrases_of(words)}
        return paraphrases_among(self.path, every)

    def _occurring(self, text: int, table: Table, others: set[Phrase]) -> Occurring:
        """Return phrases of the text that have paraphrases, and where every possible phrase begins."""
        begins: dict[Phrase, list[int]] = {}
        some = []
        for i, n, phrase in phrases_of([self.words[i] for i in self._ids(text)]):
            if phrase in table:
                some.append((i, n, phrase))
            if phrase in others:
                begins.setdefault(phrase, []).append(i)
        return some, begins

    def _of_pair(self, output: int, reference: int, table: Table, occurs: dict[int, Occurring]) -> Ints:
        own, others = self._ids(output), self._ids(reference)
        equal = others[:, None] == own[None, :]
        kinds = [np.argwhere(equal)]
        phrases: list[Match] = []
        if len(own) != len(others) or not (own == others).all():  # identical texts need exact matches only
            kinds.append(np.argwhere((self.stems[others][:, None] == self.stems[own][None, :]) & ~equal))
            kinds.append(self._synonyms(others, own))
            phrases = [*_matched(occurs[reference], occurs[output], table)]
            phrases += [(j, m, i, n) for i, n, j, m in _matched(occurs[output], occurs[reference], table)]
        rows = [
            np.column_stack(
                [index[:, 0], np.ones_like(index[:, 0]), index[:, 1], np.ones_like(index[:, 0]), np.full(len(index), k)]
            )
            for k, index in enumerate(kinds)
        ]
        rows.append(np.array([(*m, PARAPHRASE) for m in phrases], np.int64).reshape(-1, 5))
        made = np.concatenate(rows).astype(np.int64)
        return made[np.argsort(made[:, 0], kind="stable")]

    def _synonyms(self, theirs: Ids, mine: Ids) -> Ints:
        """Return different words with a common synset: position in the reference, position in the output."""
        places: dict[int, list[int]] = {}
        for i, word in enumerate(mine.tolist()):
            places.setdefault(word, []).append(i)
        having: dict[int, list[int]] = {}
        for word in places:
            for synset in self.synsets[word]:
                having.setdefault(synset, []).append(word)
        results = []
        for j, word in enumerate(theirs.tolist()):
            others = {other for synset in self.synsets[word] for other in having.get(synset, ())} - {word}
            results += [(j, i) for i in sorted(i for other in others for i in places[other])]
        return np.array(results, np.int64).reshape(-1, 2)


def _matched(ours: Occurring, other: Occurring, table: Table) -> Iterator[Match]:
    """Return phrases of one text whose paraphrases are in the other; matches in both directions of a table occur
    twice.
    """
    begins = other[1]
    for index, n, phrase in ours[0]:
        for paraphrase in table[phrase]:
            for there in begins.get(paraphrase, ()):
                yield index, n, there, paraphrase.count(b" ") + 1


def _opened(path: str) -> BinaryIO:
    try:
        file = Path(path).expanduser().open("rb")
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
    except OSError as error:
        raise NlgaugeError(f"meteor: paraphrases='{path}': {error.strerror}.") from None
    return io.BufferedReader(gzip.GzipFile(fileobj=file), 1 << 20) if packed else file  # type: ignore[arg-type]


def _lines(file: BinaryIO, path: str) -> Iterator[bytes]:
    try:
        yield from file
    except (OSError, EOFError, zlib.error) as error:
        raise NlgaugeError(_no_table(path, str(error))) from None


def _no_table(path: str, why: str) -> str:
    return f"meteor: paraphrases='{path}': not a table such as METEOR's paraphrase-en.gz ({why})."
