"""Table: the same rows for machines and for people."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.table import Layout, Table


@pytest.fixture
def table() -> Table:
    rows = [
        {"metric": m, "measure": g, "value": v, "n": 10}
        for m, g, v in [
            ("a_b", "input", 0.1234),
            ("a_b", "system", -0.5),
            ("c", "input", 0.9),
            ("c", "system", math.nan),
        ]
    ]
    layout = Layout(
        "metric",
        "measure",
        "value",
        best=lambda row: row["value"],
        heads={"input": "inp"},
        extra={"n": lambda r: str(r[0]["n"])},
    )
    return Table("A title", rows, layout, method="How & why.", notes=["50 % <b>"], signature="sig|1")


def test_the_best_of_each_column_is_marked(table: Table) -> None:
    header, body = table.grid()
    assert header == ["metric", "inp", "system", "n"]
    assert [[c.text for c in cells] for cells in body] == [["a_b", "0.123", "-0.500", "10"], ["c", "0.900", "–", "10"]]
    assert [(c.text) for cells in body for c in cells if c.best] == ["-0.500", "0.900"]


def test_values_that_print_alike_are_best_alike() -> None:
    rows = [{"m": m, "x": "r", "v": v} for m, v in [("a", 0.50004), ("b", 0.49996), ("c", 0.4)]]
    _, body = Table("", rows, Layout("m", "x", "v", best=lambda r: r["v"])).grid()
    assert [cells[1].best for cells in body] == [True, True, False]


def test_json_is_complete_and_has_null_for_missing(table: Table) -> None:
    read = json.loads(table.to_json())
    assert read["rows"][3] == {"metric": "c", "measure": "system", "value": None, "n": 10}
    assert read["method"] == "How & why."


def test_csv_reads_back(table: Table) -> None:
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert rows[0] == {"metric": "a_b", "measure": "input", "value": "0.1234", "n": "10"}
    assert rows[3]["value"] == ""


def test_latex_is_booktabs_and_escapes(table: Table) -> None:
    tex = table.to_latex()
    assert r"\toprule" in tex and r"\bottomrule" in tex
    assert r"a\_b & 0.123 & \bfseries -0.500 & 10 \\" in tex
    assert r"50 \% \textless{}b\textgreater{}" in tex


def test_markdown_escapes_and_marks(table: Table) -> None:
    text = table.to_markdown()
    assert "| c | **0.900** | – | 10 |" in text
    assert "&lt;b>" in text


def test_frames_come_out(table: Table) -> None:
    assert table.to_polars()["value"].to_list() == [0.1234, -0.5, 0.9, None]
    assert table.to_pandas()["metric"].tolist() == ["a_b", "a_b", "c", "c"]


def test_write_chooses_by_suffix_and_refuses_others(table: Table, tmp_path: Path) -> None:
    for suffix in ("csv", "json", "md", "tex"):
        assert table.write(tmp_path / f"t.{suffix}").read_text()
    with pytest.raises(NlgaugeError, match=r"cannot write '\.xls'; use \.csv, \.json, \.md, \.tex"):
        table.write(tmp_path / "t.xls")
