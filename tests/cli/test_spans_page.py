"""docs/spans.md: its example prints what the page shows, and bad input is one line with exit code 2."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from command import run_command
from nlgauge.cli._values import from_text

REPO = Path(__file__).resolve().parents[2]
PAGE = (REPO / "docs" / "spans.md").read_text(encoding="utf-8")


def nlgauge(*words: str, folder: Path = REPO / "examples") -> subprocess.CompletedProcess[str]:
    return run_command(*words, cwd=folder, COLUMNS="160", NO_COLOR="1")


def test_the_example_prints_what_the_page_shows() -> None:
    (found,) = re.findall(r"^```\n\$ nlgauge (analyze spans spans\.jsonl.*)\n((?:.*\n)*?)```$", PAGE, re.M)
    done = nlgauge(*found[0].split())
    assert done.returncode == 0, done.stderr
    printed = "".join(line.rstrip() + "\n" for line in done.stdout.rstrip().splitlines())
    shown = "".join(r"(?:.*\n)*" if line == "…\n" else re.escape(line) for line in found[1].splitlines(keepends=True))
    assert re.fullmatch(shown, printed), printed


def test_data_without_spans_are_refused_in_one_line() -> None:
    done = nlgauge("analyze", "spans", "mine.csv")
    assert done.returncode == 2
    assert (
        "there are no error spans; they can be read from MQM files, mt-metrics-eval ratings and .jsonl files."
        in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_the_options_of_the_analysis_are_those_of_the_page() -> None:
    done = nlgauge("analyze", "spans", "spans.jsonl", "--sametext")
    assert done.returncode == 2
    assert "--same-text" in done.stderr


def test_false_is_false_however_it_is_spelled() -> None:
    """A bare word is a text, and a text is true."""
    typed = "same_text=false,overall=True,test=williams,draws=20"
    assert from_text([typed]) == {"same_text": False, "overall": True, "test": "williams", "draws": 20}
    assert "|same_text:False|" in nlgauge("analyze", "spans", "spans.jsonl").stdout
    assert "|same_text:True|" in nlgauge("analyze", "spans", "spans.jsonl", "--same-text").stdout
