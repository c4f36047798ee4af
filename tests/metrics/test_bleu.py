"""BLEU: the conventions that no library here computes, several references, and options."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

words = st.lists(st.sampled_from("a b c d".split()), min_size=1, max_size=9)
samples = st.tuples(words, st.lists(words, min_size=1, max_size=3))


def counted(text: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


def clipped(output: list[str], references: list[list[str]], n: int) -> int:
    highest: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        highest |= counted(reference, n)
    return (counted(output, n) & highest).total()


def value(spec: str, output: list[str], references: list[list[str]]) -> float:
    batch = Batch.from_columns([" ".join(output)], references=[[" ".join(r) for r in references]])
    return float(metric_from_spec(spec).score(batch).values[0])


@given(samples)
def test_the_e2e_challenges_script(sample: tuple[list[str], list[list[str]]]) -> None:
    """Zero counts become 1e-15, missing n-grams 1e-9, the closest reference length (the shorter of two) counts."""
    output, references = sample
    logs = 0.0
    for n in range(1, 5):
        hits, many = max(clipped(output, references, n), 1e-15), max(len(output) - n + 1, 1e-9)
        logs += math.log(hits / many)
    size = min((abs(len(r) - len(output)), len(r)) for r in references)[1]
    brevity = 1.0 if len(output) > size else math.exp(1 - size / len(output))
    assert value("bleu(preset='e2e')", output, references) == pytest.approx(
        100 * brevity * math.exp(logs / 4), abs=1e-9
    )


def test_the_e2e_preset_is_lower_cased() -> None:
    assert value("bleu(preset='e2e')", "A B C D".split(), ["a b c d".split()]) == pytest.approx(100)


@pytest.mark.parametrize("smooth", ["none", "add-k"])
@given(sample=samples)
def test_torchmetrics_bleu(smooth: str, sample: tuple[list[str], list[list[str]]]) -> None:
    """0 unless every order matches; the first of the closest references; add-one from order two on."""
    output, references = sample
    hits = [clipped(output, references, n) for n in range(1, 5)]
    wanted = 0.0
    if min(hits) > 0:
        k = [0, 1, 1, 1] if smooth == "add-k" else [0] * 4
        shares = [(h + k[n]) / (len(output) - n + k[n]) for n, h in enumerate(hits)]
        size = len(min(references, key=lambda r: abs(len(r) - len(output))))
        brevity = 1.0 if len(output) > size else math.exp(1 - size / len(output))
        wanted = 100 * brevity * math.prod(shares) ** 0.25
    spec = f"bleu(preset='torchmetrics', smooth='{smooth}')"
    assert value(spec, output, references) == pytest.approx(wanted, abs=1e-9)


@given(samples)
def test_references_one_by_one(sample: tuple[list[str], list[list[str]]]) -> None:
    output, references = sample
    singly = [value("bleu", output, [r]) for r in references]
    assert value("bleu(references='max')", output, references) == pytest.approx(max(singly))
    assert value("bleu(references='mean')", output, references) == pytest.approx(np.mean(singly))


def test_the_statistics_of_the_best_reference_are_summed_for_max() -> None:
    batch = Batch.from_columns(["a b c d e", "x"], references=[["a b c d e f", "z"], ["x"]])
    best: Any = metric_from_spec("bleu(references='max')")
    assert best.stats(batch)[:, :2].tolist() == [[5, 6], [1, 1]]


def test_a_sample_without_a_value_adds_nothing_to_the_sum() -> None:
    metric: Any = metric_from_spec("bleu")
    whole = Batch.from_columns(["a b c d", None, "a"], references=[["a b c d"], ["a"], None])
    assert metric.stats(whole)[1:].tolist() == [[0] * 10] * 2
    assert metric.from_stats(metric.stats(whole).sum(axis=0))[0] == pytest.approx(100)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("bleu(preset='moses')", "sacrebleu, e2e, coco or torchmetrics. Got 'moses'"),
        ("bleu(smooth='exq')", "exp, floor, add-k or none. Got 'exq'"),
        ("bleu(order=0)", "at least 1. Got 0"),
        ("bleu(tokenise='13a')", "Did you mean 'tokenize'"),
    ],
)
def test_a_wrong_option_says_what_would_do(spec: str, says: str) -> None:
    with pytest.raises(NlgaugeError, match=says):
        metric_from_spec(spec)


def test_the_signature_names_what_changes_the_number() -> None:
    metric: Any = metric_from_spec("bleu(smooth='floor', lowercase=True, order=2)")
    assert metric.signature.startswith(
        "order:2|refs:closest|case:lc|tok:13a|smooth:floor[0.1]|rules:sacrebleu|version:"
    )
    assert metric.signature != metric_from_spec("bleu").signature  # type: ignore[attr-defined]
