"""nlgauge data convert, as a user types it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import nlgauge as ng
from command import run_command

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "samples"


def convert(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_command("data", "convert", *args, cwd=cwd, COLUMNS="400")


def test_an_export_becomes_the_tidy_format(tmp_path: Path) -> None:
    done = convert(str(SAMPLES / "label_studio.json"), "-o", "new/out.jsonl.gz", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "label_studio.json: 2 systems × 2 inputs" in done.stderr
    assert "written: new/out.jsonl.gz" in done.stderr
    assert ng.load(tmp_path / "new" / "out.jsonl.gz").aspects == ["quality", "fluency", "confidence"]


def test_a_table_says_what_it_does_not_hold(tmp_path: Path) -> None:
    done = convert(str(SAMPLES / "rankme.csv"), "-o", "out.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "the table omits 16 comparisons; .jsonl omits nothing" in done.stderr
    assert ng.load(tmp_path / "out.csv").ratings.height == 17


def test_options_of_the_reader_are_passed_on(tmp_path: Path) -> None:
    done = convert(
        str(SAMPLES / "wmt99"), "--columns", "reader=mt-metrics-eval(lp='en-de')", "-o", "out.parquet", cwd=tmp_path
    )
    assert done.returncode == 0
    assert ng.load(tmp_path / "out.parquet").metrics == ["QE-src", "chrF-refA"]


def test_a_table_that_would_be_misread_is_said(tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl").write_text(
        '{"nlgauge": 1}\n{"system": "A", "input": "1", "ratings": [{"aspect": "quality 1", "value": 1}, {"aspect": '
        '"quality 2", "value": 2}]}\n'
    )
    done = convert("odd.jsonl", "-o", "odd.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "reads back with other aspects (1 for 2, e.g. quality, quality 1, quality 2)" in done.stderr


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ("plain.csv", "-o", "x.xlsx"),
            "nlgauge: -o x.xlsx: cannot write '.xlsx'; use .jsonl, .jsonl.gz, .csv, .parquet.",
        ),
        (("plain.csv", "--columns", "lp", "-o", "x.csv"), "found 'lp', expected role=column"),
        (("absent.csv", "-o", "x.csv"), "absent.csv: no such file."),
        (("plain.csv", "--columns", "reader=qag", "-o", "x.csv"), "no reader 'qag'. Did you mean 'qags'?"),
        (
            ("arena.jsonl", "-o", "x.csv"),
            "has only comparisons, which a wide table cannot represent; write it as .jsonl.",
        ),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_file(tmp_path: Path, args: tuple[str, ...], line: str) -> None:
    done = convert(str(SAMPLES / args[0]), *args[1:], cwd=tmp_path)
    assert done.returncode == 2
    assert line in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
