"""Parts of the studies of deng2021 and gao2025 on small examples."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge_papers.deng2021.baselines import lines, pooled_rouge
from nlgauge_papers.gao2025.claims import rises, rises_then_falls, statements, still
from nlgauge_papers.gao2025.measures import numbered


def test_pooled_rouge_counts_the_matches_of_all_references_over_all_their_words() -> None:
    """Three words; two of them in the first reference (2 words), one in the second (4 words): recall 3/6, precision
    3/6.
    """
    batch = Batch.from_columns(["one two three"], None, None, [["one two", "three four five six"]])
    assert pooled_rouge("rouge-1", batch) == pytest.approx([0.5])
    best = metric_from_spec("rouge-1").score(batch).values
    assert best == pytest.approx([0.8])  # the best reference alone: 2 · (2/3 · 1) / (2/3 + 1)


@pytest.mark.parametrize("spec", ["rouge-1(stem=True)", "rouge-2", "rouge-lsum"])
def test_with_one_reference_pooled_rouge_is_rouge(spec: str) -> None:
    texts = ["the cats sat on a mat", "a dog ran home", "nothing alike"]
    batch = Batch.from_columns(texts, None, None, [["a cat sits on the mat"], ["the dog ran"], ["all other"]])
    np.testing.assert_allclose(pooled_rouge(spec, batch), metric_from_spec(spec).score(batch).values, atol=1e-12)


def test_lines_put_each_sentence_on_its_own() -> None:
    assert lines("it rained . we left . ").split("\n") == ["it rained .", "we left ."]


def test_statements_of_an_order_are_its_pairs() -> None:
    assert statements("a < b < c", {"a": 1, "b": 2, "c": 3}) == (3, [])
    held, broken = statements("a < b < c", {"a": 2, "b": 1, "c": 3})
    assert held == 2
    assert broken == ["a 2.000 not < b 1.000"]
    assert statements("a ≈ b > c", {"a": 0.70, "b": 0.74, "c": 0.72})[1] == ["a 0.700 not > c 0.720"]


def test_words_about_series() -> None:
    assert rises([0.1, 0.2, 0.199, 0.3])
    assert not rises([0.1, 0.3, 0.2, 0.4])
    assert not rises([0.3, 0.3])
    assert still([0.50, 0.51, 0.505])
    assert not still([0.50, 0.55])
    assert rises_then_falls([0.1, 0.4, 0.3])
    assert not rises_then_falls([0.1, 0.2, 0.3])


def test_the_thirty_sets_are_numbered_as_in_table_5() -> None:
    found = {number: (part.set, part.subset, aspect) for number, part, aspect in numbered()}
    assert len(found) == 30
    assert found["D5"] == ("WMT23", "GeneralMT2023_NEWS", "Overall Quality")
    assert found["D13"] == ("MANS", "WP", "Overall")
    assert found["D20"] == ("USR", "Topical-Chat", "Engaging")
    assert found["D30"] == ("WebNLG2020", "WebNLG2020", "Textstructure")
