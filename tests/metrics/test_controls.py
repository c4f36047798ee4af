"""Controls, and the metrics that compare an output with its source."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats import levenshtein


def scores(spec: str, outputs: list, sources: list | None = None):
    return metric_from_spec(spec).score(Batch.from_columns(outputs, source=sources))


def test_a_random_score_is_the_seeds_own_and_uniform() -> None:
    texts = ["same"] * 4000
    first, again, other = (scores(f"random(seed={seed})", texts).values for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert len(set(first.tolist())) == 4000
    assert abs(first.mean() - 0.5) < 0.03


def test_length_is_words_or_characters() -> None:
    assert scores("length", ["a bc  d", ""]).values.tolist() == [3, 0]
    assert scores("length(unit='characters')", ["a bc  d", ""]).values.tolist() == [7, 0]
    with pytest.raises(NlgaugeError, match=r"unit must be words or characters\. Got 'lines' instead"):
        metric_from_spec("length(unit='lines')")


def test_a_copy_of_the_source_scores_1_and_nothing_in_common_0() -> None:
    found = scores("copy-source", ["The cat.", "dog", "the", "x"], ["the cat .", "cat", "the cat", ""])
    assert found.values[:3].tolist() == pytest.approx([1, 0, 2 / 3])
    assert found.reasons == {3: "empty source"}


@given(st.text(max_size=25), st.text(max_size=25))
def test_levenshtein_is_the_textbook_table(a: str, b: str) -> None:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        new = [i]
        for j, y in enumerate(b, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
        row = new
    assert levenshtein(a, b) == row[-1]


def test_the_distance_to_the_source_may_be_a_share_of_the_longer_text() -> None:
    assert scores("lev-source", ["kitten", ""], ["sitting", "ab"]).values.tolist() == [3, 2]
    assert scores("lev-source(normalize=True)", ["kitten", ""], ["sitting", "ab"]).values.tolist() == [3 / 7, 1]
