"""In a notebook the report shows itself, and no file is written unless one is asked for."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import nlgauge as ng


def test_a_report_shows_its_page_and_writes_a_file_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": i, "label": ["fail", "pass"][i % 3 > 0], "judge": ["fail", "pass"][i % 4 > 0]} for i in range(40)]
    data = ng.load(rows, human=["label"], metrics=["judge"])
    made = ng.report(data, quick=True)
    assert list(tmp_path.iterdir()) == [] and made.path is None and made.remarks == []
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="NLGauge report" style="[^"]*"></iframe>', made._repr_html_())
    assert frame is not None and html.unescape(frame[1]) == made.html
    assert made.html.lstrip().startswith("<!doctype html>") and "confusion matrix" in made.html
    assert len(repr(made)) < 200 and "40 outputs" in repr(made)
    written = ng.report(data, quick=True, out="page.html")
    assert {p.name for p in tmp_path.iterdir()} == {"page.html", "page.results.json"}
    assert Path("page.html").read_text() == written.html
