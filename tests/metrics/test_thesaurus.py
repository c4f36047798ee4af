"""Other words for the same: a few that everybody would exchange, and the traps that a plain look-up falls into."""

from __future__ import annotations

import pytest

from nlgauge.errors import NeedsMissing
from nlgauge.text.thesaurus import same_meaning
from nlgauge.text.wordnet import synonyms, wordnet_folder


@pytest.fixture(scope="module", autouse=True)
def wordnet() -> None:
    try:
        wordnet_folder()
    except NeedsMissing as why:
        pytest.skip(str(why))


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("huge", {"immense", "vast"}),
        ("recently", {"lately"}),
        ("students", {"pupils"}),
        ("luggage", {"baggage"}),
        ("lawyer", {"attorney"}),
    ],
)
def test_words_that_stand_for_each_other(word: str, others: set[str]) -> None:
    assert set(same_meaning(word)) == others
    assert all(word in same_meaning(other) for other in others)


@pytest.mark.parametrize(
    "word",
    ["said", "bank", "might", "about", "but", "years", "john", "enjoy", "as", "he", "was", "Bush", "x7", "", "film"],
)
def test_traps(word: str) -> None:
    """'said' as 'aforementioned', 'might' as 'mightiness', 'he' as helium, 'years' as 'geezerhood' and their like."""
    assert same_meaning(word) == ()


def test_what_is_given_shares_a_synset_in_wordnet_too() -> None:
    for word in ("huge", "recently", "luggage", "quickly", "famous", "singer", "teacher"):
        assert set(same_meaning(word)) < synonyms(word), word
