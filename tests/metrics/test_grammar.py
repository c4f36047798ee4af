"""Misspellings and grammar errors; each is skipped where its program is not installed."""

import pytest

from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec


def values(spec: str, texts: list[str | None]) -> list[float]:
    return metric_from_spec(spec).score(Batch.from_columns(texts)).values.tolist()


def test_misspelled_words_are_counted_numbers_and_letters_are_not() -> None:
    pytest.importorskip("spellchecker")
    texts = ["The restarant is naer the houze.", "The house's x is at 42 Main St, 94133.", "", "Café"]
    assert values("msp", texts) == [3, 0, 0, 0]


def test_a_language_without_a_dictionary_is_refused() -> None:
    pytest.importorskip("spellchecker")
    with pytest.raises(NeedsMissing, match="no dictionary for 'xx'"):
        metric_from_spec("msp(language='xx')").ready()


def test_grammar_errors_leave_spelling_out_unless_asked() -> None:
    pytest.importorskip("harper")
    text = "This is an test of the the linter at Zzyzx."
    assert values("grammar-errors", [text, "She reads a book.", ""]) == [2, 0, 0]
    assert values("grammar-errors(spelling=True)", [text])[0] > 2
    assert values("grammar-errors(per_word=True)", [text])[0] == pytest.approx(2 / 10)
