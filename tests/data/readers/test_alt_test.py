"""Files of the alternative annotator test, in the layout that its repository documents."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(samples / "alt_test", tmp_path / "alt"))


@pytest.mark.parametrize("name", ["", "human_annotations.json"])
def test_annotators_are_raters_and_models_are_metrics(folder: Path, name: str) -> None:
    data = ng.load(folder / name)
    assert (data.inputs, data.raters) == (["q1", "q2", "q3"], ["ann", "bob", "eva"])
    assert data.ratings.filter(rater="ann")["value"].to_list() == [4, 2, 5]
    assert data.scores["gpt-4o:label"].to_list() == [5, 2, 4]
    assert data.scores["llama-3:label"].to_list() == [3, 3, None]
    assert data.samples.select("source", "text_id").row(0) == ("Rate text 1 from 1 to 5.", "t1")


def test_labels_without_an_order_are_refused_with_the_words(folder: Path, refused: Callable[..., str]) -> None:
    for name in ("human_annotations.json", "llm_annotations.json"):
        path = folder / name
        found = json.loads(path.read_text())
        path.write_text(json.dumps({who: dict.fromkeys(v, "Location") for who, v in found.items()}))
    message = refused(folder)
    assert "'label' not read: its values are labels (Location)" in message
    assert "values={'Location': …}" in message


def test_people_alone_are_read_and_it_is_said(folder: Path) -> None:
    (folder / "llm_annotations.json").unlink()
    data = ng.load(folder)
    assert data.metrics == []
    assert any("no llm_annotations.json next to" in note for note in data.notes)


def test_files_of_several_sets_in_one_folder_are_paired_by_name(folder: Path) -> None:
    for kind in ("human", "llm"):
        content = gzip.compress((folder / f"{kind}_annotations.json").read_bytes())
        (folder / f"stars_{kind}.json.gz").write_bytes(content)
        (folder / f"{kind}_annotations.json").unlink()
    data = ng.load(folder / "stars_human.json.gz")
    assert data.raters == ["ann", "bob", "eva"]
    assert data.scores["gpt-4o:label"].to_list() == [5, 2, 4]
