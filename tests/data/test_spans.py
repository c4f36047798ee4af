"""Error spans as data: read from marks, kept beside ratings, written and read back, refused where they cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.data.card import card
from nlgauge.data.export import export
from nlgauge.data.readers._spans import untagged
from nlgauge.errors import DataError, NameUnknown

SAMPLES = Path(__file__).parent / "samples"
PIECES = st.lists(
    st.text(st.characters(exclude_characters="<>\x00", codec="utf-8"), max_size=5), min_size=1, max_size=9
)


@given(PIECES)
def test_what_stands_between_the_tags_is_found_again(pieces: list[str]) -> None:
    tagged = "".join(f"<v>{piece}</v>" if i % 2 else piece for i, piece in enumerate(pieces))
    text, places = untagged(tagged)
    assert text == "".join(pieces)
    assert places is not None
    assert [text[start:end] for start, end in places] == pieces[1::2]


@pytest.mark.parametrize("text", ["a <v>b", "a</v>", "<v>a<v>b</v></v>", "</v>a<v>"])
def test_tags_that_do_not_pair_give_no_place(text: str) -> None:
    assert untagged(text) == (text.replace("<v>", "").replace("</v>", ""), None)


def test_marks_of_an_mqm_file_lie_on_the_letters_that_were_marked() -> None:
    data = ng.load(SAMPLES / "mqm.tsv")
    texts = {(row["system"], row["input"]): row for row in data.samples.iter_rows(named=True)}
    marked = [
        (
            row["system"],
            row["rater"],
            row["side"],
            texts[row["system"], row["input"]][row["side"]][row["start"] : row["end"]],
            row["severity"],
        )
        for row in data.spans.drop_nulls("start").iter_rows(named=True)
    ]
    assert marked == [
        ("Alpha", "rater1", "output", "regnen", "major"),
        ("Alpha", "rater1", "output", ".", "minor"),
        ("Alpha", "rater2", "output", '!" sagte', "minor"),
        ("Beta", "rater1", "source", "rains", "major"),
        ("Beta", "rater2", "output", "Blau.", "major"),
    ]


def test_looked_at_without_an_error_is_no_gap_and_an_error_may_have_no_place() -> None:
    rows = ng.load(SAMPLES / "mqm.tsv").spans.filter(pl.col("start").is_null()).drop("side", "start", "end").rows()
    assert rows == [
        ("Alpha", "talk.1:11", "rater2", None, None),
        ("Alpha", "talk.1:12", "rater1", "neutral", "Style/Awkward"),
        ("Beta", "talk.1:12", "rater1", None, None),  # rater2 called it unrateable: not looked at
    ]


def test_a_mark_that_is_not_closed_loses_its_place_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text((SAMPLES / "mqm.tsv").read_text(encoding="utf-8").replace("regnen</v>", "regnen"), encoding="utf-8")
    data = ng.load(path)
    assert data.spans.row(0)[4:] == (None, None, "major", "Fluency/Grammar")
    assert (
        "1 positions of errors whose tag is not closed or is in another text of the segment were left out" in data.notes
    )


def test_they_come_back_from_the_tidy_format_and_are_missed_in_a_table(tmp_path: Path) -> None:
    data = ng.load(SAMPLES / "mqm.tsv")
    export(data, tmp_path / "all.jsonl")
    assert ng.load(tmp_path / "all.jsonl").spans.equals(data.spans)
    assert "the table omits 8 error spans; .jsonl omits nothing" in export(data, tmp_path / "all.csv")


def test_a_part_of_the_data_has_its_own_marks_and_the_card_counts_them() -> None:
    data = ng.load(SAMPLES / "mqm.tsv")
    parts = {group["system"]: part for group, part in data.by("system")}
    assert [parts[s].spans["system"].unique().to_list() for s in ("Alpha", "Beta")] == [["Alpha"], ["Beta"]]
    assert "error spans marked by humans: 5 in 4 annotated outputs" in card(data)


def by_hand(tmp_path: Path, *spans: dict[str, object]) -> Path:
    path = tmp_path / "hand.jsonl"
    line = {"system": "A", "input": "1", "output": "Es regnen.", "spans": list(spans)}
    path.write_text(json.dumps({"nlgauge": 1}) + "\n" + json.dumps(line) + "\n", encoding="utf-8")
    return path


def test_a_model_that_marks_is_told_from_people_by_its_name_or_the_user(tmp_path: Path) -> None:
    path = by_hand(tmp_path, {"rater": "gpt-4", "start": 3, "end": 9, "severity": "major"}, {"rater": "ann"})
    data = ng.load(path)
    assert (data.models, data.spans["rater"].to_list()) == ({"gpt-4"}, ["gpt-4", "ann"])
    assert [line for line in card(data) if line.startswith("error spans")] == [
        "error spans marked by humans: 0 in 1 annotated output",
        "error spans marked by models (gpt-4): 1 in 1 annotated output",
    ]
    assert ng.load(path, person_raters=["gpt-4"], model_raters=["ann"]).models == {"ann"}
    with pytest.raises(NameUnknown, match="no annotator 'bob'"):
        ng.load(path, model_raters=["bob"])


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ({"rater": "a", "start": 3, "end": 11}, "a span ends at 11, its text has 10 characters."),
        ({"rater": "a", "start": 4, "end": 3}, "a span from 4 to 3; expected 0 ≤ start ≤ end."),
        ({"rater": "a", "start": 4}, "key 'end': found null, expected a whole number of characters."),
        ({"rater": "a", "start": True, "end": 3}, "key 'start': found true/false (True), expected a whole number"),
        ({"rater": "a", "start": 1.5, "end": 3}, "key 'start': found a number (1.5), expected a whole number"),
        ({"start": 1, "end": 3}, "no value for key 'rater'"),
        ({"rater": "a", "side": "left"}, "key 'side': found 'left', expected output or source."),
    ],
)
def test_a_span_that_cannot_be_is_refused_in_one_line(tmp_path: Path, span: dict[str, object], words: str) -> None:
    with pytest.raises(DataError) as error:
        ng.load(by_hand(tmp_path, span))
    assert words in str(error.value)
    assert "line 2, key 'spans', item 1" in str(error.value)
    assert "\n" not in str(error.value)
