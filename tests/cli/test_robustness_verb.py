"""`nlgauge robustness` on a file of texts without ratings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import nlgauge as ng
from nlgauge.cli import build
from nlgauge.errors import NlgaugeError

ROWS = [
    ("A", 1, "The museum opened in 1998 and is visited by 4,000 people.", "The museum opened in 1998; 4,000 come."),
    ("B", 1, "A museum opened.", "The museum opened in 1998; 4,000 come."),
    ("A", 2, "Anna Berg was elected mayor of Oslo.", "Oslo elected Anna Berg as its mayor."),
    ("B", 2, "Oslo has a mayor named Anna.", "Oslo elected Anna Berg as its mayor."),
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "own.csv"
    lines = [f'{s},{i},"{output}","{reference}",{"xy"[i - 1]}' for s, i, output, reference in ROWS]
    path.write_text("\n".join(["system,input,output,reference,half", *lines]) + "\n")
    return str(path)


def call(*words: str) -> str:
    result = CliRunner().invoke(build("analyze"), list(words))
    if isinstance(result.exception, NlgaugeError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(text: str) -> list[dict[str, object]]:
    return [row for table in json.loads(text)["tables"] for row in table["rows"]]


def test_texts_alone_are_enough(file: str) -> None:
    found = rows(
        call(
            "analyze",
            "robustness",
            file,
            "--metrics",
            "rouge-1,bleu(smooth='exp',order=2)",
            "--perturbations",
            "drop,upper",
            "-f",
            "json",
        )
    )
    assert [(r["perturbation"], r["metric"]) for r in found] == [
        ("drop", "rouge-1"),
        ("drop", "bleu(order=2, smooth='exp')"),
        ("upper", "rouge-1"),
        ("upper", "bleu(order=2, smooth='exp')"),
    ]
    assert found[2]["false_alarms"] == 0.0  # ROUGE reads small letters


def test_python_gives_the_same(file: str) -> None:
    mine = rows(
        call(
            "analyze",
            "robustness",
            file,
            "-m",
            "chrf",
            "--perturbations",
            "swap,lower",
            "--amounts",
            "0.5",
            "-f",
            "json",
        )
    )
    options: dict[str, Any] = {"metrics": "chrf", "perturbations": ["swap", "lower"], "amounts": 0.5}
    table = ng.analyze("robustness", file, **options)
    assert table.to_dict()["rows"] == mine


def test_without_metrics_a_handful_that_the_file_can_feed(file: str) -> None:
    found = rows(call("analyze", "robustness", file, "--perturbations", "drop", "-f", "json"))
    names = {r["metric"] for r in found}
    assert {"bleu", "chrf", "rouge-1", "length"} <= names
    assert "coverage" not in names  # there is no source


def test_the_page_has_the_picture(file: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    assert "drop ↓" in call("analyze", "robustness", file, "-m", "length", "--perturbations", "drop", "-o", str(out))
    assert "damage noticed" in out.read_text()


def test_parts_of_the_data_are_kept_apart(file: str) -> None:
    text = call("analyze", "robustness", file, "-m", "length", "--perturbations", "drop", "--by", "half", "-f", "json")
    titles = [table["title"] for table in json.loads(text)["tables"]]
    assert titles == [f"own.csv: {topic}: share of changed outputs whose score falls" for topic in "xy"]


def test_what_is_shown_can_be_chosen_and_errors_are_one_line(file: str) -> None:
    assert "mean change" in call(
        "analyze", "robustness", file, "-m", "length", "--perturbations", "drop", "--show", "change"
    )
    with pytest.raises(NlgaugeError, match="--amounts much"):
        call("analyze", "robustness", file, "--amounts", "much")
    with pytest.raises(NlgaugeError, match="no metric 'lenght'"):
        call("analyze", "robustness", file, "-m", "lenght")
