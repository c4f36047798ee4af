"""Metrics for which lower is better, inferred from unambiguous names.

The sign of an unclear metric is not flipped: a wrong guess would be worse than none. The names of NLGauge's own metrics
are listed, too, since a table does not tell which metric made its columns; tests/data/test_directions.py compares them
with the metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from nlgauge.errors import NameUnknown
from nlgauge.options import option
from nlgauge.registry import did_you_mean

# Names of our own metrics (before a parenthesis), as they are written.
OURS_LOWER = frozenset(
    "ari coleman-liau cpw dale-chall flesch-kincaid grammar-errors js-1 js-2 js-source len lev-source levenshtein msp "
    "perplexity pol ppw repetition self-bleu smog sps spw ter wmd wps".split()
)
OURS_HIGHER = frozenset(["sms", "sim", "length", "compression", "random", "lm-score"])  # exceptions to the words below
# One word of a name …
WORD = re.compile(
    r"^(h?ter|wer|cer|nll|loss|fid|wmd|errors|hallucinations|levenshtein|misspell?ings|\w*(ppl|perplexity))$"
)
# … or two consecutive words.
PAIRS = {
    "distance": {"edit", "lev", "levenshtein", "hamming", "mover", "movers", "frechet", "wasserstein", "cosine",
                 "euclidean"},
    "dist": {"edit", "lev", "levenshtein", "hamming"},
    "rate": {"error", "hallucination", "edit"},
    "count": {"error", "hallucination"},
    "entropy": {"cross"},
}  # fmt: skip
# Words of names whose sign is already flipped, or that measure something else.
FLIPPED = frozenset(
    "neg negative negated minus inv inverse inverted reversed turned flipped similarity sim accuracy acc "
    "reduction free".split()
)


def lower_by_name(metric: str) -> bool:
    """Return whether the name of a metric says that lower is better.

    >>> [n for n in ("TER", "sacrebleu_ter", "gpt2-ppl", "neg_ter", "1-WER", "lev.dist", "dist-2") if lower_by_name(n)]
    ['TER', 'sacrebleu_ter', 'gpt2-ppl', 'lev.dist']
    """
    name = metric.partition("(")[0].partition("#")[0].strip()
    if name in OURS_LOWER:
        return True
    if name in OURS_HIGHER or re.match(r"^\s*(-|−|1\s*[-−])", name):
        return False
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    words = [w for w in re.split(r"[^a-z0-9]+", apart.lower()) if w]
    if FLIPPED.intersection(words):
        return False
    return any(map(WORD.match, words)) or any(first in PAIRS.get(second, ()) for first, second in pairwise(words))


def lower_of(
    metrics: Iterable[str],
    lower: Iterable[str],
    higher: Iterable[str],
    source: str,
    from_reader: Iterable[str] | None = None,
) -> frozenset[str]:
    """Return the metrics for which lower is better: declared, or inferred from names unless `from_reader` is given."""
    names, more, less = list(metrics), list(higher), list(lower)
    for name in (*less, *more):
        if name not in names:
            raise NameUnknown(
                f"{source}: no scores of metric '{name}'.{did_you_mean(name, names)} Metrics with scores: "
                f"{', '.join(names)}."
            )
    if both := set(less) & set(more):
        raise NameUnknown(f"{source}: '{min(both)}' cannot be both {option('lower')} and {option('higher')}.")
    inferred = filter(lower_by_name, names) if from_reader is None else from_reader
    return frozenset({*inferred, *less} - set(more))
