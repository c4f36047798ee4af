"""Columns of words: each is read rightly, with a line that says how, or refused with the words found."""

import datetime
import pickle

import polars as pl
import pytest

import nlgauge as ng
from nlgauge.errors import DataError, code_of

REFUSED = "refused"


def read(column, **options):
    rows = [{"id": f"q{i}", "judge": i % 2, "label": value} for i, value in enumerate(column)]
    return ng.load(rows, human="label", metrics="judge", **options)


def found(column, **options):
    data = read(column, **options)
    by_id = dict(data.ratings.select("input", "value").iter_rows())
    return [by_id.get(f"q{i}") for i in range(len(column))]


COLUMNS = {
    # pass and fail in every dress
    "lower": (["pass", "fail", "pass"], [1, 0, 1]),
    "mixed case": (["Pass", "FAIL", "pAsS", "fail"], [1, 0, 1, 0]),
    "blanks around": ([" pass", "fail ", "\tpass\n", "fail"], [1, 0, 1, 0]),
    "empty cells": (["pass", "", None, "fail", "   "], [1, None, None, 0, None]),
    "not available": (
        ["pass", "N/A", "n/a", "NA", "fail", "null", "-", "?"],
        [1, None, None, None, 0, None, None, None],
    ),
    "inflected": (["passed", "failed", "Passed"], [1, 0, 1]),
    "of one kind": (["pass", "failed", "passes"], [1, 0, 1]),
    "with a full stop": (["Pass.", "Fail.", "PASS!"], [1, 0, 1]),
    "in Markdown": (["**PASS**", "**FAIL**", "`pass`"], [1, 0, 1]),
    "in quotes": (['"pass"', "'fail'", "[[pass]]"], [1, 0, 1]),
    "one word": (["pass", "pass", "pass"], [1, 1, 1]),
    "one bad word": (["fail", None, "fail"], [0, None, 0]),
    "with not": (["ok", "not ok", "Not-OK", "not_ok"], [1, 0, 0, 0]),
    "partly": (["pass", "partly", "fail"], REFUSED),
    "unsure": (["pass", "fail", "unsure", "pass"], REFUSED),
    # other pairs
    "correct and incorrect": (["correct", "incorrect", "Correct"], [1, 0, 1]),
    "correct and wrong": (["correct", "wrong"], [1, 0]),
    "right and wrong": (["right", "wrong", "wrong"], [1, 0, 0]),
    "good and bad": (["Good", "bad", "GOOD"], [1, 0, 1]),
    "acceptable": (["acceptable", "unacceptable", "not acceptable"], [1, 0, 0]),
    "accepted": (["accepted", "rejected"], [1, 0]),
    "faithful": (["faithful", "unfaithful", "Faithful"], [1, 0, 1]),
    "grounded": (["grounded", "not grounded"], [1, 0]),
    "success": (["success", "failure"], [1, 0]),
    "safe": (["safe", "unsafe"], [1, 0]),
    "toxic": (["toxic", "not toxic", "toxic"], REFUSED),
    "sentiment": (["positive", "negative", "positive"], REFUSED),
    "supported or refuted": (["supported", "refuted", "supported"], REFUSED),
    "two that look good": (["good", "correct", "good", "bad"], REFUSED),
    "good and pass": (["good", "pass", "fail", "good"], REFUSED),
    "good and excellent": (["good", "excellent", "good", "excellent"], REFUSED),
    "pass and bad": (["pass", "bad", "pass"], REFUSED),
    # answers
    "yes and no": (["yes", "no", "YES"], [1, 0, 1]),
    "y and n": (["y", "n", "Y"], [1, 0, 1]),
    "yes alone": (["yes", "yes", None], REFUSED),
    "n alone": (["N", "N", "N"], REFUSED),
    "yes and n": (["yes", "n", "no", "y"], REFUSED),
    "yes, no, maybe": (["yes", "no", "maybe", "yes"], REFUSED),
    "true and false": (["true", "False", "TRUE"], [1, 0, 1]),
    "t and f": (["T", "F", "T"], [1, 0, 1]),
    "booleans": ([True, False, None, True], [1, 0, None, 1]),
    "booleans and words": ([True, "yes", "no", False], REFUSED),
    "booleans and numbers": ([True, 0, 1.0, False], [1, 0, 1, 0]),
    "German": (["ja", "nein", "ja"], REFUSED),
    "French": (["oui", "non", "oui"], REFUSED),
    "Spanish": (["sí", "no", "sí"], REFUSED),
    "Japanese": (["はい", "いいえ", "はい"], REFUSED),
    "Russian": (["да", "нет", "да"], REFUSED),
    # signs
    "thumbs": (["👍", "👎", "👍"], [1, 0, 1]),
    "thumbs with a skin": (["👍🏽", "👎🏿", "👍"], [1, 0, 1]),
    "thumbs in words": (["thumbs up", "thumbs_down", "Thumbs-Up"], [1, 0, 1]),
    "ticks": (["✅", "❌", "✅"], [1, 0, 1]),
    "ticks as text": (["✔️", "✖️", "✔️"], [1, 0, 1]),
    "faces": (["🙂", "🙁", "🙂"], REFUSED),
    "plus and minus one": (["+1", "-1", "+1"], [1, -1, 1]),
    # Inspect AI
    "C and I": (["C", "I", "C"], [1, 0, 1]),
    "C, P, I, N": (["C", "P", "I", "N"], [1, 0.5, 0, 0]),
    "C alone": (["C", "C", "C"], REFUSED),
    "A, B, C": (["A", "B", "C", "A"], REFUSED),
    # more than two
    "win, tie, loss": (["win", "tie", "loss", "Win"], [1, 0.5, 0, 1]),
    "win and lose": (["win", "lose", "draw"], [1, 0, 0.5]),
    "won by A": (["A", "tie", "B", "A"], REFUSED),
    "partially correct": (["correct", "partially correct", "incorrect"], [1, 0.5, 0]),
    "poor to excellent": (["poor", "fair", "good", "very good", "Excellent"], [1, 2, 3, 4, 5]),
    "mean opinion": (["bad", "poor", "fair", "good", "excellent"], [1, 2, 3, 4, 5]),
    "poor and good": (["poor", "good", "Poor"], [2, 4, 2]),
    "agreement": (["strongly agree", "Disagree", "neutral", "agree"], [5, 2, 3, 4]),
    "low to high": (["low", "high", "medium"], [1, 3, 2]),
    "never to always": (["never", "sometimes", "always", "never"], REFUSED),
    # numbers and words
    "number and word": (["4 - good", "2 - poor", "5 - excellent"], [4, 2, 5]),
    "word in parentheses": (["4 (good)", "2 (poor)"], [4, 2]),
    "word first": (["good - 4", "poor - 2", "good - 4"], REFUSED),
    "of five": (["4/5", "2/5", "5 / 5"], [4, 2, 5]),
    "of several scales": (["4/5", "7/10"], REFUSED),
    "stars": (["4 stars", "1 star"], [4, 1]),
    "signs as stars": (["★★★★", "★", "★★★★"], REFUSED),
    "per cent": (["85%", "40 %"], [85, 40]),
    "per cent and shares": (["85%", ".4", "30%"], REFUSED),
    "numbers among words": (["pass", "1", "fail", "0"], REFUSED),
    "a word among numbers": (["1", "0", "1", "0", "1", "1", "0", "pass"], REFUSED),
    "missing among numbers": (["1", "n/a", "0", "N/A"], [1, None, 0, None]),
    "decimal commas": (["0,5", "0,25"], [0.5, 0.25]),
    "thousands or commas": (["1,234", "2,345"], REFUSED),
    # no values at all
    "dates": (["2026-01-02", "2026-01-03", "2026-01-02"], REFUSED),
    "dates with slashes": (["12/05/2026", "13/05/2026", "12/05/2026"], REFUSED),
    "days and months": (["12/05", "13/05", "12/05"], REFUSED),
    "times": (["10:30", "11:15", "10:30"], REFUSED),
    "real dates": ([datetime.date(2026, 1, 2), datetime.date(2026, 1, 3)], REFUSED),
    "texts": (["It is fine, I think.", "Wrong year.", "It is fine, I think."], REFUSED),
    "names": (["ann", "bob", "ann", "cem"], REFUSED),
}


@pytest.mark.parametrize(("values", "expected"), COLUMNS.values(), ids=COLUMNS)
def test_a_column_of_words_is_read_rightly_or_refused_with_the_words_found(values, expected):
    if expected != REFUSED:
        assert found(values) == expected
        return
    with pytest.raises(DataError, match="column 'label'") as error:
        read(values)
    said = str(error.value).lower()
    shown = [v for v in values if v is not None and str(v).strip().lower() in said]
    assert shown and ("found the words" not in said or len(shown) == len([v for v in values if v is not None]))


def test_at_least_sixty_columns_are_tried():
    assert len(COLUMNS) >= 60


def test_what_was_understood_is_said_and_what_is_missing_is_counted():
    notes = read(["pass", "n/a", "FAIL", "N/A", "n/a", None, "pass"]).notes
    assert "read in 'label': pass = 1, fail = 0; 2 rows 'n/a', 1 row 'N/A' are missing" in notes
    assert "read in 'label': excellent = 5, good = 4, poor = 2" in read(["good", "poor", "excellent"]).notes
    assert "read in 'label': 1 row 'nan' is missing" in read(["1", "0", "nan"]).notes


def test_the_user_says_what_words_are_worth_and_known_words_need_not_be_repeated():
    values = ["pass", "partly", "fail", "unsure"]
    assert found(values, values="pass=1,fail=0,partly=.5,unsure=") == [1, 0.5, 0, None]
    assert found(values, values="partly=.5,unsure=n/a") == [1, 0.5, 0, None]
    assert found(["toxic", "not toxic"], values={"toxic": 0, "not toxic": 1}) == [0, 1]
    assert found(["pass", "fail"], values="pass=0,fail=1") == [0, 1]
    data = read(values, values="partly=.5,unsure=")
    assert "read in 'label': pass = 1, partly = 0.5, fail = 0, 'unsure' is missing" in data.notes


def test_high_and_low_of_something_are_no_metric():
    rows = [{"id": i, "label": i % 2, "judge": 1, "difficulty": ["low", "high", "medium"][i % 3]} for i in range(9)]
    data = ng.load(rows)
    assert data.metrics == ["judge"] and data.samples["difficulty"][1] == "high"
    assert [n for n in data.notes if "'difficulty'" in n and "does not tell what is judged" in n]


def test_categories_are_words(tmp_path):
    frame = pl.DataFrame(
        {"id": ["a", "b"], "judge": [1, 0], "label": pl.Series(["pass", "fail"], dtype=pl.Categorical)}
    )
    assert ng.load(frame).ratings["value"].to_list() == [1.0, 0.0]


def test_words_that_are_not_known_are_said_where_nothing_is_rated():
    rows = [
        {
            "id": i,
            "urteil": "spitze" if i % 3 else "mies",
            "bewertung": "spitze" if i % 2 else "mies",
            "art": "ab"[i % 2],
        }
        for i in range(12)
    ]
    data = ng.load(rows)
    assert (
        "not used: 'urteil', 'bewertung' (labels); if they are human: human='urteil' and values={'spitze': …, 'mies': …}"
        in data.notes
    )
    with pytest.raises(DataError, match=r"no human ratings found.* Note: not used: 'urteil'"):
        data.correlate()
    assert ng.load(rows, human="urteil", values="spitze=1,mies=0").aspects == ["urteil"]


def test_yes_may_be_bad_and_the_words_for_it_are_offered():
    rows = [{"id": i, "hallucination": "yes" if i % 3 else "no", "bleu": i} for i in range(12)]
    (line,) = [note for note in ng.load(rows).notes if "does not tell what is judged" in note]
    assert line.endswith("metrics='+hallucination' (or human=), and values={'yes': 0, 'no': 1} if yes is bad")
    assert code_of(line) == "answers" and code_of(pickle.loads(pickle.dumps(line))) == "answers"
    ranks = [{"id": i, "difficulty": ["low", "high", "medium"][i % 3], "bleu": i} for i in range(12)]
    (line,) = [note for note in ng.load(ranks).notes if code_of(note) == "answers"]
    assert "values=" not in line
    turned = ng.load(rows, human="+hallucination", values="yes=0,no=1")
    assert turned.ratings["value"].to_list() == [0.0 if i % 3 else 1.0 for i in range(12)]


def test_a_list_of_raters_words_is_read_as_one_of_their_numbers():
    lists = [["good", "bad"], [], None, ["bad", "bad"], ["good"]]
    rows = [{"id": i, "bleu": i, "rating": each, "tags": ["good"]} for i, each in enumerate(lists)]
    data = ng.load(rows)
    values = dict(data.ratings.group_by("input", maintain_order=True).agg("value").iter_rows())
    assert values == {"0": [1, 0], "3": [0, 0], "4": [1]} and data.aspects == ["rating"]
    assert "read in 'rating': good = 1, bad = 0" in data.notes
    rows = [{"id": i, "bleu": i, "rating": ["super", "lala"]} for i in range(4)]
    (line,) = [note for note in ng.load(rows).notes if "lists of labels" in note]
    assert line.endswith("values={'super': …, 'lala': …})") or line.endswith("values={'lala': …, 'super': …})")
    assert ng.load(rows, values="super=1,lala=0").ratings["value"].to_list() == [1, 0] * 4
