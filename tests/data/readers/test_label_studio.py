"""Label Studio JSON exports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import nlgauge as ng

Change = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def test_ratings_numbers_and_graded_choices_are_ratings_per_annotator(samples: Path) -> None:
    data = ng.load(samples / "label_studio.json")
    assert (data.systems, data.inputs) == (["A", "B"], ["d1", "d2"])
    assert data.aspects == ["quality", "fluency", "confidence"]
    assert (data.raters, data.persons) == (["ann@example.org", "3"], True)
    mine = data.ratings.filter(rater="ann@example.org")
    assert mine.filter(aspect="quality")["value"].to_list() == [5, 4, 3, 2]
    assert mine.filter(aspect="fluency")["value"].to_list() == [4, 3, 2, 1]  # '4 - good' is 4
    assert data.ratings.filter(aspect="confidence")["rater"].unique().to_list() == ["3"]
    assert "not read: 4 results of type 'textarea', 4 cancelled annotations" in data.notes


def test_predictions_of_a_named_model_are_scores(samples: Path) -> None:
    data = ng.load(samples / "label_studio.json")
    assert data.scores["judge-1:quality"].to_list() == [3, 4, 3, 4]


def test_texts_are_found_by_name(samples: Path) -> None:
    row = ng.load(samples / "label_studio.json").samples.row(1, named=True)
    assert (row["output"], row["source"]) == ("Zweiter Versuch — ß.", "Source of d2")


def test_pairwise_results_are_comparisons_in_the_order_shown(samples: Path) -> None:
    data = ng.load(samples / "label_studio_pairwise.json")
    found = data.comparisons.select("input", "first", "second", "aspect", "rater", "preferred").rows()
    assert found[:4] == [
        ("Say hi", "A", "B", "better", "1", "first"),
        ("Say hi", "A", "B", "better", "2", "first"),
        ("Say hi", "B", "A", "better", "1", "second"),
        ("Say hi", "B", "A", "better", "2", "first"),
    ]
    assert data.samples.filter(system="B", input="Say hi")["output"].item() == "Hello."


def words(rows: list[dict[str, Any]], *said: str) -> list[dict[str, Any]]:
    """Every choice of the first annotator replaced; with one word more than there are tasks, only-words files."""
    for row, word in zip(rows, said, strict=False):
        row["annotations"][0]["result"][1]["value"]["choices"] = [word]
    return rows


def test_words_are_left_aside_with_a_note_beside_other_ratings(edited: Callable[..., Path]) -> None:
    path = edited("label_studio.json", lambda rows: words(rows, "good", "bad", "good", "bad"))
    data = ng.load(path)
    assert data.aspects == ["quality", "confidence"]
    assert any(
        note.startswith("question 'fluency' was answered in labels (e.g. a list (['good']))") for note in data.notes
    )


def test_words_become_numbers_by_a_mapping(edited: Callable[..., Path]) -> None:
    path = edited("label_studio.json", lambda rows: words(rows, "Good", "bad", "good", "bad"))
    data = ng.load(path, values="good=2,bad=0")
    assert data.ratings.filter(aspect="fluency")["value"].to_list() == [2, 0, 2, 0]
    assert ng.load(path, values={"good": 2, "bad": 0}).ratings.equals(data.ratings)


def test_words_among_numbers_are_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("label_studio.json", lambda rows: words(rows, "4", "bad"))
    assert refused(path) == (
        "label_studio.json, record 2, key 'annotations', item 1, key 'result', item 2: 'fluency' was answered a list "
        "(['bad']) here, elsewhere with numbers; map the label to a number (values='bad=1'), or leave the question "
        "out (ignore='fluency')."
    )
    assert ng.load(path, ignore="fluency").aspects == ["quality", "confidence"]


def test_nothing_but_words_is_refused(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for row in words(rows, "good", "bad", "good", "bad"):
            row["annotations"] = [{"completed_by": 1, "result": row["annotations"][0]["result"][1:2]}]
        return rows

    assert "like all answers in label_studio.json; map labels to numbers" in refused(
        edited("label_studio.json", change)
    )


def put(change: Callable[[dict[str, Any]], Any]) -> Change:
    def whole(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        change(rows[1])
        return rows

    return whole


HOSTILE: list[tuple[Change, str]] = [
    (put(lambda t: t.update(data=None)), "record 2: no value for key 'data'. Keys: id, data"),
    (put(lambda t: t.update(annotations={})), "record 2, key 'annotations': found an object ({}), expected a list."),
    (
        put(lambda t: t["annotations"][0].update(result="x")),
        "item 1, key 'result': found a text ('x'), expected a list.",
    ),
    (put(lambda t: t["annotations"][0]["result"][0].pop("from_name")), "item 1: no value for key 'from_name'."),
    (
        put(lambda t: t["annotations"][0]["result"][0].update(value=4)),
        "key 'value': found a number (4), expected an object",
    ),
    (put(lambda t: t["data"].update(system="")), "task 2, column 'system': is empty, expected a name."),
    (lambda rows: [{**t, "annotations": []} for t in rows], "none of the 4 tasks has a rating, a number or a choice."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(edited: Callable[..., Path], refused: Callable[..., str], change: Change, line: str) -> None:
    assert line in refused(edited("label_studio.json", change))


def test_a_broken_pairwise_task_is_named(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    def other_fields(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[0]["data"] = {"prompt": "x", "one": "a", "two": "b"}
        return rows

    message = refused(edited("label_studio_pairwise.json", other_fields))
    assert "record 1: expected fields with the two outputs" in message
    assert "Fields: prompt, one, two." in message

    def middle(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[0]["annotations"][0]["result"][0]["value"] = {"selected": "middle"}
        return rows

    assert "expected left or right as selected, got a text ('middle')." in refused(
        edited("label_studio_pairwise.json", middle)
    )


def test_without_an_input_the_source_says_what_belongs_together(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("label_studio.json", lambda rows: [t for t in rows if t["data"].pop("doc_id")]))
    assert data.inputs == ["Source of d1", "Source of d2"]
    assert data.panel("quality").human.shape == (2, 2)


def test_the_same_annotation_twice_counts_once_and_is_said(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("label_studio.json", put(lambda t: t["annotations"].append(t["annotations"][1]))))
    assert data.ratings.height == 16
    assert "2 ratings repeat the same annotator, output and aspect with the same value and count once" in data.notes


def test_a_task_without_annotations_keeps_its_output(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("label_studio.json", put(lambda t: t.update(annotations=[]))))
    assert len(data) == 4
    assert data.ratings.filter(pl.col("system") == "A", pl.col("input") == "d2").height == 0


def test_a_dialogue_in_a_task_is_a_text(edited: Callable[..., Path]) -> None:
    turns = [{"author": "A", "text": "Hi"}, {"author": "B", "text": "Ho"}]
    data = ng.load(edited("label_studio.json", put(lambda t: t["data"].update(history=turns))))
    assert data.samples["context"].to_list()[1] == "A: Hi\nB: Ho"
