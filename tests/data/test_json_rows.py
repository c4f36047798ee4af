"""Rows of JSON files as pandas and benchmarks write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nlgauge as ng
from nlgauge.errors import DataError

ROWS = [
    {"system": s, "doc": d, "coherence": c, "bleu": b}
    for s, d, c, b in [("A", "x", 4, 0.3), ("A", "y", 5, 0.5), ("B", "x", 2, 0.1), ("B", "y", 3, 0.4)]
]


def read(folder: Path, content: Any) -> ng.Dataset:
    path = folder / "rows.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return ng.load(path)


@pytest.mark.parametrize("orient", [None, "columns", "split", "index", "records", "table"])
def test_a_frame_is_read_as_pandas_writes_it(tmp_path: Path, orient: str | None) -> None:
    data = read(tmp_path, pd.DataFrame(ROWS).to_json(orient=orient))  # type: ignore[call-overload]
    expected = ng.load(ROWS)
    assert data.systems == expected.systems and data.metrics == ["bleu"] and data.aspects == ["coherence"]
    assert data.scores["bleu"].to_list() == expected.scores["bleu"].to_list()


def test_of_several_lists_the_longest_has_the_rows_and_it_is_said(tmp_path: Path) -> None:
    data = read(tmp_path, {"dataset": "toy", "annotations": [{"metric": "coherence"}], "instances": ROWS})
    assert len(data) == 4
    assert "the rows are the 4 records of 'instances'; not read: 'annotations' (1)" in data.notes
    with pytest.raises(DataError, match="expected a JSON list of objects"):
        read(tmp_path, {"dataset": "toy", "one": ROWS, "two": ROWS})


def test_lists_in_the_plural_are_columns_and_turns_say_which_outputs_belong_together(tmp_path: Path) -> None:
    turns = [["Hello.", "Hi, how are you?"], ["Rain again.", "I like rain."]]
    data = read(
        tmp_path,
        {
            "contexts": [*turns, *turns],
            "responses": ["Fine.", "So do I.", "No.", "Why?"],
            "models": ["A", "A", "B", "B"],
            "scores": [4, 5, 1, 3],
        },
    )
    assert data.systems == ["A", "B"] and len(data.inputs) == 2 and data.aspects == ["scores"]
    assert "lists named 'contexts', 'responses', 'models' are read as columns 'context', 'response', 'model'" in (
        data.notes
    )
