"""The aspects of paper 001 as expressions, with the settings chosen for them (studies/ctc.py says on which data)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from nlgauge.alignment.estimate import Alignment, Estimator, Pair
from nlgauge.alignment.expression import Expression, Term

Unit = Literal["piece", "word"]


@dataclass(frozen=True)
class Settings:
    """How an aspect aligns. stop: leave out stop words and punctuation when aggregating. unit: what counts as one token."""

    layer: int | None = None
    window: int = 0
    match: str = "all"
    sharp: float = 1.0
    stop: bool = False
    unit: Unit = "piece"


@dataclass(frozen=True)
class Aspect:
    formula: str
    settings: Settings
    equation: str
    other_names: str = ""


ASPECTS = {
    "consistency": Aspect(
        "mean(y>x)",
        Settings(layer=5, window=2, match="best", sharp=3.0, unit="word"),
        "2",
        "factual correctness, faithfulness, no hallucination",
    ),
    "relevance": Aspect(
        "mean(r>y) * mean(y>x)",
        Settings(layer=6, window=2, unit="word"),
        "3",
        "content selection, importance",
    ),
    "preservation": Aspect(
        "harmonic(mean(y>x), mean(x>y))",
        Settings(layer=6, sharp=2.0, unit="word"),
        "4",
        "semantic similarity",
    ),
    "engagingness": Aspect(
        "sum(y>[x,c])", Settings(layer=4, stop=True, unit="word"), "5", "interestingness, depth, not dull"
    ),
    "groundedness": Aspect(
        "sum(y>c)", Settings(layer=6, window=2, sharp=2.0, stop=True, unit="word"), "6", "knowledge usage"
    ),
    "dialogue": Aspect(
        "mean(y>[x,c])",
        Settings(layer=4, stop=True, unit="word"),
        "Table F.6",
        "understandable, natural, maintains context, overall",
    ),
}

Sample = Mapping[str, Any]  # x, c, y: a text or None; r: a list of texts


def evaluate(
    expression: Expression,
    samples: Sequence[Sample],
    estimator: Estimator,
    *,
    stop: bool = False,
    unit: Unit = "piece",
) -> tuple[list[float], list[list[dict[Term, Alignment]]]]:
    """The value of every sample, and its alignments (one dict per reference).

    With several references the expression is evaluated for each and averaged, as the paper's relevance. All pairs of
    all samples go to the estimator at once: each distinct text is encoded once.
    """
    numbers: dict[Pair, int] = {}
    wanted: list[list[dict[Term, int]]] = []
    many = "r" in expression.fields
    for sample in samples:
        each = []
        for reference in sample["r"] if many else [None]:
            texts = {**sample, "r": reference}
            pairs = {
                t: Pair(texts[t[0]], tuple(texts[f] for f in t[1]), set(t[1]) <= {"y", "r"})
                for t in expression.terms
            }
            each.append({t: numbers.setdefault(pair, len(numbers)) for t, pair in pairs.items()})
        wanted.append(each)
    found = [_counted(a, stop, unit) for a in estimator.align(list(numbers))]
    aligned = [[{t: found[i] for t, i in terms.items()} for terms in each] for each in wanted]
    values = []
    for of_sample in aligned:
        of_references = [expression.value(terms) for terms in of_sample]
        values.append(sum(of_references) / len(of_references) if of_references else float("nan"))
    return values, aligned


def _counted(alignment: Alignment, stop: bool, unit: Unit) -> Alignment:
    alignment = alignment.words() if unit == "word" else alignment
    return alignment.content() if stop else alignment
