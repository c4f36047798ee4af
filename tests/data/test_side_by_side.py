"""Outputs of several systems in columns beside each other become one row an output."""

from __future__ import annotations

import polars as pl
import pytest

import nlgauge as ng

SHARED = {"question": ["one?", "two?", "three?"], "reference": ["r1", "r2", "r3"]}
NAMES = [
    ("{s} answer", "{s} rating", "{s} bleu"),
    ("answer_{s}", "rating_{s}", "bleu_{s}"),
    ("answer ({s})", "rating ({s})", "bleu ({s})"),
]


def table(names: tuple[str, str, str], systems: tuple[str, ...] = ("GPT-4", "Claude 3")) -> pl.DataFrame:
    columns: dict[str, list[object]] = {**SHARED}
    for k, system in enumerate(systems):
        text, rating, score = (name.format(s=system) for name in names)
        columns |= {text: [f"{system} says {i}" for i in range(3)], rating: [k + 1, 3, 5 - k], score: [0.1, 0.2, k]}
    return pl.DataFrame(columns)


@pytest.mark.parametrize("names", NAMES)
def test_outputs_side_by_side_are_one_row_each(names: tuple[str, str, str]) -> None:
    data = ng.load(table(names))
    assert (data.systems, len(data.inputs), data.aspects, data.metrics) == (
        ["GPT-4", "Claude 3"],
        3,
        ["rating"],
        ["bleu"],
    )
    assert data.samples["output"].to_list() == [f"{s} says {i}" for s in data.systems for i in range(3)]
    assert data.ratings["value"].to_list() == [1, 3, 5, 2, 3, 4]
    assert any("side by side" in note for note in data.notes)


def test_a_fault_in_such_a_table_names_the_line_of_the_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "side.csv"
    path.write_text("id,A answer,A rating,B answer,B rating\n1,x,4,y,3\n2,x x,5,y y,\n,z,1,w,2\n", encoding="utf-8")
    with pytest.raises(ng.errors.DataError, match="line 4, column 'id'"):
        ng.load(path)


@pytest.mark.parametrize("column", ["expected answer", "reference answer", "user answer"])
def test_other_texts_beside_an_output_are_no_systems(column: str) -> None:
    frame = pl.DataFrame({"id": [1, 2, 3], "model answer": ["a b", "c d", "e f"], column: ["u v", "w x", "y z"]})
    assert len(ng.load(frame.with_columns(pl.Series("human score", [1, 2, 3]))).systems) == 1


def test_columns_that_the_user_names_stay_as_they_are() -> None:
    data = ng.load(table(NAMES[0]), human="GPT-4 rating", output="GPT-4 answer")
    assert (len(data.systems), len(data)) == (1, 3)


def test_direct_assessments_as_published_are_people_s_raw_scores() -> None:
    frame = pl.DataFrame(
        {
            "lp": ["de-en"] * 6,
            "src": ["s one", "s one", "s two", "s two", "s three", "s three"],
            "mt": [f"text {i}" for i in range(6)],
            "ref": ["r"] * 6,
            "score": [-1.0, 0.5, 0.2, 1.0, -0.4, 0.1],
            "raw": [20, 70, 60, 90, 40, 55],
            "annotators": [1, 2, 1, 1, 3, 1],
            "year": [2021] * 6,
        }
    )
    data = ng.load(frame)
    assert (len(data.systems), data.aspects, data.metrics, data.raters) == (1, ["raw"], [], [])
    assert data.samples["output"].to_list() == [f"text {i}" for i in range(6)]


def test_objects_with_a_key_for_each_system_are_one_row_an_output() -> None:
    rows = [
        {
            "id": i,
            "outputs": {"gpt-4.1": f"a {i}", "t5": f"b {i}"},
            "ratings": {"gpt-4.1": 4, "t5": i},
            "scores": {"gpt-4.1": {"bleu": 0.4}, "t5": {"bleu": 0.1 * i}},
        }
        for i in range(3)
    ]
    data = ng.load(rows)
    assert data.systems == ["gpt-4.1", "t5"] and len(data) == 6 and data.metrics == ["bleu"]
    assert data.samples.filter(pl.col("system") == "t5")["output"].to_list() == ["b 0", "b 1", "b 2"]
    assert data.ratings.filter(pl.col("system") == "t5")["value"].to_list() == [0, 1, 2]


def test_the_parts_of_an_outputs_record_are_no_systems() -> None:
    rows = [
        {"id": i, "summary": {"text": f"a text {i} {policy}", "policy": policy, "note": "n", "axes": {"overall": i}}}
        for i in range(4)
        for policy in ("sup", "ppo")
    ]
    data = ng.load(rows)
    assert data.systems == ["sup", "ppo"] and data.aspects == ["overall"]
    assert data.samples["output"][0] == "a text 0 sup"
