"""Controls, and the metrics that compare an output with its source."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.surface.meaning_representation import content_terms, levenshtein


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
    assert scores("lev-source(normalise=True)", ["kitten", ""], ["sitting", "ab"]).values.tolist() == [3 / 7, 1]


def test_terms_of_a_meaning_representation_are_slots_and_values_without_the_act() -> None:
    found = content_terms("inform_no_match(area='upper market',kids_allowed=no)")
    assert found == ["area", "upper", "market", "kids", "allowed", "no"]
    assert content_terms("There is a hotel in the upper market area.") == ["hotel", "upper", "market", "area"]


def test_sim_is_1_for_the_same_terms_and_higher_for_near_words() -> None:
    for package in ("wordllama", "tokenizers", "safetensors"):
        pytest.importorskip(package) if package != "wordllama" else _needs_files()
    sources = ["inform(price='cheap',type=hotel)"] * 3
    found = scores("sim", ["price cheap type hotel", "an inexpensive inn", "the violin sonata"], sources).values
    assert found[0] == pytest.approx(1)
    assert found[0] > found[1] > found[2]
    assert scores("sim", ["", "hotel"], ["hotel", "()"]).reasons == {1: "empty source"}


def _needs_files() -> None:
    import importlib.util

    if importlib.util.find_spec("wordllama") is None:
        pytest.skip("wordllama is not installed")
