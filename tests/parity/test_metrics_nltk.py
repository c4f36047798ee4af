"""NIST, self-BLEU and LEPOR against nltk, and where nltk is known to be wrong."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics import Batch, metric_from_spec

nist_score = pytest.importorskip("nltk.translate.nist_score")
texts = st.lists(st.sampled_from("a b c d e f ü 中".split()), min_size=5, max_size=12).map(" ".join)
samples = st.lists(st.tuples(texts, texts), min_size=1, max_size=8)


@given(samples)
def test_nist_of_one_reference_equals_nltk(given_samples: list[tuple[str, str]]) -> None:
    batch = Batch.from_columns([o for o, _ in given_samples], references=[[r] for _, r in given_samples])
    singly = [nist_score.sentence_nist([r.split()], o.split()) for o, r in given_samples]
    own = metric_from_spec("nist(tokenize='none', weights='sample')").score(batch).values
    assert np.allclose(own, singly, rtol=0, atol=1e-9)
    metric: Any = metric_from_spec("nist(tokenize='none')")
    whole = nist_score.corpus_nist([[r.split()] for _, r in given_samples], [o.split() for o, _ in given_samples])
    assert metric.from_stats(metric.stats(batch).sum(axis=0))[0] == pytest.approx(whole, abs=1e-9)


def test_nist_pools_references_where_nltk_takes_one_for_each_order() -> None:
    """mteval counts an n-gram of any reference, and divides by their mean length; worked by hand.

    References "a b" and "c d e": 5 words, each once, so a word tells log2(5) bits; "a b" and "c d" and "d e" tell 0.
    Output "a c": two matched words of two; no pair. Mean length 2.5, ratio .8.
    """
    batch = Batch.from_columns(["a c"], references=[["a b", "c d e"]])
    ours = metric_from_spec("nist(tokenize='none')").score(batch).values[0]
    penalty = math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(0.8) ** 2)
    assert ours == pytest.approx(math.log2(5) * penalty, abs=1e-12)
    theirs = nist_score.sentence_nist([["a", "b"], ["c", "d", "e"]], ["a", "c"], n=2)
    assert theirs < ours  # one reference alone has one of the two words


@given(
    st.lists(st.lists(st.sampled_from("a b c d".split()), max_size=9).map(" ".join), min_size=2, max_size=10),
    st.integers(1, 4),
)
def test_self_bleu_equals_nltks_sentence_bleu_of_each_output_among_the_others(outputs: list[str], order: int) -> None:
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    smooth = bleu_score.SmoothingFunction().method1
    weights = tuple([1 / order] * order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [
            bleu_score.sentence_bleu(
                [o.split() for j, o in enumerate(outputs) if j != i], out.split(), weights, smoothing_function=smooth
            )
            for i, out in enumerate(outputs)
        ]
    ours = metric_from_spec(f"self-bleu(order={order})").score(Batch.from_columns(outputs)).values
    assert np.allclose(ours, wanted, rtol=0, atol=1e-9)


def test_nltks_lepor_rewards_a_wrong_length_and_ours_does_not() -> None:
    lepor = pytest.importorskip("nltk.translate.lepor")
    assert lepor.length_penalty(["a"] * 10, ["a"] * 5) > 1  # exp(1 − c/r) for a short output
    batch = Batch.from_columns(["a b c", "a b c d e"], references=[["a b c d e"]] * 2)
    short, whole = metric_from_spec("lepor").score(batch).values
    assert short < whole == 1
