"""BLEU, chrF and TER against sacrebleu: single outputs and corpora, on random Unicode and on real texts."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from metric_texts import real_samples, samples, words

from nlgauge.metrics import Batch, metric_from_spec

sacrebleu = pytest.importorskip("sacrebleu")
logging.getLogger("sacrebleu").setLevel(logging.CRITICAL)
Samples = list[tuple[str, list[str]]]


def batch_of(given_samples: Samples) -> Batch:
    return Batch.from_columns([o for o, _ in given_samples], references=[r for _, r in given_samples])


def columns(given_samples: Samples) -> list[list[str | None]]:
    """References as sacrebleu wants them: the first of every sample, the second …"""
    most = max(len(r) for _, r in given_samples)
    return [[r[k] if k < len(r) else None for _, r in given_samples] for k in range(most)]


def assert_equal_to(theirs: Any, spec: str, given_samples: Samples) -> None:
    """Every single value, and the value of the corpus from summed statistics."""
    metric: Any = metric_from_spec(spec)
    batch = batch_of(given_samples)
    singly = [theirs.sentence_score(o, r).score for o, r in given_samples]
    scores = metric.score(batch)
    scored = ~np.isnan(scores.values)  # references without a token are refused, with a reason
    assert np.allclose(scores.values[scored], np.array(singly)[scored], rtol=0, atol=1e-9)
    assert all(scores.reasons[s] == "empty reference" for s in np.flatnonzero(~scored))
    if scored.all():
        whole = metric.from_stats(metric.stats(batch).sum(axis=0))[0]
        outputs = [o for o, _ in given_samples]
        assert whole == pytest.approx(theirs.corpus_score(outputs, columns(given_samples)).score, abs=1e-9)


@given(samples, st.sampled_from(["exp", "floor", "add-k", "none"]), st.integers(1, 5), st.booleans(), st.booleans())
def test_bleu_equals_sacrebleu(given_samples: Samples, smooth: str, order: int, effective: bool, lower: bool) -> None:
    theirs = sacrebleu.BLEU(smooth_method=smooth, max_ngram_order=order, effective_order=effective, lowercase=lower)
    spec = f"bleu(smooth='{smooth}', order={order}, effective_order={effective}, lowercase={lower})"
    assert_equal_to(theirs, spec, kept(given_samples))


def kept(given_samples: Samples) -> Samples:
    """Without references that have no 13a token: we leave them out, sacrebleu counts them with length 0."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    split = Tokenizer13a()
    return [(o, [r for r in refs if split(r.rstrip()).split()] or ["x"]) for o, refs in given_samples]


@given(samples)
def test_the_defaults_are_sentence_and_corpus_bleu_of_sacrebleu(given_samples: Samples) -> None:
    given_samples = kept(given_samples)
    metric: Any = metric_from_spec("bleu")
    batch = batch_of(given_samples)
    singly = [sacrebleu.sentence_bleu(o, r).score for o, r in given_samples]
    assert np.allclose(metric.score(batch).values, singly, rtol=0, atol=1e-9)
    whole = sacrebleu.corpus_bleu([o for o, _ in given_samples], columns(given_samples)).score
    assert metric.from_stats(metric.stats(batch).sum(axis=0))[0] == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("tokenize", ["intl", "zh", "char", "none"])
@given(given_samples=samples)
@settings(max_examples=30)
def test_bleu_with_other_tokenizers_equals_sacrebleu(tokenize: str, given_samples: Samples) -> None:
    theirs = sacrebleu.BLEU(tokenize=tokenize, effective_order=True)
    assert_equal_to(theirs, f"bleu(tokenize='{tokenize}', effective_order=True)", given_samples)


@settings(max_examples=60)
@given(samples, st.sampled_from([0, 1, 2]), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([1, 2, 3]))
@example([("a", ["b"])], 2, True, False, False, 2)
def test_chrf_equals_sacrebleu(
    given_samples: Samples, word_order: int, lower: bool, spaces: bool, eps: bool, beta: int
) -> None:
    theirs = sacrebleu.CHRF(word_order=word_order, lowercase=lower, whitespace=spaces, eps_smoothing=eps, beta=beta)
    spec = f"chrf(words={word_order}, lowercase={lower}, spaces={spaces}, eps={eps}, beta={beta})"
    assert_equal_to(theirs, spec, given_samples)


def test_chrf_plus_plus_is_chrf_with_two_word_orders() -> None:
    assert_equal_to(sacrebleu.CHRF(word_order=2), "chrf++", [("the (cat) sat.", ["the cat sat", "a cat"]), ("", ["x"])])


@given(samples, st.booleans(), st.booleans())
@settings(max_examples=60)
def test_ter_equals_sacrebleu(given_samples: Samples, case: bool, normalize: bool) -> None:
    theirs = sacrebleu.TER(case_sensitive=case, normalized=normalize)
    assert_equal_to(theirs, f"ter(lowercase={not case}, normalize={normalize})", given_samples)


@given(st.lists(st.sampled_from("a b c d e".split()), max_size=40), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_ter_of_shuffled_and_repeated_words_equals_sacrebleu(tokens: list[str], random: Any) -> None:
    moved = list(tokens)
    random.shuffle(moved)
    assert_equal_to(sacrebleu.TER(), "ter", [(" ".join(tokens), [" ".join([*moved, "x"])])])


@pytest.mark.slow
@pytest.mark.parametrize("words_in_text", [30, 70, pytest.param(130, marks=pytest.mark.long)])
def test_ter_of_long_texts_equals_sacrebleu_where_the_beam_cuts(words_in_text: int) -> None:
    rng = np.random.default_rng(words_in_text)
    cases: Samples = []
    for kinds in (5, 60):
        reference = rng.integers(0, kinds, words_in_text)
        output = np.concatenate([reference[words_in_text // 3 :], reference[: words_in_text // 3]])
        output = np.where(rng.random(words_in_text) < 0.2, rng.integers(0, kinds, words_in_text), output)
        cases.append((" ".join(map(str, output)), [" ".join(map(str, reference))]))
    cases.append((" ".join(["7"] * 3), [" ".join(map(str, range(words_in_text)))]))
    assert_equal_to(sacrebleu.TER(), "ter", cases)


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["bleu(effective_order=True)", "chrf", "chrf++", "ter"])
def test_values_on_published_texts_equal_sacrebleu(spec: str, real_data: Path) -> None:
    limit = 40 if spec == "ter" else 150
    theirs = {"chrf": sacrebleu.CHRF(), "chrf++": sacrebleu.CHRF(word_order=2), "ter": sacrebleu.TER()}.get(
        spec, sacrebleu.BLEU(effective_order=True)
    )
    found = real_samples(real_data, limit)
    if spec == "ter":
        found = [(o, refs[:3]) for o, refs in found[:90]]
    assert_equal_to(theirs, spec, found)


@given(words)
def test_an_empty_output_scores_as_in_sacrebleu(reference: str) -> None:
    reference += " x"
    batch = batch_of([("", [reference])])
    for spec, theirs in (
        ("bleu", sacrebleu.BLEU(effective_order=True)),
        ("chrf", sacrebleu.CHRF()),
        ("ter", sacrebleu.TER()),
    ):
        scores = metric_from_spec(spec).score(batch)
        assert scores.values[0] == pytest.approx(theirs.sentence_score("", [reference]).score)
        assert scores.notes == {0: "empty output"}
