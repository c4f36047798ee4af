"""nlgauge meta and run, as a user types them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from command import run_command

CSV = "system,input,coherence,fluency,bleu,ter\n" + "".join(
    f"{s},{i},{1 + (k + i) % 5},{1 + (k * i) % 4},{0.1 * k + 0.05 * i:.2f},{0.9 - 0.1 * k:.2f}\n"
    for k, s in enumerate("ABCD")
    for i in range(6)
)


def nlgauge(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run_command(*args, cwd=cwd, **env)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(CSV)
    return path


def test_correlate_prints_what_it_read_in_a_line_and_one_table_per_aspect(scores: Path) -> None:
    run = nlgauge("analyze", "correlate", "scores.csv", cwd=scores.parent)
    assert run.returncode == 0, run.stderr
    assert "scores.csv: 4 systems × 6 inputs, 24 outputs" in run.stderr
    assert "agreement of metrics with human ratings of coherence" in run.stdout
    assert "agreement of metrics with human ratings of fluency" in run.stdout
    assert "\x1b[" not in run.stdout


def test_json_on_stdout_is_only_json(scores: Path) -> None:
    run = nlgauge(
        "analyze",
        "correlate",
        "scores.csv",
        "--aspect",
        "coherence",
        "--measures",
        "input/kendall,global/pearson",
        "-f",
        "json",
        cwd=scores.parent,
    )
    rows = json.loads(run.stdout)["tables"][0]["rows"]
    assert {(r["metric"], r["measure"]) for r in rows} == {
        (m, g) for m in ("bleu", "ter") for g in ("input/kendall", "global/pearson")
    }
    assert set(rows[0]) == {"metric", "aspect", "measure", "value", "n", "groups", "dropped", "reason"}


@pytest.mark.parametrize("suffix", ["json", "csv", "md", "tex"])
def test_o_writes_the_format_of_the_suffix(scores: Path, suffix: str) -> None:
    run = nlgauge("analyze", "correlate", "scores.csv", "-o", f"out/table.{suffix}", cwd=scores.parent)
    assert run.returncode == 0
    assert "bleu" in (scores.parent / "out" / f"table.{suffix}").read_text()


def test_lower_is_better_metrics_are_turned_unless_more_is_better(scores: Path) -> None:
    args = ("analyze", "correlate", "scores.csv", "--aspect", "coherence", "--measures", "system/pearson", "-f", "json")
    named = json.loads(nlgauge(*args, cwd=scores.parent).stdout)["tables"][0]["rows"]
    higher = json.loads(nlgauge(*args, "--columns", "higher=ter", cwd=scores.parent).stdout)["tables"][0]["rows"]
    one, other = ({r["metric"]: r["value"] for r in rows} for rows in (named, higher))
    assert one["ter"] == -other["ter"] and one["bleu"] == other["bleu"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("analyze", "correlate", "nothing.csv"), "nothing.csv: no such file."),
        (("analyze", "correlate", "scores.csv", "--measures", "input/kendal"), "Did you mean 'kendall'?"),
        (("analyze", "correlate", "scores.csv", "--measures", "summary/kendall"), "input"),
        (("analyze", "correlate", "scores.csv", "--aspect", "coherrence"), "Did you mean 'coherence'?"),
        (("analyze", "correlate", "scores.csv", "--metrics", "blue"), "Did you mean 'bleu'?"),
        (("analyze", "correlate", "scores.csv", "--by", "corpus"), "no column 'corpus'"),
        (("analyze", "correlate", "scores.csv", "--format", "xml"), "use table, csv, json, md, tex"),
        (("analyze", "correlate", "scores.csv", "-o", "x.xls"), "cannot write '.xls'"),
        (("analyze", "correlate", "scores.csv", "--columns", "human=nope"), "no column 'nope'"),
        (("run", "scores.csv", "-o", "x.pdf"), "one .html file"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_exit_code_2(scores: Path, args: tuple[str, ...], words: str) -> None:
    run = nlgauge(*args, cwd=scores.parent)
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stderr.strip().splitlines()[-1].startswith("nlgauge: ")


def test_measures_that_mean_nothing_here_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("input,quality,bleu\n1,2,.1\n2,3,.3\n3,5,.2\n4,1,.1\n")
    run = nlgauge("analyze", "correlate", "one.csv", cwd=tmp_path)
    assert run.returncode == 0
    assert "not available: system/pearson, system/spearman" in " ".join(run.stdout.split())
    run = nlgauge("analyze", "correlate", "one.csv", "--measures", "system/kendall", cwd=tmp_path)
    assert run.returncode == 2
    assert "system/kendall: needs at least 2 systems, found 1" in run.stderr


def test_run_writes_a_self_contained_page_that_escapes_everything(scores: Path) -> None:
    text = CSV.replace("bleu", "<script>alert(1)</script>").replace("coherence", "coherence</script>{{7*7}}")
    (scores.parent / "evil.csv").write_text(text)
    run = nlgauge("run", "evil.csv", "--columns", "human=coherence</script>{{7*7}}+fluency", cwd=scores.parent)
    assert run.returncode == 0, run.stderr
    page = (scores.parent / "evil.report.html").read_text()
    assert "<script>alert(1)" not in page
    assert "coherence</script>" not in page
    assert "{{7*7}}" in page.replace("&#123;", "{")


def test_run_without_a_file_uses_the_labelled_example(tmp_path: Path) -> None:
    run = nlgauge("run", "--quick", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "These outputs have no human ratings: 'constructed_quality' is computed" in " ".join(run.stderr.split())
    assert "report: example.report.html" in run.stderr
    assert "constructed" in (tmp_path / "example.report.html").read_text()


def test_help_has_examples_and_version_is_told(tmp_path: Path) -> None:
    assert "Examples" in nlgauge("analyze", "correlate", "--help", cwd=tmp_path).stdout
    assert nlgauge("--version", cwd=tmp_path).stdout.startswith("nlgauge ")
