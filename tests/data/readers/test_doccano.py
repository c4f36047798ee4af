"""doccano JSON lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng


def test_labels_with_a_name_are_aspects(samples: Path) -> None:
    data = ng.load(samples / "doccano.jsonl")
    assert (data.systems, data.inputs, data.aspects) == (["A", "B"], ["d1", "d2"], ["quality", "fluency"])
    assert data.ratings.filter(aspect="quality")["value"].to_list() == [5, 4, 3, 2]
    assert (data.raters, data.persons) == ([], False)
    assert data.samples["output"].to_list()[3] == "Другой ответ"


def test_a_folder_has_one_annotator_per_file(samples: Path) -> None:
    data = ng.load(samples / "doccano")
    assert (data.raters, data.persons, data.aspects) == (["ann", "bob"], True, ["label"])
    assert data.ratings.filter(rater="bob")["value"].to_list() == [4, 4, 3]
    assert "1 texts without a label" in data.notes


def test_one_annotators_file_can_be_named(samples: Path) -> None:
    assert ng.load(samples / "doccano" / "ann.jsonl", annotator="ann").raters == ["ann"]


def test_written_outputs_are_read_when_said(samples: Path, refused: Callable[..., str]) -> None:
    data = ng.load(samples / "doccano_seq2seq.jsonl", task="seq2seq")
    assert data.samples.select("system", "input", "source", "output").rows() == [
        ("annotator", "1", "Good morning", "Guten Morgen"),
        ("annotator", "1 #2", "Good morning", "Morgen!"),
        ("annotator", "2", "Good night", "Gute Nacht"),
    ]
    assert "'label' was answered a text ('Guten Morgen'), like all answers" in refused(
        samples / "doccano_seq2seq.jsonl"
    )
    assert refused(samples / "doccano_seq2seq.jsonl", task="x") == "option task: found 'x', expected labels or seq2seq."


def put(key: str, value: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    def change(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        rows[1][key] = value
        return rows

    return change


HOSTILE = [
    (put("label", [[0, 3, "LOC"]]), "doccano.jsonl, line 2, key 'label': has marked spans, which are not ratings"),
    (put("label", "4"), "line 2, key 'label': found a text ('4'), expected a list."),
    (put("label", ["quality:good"]), "line 2: 'quality' was answered a text ('good') here, elsewhere with numbers"),
    (put("id", None), "line 2: no value for key 'id'."),
    (lambda rows: [rows[0], {"id": 2, "text": "x"}], "line 2: no key 'label', 'labels' or 'cats'. Keys: id, text."),
    (lambda rows: [{**row, "label": []} for row in rows], "none of the 4 texts has a label."),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[Any], Any], line: str
) -> None:
    assert line in refused(edited("doccano.jsonl", change))


def test_words_become_numbers_by_a_mapping(edited: Callable[..., Path]) -> None:
    path = edited("doccano.jsonl", lambda rows: [{**row, "label": ["quality: Good"]} for row in rows])
    assert ng.load(path, values="good=3").ratings["value"].to_list() == [3, 3, 3, 3]


@pytest.mark.parametrize("key", ["labels", "cats"])
def test_older_names_of_the_label_are_known(edited: Callable[..., Path], key: str) -> None:
    path = edited("doccano.jsonl", lambda rows: [{key if k == "label" else k: v for k, v in r.items()} for r in rows])
    assert ng.load(path).aspects == ["quality", "fluency"]
