"""nlgauge score and nlgauge list metrics, as a user types them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import nlgauge as ng
from command import run_command
from nlgauge.cli import build
from nlgauge.errors import NlgaugeError

ROWS = [
    {"system": "A", "input": "1", "output": "The hotel is near the park.", "source": "inform(near=park)"},
    {"system": "A", "input": "2", "output": "", "source": "inform(near=station)"},
    {"system": "B", "input": "1", "output": "Hotel near park.", "source": "inform(near=park)"},
    {"system": "B", "input": "2", "output": "It is at the station.", "source": "inform(near=station)"},
]


def nlgauge(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command(*args, cwd=cwd, COLUMNS="200")


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    path = tmp_path / "outputs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_score_prints_what_was_run_and_the_systems(outputs: Path) -> None:
    run = nlgauge(
        "score", "outputs.jsonl", "-m", "len,wps,flesch(syllables='rules')", "--format", "json", cwd=outputs.parent
    )
    assert run.returncode == 0, run.stderr
    scored, systems = json.loads(run.stdout)["tables"]
    assert [row["metric"] for row in scored["rows"]] == ["len", "wps", "flesch(syllables='rules')"]
    assert "flesch(syllables='rules'): 1 unscored (no words in the output)" in scored["notes"]
    assert "warning: 1 × empty output" in scored["notes"]
    means = {(row["system"], row["metric"]): row["value"] for row in systems["rows"]}
    assert means["A", "len"] == pytest.approx(len("Thehotelisnearthepark") / 2)
    assert means["B", "wps"] == 4
    assert "--out scored.jsonl stores them" in run.stderr


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_what_is_written_can_be_read_again_with_its_scores(outputs: Path, suffix: str) -> None:
    out = outputs.parent / f"scored.{suffix}"
    run = nlgauge("score", "outputs.jsonl", "--metrics", "len,cpw", "-o", out.name, cwd=outputs.parent)
    assert run.returncode == 0, run.stderr
    back = ng.load(out)
    assert set(back.metrics) == {"len", "cpw"}
    by = dict(zip(back.scores.select("system", "input").rows(), back.scores["len"].to_list(), strict=True))
    assert by == {("A", "1"): 21, ("A", "2"): 0, ("B", "1"): 13, ("B", "2"): 16}
    if suffix == "jsonl":
        assert back.failures.select("metric", "reason").rows() == [("cpw", "no words in the output")]
        assert back.lower == {"len", "cpw"}


def test_without_metrics_all_quick_ones_that_the_data_allow_are_run_and_named(outputs: Path) -> None:
    run = nlgauge("score", "outputs.jsonl", "--format", "json", cwd=outputs.parent)
    assert run.returncode == 0, run.stderr
    names = {row["metric"] for row in json.loads(run.stdout)["tables"][0]["rows"]}
    assert {"len", "cpw", "wps", "sps", "spw", "pol", "ppw", "flesch"} <= names
    assert "default metrics: ari, " in " ".join(run.stderr.split())
    assert not names & {"bleu", "prs", "msp", "random"}


def test_refusals_are_one_line_before_work_and_exit_2(outputs: Path) -> None:
    run = nlgauge("score", "outputs.jsonl", "-m", "len,rouge-l", cwd=outputs.parent)
    assert run.returncode == 2
    assert "nlgauge: 'rouge-l' needs references, which outputs.jsonl does not have (columns: " in run.stderr
    run = nlgauge("score", "outputs.jsonl", "-m", "lenn,flech", cwd=outputs.parent)
    assert run.returncode == 2
    assert "no metric 'lenn'. Did you mean 'len'" in run.stderr
    assert "no metric 'flech'. Did you mean 'flesch'" in run.stderr
    run = nlgauge("score", "outputs.jsonl", "-m", "len", "-o", "scored.xlsx", cwd=outputs.parent)
    assert run.returncode == 2
    assert "cannot write '.xlsx'" in run.stderr


def test_references_can_be_named(outputs: Path) -> None:
    frame = pl.DataFrame(ROWS).with_columns(wanted=pl.lit("The hotel is near the park."))
    frame.write_csv(outputs.parent / "named.csv")
    run = nlgauge(
        "score", "named.csv", "-m", "rouge-1", "--format", "json", "--columns", "references=wanted", cwd=outputs.parent
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["tables"][0]["rows"][0]["scored"] == 4


def test_list_metrics_is_written_from_the_facts(tmp_path: Path) -> None:
    from nlgauge import registry

    run = nlgauge("list", "metrics", "--format", "json", cwd=tmp_path)
    rows = {row["metric"]: row for row in json.loads(run.stdout)["tables"][0]["rows"]}
    assert set(rows) == set(registry.names("metric"))
    assert rows["flesch"]["better"] == "higher"
    assert rows["smog"]["bounds"] == "3.1291 to ∞"
    assert rows["msp"]["extra"] == "readability"
    assert rows["len"]["needs"] == "–"
    assert all(row["what"] and row["cite"] and row["year"] for row in rows.values())


def test_list_metrics_can_be_narrowed_by_need_and_family(tmp_path: Path) -> None:
    run = nlgauge("list", "metrics", "--needs", "source", "--format", "json", cwd=tmp_path)
    rows = json.loads(run.stdout)["tables"][0]["rows"]
    assert rows
    assert all("source" in row["needs"] for row in rows)
    run = nlgauge("list", "metrics", "--needs", "none", "--family", "surface", "--format", "json", cwd=tmp_path)
    names = [row["metric"] for row in json.loads(run.stdout)["tables"][0]["rows"]]
    assert names == ["cpw", "len", "pol", "ppw", "sps", "spw", "wps"]
    run = nlgauge("list", "metrics", "--needs", "sauce", cwd=tmp_path)
    assert run.returncode == 2
    assert "Did you mean 'source'" in run.stderr


def test_a_metric_that_fails_on_more_than_one_output_in_a_hundred_is_the_first_line_of_everything(
    outputs: Path,
) -> None:
    said = "flesch(syllables='rules') has no value for 1 of 4 outputs (25%); no words in the output"
    rated = [{**row, "human": k % 3, "other": float(k)} for k, row in enumerate(ROWS)]
    outputs.write_text("".join(json.dumps(row) + "\n" for row in rated))
    run = nlgauge("score", "outputs.jsonl", "-m", "len,flesch(syllables='rules')", "-o", "s.jsonl", cwd=outputs.parent)
    assert run.stdout.splitlines()[0] == said
    assert said in run.stderr.splitlines()
    batches = nlgauge("score", "outputs.jsonl", "-m", "flesch(syllables='rules')", "--batch", "2", cwd=outputs.parent)
    assert batches.stdout.splitlines()[0] == said
    report = nlgauge("run", "s.jsonl", "--quick", cwd=outputs.parent)
    assert report.returncode == 0, report.stderr
    assert all(" ".join(text.split()).startswith(said) for text in (report.stdout, report.stderr))
    assert json.loads((outputs.parent / "s.report.results.json").read_text())["card"][0] == said
    page = (outputs.parent / "s.report.html").read_text()
    assert page.index("has no value for 1 of 4 outputs") < page.index("<details")


def test_few_failures_stay_a_note(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "input": str(k)} for k in range(99)] + [{**ROWS[1], "input": "99"}]
    (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = nlgauge("score", "outputs.jsonl", "-m", "flesch(syllables='rules')", cwd=tmp_path)
    assert "has no value" not in run.stdout + run.stderr
    assert "1 unscored (no words in the output)" in run.stdout


def test_list_metrics_is_one_line_each_and_a_name_shows_all_facts(tmp_path: Path) -> None:
    lines = nlgauge("list", "metrics", cwd=tmp_path).stdout.splitlines()
    known = json.loads(nlgauge("list", "metrics", "--format", "json", cwd=tmp_path).stdout)["tables"][0]["rows"]
    assert len(lines) < len(known) + 10
    assert all(any(row["metric"] in line.split() for line in lines) for row in known)
    said = nlgauge("list", "metrics", "rouge-l", cwd=tmp_path).stdout
    assert said.startswith("rouge-l\n") and "references" in said and "beta=" in said and "lin-2004-rouge" in said


def test_two_text_files_are_scored_line_by_line(tmp_path: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    outputs, references = ["the cat sat on the mat", "a dog"], ["the cat sat on a mat", "the dog"]
    (tmp_path / "hyp.txt").write_text("\r\n".join(outputs), encoding="utf-8")
    (tmp_path / "ref.txt").write_text("\n".join([*references, ""]), encoding="utf-8")
    words = ["score", str(tmp_path / "hyp.txt"), "--ref", str(tmp_path / "ref.txt"), "-m", "bleu", "--format", "json"]
    done = CliRunner().invoke(build("score"), words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (row,) = [r for r in json.loads(done.stdout)["tables"][1]["rows"] if r["of"] == "corpus"]
    assert row["system"] == "hyp"
    assert row["value"] == pytest.approx(sacrebleu.corpus_bleu(outputs, [references]).score)
    (tmp_path / "ref.txt").write_text("one\n", encoding="utf-8")
    with pytest.raises(NlgaugeError, match=r"same number of lines: .*hyp.txt has 2, .*ref.txt has 1"):
        CliRunner().invoke(build("score"), words, catch_exceptions=False)
