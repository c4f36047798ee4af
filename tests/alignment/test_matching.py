"""Estimator E against a direct computation with numpy, and what windows and sentences change."""

from __future__ import annotations

import numpy as np
import pytest
from two_texts import align

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.matching import Matching
from nlgauge.models.embeddings import Embeddings
from nlgauge.models.encoder import Encoder
from nlgauge.text.windows import sentence_spans, windows

SOURCE = "McConaughey, 47, graduated in 1993. He is an avid fan of its football team. It rained. Prices rose again."
OUTPUT = "McConaughey is a football fan. Prices rose."


def unit(minilm: Encoder, text: str, layer: int) -> np.ndarray:
    return minilm.encode([text], [layer])[0][layer].tokens


def test_a_score_is_the_highest_cosine(minilm: Encoder) -> None:
    found = align(OUTPUT, SOURCE, layer=4)
    expected = (unit(minilm, OUTPUT, 4) @ unit(minilm, SOURCE, 4).T).max(axis=1)
    np.testing.assert_allclose(found.scores, np.clip(expected, 0, 1), atol=1e-5)
    assert "".join(found.tokens) == OUTPUT.replace(" ", "")


def test_all_windows_take_the_best_token_of_any(minilm: Encoder) -> None:
    parts = windows(SOURCE, 2)
    assert len(parts) == 3
    near = np.stack([(unit(minilm, OUTPUT, 4) @ unit(minilm, w, 4).T).max(axis=1) for w in parts], axis=1)
    np.testing.assert_allclose(
        align(OUTPUT, SOURCE, layer=4, window=2).scores, np.clip(near.max(axis=1), 0, 1), atol=1e-5
    )


def test_the_best_window_is_chosen_per_sentence_by_its_mean(minilm: Encoder) -> None:
    near = np.stack([(unit(minilm, OUTPUT, 4) @ unit(minilm, w, 4).T).max(axis=1) for w in windows(SOURCE, 2)], axis=1)
    starts = minilm.pieces([OUTPUT])[0].starts
    second = starts >= sentence_spans(OUTPUT)[1][0]
    expected = np.empty(len(near))
    for rows in (~second, second):
        expected[rows] = near[rows][:, near[rows].mean(axis=0).argmax()]
    found = align(OUTPUT, SOURCE, layer=4, window=2, match="best")
    np.testing.assert_allclose(found.scores, np.clip(expected, 0, 1), atol=1e-5)


def test_a_sentence_read_by_itself_is_not_coloured_by_its_neighbours(minilm: Encoder) -> None:
    expected = []
    for first, last in sentence_spans(OUTPUT):
        alone = unit(minilm, OUTPUT[first:last], 4)
        near = np.stack([(alone @ unit(minilm, w, 4).T).max(axis=1) for w in windows(SOURCE, 2)], axis=1)
        expected += near[:, near.mean(axis=0).argmax()].tolist()
    found = align(OUTPUT, SOURCE, layer=4, window=2, match="sentence")
    np.testing.assert_allclose(found.scores, np.clip(expected, 0, 1), atol=1e-5)
    assert "".join(found.tokens) == OUTPUT.replace(" ", "")
    assert found.scores.tolist() != align(OUTPUT, SOURCE, layer=4, window=2, match="best").scores.tolist()


def test_several_texts_on_the_right_are_one_pool(minilm: Encoder) -> None:
    both = align(OUTPUT, [SOURCE, OUTPUT])
    np.testing.assert_allclose(both.scores, 1.0, atol=1e-5)


def test_copied_words_align_better_than_invented_ones(minilm: Encoder) -> None:
    found = align("He is an avid fan of its hockey school.", SOURCE).words()
    by_word = dict(zip(found.tokens, found.scores, strict=True))
    assert min(by_word["avid"], by_word["fan"]) > max(by_word["hockey"], by_word["school"])


def test_a_score_does_not_depend_on_the_other_pairs(minilm: Encoder) -> None:
    pairs = [ToAlign(OUTPUT, (SOURCE,)), ToAlign("Tea.", (SOURCE, OUTPUT)), ToAlign(SOURCE, (OUTPUT,), whole=True)]
    estimator = Matching(window=2, match="best", sharp=2.0)
    together = estimator.align(pairs)
    for pair, found in zip(pairs, together, strict=True):
        np.testing.assert_allclose(found.scores, estimator.align([pair])[0].scores, atol=2e-6)


def test_every_text_is_encoded_once_for_all_pairs(minilm: Encoder) -> None:
    kept = Embeddings(minilm)
    outputs = [f"Output number {i}." for i in range(5)]
    Matching(vectors=kept).align([ToAlign(o, (SOURCE,)) for o in outputs] + [ToAlign(SOURCE, (o,)) for o in outputs])
    assert kept.encoded == 6


def test_nothing_to_align_with_is_0_and_nothing_to_align_is_empty(minilm: Encoder) -> None:
    assert align("Tea.", "").scores.tolist() == [0.0, 0.0]
    assert len(align("", "Tea.")) == 0


def test_words_average_their_pieces() -> None:
    text = "McConaughey's tea!"
    spans = np.array([[0, 3], [3, 11], [11, 12], [12, 13], [14, 17], [17, 18]])
    found = Alignment(text, spans, np.array([0.0, 0.4, 0.8, 0.8, 1.0, 0.2])).words()
    assert found.tokens == ["McConaughey's", "tea", "!"]
    np.testing.assert_allclose(found.scores, [0.5, 1.0, 0.2])


def test_content_leaves_out_stop_words_and_marks() -> None:
    text = "I don't like it, tea!"
    spans = np.array([[0, 1], [2, 5], [5, 6], [6, 7], [8, 12], [13, 15], [15, 16], [17, 20], [20, 21]])
    assert Alignment(text, spans, np.ones(9)).content().tokens == ["like", "tea"]


def test_unknown_options_are_one_clear_line() -> None:
    with pytest.raises(NlgaugeError, match=r"match must be .*; got 'some'"):
        Matching(match="some")  # type: ignore[arg-type]
