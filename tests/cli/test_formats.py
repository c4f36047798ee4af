"""nlgauge data formats: what can be read, written from the readers."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from command import run_command
from nlgauge import registry
from nlgauge.report.listing import format_rows

REPO = Path(__file__).resolve().parent.parent.parent


def nlgauge(*args: str) -> str:
    done = run_command(*args, COLUMNS="400")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_reader_and_the_plain_table_are_listed() -> None:
    rows = list(csv.DictReader(io.StringIO(nlgauge("data", "formats", "--format", "csv"))))
    assert [row["format"] for row in rows] == [*registry.names("reader"), "table"]
    inspect = next(row for row in rows if row["format"] == "inspect-ai")
    assert "C, P, I, N are 1, 0.5, 0, 0" in inspect["scores"]
    assert inspect["tested_with"].startswith("inspect_ai ")


@pytest.mark.parametrize("name", registry.names("reader"))
def test_every_reader_says_what_it_takes_and_has_a_section_in_the_docs(name: str) -> None:
    takes = registry.get("reader", name).takes
    assert takes.files
    assert (takes.human, takes.scores) != ("–", "–")
    page = (REPO / "docs" / "formats.md").read_text(encoding="utf-8")
    assert any(f"\n{mark} {name}" in page for mark in ("##", "###"))


def test_list_readers_shows_the_same() -> None:
    assert [r["format"] for r in format_rows()] == [
        row["format"] for row in csv.DictReader(io.StringIO(nlgauge("list", "readers", "-f", "csv")))
    ]
