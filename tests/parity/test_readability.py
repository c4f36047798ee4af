"""Readability against textstat (MIT), which counts some things differently.

Where the counts agree the indices are equal. The differences:
  Coleman-Liau  textstat multiplies letters by 0.058; the paper of 1975 says 0.0588, and so do we;
  ARI           textstat counts punctuation among the characters, we letters and digits;
and in what is counted:
  words      textstat drops apostrophes, and an isolated mark ("&", "–") is no word for either of us;
  sentences  textstat ends one at every . ! ? (also in "Mr." and "3.50") and passes over those of two words or fewer;
  syllables  textstat takes pyphen's hyphenation for words that the CMU dictionary does not have, we our rules;
  Dale-Chall textstat counts inflected forms of familiar words as difficult, Chall and Dale (1995) do not.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

import nlgauge as ng
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.surface import readability as r
from nlgauge.text.readability_counts import Counts
from nlgauge.text.sentences import words
from nlgauge.text.syllables import cmudict

textstat = pytest.importorskip("textstat")
count_difficult_words = textstat.backend.counts.count_difficult_words


@pytest.fixture(scope="module", autouse=True)
def same_dictionary() -> Iterator[None]:
    """textstat fetches the CMU dictionary from the net; give it ours."""
    from textstat.backend.counts import _count_syllables as theirs

    known = cmudict()
    if known is None:
        pytest.skip("the CMU dictionary (pocketsphinx) is not installed")
    spoken = {word: [["AH1"] * many] for word, many in known.items()}
    before = theirs.get_cmudict
    theirs.get_cmudict = lambda lang: spoken
    yield
    theirs.get_cmudict = before


@pytest.fixture(scope="module")
def texts() -> list[str]:
    samples = ng.example().samples
    whole = samples["references"].explode().to_list() + samples["source"].to_list()
    return sorted(set(whole))  # texts that nobody damaged


OURS = {
    "flesch": textstat.flesch_reading_ease,
    "flesch-kincaid": textstat.flesch_kincaid_grade,
    "smog": textstat.smog_index,
    "ari": textstat.automated_readability_index,
    "coleman-liau": textstat.coleman_liau_index,
}
PLAIN = (
    "The cat sat on the mat and looked at the bird. "
    "Several restaurants serve wonderful Indian food near the station. "
    "Our information about the hotel was not complete last summer."
)


@pytest.mark.parametrize("name", ["flesch", "flesch-kincaid", "smog"])
def test_on_plain_sentences_the_index_is_textstats(name: str) -> None:
    ours = metric_from_spec(name).score(Batch.from_columns([PLAIN])).values[0]
    assert ours == pytest.approx(OURS[name](PLAIN), abs=1e-9)


def test_coleman_liau_and_ari_differ_by_what_the_page_says() -> None:
    letters, words = textstat.letter_count(PLAIN), textstat.lexicon_count(PLAIN)
    ours = metric_from_spec("coleman-liau").score(Batch.from_columns([PLAIN])).values[0]
    assert ours == pytest.approx(textstat.coleman_liau_index(PLAIN) + 0.08 * letters / words, abs=1e-9)
    marks = textstat.char_count(PLAIN) - letters
    ours = metric_from_spec("ari").score(Batch.from_columns([PLAIN])).values[0]
    assert ours == pytest.approx(textstat.automated_readability_index(PLAIN) - 4.71 * marks / words, abs=1e-9)


def test_the_formulas_of_textstats_counts_are_textstats_indices(texts: list[str]) -> None:
    for text in texts:
        many, sents = np.array(textstat.lexicon_count(text)), np.array(textstat.sentence_count(text))
        syllables, poly = np.array(textstat.syllable_count(text)), np.array(textstat.polysyllabcount(text))
        letters, hard = textstat.letter_count(text), count_difficult_words(text, "en_US", 0)
        nothing = np.zeros(1)
        found = Counts(nothing, letters, many, many, sents, syllables, poly, nothing)
        signs = replace(found, letters=np.array(textstat.char_count(text)))
        pairs = [
            (r.Flesch().value(found), textstat.flesch_reading_ease(text)),
            (r.FleschKincaid().value(found), textstat.flesch_kincaid_grade(text)),
            (r.Smog().value(found), textstat.smog_index(text)),
            (r.ColemanLiau().value(found) - 0.08 * letters / many, textstat.coleman_liau_index(text)),
            (r.Ari().value(signs), textstat.automated_readability_index(text)),
            (r.dale_chall_score(hard, many, sents), textstat.dale_chall_readability_score(text)),
        ]
        for ours, theirs in pairs:
            assert float(ours) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("name", list(OURS))
def test_texts_are_ordered_as_textstat_orders_them(name: str, texts: list[str]) -> None:
    ours = metric_from_spec(name).score(Batch.from_columns(texts)).values
    assert spearmanr(ours, [OURS[name](text) for text in texts])[0] > 0.9


def test_a_word_that_is_difficult_for_us_is_difficult_for_textstat(texts: list[str]) -> None:
    ours = {word.lower().strip("'") for text in texts for word in words(text) if not r.is_familiar(word.lower())}
    theirs = {word.lower().strip("'") for text in texts for word in textstat.difficult_words_list(text, 0)}
    assert len(ours) > 100
    assert ours <= theirs
