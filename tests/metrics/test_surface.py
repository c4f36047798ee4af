"""Words, sentences and counts on texts whose numbers can be counted by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.text.sentences import sentences, words
from nlgauge.text.syllables import by_rule, cmudict

NAMES = ["len", "cpw", "wps", "sps", "spw", "pol", "ppw"]
LATER = ["flesch", "flesch-kincaid", "smog", "ari", "coleman-liau"]


def value(spec: str, text: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([text])).values[0])


def test_the_counts_of_a_sentence_are_those_one_counts_by_hand() -> None:
    text = "There is sorry no information. I'm near take-out!"
    assert words(text) == ["There", "is", "sorry", "no", "information", "I'm", "near", "takeout"]
    assert value("len", text) == 5 + 2 + 5 + 2 + 11 + 3 + 4 + 7
    assert value("cpw", text) == pytest.approx(39 / 8)
    assert value("wps", text) == 4
    assert value("sps(syllables='rules')", text) == (1 + 1 + 2 + 1 + 4 + 1 + 1 + 2) / 2
    assert value("pol(syllables='rules')", text) == 1
    assert value("ppw(syllables='rules')", text) == 1 / 8


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("One. Two! Three?", 3),
        ("Mr. Li met Dr. No at 5 p.m. on Monday.", 1),
        ("It cost 3.50 dollars. Take e.g. this one.", 2),
        ("J. K. Rowling wrote it.", 1),
        ("no capitals here. none at all.", 2),
        ("He said 'Stop.' Then he left.", 2),
        ("第一句。第二句。", 2),
        ("A line\n\nAnother", 2),
        ("What?! Really...", 2),
        ("", 0),
        ("... !!", 0),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, many: int) -> None:
    assert len(sentences(text)) == many


@given(st.text(max_size=80))
def test_any_text_has_counts_that_fit_together(text: str) -> None:
    found = {name: value(f"{name}", text) for name in NAMES}
    many = len(words(text))
    if many == 0:
        assert found["len"] == found["wps"] == found["sps"] == found["pol"] == 0
        assert np.isnan([found["cpw"], found["spw"], found["ppw"]]).all()
        return
    assert found["len"] == pytest.approx(found["cpw"] * many)
    assert found["pol"] == pytest.approx(found["ppw"] * many)
    assert found["sps"] == pytest.approx(found["spw"] * found["wps"])
    assert len(sentences(text)) >= 1
    assert all(np.isfinite(value(name, text)) for name in LATER)


def test_an_empty_output_is_0_for_counts_and_has_a_reason_for_averages() -> None:
    batch = Batch.from_columns(["", "  ", None, "word"])
    assert metric_from_spec("len").score(batch).values[[0, 1, 3]].tolist() == [0, 0, 4]
    scores = metric_from_spec("flesch").score(batch)
    assert scores.reasons[0] == scores.reasons[1] == "no words in the output"
    assert np.isnan(scores.values[:3]).all()


@pytest.mark.parametrize("text", ["שלום עולם", "🙂🙂", "a\x00b", "e\u0301te\u0301", "word " * 100_000], ids=ascii)
def test_odd_texts_are_counted_without_a_crash(text: str) -> None:
    assert value("len", text) >= 0
    assert value("wps", text) >= 0


def test_letters_with_an_accent_count_once_however_they_are_written() -> None:
    assert value("len", "e\u0301te\u0301") == value("len", "été") == 3


@pytest.mark.parametrize(
    ("word", "many"),
    [
        ("house", 1),
        ("houses", 2),
        ("table", 2),
        ("wanted", 2),
        ("liked", 1),
        ("create", 2),
        ("radio", 3),
        ("league", 1),
        ("something", 2),
        ("royal", 2),
        ("idea", 3),
        ("rhythms", 1),
        ("x", 0),
        ("école", 2),
    ],
)
def test_the_rules_give_the_syllables(word: str, many: int) -> None:
    assert by_rule(word) == many


def test_the_rules_agree_with_the_cmu_dictionary_for_nine_words_in_ten() -> None:
    known = cmudict()
    if known is None:
        pytest.skip("the CMU dictionary (pocketsphinx) is not installed")
    plain = {word: many for word, many in known.items() if word.isalpha() and len(word) > 1}
    assert np.mean([by_rule(word) == many for word, many in plain.items()]) > 0.92


def test_the_signature_says_where_syllables_come_from_and_the_tally_counts_them() -> None:
    rules = metric_from_spec("spw(syllables='rules')")
    assert "syl:rules" in rules.signature
    batch = Batch.from_columns(["the zzyzx house"])
    assert rules.tally(batch) == {"words by the CMU dictionary": 0, "words by syllable rules": 3}
    if cmudict() is not None:
        found = metric_from_spec("spw")
        assert "syl:cmudict+rules" in found.signature
        assert found.tally(batch) == {"words by the CMU dictionary": 2, "words by syllable rules": 1}


def test_without_the_dictionary_rules_are_used_and_asking_for_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from nlgauge.text import syllables as _syllables

    monkeypatch.setattr(_syllables, "cmudict", lambda: None)
    assert "syl:rules" in metric_from_spec("spw").signature
    with pytest.raises(NeedsMissing, match=r'pip install "nlgauge\[readability\]"'):
        metric_from_spec("spw(syllables='cmudict')").ready()


def test_a_wrong_option_is_refused_before_work_starts() -> None:
    with pytest.raises(NlgaugeError, match="syllables must be auto, cmudict or rules"):
        metric_from_spec("spw(syllables='cmu')")
    with pytest.raises(NlgaugeError, match="preset must be novikova2017"):
        metric_from_spec("wps(preset='novikova')")
