"""Scoring in batches: the same values to the bit, bounded, interrupted and resumed, refused where it must be."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.scoring import aggregate
from nlgauge.scoring import stream as stream_module
from nlgauge.scoring.stream import stream, streams
from nlgauge.scoring.table_batches import TableFile

METRICS = ["bleu", "rouge-1", "rouge-l", "chrf", "ter", "len"]
WORDS = "the hotel is near a park, and it has no rooms left; café 日本 “quoted” line\nbreak".split(" ")


def rows(n: int = 40) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)

    def text(words: int) -> str:
        return " ".join(rng.choice(WORDS, words))

    found: list[dict[str, Any]] = []
    for i in range(n):
        references = [text(8), text(5)][: 1 + i % 2]
        found.append({"system": "AB"[i % 2], "input": str(i // 2), "output": text(7), "references": references, "n": i})
    found[3]["output"] = ""
    found[5]["references"] = []
    found[8]["output"] = None
    return found


def write(path: Path, table: list[dict[str, Any]]) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), encoding="utf-8")
    elif path.suffix == ".parquet":
        pl.DataFrame(table).write_parquet(path, row_group_size=11)
    else:
        one = pl.col("references").list
        flat = pl.DataFrame(table).with_columns(
            one.get(0, null_on_oob=True).alias("reference_1"), one.get(1, null_on_oob=True).alias("reference_2")
        )
        flat.drop("references").write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    return path


def same(written: pl.DataFrame, data: ng.Dataset, metrics: list[str]) -> None:
    whole = ng.score(data, metrics).scores
    for name in metrics:
        assert written[f"metric.{name}"].to_list() == whole[name].to_list()


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "tsv", "parquet"])
def test_batches_give_the_values_of_the_whole_to_the_bit(tmp_path: Path, suffix: str, size: int) -> None:
    path = write(tmp_path / f"outputs.{suffix}", rows())
    out = tmp_path / "scores.parquet"
    done = stream(path, METRICS, out, batch=size)
    written = pl.read_parquet(out)
    assert (done.rows, written.columns[:3]) == (40, ["row", "system", "input"])
    assert written["row"].to_list() == list(range(1, 41))
    same(written, ng.load(path), METRICS)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([path.name, out.name])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "jsonl.gz", "parquet"])
def test_what_is_written_can_be_read_again(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    out = tmp_path / f"scored.{suffix}"
    stream(path, METRICS, out, batch=7)
    whole, back = ng.score(ng.load(path), METRICS), ng.load(out)
    assert set(METRICS) <= set(back.metrics)
    for name in METRICS:
        assert back.scores[name].to_list() == whole.scores[name].to_list()
    if suffix.startswith("jsonl"):
        assert back.samples["output"].to_list() == whole.samples["output"].to_list()


def test_lines_keep_what_they_had_and_say_why_a_score_is_missing(tmp_path: Path) -> None:
    table = [
        {"output": "a b", "references": ["a b"], "metric": {"mine": 3}},
        {"output": "a", "references": [], "failures": {"mine": "no reply"}},
        {"output": "a", "references": ["a"], "metric": "a word"},
    ]
    stream(write(tmp_path / "o.jsonl", table), ["rouge-1"], tmp_path / "s.jsonl", batch=2)
    first, second, third = (json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines())
    assert first["metric"] == {"mine": 3, "rouge-1": 1.0}
    assert second["failures"] == {"mine": "no reply", "rouge-1": "no reference"}
    assert (third["metric"], third["metrics"]) == ("a word", {"rouge-1": 1.0})


def test_tables_are_those_of_the_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    done = stream(path, METRICS, batch=7)
    data = ng.load(path)
    whole = {(r["system"], r["column"]): r for r in aggregate(data, METRICS).rows}
    assert len(done.groups.rows) == len(whole)
    for row in done.groups.rows:
        other = whole[row["system"], row["column"]]
        assert row["value"] == pytest.approx(other["value"], rel=1e-12)
        assert (row["n"], row["unscored"], row["lower"]) == (other["n"], other["unscored"], other["lower"])
        if row["of"] == "corpus":
            assert row["value"] == other["value"]  # sums of counts are exact
    reasons = [note for note in done.table.notes if note.startswith("bleu")]
    assert sorted(reasons) == ["bleu: 1 unscored (no output)", "bleu: 1 unscored (no reference)"]
    assert "warning: 1 × empty output" in done.table.notes


class Killed(BaseException):
    pass


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / f"outputs.{suffix}", rows())
    whole = stream(path, METRICS, tmp_path / f"undisturbed.{suffix}", batch=7)
    out = tmp_path / f"scores.{suffix}"
    score_batch, seen = stream_module.score_batch, []

    def killed_at_the_fourth(*args: Any, **options: Any) -> Any:
        seen.append(len(args[0]))
        if len(seen) == 4:
            raise Killed
        return score_batch(*args, **options)

    monkeypatch.setattr(stream_module, "score_batch", killed_at_the_fourth)
    with pytest.raises(Killed):
        stream(path, METRICS, out, batch=7)
    assert not out.exists()
    again = stream(path, METRICS, out, batch=7)
    assert (again.resumed, seen) == (3, [7, 7, 7, 7, 7, 7, 5])
    assert out.read_bytes() == (tmp_path / f"undisturbed.{suffix}").read_bytes()
    assert again.groups.rows == whole.groups.rows
    assert not list(tmp_path.glob("*.parts"))


def begin(path: Path, metrics: list[str], out: Path, batches: int, **options: Any) -> None:
    """Score that many batches, then interrupt the run."""
    left = iter(range(batches - 1))

    def stop(*_: int) -> None:
        if next(left, None) is None:
            raise Killed

    with pytest.raises(Killed):
        stream(path, metrics, out, progress=stop, **options)


@pytest.mark.parametrize(
    ("change", "other"),
    [({"batch": 5}, "batch"), ({"metrics": ["len"]}, "metrics"), ({"by": "input"}, "by"), ({"touch": 1}, "changed")],
)
def test_the_folder_of_another_run_is_refused(tmp_path: Path, change: dict[str, Any], other: str) -> None:
    path, out = write(tmp_path / "outputs.jsonl", rows()), tmp_path / "scores.csv"
    begin(path, METRICS, out, 1, batch=4)
    options: dict[str, Any] = {"metrics": METRICS, "batch": 4, **change}
    if options.pop("touch", 0):
        write(path, rows())
    with pytest.raises(NlgaugeError, match=rf"scores\.csv\.parts: belongs to another run \(different {other}\)"):
        stream(path, out=out, **options)


def test_a_batch_of_another_run_in_the_folder_is_scored_again(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    stream(path, ["len"], tmp_path / "whole.csv", batch=20)
    for name, metrics in (("a.csv", ["len"]), ("b.csv", ["wps"])):
        begin(path, metrics, tmp_path / name, 1, batch=20)
    for file in ("000000.csv", "000000.json"):
        (tmp_path / "b.csv.parts" / file).replace(tmp_path / "a.csv.parts" / file)
    assert stream(path, ["len"], tmp_path / "a.csv", batch=20).resumed == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("lost", ["mark", "scores"])
def test_a_batch_that_a_crash_has_damaged_is_scored_again(tmp_path: Path, lost: str) -> None:
    path, out = write(tmp_path / "outputs.jsonl", rows()), tmp_path / "scores.csv"
    stream(path, METRICS, tmp_path / "whole.csv", batch=10)
    begin(path, METRICS, out, 4, batch=10)
    folder = tmp_path / "scores.csv.parts"
    (folder / "notes.json").write_text("a file of the user")
    if lost == "mark":
        mark = folder / "000002.json"
        mark.write_bytes(mark.read_bytes()[:50])
    else:
        (folder / "000002.csv").unlink()
    assert stream(path, METRICS, out, batch=10).resumed == 3
    assert out.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert [p.name for p in folder.iterdir()] == ["notes.json"]


def test_metrics_of_the_whole_corpus_are_refused_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows())
    with pytest.raises(NlgaugeError, match=r"'cider', 'nist': needs all outputs at once"):
        stream(path, ["bleu", "cider", "nist"])
    assert stream(path, ["nist(weights='sample')"]).rows == 40


def test_without_metrics_all_quick_ones_that_score_row_by_row_are_run(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", rows(12))
    names = {str(metric) for metric in stream(path, None).metrics}
    assert {"bleu", "chrf", "len"} <= names
    assert not names & {"cider", "nist", "self-bleu", "random"}


def test_needs_and_columns_are_checked_before_work(tmp_path: Path) -> None:
    path = write(tmp_path / "outputs.jsonl", [{"answer": "a", "wanted": "a", "who": "A"}])
    with pytest.raises(NeedsMissing, match=r"'bleu' needs references, which outputs\.jsonl does not have"):
        stream(path, ["bleu"])
    found = stream(path, ["rouge-1"], columns={"references": "wanted"}, by="who")
    assert [(r["who"], r["value"]) for r in found.groups.rows] == [("A", 1.0)]
    with pytest.raises(NameUnknown, match=r"no column 'whom'\. Did you mean 'who'"):
        stream(path, ["len"], by="whom")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.jsonl", '{"output": "a"}\n\n{"output": \n', r"x\.jsonl, line 3: invalid JSON"),
        ("x.jsonl", '{"output": "a"}\n["b"]\n', r"line 2: found list, expected one JSON object"),
        ("x.jsonl", '{"output": "a"}\n{"output": 3}\n', r"row 2, column 'output': found int, expected a text"),
        ("x.jsonl", "\n", "the file has no rows"),
        ("x.csv", 'output,n\n"a\nb",1\n\nc,1,2\n', r"x\.csv, line 5: found 3 fields, the header has 2"),
        ("x.csv", 'output,n\na,1\n"b,1\n', r"line 3: a double quote is not closed"),
        ("x.json", "[]", "only JSONL, CSV, TSV and Parquet"),
    ],
)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        stream(tmp_path / name, ["len"], batch=10)


@pytest.mark.parametrize("block", [1, 5, 64])
def test_records_of_a_csv_file_may_lie_across_blocks(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nlgauge.scoring.table_batches.BLOCK", block)
    path = tmp_path / "x.csv"
    path.write_bytes('output,n\r\n"a, ""b""\r\nc",1\r\n\r\né,2\r\n"",3\r\n,4'.encode())
    read = [row for part in TableFile(path).batches(3) for row in part.values("output")]
    assert read == ['a, "b"\nc', "é", "", None]
    assert read == ng.load(path).samples["output"].to_list()


def test_texts_under_dotted_names_are_found(tmp_path: Path) -> None:
    table = [{"reply": {"output": "a b"}, "gold": {"reference": ["a b", None]}}, {"reply": None, "gold": {}}]
    path = write(tmp_path / "x.jsonl", table)
    done = stream(path, ["rouge-1"], columns={"output": "reply.output", "references": "gold.reference"})
    assert (done.table.rows[0]["scored"], done.table.rows[0]["mean"]) == (1, 1.0)


def test_a_file_that_a_reader_knows_is_no_plain_table(tmp_path: Path) -> None:
    from nlgauge.data.tidy import write_tidy

    assert streams(write(tmp_path / "outputs.jsonl", rows()))
    assert not streams(write_tidy(ng.example(), tmp_path / "tidy.jsonl"))
    assert not streams(tmp_path / "nothing.csv")


def test_the_command_scores_in_batches_and_says_what_it_wrote(tmp_path: Path) -> None:
    write(tmp_path / "outputs.jsonl", rows())

    def score(*options: str) -> subprocess.CompletedProcess[str]:
        return run_command("score", "outputs.jsonl", "-f", "json", *options, cwd=tmp_path, COLUMNS="200")

    run = score("-m", "bleu,ter", "--batch", "7", "-o", "scores.csv")
    assert run.returncode == 0, run.stderr
    assert "written: scores.csv (row, system, input and the scores)" in run.stderr
    tables = json.loads(run.stdout)["tables"]
    whole = json.loads(score("-m", "bleu,ter").stdout)["tables"]
    for found, other in zip(tables[1]["rows"], whole[1]["rows"], strict=True):
        assert found["value"] == pytest.approx(other["value"], rel=1e-12)
        assert {k: v for k, v in found.items() if k != "value"} == {k: v for k, v in other.items() if k != "value"}
    run = score("-m", "bleu", "--batch", "7", "--columns", "rater=n")
    assert (run.returncode, "scored from their texts alone; remove --columns rater=n." in run.stderr) == (2, True)
    run = score("-m", "bleu,nist", "--batch", "7")
    assert (run.returncode, "'nist': needs all outputs at once" in run.stderr) == (2, True)
