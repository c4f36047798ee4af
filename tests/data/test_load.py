"""load(): what people have is read as they mean it, and what cannot be read is refused with one clear line."""

from __future__ import annotations

import gzip
import importlib
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.errors import DataError, NlgaugeError

WIDE = """system,doc_id,output,coherence,fluency,bleu,bertscore
A,1,a one,4,5,0.31,0.90
A,2,a two,5,4,0.52,0.93
B,1,b one,2,3,0.10,0.81
B,2,b two,3,3,0.42,0.88
C,1,c one,1,,0.05,
C,2,c two,2,2,NaN,0.70
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(*args: object, **options: object) -> str:
    with pytest.raises(NlgaugeError) as error:
        ng.load(*args, **options)  # type: ignore[arg-type]
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_wide_csv_is_understood_by_its_column_names(tmp_path: Path) -> None:
    data = ng.load(write(tmp_path, "scores.csv", WIDE))
    assert data.systems == ["A", "B", "C"]
    assert data.inputs == ["1", "2"]
    assert data.aspects == ["coherence", "fluency"]
    assert data.metrics == ["bleu", "bertscore"]
    panel = data.panel("fluency")
    np.testing.assert_array_equal(panel.human, [[5, 4], [3, 3], [np.nan, 2]])
    np.testing.assert_array_equal(panel.metrics["bleu"], [[0.31, 0.52], [0.10, 0.42], [0.05, np.nan]])


@pytest.mark.parametrize(
    "kind", ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet", "semicolon", "crlf", "bom", "utf16"]
)
def test_every_file_kind_gives_the_same_panel(tmp_path: Path, kind: str) -> None:
    frame = pl.read_csv(WIDE.encode(), null_values=["NaN"])
    expected = ng.load(frame, name="x").panel("coherence")
    path = tmp_path / f"scores.{kind if kind in ('csv', 'csv.gz', 'tsv', 'jsonl', 'json', 'parquet') else 'csv'}"
    if kind == "parquet":
        frame.write_parquet(path)
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(r) for r in frame.to_dicts()) + "\n\n")
    elif kind == "json":
        path.write_text(json.dumps(frame.to_dicts(), indent=2))
    else:
        text = {"tsv": WIDE.replace(",", "\t"), "semicolon": WIDE.replace(",", ";"), "crlf": WIDE.replace("\n", "\r\n")}
        raw = text.get(kind, WIDE).encode("utf-8-sig" if kind == "bom" else "utf-16" if kind == "utf16" else "utf-8")
        path.write_bytes(gzip.compress(raw) if kind == "csv.gz" else raw)
    panel = ng.load(path).panel("coherence")
    np.testing.assert_array_equal(panel.human, expected.human)
    for metric in expected.metrics:
        np.testing.assert_array_equal(panel.metrics[metric], expected.metrics[metric])


@pytest.mark.parametrize(("name", "sign"), [("commas.tsv", ","), ("blanks.csv", " "), ("blanks.tsv", "  ")])
def test_what_separates_the_fields_is_seen_and_not_believed_of_the_suffix(tmp_path: Path, name: str, sign: str) -> None:
    text = "system,doc_id,coherence,bleu\nA,1,4,0.31\nB,1,2,0.10\n"
    data = ng.load(write(tmp_path, name, text.replace(",", sign)))
    assert data.systems == ["A", "B"] and data.metrics == ["bleu"]
    assert ("fields are separated by spaces" in data.notes) == (sign != ",")


def test_pandas_polars_and_lists_of_dicts_are_read_alike() -> None:
    frame = pl.read_csv(WIDE.encode(), null_values=["NaN"])
    pandas = pd.DataFrame(frame.to_dicts())
    panels = [ng.load(x).panel("fluency") for x in (frame, frame.lazy(), pandas, frame.to_dicts())]
    for panel in panels[1:]:
        np.testing.assert_array_equal(panel.human, panels[0].human)
        np.testing.assert_array_equal(panel.metrics["bertscore"], panels[0].metrics["bertscore"])


def test_hugging_face_datasets_are_read() -> None:
    pytest.importorskip("datasets.arrow_dataset")  # `datasets` alone is also the folder of tests
    datasets = importlib.import_module("datasets")
    rows = pl.read_csv(WIDE.encode(), null_values=["NaN"]).to_dicts()
    data = ng.load(datasets.Dataset.from_list(rows))
    assert (data.systems, data.aspects, data.metrics) == (
        ["A", "B", "C"],
        ["coherence", "fluency"],
        ["bleu", "bertscore"],
    )
    assert "splits" in refusal(datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)}))


def test_an_explicit_mapping_wins_over_names(tmp_path: Path) -> None:
    path = write(tmp_path, "odd.csv", "who,what,x,y\nA,1,4,0.3\nA,2,5,0.5\nB,1,2,0.1\nB,2,3,0.4\n")
    data = ng.load(path, system="who", input="what", human={"quality": "x"}, metrics=["y"])
    assert (data.systems, data.inputs, data.aspects, data.metrics) == (["A", "B"], ["1", "2"], ["quality"], ["y"])


@pytest.mark.parametrize(
    ("columns", "aspects", "metrics"),
    [
        (["avg_fluency_rating", "bleu"], ["fluency"], ["bleu"]),
        (["fluency_score", "coherence_score", "bertscore_f1"], ["fluency", "coherence"], ["bertscore_f1"]),
        (["fluency", "coherence_unieval", "bleu"], ["fluency"], ["coherence_unieval", "bleu"]),
        (["H:pyr", "S3_resp", "JS_2"], ["pyr"], ["S3_resp", "JS_2"]),
        (["human.mqm", "metric.COMET", "metric.BLEU"], ["mqm"], ["COMET", "BLEU"]),
        (["quality_r1", "quality_r2", "x"], ["quality"], ["x"]),
        (["scores.coherence", "metrics.coherence"], ["coherence"], ["coherence"]),
    ],
)
def test_ratings_are_told_from_metrics_by_their_names(
    columns: list[str], aspects: list[str], metrics: list[str]
) -> None:
    rows = [
        {"system": s, "doc_id": i, **{c: (i * 3 + k * 7) % 5 + 0.5 for k, c in enumerate(columns)}}
        for s in "AB"
        for i in range(4)
    ]
    data = ng.load(rows)
    assert (data.aspects, data.metrics) == (aspects, metrics)


def test_raters_stand_in_rows_columns_lists_or_records(tmp_path: Path) -> None:
    ratings = {("A", "1"): (4, 5), ("A", "2"): (3, 3), ("B", "1"): (1, 2), ("B", "2"): (2, 4)}
    rows = "system,input,rater,quality,bleu\n" + "".join(
        f"{s},{i},r{k + 1},{v},0.{i}\n" for (s, i), values in ratings.items() for k, v in enumerate(values)
    )
    columns = "system,input,quality_1,quality_2,bleu\n" + "".join(
        f"{s},{i},{a},{b},0.{i}\n" for (s, i), (a, b) in ratings.items()
    )
    long = "system,input,rater,aspect,rating\n" + "".join(
        f"{s},{i},r{k + 1},quality,{v}\n" for (s, i), values in ratings.items() for k, v in enumerate(values)
    )
    lists = [
        {"system": s, "input": i, "human": {"quality": list(v)}, "metrics": {"bleu": float(f"0.{i}")}}
        for (s, i), v in ratings.items()
    ]
    records = [
        {"system": s, "input": i, "ratings": [{"annotator": f"r{k}", "quality": x} for k, x in enumerate(v)]}
        for (s, i), v in ratings.items()
    ]
    for source in (
        write(tmp_path, "a.csv", rows),
        write(tmp_path, "b.csv", columns),
        write(tmp_path, "c.csv", long),
        lists,
        records,
    ):
        panel = ng.load(source).panel("quality")
        np.testing.assert_array_equal(panel.human, [[4.5, 3], [1.5, 3]], err_msg=str(source))
        assert panel.raters["quality"].shape == (2, 2, 2)
        np.testing.assert_array_equal(panel.raters["quality"][1], [[5, 3], [2, 4]])


def test_long_metric_scores_become_columns(tmp_path: Path) -> None:
    text = "system,input,metric,score\nA,1,bleu,.1\nA,1,ter,.9\nB,1,bleu,.3\nB,1,ter,.7\n"
    data = ng.load(write(tmp_path, "long.csv", text))
    assert data.metrics == ["bleu", "ter"]
    assert data.scores["ter"].to_list() == [0.9, 0.7]


LONG = "dataset,aspect,sys_id,seg_id,human_score,gpt4,bleu\n" + "".join(
    f"{d},{aspect},{s},{i},{1 + (i + k) % 5},{1 + (i + 2 * k) % 5},{bleu}\n"
    for d in ("one", "two")
    for s, bleu in (("A", 0.3), ("B", 0.4))
    for i in range(5)
    for k, aspect in enumerate(("coherence", "fluency"))
)


def test_scores_of_a_judge_per_aspect_in_a_long_table_belong_to_their_aspect(tmp_path: Path) -> None:
    data = ng.load(write(tmp_path, "long.csv", LONG))
    assert (data.systems, len(data.inputs), data.aspects) == (["A", "B"], 10, ["coherence", "fluency"])
    assert data.metrics == ["gpt4:coherence", "gpt4:fluency", "bleu"]  # which has one score for both
    first = data.scores.filter(system="A", input="one: 1").row(0, named=True)
    assert (first["gpt4:coherence"], first["gpt4:fluency"], first["bleu"]) == (2, 4, 0.3)
    assert data.panel("coherence").names == ["gpt4:coherence", "bleu"]
    assert data.panel("coherence", canonical=True).with_aspect("fluency").names == ["gpt4:fluency", "bleu"]
    assert any(note.startswith("'gpt4': one metric per aspect") for note in data.notes)
    assert {row["metric"] for row in ng.analyze("judges", data).rows if row["aspect"] == "fluency"} == {
        "gpt4:fluency",
        "bleu",
    }


def test_a_long_table_is_read_the_same_where_its_rating_is_declared_or_only_judges_scored(tmp_path: Path) -> None:
    path = write(tmp_path, "long.csv", LONG)
    assert ng.load(path, human="human_score").ratings.equals(ng.load(path).ratings)
    judged = ng.load(pl.read_csv(path).drop("human_score"))
    assert (judged.aspects, judged.metrics) == ([], ["gpt4:coherence", "gpt4:fluency", "bleu"])
    assert not any("human='aspect'" in note for note in judged.notes)


def test_a_score_that_differs_within_an_aspect_is_still_refused(tmp_path: Path) -> None:
    again = LONG + "one,fluency,A,0,2,5,0.3\n"
    assert "expected one value per output and metric" in refusal(write(tmp_path, "long.csv", again))


def test_different_outputs_of_one_system_for_one_input_are_numbered(tmp_path: Path) -> None:
    text = "system,input,output,quality,bleu\nA,1,x,4,.1\nA,1,y,2,.3\nB,1,z,3,.2\nB,2,z,3,.2\n"
    data = ng.load(write(tmp_path, "repeats.csv", text))
    assert sorted(data.samples.filter(pl.col("system") == "A")["input"]) == ["1", "1 #2"]
    assert "2 inputs × 1 to 2 trials: the trials of one input are one cluster" in data.notes


def test_equal_rows_count_once_and_are_counted(tmp_path: Path) -> None:
    data = ng.load(write(tmp_path, "twice.csv", WIDE + "A,1,a one,4,5,0.31,0.90\n"))
    assert len(data) == 6
    assert any("1 rows repeat" in note for note in data.notes)


def test_inputs_of_several_data_sets_in_one_file_are_kept_apart(tmp_path: Path) -> None:
    text = "dataset,system,doc,quality,bleu\nX,A,1,4,.1\nX,B,1,2,.3\nY,A,1,3,.2\nY,B,1,5,.6\n"
    data = ng.load(write(tmp_path, "two.csv", text))
    assert data.inputs == ["X: 1", "Y: 1"]
    assert [group for group, _ in data.by("dataset")] == [{"dataset": "X"}, {"dataset": "Y"}]


@pytest.mark.parametrize(
    ("name", "person"),
    [
        ("Human", True),
        ("human-A.0", True),
        ("refA", True),
        ("ref-C", True),
        ("Original Ground Truth", True),
        ("New Human Generated", True),
        ("WebNLG-2020-reference", True),
        ("GOLD", True),
        ("synthetic_ref", True),
        ("reflex-net", False),
        ("humane-bot", False),
        ("goldfish", False),
        ("GPT-4", False),
        ("preference-tuned", False),
        ("M17", False),
    ],
)
def test_people_among_the_systems_are_marked_by_name(name: str, person: bool) -> None:
    rows = [{"system": s, "input": i, "quality": i, "bleu": i} for s in (name, "T5", "BART") for i in (1, 2)]
    data = ng.load(rows)
    assert (name in data.human_systems) is person
    assert (name in data.panel().systems) is not person
    assert name in data.panel(keep_human=True).systems


# --- what is refused, in one line ---


def test_text_among_numbers_names_file_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, "ratings.csv", WIDE.replace("B,1,b one,2", "B,1,b one,four"))
    assert refusal(path) == f"{path}, line 4, column 'coherence': found 'four', expected a number or an empty cell."


def test_the_line_is_right_after_line_breaks_inside_quotes(tmp_path: Path) -> None:
    text = WIDE.replace("a one", '"a\none"').replace("a two", '"a\n\ntwo"').replace("B,1,b one,2", "B,1,b one,two")
    assert ", line 7, column 'coherence'" in refusal(write(tmp_path, "x.csv", text))


def test_missing_column_lists_what_was_found(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "x.csv", WIDE), system="sistem")
    assert "no column 'sistem'. Did you mean 'system'? Columns: system, doc_id, output" in message


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", "is empty"),
        ("blank.csv", b"\n\n  \n", "is empty"),
        ("header.csv", b"system,input,quality\n", "no rows"),
        (
            "ragged.csv",
            WIDE.replace("B,1,b one,2,3,0.10,0.81", "B,1,b one, and more,2,3,0.10,0.81").encode(),
            "line 4: found 8 fields, the header has 7",
        ),
        ("short.csv", WIDE.replace("B,2,b two,3,3,0.42,0.88", "B,2,b two,3").encode(), "line 5: found 4 fields"),
        (
            "colons.csv",
            WIDE.replace(",", ":").encode(),
            "one column, 'system:doc_id:output:coherence:fluency:b', with ':'",
        ),
        ("quote.csv", WIDE.replace("b one", '"b one').encode(), "double quote"),
        ("latin.csv", WIDE.replace("b one", "b øne").encode("latin-1"), "line 4: byte 0xf8 is not valid utf-8"),
        ("cut.csv.gz", gzip.compress(WIDE.encode() * 100)[:-20], "truncated"),
        ("deep.json", b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
        ("broken.jsonl", b'{"system": "A"}\n{"system": \n', "line 2: invalid JSON"),
        ("numbers.jsonl", b'{"system": "A"}\n17\n', "line 2: found int"),
        ("object.json", b'{"a": 1}', "expected a JSON list of objects"),
        ("pickle.pkl", pickle.dumps({"a": 1}), "pickle"),
        ("disguised.csv", pickle.dumps([1, 2, 3]), "pickle"),
        ("binary.csv", b"\x00\x01\x02\x00" * 50, "NUL"),
        ("fake.parquet", b"not parquet", "is not a Parquet file"),
        ("torn.parquet", b"PAR1 torn", "damaged"),
        ("twice.csv", b"system,input,bleu,bleu\nA,1,2,3\n", "two columns have the name 'bleu'"),
        ("nosys.csv", b"system,quality\nA,1\nB,2\n", "no input column found"),
        ("noname.csv", b"system,input,quality\nA,1,2\n,2,3\n", "line 3, column 'system': is empty"),
    ],
)
def test_bad_files_are_refused_with_one_clear_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    message = refusal(write(tmp_path, name, content))
    assert words in message
    assert name in message


def test_a_repeated_sample_with_other_values_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path, "dup.csv", WIDE + "A,1,a one,2,5,0.31,0.90\n")
    message = refusal(path)
    assert "line 8: repeats system 'A', input '1' of line 2 with another aspect 'coherence' (2, before 4)" in message
    assert "rater=" in message
    assert len(ng.load(path, repeats="number")) == 7
    assert ng.load(path, repeats="mean").panel("coherence").human[0, 0] == 3


def test_a_metric_that_differs_between_rater_rows_is_refused(tmp_path: Path) -> None:
    text = "system,input,rater,quality,bleu\nA,1,r1,4,.1\nA,1,r2,4,.2\nB,1,r1,4,.3\n"
    assert "expected one value per output and metric" in refusal(write(tmp_path, "x.csv", text))


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.data.files.MAX_LINE", 1000)
    path = write(tmp_path, "long.csv", WIDE + "A,3," + "x" * 5000 + ",1,1,1,1\n")
    assert "line 8: longer than" in refusal(path)


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.data.files.MAX_BYTES", 8 << 20)
    path = write(tmp_path, "bomb.csv.gz", gzip.compress(b"a,b\n" + b"0" * (32 << 20)))
    assert "decompression bomb" in refusal(path)


def test_no_such_file_and_folders_are_said_so(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "nothing.csv")
    assert "folder" in refusal(tmp_path)


@given(st.binary(max_size=300))
def test_no_bytes_make_anything_but_a_dataset_or_one_clear_line(raw: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name in ("x.csv", "x.jsonl", "x.json", "x.tsv", "x.parquet", "x"):
            try:
                ng.load(write(Path(folder), name, raw))
            except DataError as error:
                assert "\n" not in str(error)


cells = st.one_of(
    st.none(), st.floats(), st.integers(-5, 5), st.text(max_size=8), st.booleans(), st.lists(st.floats(), max_size=3)
)
records = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["system", "input", "output", "rater", "quality", "bleu", "aspect", "rating", "refs", "metrics", "x"]
        ),
        cells,
        min_size=1,
    ),
    min_size=1,
    max_size=8,
)


@given(records)
def test_no_records_make_anything_but_a_dataset_or_one_clear_line(rows: list[dict[str, object]]) -> None:
    try:
        data = ng.load(rows)
    except DataError as error:
        assert len(str(error)) < 2000
    else:
        assert data.samples.select("system", "input").is_unique().all()


def test_a_judge_with_numbers_is_a_metric_and_with_names_a_rater(tmp_path: Path) -> None:
    path = tmp_path / "judged.csv"
    path.write_text("system,input,coherence,judge\na,1,4,3\nb,1,2,5\na,2,5,4\nb,2,1,1\n")
    assert ng.load(path).metrics == ["judge"]
    path.write_text("system,input,coherence,judge\na,1,4,ann\nb,1,2,ann\na,1,5,bob\nb,1,1,bob\n")
    assert ng.load(path).raters == ["ann", "bob"]


def test_a_log_of_an_unknown_tool_is_refused_not_half_read(tmp_path: Path) -> None:
    items = [{"id": i, "output": "x", "epoch": 1, "grades": [{"name": "judge", "verdict": "pass"}]} for i in range(3)]
    log = write(tmp_path, "log.json", json.dumps({"run": {"id": 7}, "model": "m", "items": items}))
    with pytest.raises(
        DataError, match=r"looks like the log of an unknown tool \(objects run around nested records\)"
    ) as error:
        ng.load(log)
    assert "`nlgauge data formats`" in str(error.value)
    assert ng.load(log, input="id", output="output").metrics == []  # an epoch is no metric
    flat = [{"id": i, "bleu": i / 3, "quality": i} for i in range(3)]
    table = write(tmp_path, "table.json", json.dumps({"about": {"by": "me"}, "rows": flat}))
    assert ng.load(table).metrics == ["bleu"]


def test_nested_records_are_ratings_only_where_something_says_so(tmp_path: Path) -> None:
    def rows(column: str, **record: object) -> Path:
        lines = [{"id": i, "output": "x", "bleu": 0.5, column: [{"score": i, **record}]} for i in range(3)]
        return write(tmp_path, "x.jsonl", "".join(json.dumps(line) + "\n" for line in lines))

    evals = ng.load(rows("evals", kind="LLM"))
    assert evals.aspects == []
    assert any(
        "column 'evals' not read: its records have numbers (score), but may not be human" in n for n in evals.notes
    )
    assert ng.load(rows("evals", annotator="ann")).raters == ["ann"]
    assert ng.load(rows("ratings")).aspects == ["score"]


def test_rows_that_repeat_an_output_with_other_ratings_are_named_also_where_the_first_has_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("system,input,coherence,bleu\nA,1,,0.1\nA,1,3,0.1\nA,1,4,0.1\nB,1,3,0.2\n")
    with pytest.raises(DataError, match=r"line 4: repeats system 'A', input '1' of line 3 .* \(4, before 3\)"):
        ng.load(path)


def test_rows_that_repeat_an_output_may_differ_in_a_list() -> None:
    rows = [{"system": "A", "input": "1", "bleu": b, "tags": tags} for b, tags in ((0.1, ["x"]), (0.2, ["y"]))]
    with pytest.raises(DataError, match=r"with another metric 'bleu' .*; they differ in 'tags'"):
        ng.load(rows)


def test_a_column_read_as_the_attribute_asked_for_keeps_its_own_name() -> None:
    rows = [{"id": i, "topic": "ab"[i % 2], "output": f"text {i}", "quality": i % 5, "m": i} for i in range(8)]
    data = ng.load(rows, name="d", human=["quality"], metrics=["m"])
    assert data.samples["control"].to_list() == data.samples["topic"].to_list()
    assert [group["topic"] for group, _ in data.by("topic")] == ["a", "b"]


def test_several_outputs_of_one_system_for_a_prompt_need_no_system_column(tmp_path: Path) -> None:
    rows = [
        {"prompt": f"question {i}", "response": f"answer {i} {k}", "helpfulness": (i + k) % 5}
        for i in range(4)
        for k in range(2)
    ]
    path = tmp_path / "rated.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    data = ng.load(path)
    assert (len(data.systems), len(data)) == (1, 8)
    assert "4 inputs × 2 trials: the trials of one input are one cluster" in data.notes


def test_a_list_of_records_with_outputs_gives_one_row_an_output(tmp_path: Path) -> None:
    rows = [
        {
            "source": "evol",
            "instruction": f"do thing {i}",
            "completions": [
                {"model": m, "response": f"{m} did {i}", "annotations": {"honesty": {"Rating": str(k + 1)}}}
                for k, m in enumerate("abc")
            ],
        }
        for i in range(4)
    ]
    path = tmp_path / "nested.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    data = ng.load(path)
    assert (data.systems, len(data.inputs), data.aspects) == (["a", "b", "c"], 4, ["honesty"])
    assert data.ratings["value"].to_list() == [1.0, 2.0, 3.0] * 4
    assert "each record of 'completions' is an output: 4 lines, 12 outputs" in data.notes


@pytest.mark.parametrize(
    "content",
    [
        {f"q{i}": {"candidate": f"text {i}", "score": i % 5} for i in range(6)},
        {"one": {f"q{i}": {"candidate": f"text {i}", "score": i % 5} for i in range(6)}},
        {"one": [{"id": f"q{i}", "candidate": f"text {i}", "score": i % 5} for i in range(6)]},
    ],
)
def test_records_below_their_names_are_rows(content: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "keyed.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    data = ng.load(path)
    assert data.inputs == [f"q{i}" for i in range(6)]
    assert data.samples["output"].to_list() == [f"text {i}" for i in range(6)]


def test_the_dialogue_before_an_output_is_no_list_of_outputs(tmp_path: Path) -> None:
    rows = [
        {"id": i, "turns": [{"role": "user", "text": "hello"}, {"role": "bot", "text": "hi"}], "judge": "pass"}
        for i in range(5)
    ]
    path = tmp_path / "turns.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(ng.load(path)) == 5
