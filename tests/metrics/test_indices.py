"""Readability formulas against worked figures; parity with textstat stands in tests/parity."""

import numpy as np
import pytest

from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.surface import readability as r

# Nine words, one sentence, 13 syllables by rule, 38 letters: The hotel is near the park and allows pets.
TEXT = "The hotel is near the park and allows pets."


def value(spec: str, text: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([text])).values[0])


def test_every_index_of_a_sentence_is_the_published_formula_of_its_counts() -> None:
    syllables, letters = 1 + 2 + 1 + 1 + 1 + 1 + 1 + 2 + 1, len("Thehotelisneartheparkandallowspets")
    options = "(syllables='rules')"
    assert value(f"flesch{options}", TEXT) == pytest.approx(206.835 - 1.015 * 9 - 84.6 * syllables / 9)
    assert value(f"flesch-kincaid{options}", TEXT) == pytest.approx(0.39 * 9 + 11.8 * syllables / 9 - 15.59)
    assert value("ari", TEXT) == pytest.approx(4.71 * letters / 9 + 0.5 * 9 - 21.43)
    assert value("coleman-liau", TEXT) == pytest.approx(5.88 * letters / 9 - 29.6 / 9 - 15.8)
    assert value(f"smog{options}", TEXT) == pytest.approx(3.1291)


def test_a_text_of_thirty_sentences_with_thirty_long_words_has_the_smog_grade_of_the_paper() -> None:
    text = "The information came. " * 30
    assert value("smog(syllables='rules')", text) == pytest.approx(3.1291 + 1.043 * 30**0.5)


def test_harder_texts_score_as_harder_on_every_index() -> None:
    easy = "The cat sat on the mat. It was a big cat. The dog ran to it."
    hard = "Multidimensional representations necessitate considerable computational infrastructure investments."
    for name in ["flesch-kincaid", "ari", "coleman-liau", "smog"]:
        assert value(name, hard) > value(name, easy)
        assert metric_from_spec(name).facts.lower
    assert value("flesch", hard) < value("flesch", easy)
    assert not metric_from_spec("flesch").facts.lower


def test_dale_chall_adds_its_constant_only_above_five_per_cent() -> None:
    one = np.array([1.0])
    assert r.dale_chall_score(one, 20 * one, one)[0] == pytest.approx(0.1579 * 5 + 0.0496 * 20)
    assert r.dale_chall_score(one, 19 * one, one)[0] == pytest.approx(0.1579 * 100 / 19 + 0.0496 * 19 + 3.6365)


def test_familiar_words_are_listed_ones_and_their_regular_forms() -> None:
    pytest.importorskip("textstat")
    assert all(r.is_familiar(word) for word in ["cat", "cats", "cat's", "walked", "stopped", "making", "cried", "1984"])
    assert not any(r.is_familiar(word) for word in ["infrastructure", "zzyzx", "multidimensional"])


def test_dale_chall_without_its_word_list_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    r.familiar_words.cache_clear()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[readability\]"'):
        metric_from_spec("dale-chall").ready()
