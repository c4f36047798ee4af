"""N-gram matches and common subsequences of a batch, computed once for all metric families."""

from __future__ import annotations

from dataclasses import replace

from nlgauge.kernels.lepor import positions
from nlgauge.kernels.overlaps import overlaps
from nlgauge.kernels.sequences import alignments
from nlgauge.kernels.tokens import inked
from nlgauge.metrics.batch import Usable
from nlgauge.metrics.references import usable_pairs
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens, tokens
from nlgauge.types import Array, Ids, Ints


def tokenized_pairs(
    batch: Batch, name: str, *, lowercase: bool = False, stem: str | None = None, spaces: bool = False
) -> tuple[Tokens, Usable]:
    """Return the tokens of outputs and references, and the pairs that they form.

    Parameters
    ----------
    batch : Batch
    name : str
        Name of the tokenizer, such as '13a', 'rouge' or 'words'.
    lowercase : bool, default False
    stem : str, optional
        Rules of the stemmer; the words themselves by default.
    spaces : bool, default False
        Keep blanks as tokens (of characters).

    Returns
    -------
    tokens : Tokens
        `ids` of all distinct texts, one after the other; text k has `ids[start[k]:start[k] + length[k]]`.
    pairs : Usable
        Numbers of texts: `output[p]` and `reference[p]` of each pair p; those of sample i are
        `start[i]:start[i + 1]`. `scores` makes the Scores of one value per sample, with reasons.
    """

    def encode() -> Tokens:
        return tokens(batch, name, batch.output, batch.reference, lowercase=lowercase, stem=stem, spaces=spaces)

    result: Tokens = batch.keep(("tokens", name, lowercase, stem, spaces), encode)

    def make() -> Usable:
        if not spaces:
            return usable_pairs(batch, result)
        # A text of blanks alone is empty, also where blanks are tokens.
        inks: Ints = inked(result.ids, result.start, result.length)
        return usable_pairs(batch, replace(result, length=inks * result.length))

    return result, batch.keep(("pairs", name, lowercase), make)


def ngram_matches(
    batch: Batch, name: str, order: int, *, lowercase: bool = False, stem: str | None = None, spaces: bool = False
) -> tuple[Ids, Ids]:
    """Return clipped matches per pair and per sample (against the highest count of any reference), orders 1 to
    `order`.
    """
    result, pairs = tokenized_pairs(batch, name, lowercase=lowercase, stem=stem, spaces=spaces)

    def make() -> tuple[Ids, Ids]:
        both: tuple[Ids, Ids] = overlaps(
            result.ids,
            result.start,
            result.length,
            pairs.of_sample,
            pairs.reference,
            pairs.start,
            vocabulary_size(result),
            order,
        )
        return both

    return batch.keep(("matches", name, order, lowercase, stem, spaces), make)


def common_subsequences(batch: Batch, name: str, *, stem: str | None = None) -> Ints:
    """Return the length of the longest common subsequence of each pair."""
    return _aligned(batch, name, False, stem, False)


def edit_distances(batch: Batch, name: str, *, lowercase: bool = False, spaces: bool = False) -> Ints:
    """Return insertions, deletions and substitutions between output and reference of each pair."""
    return _aligned(batch, name, lowercase, None, True, spaces)


def _aligned(batch: Batch, name: str, lowercase: bool, stem: str | None, edits: bool, spaces: bool = False) -> Ints:
    computed, pairs = tokenized_pairs(batch, name, lowercase=lowercase, stem=stem, spaces=spaces)

    def make() -> Ints:
        result: Ints = alignments(
            computed.ids,
            computed.start,
            computed.length,
            pairs.output,
            pairs.reference,
            vocabulary_size(computed),
            edits,
        )
        return result

    return batch.keep(("aligned", name, lowercase, stem, edits, spaces), make)


def aligned_positions(tokens: Tokens, pairs: Usable, window: int = 2) -> tuple[Ints, Array]:
    """Align the words of each output one to one with equal words of the reference (LEPOR).

    Parameters
    ----------
    tokens : Tokens
    pairs : Usable
        As `tokenized_pairs` returns them.
    window : int, default 2
        Positions with an equal neighbor within this many words are preferred, then the nearest position.

    Returns
    -------
    aligned : array of pairs
        Number of aligned words.
    distance : array of pairs
        Sum of their differences in position, each position divided by the length of its text.

    Notes
    -----
    The n-gram position alignment of Han, Wong and Chao (2012).
    """
    result: tuple[Ints, Array] = positions(
        tokens.ids, tokens.start, tokens.length, pairs.output, pairs.reference, window, vocabulary_size(tokens)
    )
    return result


def vocabulary_size(found: Tokens) -> int:
    """Return a number above every token id."""
    return int(found.ids.max(initial=0)) + 1
