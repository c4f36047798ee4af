"""The tables of gate, drift, bias, tuning and jury have their places in the pages, and one command that writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bench import coverage, gate

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", coverage.GUARDS)
def test_the_page_names_the_command_and_its_tables_have_a_line_for_every_cell(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert f"`python -m bench.coverage --write docs/{page}`" in text
    tables = re.findall(r"<!-- [\w ]+ -->\n(\|.*?)<!-- end -->", text, re.S)
    lines = sum(len(table.strip().splitlines()) - 2 for table in tables)
    assert lines >= len(coverage.GUARDS[page].cells()) / 3  # bias: three cells a line


def test_what_is_kept_is_not_computed_again_and_a_page_waits_for_all_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []
    work = {name: lambda name=name: asked.append(name) or [[name, 0.5]] for name in ("minimum/1", "change/1")}
    monkeypatch.setattr(gate, "cells", lambda: work)
    page = tmp_path / "gate.md"
    page.write_text(
        "".join(
            f"<!-- gate {n} -->\nold\n<!-- end -->\n"
            for n in ("labels", "correlations", "several", "looks", "minimum", "change", "estimate")
        )
    )
    with pytest.raises(SystemExit, match="1 of 2 cells are not computed yet, such as change/1"):
        coverage.guard_page(page, "minimum")
    coverage.guard_page(page)
    coverage.guard_page(page)
    assert asked == ["minimum/1", "change/1"] == list(json.loads((tmp_path / "out/gate.json").read_text()))
    assert "| minimum/1 | 0.500 |" in page.read_text() and "old" not in page.read_text()
