"""Estimators D and R: aligners trained without labels (deng2021, section 3.5), small heads on the frozen encoder.

D gives each token the probability that b grounds it. R gives a whole text the share of it that is grounded; as an
alignment, each of its tokens has that score, so that its mean is R's value and its sum the volume.

The heads inside the package were trained with `nlgauge train aligner`; weights/README.md says on what.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.aspects import Form, Settings
from nlgauge.metrics.alignment.authors import BASES, Authors, authors_files
from nlgauge.metrics.alignment.expression import Expression
from nlgauge.metrics.alignment.features import NAMES, FeatureReader, pooled
from nlgauge.metrics.alignment.head import Head
from nlgauge.models.embeddings import Embeddings
from nlgauge.models.encoder import DEFAULT
from nlgauge.models.loading import fingerprint
from nlgauge.models.precision import split_precision
from nlgauge.options import SOME, call
from nlgauge.types import Array, Singles

WEIGHTS = Path(__file__).with_name("weights")
SHORT = "style"  # the head for two short texts: a reference and an output
SHIPPED = ("summarization", "dialogue", "response", "style")  # tasks with a head inside the package


_WORDS, _CONTENT = Settings(unit="word"), Settings(unit="word", stop=True)
_RELEVANCE, _PRESERVATION = "mean(r>y) * mean(y>x)", "harmonic(mean(y>x), mean(x>y))"
# Formula and head of each aspect; `nlgauge reproduce deng2021 trained --options choose=True` shows the
# selection.
FORMS: dict[str, dict[str, Form]] = {
    "consistency": {kind: Form("mean(y>x)", _WORDS) for kind in "DR"},
    "relevance": {"D": Form(_RELEVANCE, _WORDS), "R": Form(_RELEVANCE, _WORDS)},
    "preservation": {"D": Form(_PRESERVATION, _CONTENT), "R": Form(_PRESERVATION, _CONTENT)},
    "engagingness": {"D": Form("sum(y>[x,c])", _CONTENT), "R": Form("sum(y>[x,c])", _CONTENT)},
    "groundedness": {"D": Form("sum(y>c)", _CONTENT), "R": Form("sum(y>c)", _CONTENT)},
    "dialogue": {"D": Form("mean(y>[x,c])", _CONTENT), "R": Form("mean(y>[x,c])", _CONTENT)},
}
# Aspects for which another aggregation was better on the selection set: formula='chosen'.
CHOSEN: dict[str, dict[str, Form]] = {
    "consistency": {"D": Form("half(y>x)", _WORDS)},
    "relevance": {kind: Form("mean(r>y) / mean(r>x) * mean(y>x)", _WORDS) for kind in "DR"},
    "preservation": {kind: Form("min(mean(y>x), mean(x>y))", _CONTENT) for kind in "DR"},
    "engagingness": {kind: Form("sqrt(distinct(y>[x,c]))", _CONTENT) for kind in "DR"},
    "groundedness": {kind: Form("sqrt(distinct(y>c))", _CONTENT) for kind in "DR"},
}
HEADS = {
    "consistency": "summarization",
    "relevance": "summarization",
    "preservation": SHORT,
    "engagingness": "response",
    "groundedness": "summarization",
    "dialogue": "response",
}


def form(aspect: str, kind: str, formula: str = "paper") -> Form:
    """Return the formula of an aspect for D or R: the paper's, or the chosen one."""
    return CHOSEN.get(aspect, {}).get(kind, FORMS[aspect][kind]) if formula == "chosen" else FORMS[aspect][kind]


def task_of(expression: Expression) -> str:
    """Return the shipped head for an expression: two short texts both ways, history and context, a context, or a
    source.
    """
    terms = set(expression.terms)
    if any({"x", "c"} <= {a, *b} for a, b in terms):
        return "response"
    if any("c" in (a, *b) for a, b in terms):
        return "dialogue"
    return SHORT if ("x", ("y",)) in terms else "summarization"


@dataclass(frozen=True)
class Trained:
    """A trained aligner. `weights`: the folder of the user's training, or one of its checkpoints (step-N); the
    shipped head of the task by default.
    """

    kind: str = "D"
    task: str = "summarization"
    weights: str = ""
    encoder: str = DEFAULT
    vectors: Embeddings | None = field(default=None, compare=False, repr=False)

    def heads(self) -> tuple[Head, Head]:
        """Return the heads for a source or context, and for two short texts."""
        if self.weights:
            path = Path(self.weights).expanduser()
            path = path if path.with_suffix(".json").is_file() else path / "aligner"
            own = loaded(str(path), self.encoder, self.kind)
            return own, own
        return tuple(loaded(str(shipped(self.kind, task)), self.encoder, self.kind) for task in (self.task, SHORT))  # type: ignore[return-value]

    def fingerprint(self) -> str:
        """Return the head's name and a hash of its weights, for signatures."""
        return f"{'own' if self.weights else self.task}@{hashed(self.heads())}"

    def expect(self, pairs: Collection[ToAlign]) -> None:
        """Announce pairs that will be aligned, so that one pass of the encoder serves several metrics."""
        FeatureReader(self.encoder, vectors=self.vectors).expect(pairs)

    def align(self, pairs: Sequence[ToAlign]) -> list[Alignment]:
        """Return one alignment per pair, in the order of the pairs."""
        heads = self.heads()
        result: list[Alignment | None] = [None] * len(pairs)
        for i, spans, rows in FeatureReader(self.encoder, vectors=self.vectors).read(pairs):
            result[i] = Alignment(pairs[i].a, spans, scores(heads[pairs[i].whole], rows))
        return [f for f in result if f is not None]


def aligner(kind: str, task: str, weights: str, encoder: str, vectors: Embeddings | None = None) -> Trained | Authors:
    """Return D or R: a shipped head (of the task, or named by `weights`), the user's training, or the authors'
    checkpoint.
    """
    if weights in SHIPPED:
        return Trained(kind, weights, "", encoder, vectors)
    if authors_files(weights):
        return Authors(kind, weights, base_of(kind, weights, encoder))
    return Trained(kind, task, weights, encoder, vectors)


def base_of(kind: str, weights: str, encoder: str) -> str:
    """Return the model to run: `encoder`, or by default the one that the authors' checkpoint was trained on."""
    return BASES[kind] if encoder == DEFAULT and kind in BASES and authors_files(weights) else encoder


def hashed(heads: Sequence[Head]) -> str:
    """Return the hash of every weight of the heads."""
    weights = (name.encode() + values.tobytes() for head in heads for name, values in sorted(head.state.items()))
    return digest(b"".join(weights)).hex()


def scores(head: Head, rows: Singles) -> Array:
    """Return a score for each token; 0 where b has no tokens."""
    if not rows.any():
        return np.zeros(len(rows))
    if head.facts["kind"] == "D":
        return head(rows).astype(np.float64)
    return np.full(len(rows), float(head(pooled(rows)[None])[0]))


def shipped(kind: str, task: str) -> Path:
    """Return the path of a head inside the package, without its suffix."""
    return WEIGHTS / f"{task}-{kind}"


@lru_cache(maxsize=32)
def loaded(path: str, encoder: str, kind: str) -> Head:
    """Load a head, after checking that it matches this encoder, kind and version of the features."""
    head = Head.load(Path(path))
    own = fingerprint(split_precision(encoder)[0])  # the same encoder with fewer bits is accepted
    if head.facts["encoder"] != own:
        raise NlgaugeError(
            f"align='{kind}': {Path(path).name} was trained on encoder {head.facts['encoder']}, not "
            f"{own}; train one with {call('train aligner', encoder=SOME)}"
        )
    if head.facts["kind"] != kind:
        raise NlgaugeError(f"align='{kind}': {path} is an aligner of kind {head.facts['kind']}.")
    if tuple(head.facts["features"]) != NAMES:
        raise NlgaugeError(f"{path}: trained with other features than this version computes; train it again.")
    return head
