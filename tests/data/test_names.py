"""Names that look alike: what nobody can see tells no names apart, and letters of other scripts are reported."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from command import run_command
from nlgauge.data.names import common_form, look_alikes
from nlgauge.errors import NameUnknown, code_of

CAFE, NFD = "café", "cafe\u0301"
SAME = [
    ("t5", "t5\u200b"),
    (CAFE, NFD),
    ("t5", "\ufefft5"),
    ("gpt 4", "gpt\u00a04"),
    ("t5", "t5 "),
    ("bart", "ba\u00adrt"),
    ("bart", "bart\u200d"),
    ("한국", unicodedata.normalize("NFD", "한국")),
    ("t5", "t5\U000e0041"),
]
APART = ["👩\u200d🔬 👩🔬", "می\u200cخواهم میخواهم"]


def rows(one: str, two: str) -> list[dict[str, Any]]:
    """Two systems on eight inputs; half of the rows of the first have the other spelling."""
    return [
        {"system": s, "input": f"i{i}", "human.quality": (i * (k + 2)) % 5, "bleu": (i * 7 + k) % 11 / 11}
        for i in range(8)
        for k, s in enumerate([(one, two)[i % 2], "other"])
    ]


def notes(data: ng.Dataset, code: str) -> list[str]:
    return [note for note in data.notes if code_of(note) == code]


@pytest.mark.parametrize(("one", "two"), SAME, ids=ascii)
def test_names_that_differ_invisibly_are_one(one: str, two: str) -> None:
    data = ng.load(rows(one, two))
    assert data.systems == [one, "other"]
    (note,) = notes(data, "names")
    assert note.startswith("column 'system': 1 of 3 names has invisible characters")
    assert note.endswith("; 2 names become 1")
    expected = ng.correlate(ng.load(rows(one, one)))
    assert [r["value"] for r in ng.correlate(data)] == pytest.approx([r["value"] for r in expected], nan_ok=True)


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl", "pandas", "polars"])
def test_names_are_one_in_every_format(form: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame(rows(CAFE, NFD)), tmp_path / f"t.{form}"
    if form in ("csv", "parquet", "jsonl"):
        getattr(frame, {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}[form])(path)
    data: Any = {"pandas": pd.DataFrame(frame.to_dict(as_series=False)), "polars": frame}.get(form, path)
    assert ng.load(data).systems == [CAFE, "other"]


@pytest.mark.parametrize("column", ["input", "rater", "aspect"])
def test_all_keys_of_a_long_table_are_in_one_form(column: str) -> None:
    table = [
        {
            "system": s,
            "input": f"i{i}",
            "rater": r,
            "aspect": "tone",
            "rating": (i + k + len(r)) % 5,
            "bleu": (i + k) / 9,
        }
        for i in range(4)
        for k, s in enumerate("AB")
        for r in ("r1", "r22")
    ]
    key = {"input": "i0", "rater": "r1", "aspect": "tone"}[column]
    odd = [row | {column: f"{key}\u200b"} if row[column] == key and row["system"] == "A" else row for row in table]
    data, expected = (ng.load(t, person_raters=["r1", "r22"]) for t in (odd, table))
    assert data.ratings.sort(pl.all()).equals(expected.ratings.sort(pl.all()))
    assert f"column '{column}'" in notes(data, "names")[0]


def test_check_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame(rows("t5", "t5\u200b")).write_csv(path)
    done = run_command("data", "check", path)
    text = " ".join(done.stdout.split())
    assert "1 of 3 names has invisible characters ('t5⟦U+200B⟧' is read as 't5'); 2 names become 1" in text


def test_labels_find_outputs_whose_ids_look_the_same() -> None:
    outputs = [{"system": s, "input": f"{CAFE} {i}", "bleu": i / 9} for i in range(8) for s in "AB"]
    labels = pl.DataFrame([{"system": s, "input": f"{NFD} {i}", "quality": i % 5} for i in range(8) for s in "AB"])
    data = ng.load(outputs, labels=labels, human="quality")
    assert data.ratings.height == 16


def test_a_heading_is_found_as_it_looks() -> None:
    table = [{**row, NFD: row.pop("human.quality")} for row in rows("A", "A")]
    data = ng.load(table, human=CAFE)
    assert data.aspects == [CAFE] and ng.load(table, human=NFD).aspects == [CAFE]
    assert ng.correlate(data, aspect=NFD).rows and ng.correlate(data, metrics="bleu\u200b").rows
    with pytest.raises(NameUnknown):
        ng.correlate(data, aspect="nothing")


@pytest.mark.parametrize("pair", ["gpt gрt", "BART ВАRТ", "gpt-4 gpt–4", "gpt-4 ｇｐｔ-4", "a'b a’b", *APART])
def test_names_that_look_alike_are_kept_apart_and_reported(pair: str) -> None:
    one, two = pair.split(" ")
    data = ng.load(rows(one, two))
    assert data.systems == [one, "other", two]
    (note,) = notes(data, "look_alike")
    assert note.startswith("systems '") and "look alike but differ" in note
    assert not notes(data, "names")


def test_headings_that_look_alike_are_reported() -> None:
    table = [row | {"bleu\u200b": k % 3} for k, row in enumerate(rows("A", "A"))]
    data = ng.load(table)
    assert notes(data, "look_alike") == [
        "metrics 'bleu' and 'bleu⟦U+200B⟧' look alike but differ; rename one if they are the same"
    ]


@pytest.mark.parametrize(
    "names", [["gpt-4", "gpt-4o", "GPT-4", "gpt4"], ["ação", "acao"], ["模型", "模塊"], ["l", "I", "1"]]
)
def test_names_that_can_be_told_apart_are_not_reported(names: list[str]) -> None:
    assert look_alikes("systems", names) == []


@given(st.text())
def test_the_common_form_is_one(name: str) -> None:
    form = common_form(name)
    assert common_form(form) == form
    assert common_form(unicodedata.normalize("NFD", form)) == form
    assert not name.isascii() or form == name
