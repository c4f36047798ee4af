"""TER: the example of its paper, several references, length."""

from __future__ import annotations

from typing import Any

import pytest

from nlgauge.metrics import Batch, metric_from_spec

REFERENCE = "SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times"
OUTPUT = "THIS WEEK THE SAUDIS denied information published in the new york times"


def test_the_example_of_snover_2006_needs_four_edits_of_thirteen_words() -> None:
    batch = Batch.from_columns([OUTPUT], references=[[REFERENCE]])
    assert metric_from_spec("ter").score(batch).values[0] == pytest.approx(100 * 4 / 13)


def test_a_moved_phrase_is_one_edit() -> None:
    batch = Batch.from_columns(["d e f a b c"], references=[["a b c d e f"]])
    assert metric_from_spec("ter").score(batch).values[0] == pytest.approx(100 / 6)


def test_several_references_give_the_fewest_edits_over_the_mean_length() -> None:
    batch = Batch.from_columns(["a b c"], references=[["a b c d", "x y"]])
    assert metric_from_spec("ter").score(batch).values[0] == pytest.approx(100 * 1 / 3)
    assert metric_from_spec("ter(references='mean')").score(batch).values[0] == pytest.approx((100 / 4 + 300 / 2) / 2)


def test_the_corpus_rate_is_edits_over_words_of_all() -> None:
    metric: Any = metric_from_spec("ter")
    batch = Batch.from_columns(["a", "a b c d"], references=[["b"], ["a b c d"]])
    assert metric.from_stats(metric.stats(batch).sum(axis=0))[0] == pytest.approx(100 / 5)


def test_an_output_of_the_wrong_words_may_exceed_hundred() -> None:
    batch = Batch.from_columns(["a b c", ""], references=[["x"], ["x y"]])
    assert metric_from_spec("ter").score(batch).values.tolist() == [300, 100]


@pytest.mark.slow
def test_a_text_of_100_000_words_is_scored() -> None:
    words = [str(k % 977) for k in range(100_000)]
    batch = Batch.from_columns([" ".join(words[:-1])], references=[[" ".join(words)]])
    assert metric_from_spec("ter").score(batch).values[0] == pytest.approx(100 / 100_000)
