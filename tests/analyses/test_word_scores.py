"""Word scores of a metric beside the words that people marked as wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.stats.agreement.curves import roc_area

pytest.importorskip("transformers", reason="word scores need the extra 'neural'")

NAMES = ("Anna", "Boris", "Carla", "David", "Elena", "Frank", "Greta", "Harry", "Irene", "Jonas", "Klara", "Louis")
SWAPPED = " was awarded the prize for physics in Stockholm"


def marked(raters: tuple[str, ...] = ("ann", "bob", "cem"), agree: int = 3, n: int = 12) -> ng.Dataset:
    """Each output names another person than its source; that name is marked by `agree` of the raters."""
    rows, spans = [], []
    for k in range(n):
        right, wrong = NAMES[k], NAMES[(k + 1) % len(NAMES)]
        rows.append({"system": "s", "input": f"i{k}", "output": wrong + SWAPPED, "source": right + SWAPPED})
        for at, rater in enumerate(raters):
            place = (0, len(wrong), "major") if at < agree else (None, None, None)
            spans.append(("s", f"i{k}", rater, "output", *place, None))
    frame = pl.DataFrame(spans, schema=ng.Dataset.SPANS, orient="row")
    return ng.Dataset.of("made", pl.DataFrame(rows), spans=frame)


def by(table: ng.Table) -> dict[tuple[str, str], dict]:
    return {(row["metric"], row["measure"]): row for row in table.rows}


def test_the_area_is_that_of_the_words_that_align_prints() -> None:
    data = marked()
    rows = by(ng.analyze("word-scores", data, metrics=["ctc"]))
    scores, right = [], []
    for k in range(len(data)):
        words = ng.score(data, "ctc", explain=True, input=f"i{k}").parts[0].alignment.words().content()
        scores += words.scores.tolist()
        right += [start > 0 for start, _ in words.spans.tolist()]
    assert rows["ctc", "all_words"]["value"] == pytest.approx(roc_area(scores, right), abs=1e-9)
    assert rows["ctc", "all_words"]["n"] == len(scores) and rows["ctc", "all_words"]["marked"] == 12
    assert rows["ctc", "within_outputs"]["value"] > 0.9
    assert rows["copied", "all_words"]["value"] == 1.0  # a swapped name does not stand in the source


def test_a_word_is_wrong_where_more_than_half_of_the_people_marked_it() -> None:
    data = marked(agree=1)
    assert by(ng.analyze("word-scores", data))["ctc", "all_words"]["marked"] == 0
    model = replace(marked(("gpt-4", "ann", "bob"), agree=2), models=frozenset({"gpt-4"}))
    assert by(ng.analyze("word-scores", model))["ctc", "all_words"]["marked"] == 0  # ann alone of two persons


def test_few_inputs_have_an_area_and_no_interval() -> None:
    row = by(ng.analyze("word-scores", marked(n=4)))["ctc", "all_words"]
    assert np.isfinite(row["value"]) and np.isnan(row["low"])
    assert "requires marked words in at least" in row["reason"]


def test_what_is_missing_is_said() -> None:
    with pytest.raises(NeedsMissing, match="no human error spans"):
        ng.analyze("word-scores", ng.example())
    with pytest.raises(NlgaugeError, match=r"rouge-1.*has no word scores"):
        ng.analyze("word-scores", marked(), metrics=["rouge-1"])
