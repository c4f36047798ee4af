"""The aspects of Deng et al. (2021) as expressions, with the settings chosen for them (papers/deng2021/choice.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nlgauge.metrics.alignment.alignments import Alignment, Estimator, ToAlign
from nlgauge.metrics.alignment.expression import Expression, Term

TokenUnit = Literal["piece", "word"]


@dataclass(frozen=True)
class Settings:
    """How an aspect aligns. stop: leave out stop words and punctuation when aggregating. unit: what counts as a
    token.
    """

    layer: int | None = None
    window: int = 0
    match: str = "all"
    sharp: float = 1.0
    stop: bool = False
    unit: TokenUnit = "piece"


@dataclass(frozen=True)
class Form:
    """A formula over alignments and its alignment settings."""

    formula: str
    settings: Settings


@dataclass(frozen=True)
class Aspect:
    """`paper`: the formula of Deng et al. (2021); `chosen`: the best of several ways to aggregate the same
    alignments.
    """

    paper: Form
    chosen: Form

    def form(self, kind: str) -> Form:
        """Return the form of a kind: 'paper' or 'chosen'."""
        return self.chosen if kind == "chosen" else self.paper


# `nlgauge reproduce deng2021 choice` repeats the choice of every setting here.
ASPECTS = {
    # Eq. 2; also called factual correctness, faithfulness, no hallucination
    "consistency": Aspect(
        Form("mean(y>x)", Settings(layer=2, window=2, match="sentence")),
        Form("half(y>x)", Settings(layer=2, window=2, match="sentence", sharp=2.0)),
    ),
    # Eq. 3; also called content selection, importance
    "relevance": Aspect(
        Form("mean(r>y) * mean(y>x)", Settings(layer=6, window=2, unit="word")),
        Form("mean(r>y) / mean(r>x) * mean(y>x)", Settings(layer=6, window=2, match="best", unit="word")),
    ),
    # Eq. 4; also called semantic similarity
    "preservation": Aspect(
        Form("harmonic(mean(y>x), mean(x>y))", Settings(layer=3, sharp=3.0, stop=True, unit="word")),
        Form("min(mean(y>x), mean(x>y))", Settings(layer=3, sharp=3.0, stop=True, unit="word")),
    ),
    # Eq. 5; also called interestingness, depth, not dull
    "engagingness": Aspect(
        Form("sum(y>[x,c])", Settings(layer=4, stop=True)),
        Form("sqrt(distinct(y>[x,c]))", Settings(layer=3, stop=True)),
    ),
    # Eq. 6; also called knowledge usage
    "groundedness": Aspect(
        Form("sum(y>c)", Settings(layer=6, window=1, sharp=2.0, stop=True, unit="word")),
        Form("sqrt(distinct(y>c))", Settings(layer=6, window=2, match="sentence", sharp=3.0, stop=True)),
    ),
    # Table F.6; also called understandable, natural, maintains context, overall
    "dialogue": Aspect(
        Form("mean(y>[x,c])", Settings(layer=4, stop=True)), Form("mean(y>[x,c])", Settings(layer=4, stop=True))
    ),
}

Sample = Mapping[str, Any]  # x, c, y: a text or None; r: a list of texts


def evaluate(
    expression: Expression,
    samples: Sequence[Sample],
    estimator: Estimator,
    *,
    stop: bool = False,
    unit: TokenUnit = "piece",
) -> tuple[list[float], list[list[dict[Term, Alignment]]]]:
    """Compute the value of every sample and its alignments (one dict per reference).

    With several references the expression is evaluated for each and averaged, as the paper's relevance. All pairs of
    all samples are sent to the estimator at once, so that each distinct text is encoded once.
    """
    numbers, wanted = pairs_of(expression, samples)
    results = [counted(a, stop, unit) for a in estimator.align(list(numbers))]
    aligned = [[{t: results[i] for t, i in terms.items()} for terms in each] for each in wanted]
    values = []
    for of_sample in aligned:
        of_references = [expression.value(terms) for terms in of_sample]
        values.append(sum(of_references) / len(of_references) if of_references else float("nan"))
    return values, aligned


def pairs_of(
    expression: Expression, samples: Sequence[Sample]
) -> tuple[dict[ToAlign, int], list[list[dict[Term, int]]]]:
    """Return all pairs to align, each once with a number; and for each sample and reference the number of every
    term.
    """
    numbers: dict[ToAlign, int] = {}
    wanted: list[list[dict[Term, int]]] = []
    many = "r" in expression.fields
    for sample in samples:
        each = []
        for reference in sample["r"] if many else [None]:
            texts = {**sample, "r": reference}
            pairs = {t: pair_of(t, texts) for t in expression.terms}
            each.append({t: numbers.setdefault(pair, len(numbers)) for t, pair in pairs.items()})
        wanted.append(each)
    return numbers, wanted


def pair_of(term: Term, texts: Sample) -> ToAlign:
    """Return the pair that a term aligns in one sample (with one reference); outputs and references are not
    windowed.
    """
    return ToAlign(texts[term[0]], tuple(texts[f] for f in term[1]), set(term[1]) <= {"y", "r"})


def counted(alignment: Alignment, stop: bool, unit: TokenUnit) -> Alignment:
    """Return the tokens that count: pieces or words, with stop words or without."""
    alignment = alignment.words() if unit == "word" else alignment
    return alignment.content() if stop else alignment
