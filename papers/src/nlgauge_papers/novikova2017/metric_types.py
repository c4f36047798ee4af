"""Types of metrics as in novikova2017: words in common with references, or grammar and form of the output alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nlgauge.plugins import families_of

WORD, GRAMMAR, OTHER = "word-based", "grammar-based", "other"
Types = Mapping[str, Sequence[str]]
OVERLAP = {"ROUGE", "BLEU", "chrF", "METEOR", "CIDEr", "NIST", "LEPOR", "TER", "S3", "JS", "ROUGE-WE"}
WORDS_TOO = re.compile(
    r"^(unigram|ngram|char|f1|sari|gleu|wer|cer|lev|edit|jaccard|overlap|coverage|spice|sim\b|sim\.)|[._-](overlap|dist)$",
    re.I,
)
FORM = re.compile(
    r"flesch|readab|^len|[._-]len(gth)?$|length|(^|[._-])(cpw|wps|sps|spw|pspw|ppw|pol|msp|prs)$|poly|missp|spell|parser|grammar|fluency|perplex",
    re.I,
)


def type_of(metric: str) -> str:
    """Derive the type of a metric from its name.

    >>> type_of("Bleu_4"), type_of("sys.read.flesch"), type_of("BERTScore")
    ('word-based', 'grammar-based', 'other')
    """
    if families_of([metric])[metric] in OVERLAP or WORDS_TOO.search(metric):
        return WORD
    return GRAMMAR if FORM.search(metric) else OTHER


def types_of(metrics: Sequence[str], given: Types | None = None) -> dict[str, str]:
    """Map each metric to its type.

    `given` ({type: [metrics]}) decides for the metrics that it names; all others are then dropped.
    """
    if given is None:
        return {m: type_of(m) for m in metrics}
    text = families_of(metrics, given)  # raises an error for unknown names
    named = {m for members in given.values() for m in members}
    return {m: t for m, t in text.items() if m in named}
