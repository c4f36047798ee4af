"""What several families share of one batch: n-gram matches and common subsequences, computed once."""

from __future__ import annotations

from dataclasses import replace

from nlgauge.metrics.batch import Usable
from nlgauge.metrics.references import pair_up
from nlgauge.text.batch import Batch
from nlgauge.text.tokens import Tokens, tokens
from nlgauge.types import Ids, Ints


def paired(
    batch: Batch, name: str, *, lowercase: bool = False, stem: str | None = None, spaces: bool = False
) -> tuple[Tokens, Usable]:
    """The tokens of outputs and references, and the pairs they form."""
    found = tokens(batch, name, batch.output, batch.reference, lowercase=lowercase, stem=stem, spaces=spaces)

    def make() -> Usable:
        if not spaces:
            return pair_up(batch, found)
        from nlgauge.kernels.tokens import inked

        # A text of blanks alone is empty, also where blanks are tokens.
        inks: Ints = inked(found.ids, found.start, found.length)
        return pair_up(batch, replace(found, length=inks * found.length))

    return found, batch.keep(("pairs", name, lowercase), make)


def ngram_matches(
    batch: Batch, name: str, order: int, *, lowercase: bool = False, stem: str | None = None, spaces: bool = False
) -> tuple[Ids, Ids]:
    """Clipped matches per pair and per sample (against the highest count of any reference), orders 1 to `order`."""
    found, pairs = paired(batch, name, lowercase=lowercase, stem=stem, spaces=spaces)

    def make() -> tuple[Ids, Ids]:
        from nlgauge.kernels.overlaps import overlaps

        both: tuple[Ids, Ids] = overlaps(
            found.ids, found.start, found.length, pairs.of_sample, pairs.reference, pairs.start, kinds(found), order
        )
        return both

    return batch.keep(("matches", name, order, lowercase, stem, spaces), make)


def common_subsequences(batch: Batch, name: str, *, lowercase: bool = False, stem: str | None = None) -> Ints:
    """The length of the longest common subsequence of each pair."""
    return _aligned(batch, name, lowercase, stem, False)


def edit_distances(batch: Batch, name: str, *, lowercase: bool = False, spaces: bool = False) -> Ints:
    """Insertions, deletions and substitutions between output and reference of each pair."""
    return _aligned(batch, name, lowercase, None, True, spaces)


def _aligned(batch: Batch, name: str, lowercase: bool, stem: str | None, edits: bool, spaces: bool = False) -> Ints:
    found, pairs = paired(batch, name, lowercase=lowercase, stem=stem, spaces=spaces)

    def make() -> Ints:
        from nlgauge.kernels.sequences import alignments

        result: Ints = alignments(
            found.ids, found.start, found.length, pairs.output, pairs.reference, kinds(found), edits
        )
        return result

    return batch.keep(("aligned", name, lowercase, stem, edits, spaces), make)


def kinds(found: Tokens) -> int:
    """A number above every token id."""
    return int(found.ids.max(initial=0)) + 1
