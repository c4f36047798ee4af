"""METEOR without WordNet: the formula by hand, alignment and parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec


def value(spec: str, output: str, *references: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], references=[list(references)])).values[0])


def test_the_score_of_1_5_by_hand() -> None:
    """Output "the dog runs", reference "the dog ran home": "the" is a function word, "runs" and "ran" have other stems.

    Weights .75 for content and .25 for function words: P = (.25 + .75) / (.25 + .75 + .75), R = 1 / 2.5; one chunk of
    two words.
    """
    p, r = 1 / 1.75, 1 / 2.5
    mean = 1 / (0.15 / p + 0.85 / r)
    wanted = mean * (1 - 0.6 * (1 / 2) ** 0.2)
    assert value("meteor(synonyms=False)", "the dog runs", "the dog ran home") == pytest.approx(wanted)


def test_a_stem_counts_less_than_the_word() -> None:
    same, stem, other = (
        value("meteor(synonyms=False)", w, "runs fast home") for w in ("runs x y", "running x y", "z x y")
    )
    assert same > stem > other == 0


def test_the_score_of_nltk_by_hand() -> None:
    """Output "c a b" against "a b c": all match in two chunks: 1 − .5 (2/3)³."""
    assert value("meteor(preset='nltk', synonyms=False)", "c a b", "a b c") == pytest.approx(1 - 0.5 * (2 / 3) ** 3)


def test_a_perfect_output_scores_one() -> None:
    assert value("meteor(synonyms=False)", "the cat sat on the mat", "The cat sat on the mat", "x") == 1


def test_of_equal_words_those_are_aligned_that_make_fewer_chunks() -> None:
    metric: Any = metric_from_spec("meteor(synonyms=False)")
    batch = Batch.from_columns(["b a c d"], references=[["a b a c d"]])
    assert metric.stats(batch)[0, -1] == 1  # the second a of the reference


def test_parameters_are_options() -> None:
    loose, strict = (value(f"meteor(synonyms=False, gamma={g})", "c a b", "a b c") for g in (0.0, 1.0))
    assert (loose, strict < loose) == (1.0, True)


def test_the_signature_says_stages_and_parameters() -> None:
    signature = metric_from_spec("meteor(synonyms=False)").signature  # type: ignore[attr-defined]
    assert "match:exact+stem|abgd:0.85,0.2,0.6,0.75" in signature


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(NlgaugeError, match=r"1.5, coco or nltk. Got '1.4'"):
        metric_from_spec("meteor(preset='1.4')")


def test_function_words_come_from_a_file_or_are_refused_in_one_line(tmp_path: Path) -> None:
    """With "dog" as the only function word, missing "the" costs more than missing "dog"."""
    words = tmp_path / "words.txt"
    words.write_text("dog\n")
    spec = f"meteor(synonyms=False, function_words={str(words)!r})"
    assert value(spec, "the ran", "the dog ran") > value(spec, "dog ran", "the dog ran")
    with pytest.raises(NlgaugeError, match="no function words in"):
        value("meteor(synonyms=False, function_words='absent.jar')", "a", "a")
