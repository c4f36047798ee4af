"""The parser score; skipped where link-parser is not installed."""

import shutil

import numpy as np
import pytest

from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge_papers.novikova2017 import link_parser as lp

parser = pytest.mark.skipif(shutil.which("link-parser") is None, reason="link-parser is not installed")


def values(spec: str, texts: list[str | None]) -> list[float]:
    return metric_from_spec(spec).score(Batch.from_columns(texts)).values.tolist()


@parser
def test_a_grammatical_sentence_parses_better_than_its_shuffled_words() -> None:
    good = ["The cat sat on the mat.", "She gave him the book that he wanted.", "We have not seen them since May."]
    bad = ["Mat the on sat the cat.", "Book the wanted he that gave she him.", "Not have since we them May seen."]
    assert np.mean(values("prs", [*good])) > np.mean(values("prs", [*bad])) + 1


@parser
def test_nothing_in_a_text_is_a_command_for_the_parser() -> None:
    texts = ["!help", "!file somewhere", "% a remark", "*marked", "a\nb", "!exit", "The cat sat on the mat."]
    together = values("prs", texts)
    assert together == [values("prs", [text])[0] for text in texts]
    assert together[-1] == 0.0


@parser
def test_the_score_of_a_text_is_the_mean_of_its_sentences() -> None:
    parts = ["The cat sat on the mat.", "Mat cat the on."]
    assert values("prs", [" ".join(parts)])[0] == pytest.approx(np.mean(values("prs", parts)))


@parser
def test_a_long_sentence_without_a_whole_parse_is_parsed_in_even_pieces() -> None:
    sentence = " ".join(["of the under which and"] * 9)
    pieces = lp._pieces(sentence)
    assert " ".join(pieces) == sentence
    assert [len(piece.split()) for piece in pieces] == [15, 15, 15]
    assert lp.costs([sentence])[sentence] == pytest.approx(sum(lp.costs(sorted(set(pieces)))[p] for p in pieces))


@parser
def test_an_output_without_a_sentence_has_no_parser_score_and_a_reason() -> None:
    scores = metric_from_spec("prs").score(Batch.from_columns(["", "...", "🙂"]))
    assert np.isnan(scores.values).all()
    assert set(scores.reasons.values()) == {"no sentence in the output"}


def test_without_the_parser_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    lp.version.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(NeedsMissing, match="apt install link-grammar"):
        metric_from_spec("prs").ready()
    lp.version.cache_clear()
