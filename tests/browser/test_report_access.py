"""Axe-core finds nothing serious on the report, light and dark, folded and open, wide and narrow."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit

axe = pytest.importorskip("axe_playwright_python.sync_playwright")


def serious(page: Any) -> list[str]:
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{v['id']}: {v['nodes'][0]['html'][:200]} ({len(v['nodes'])} places)"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 375)])
@pytest.mark.parametrize("name", ["report", "judge_page"])
def test_no_serious_violation(visit: Visit, name: str, request: Any, scheme: str, width: int) -> None:
    visit.page.emulate_media(color_scheme=scheme)
    page = visit.open(request.getfixturevalue(name), width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("#outputs-table tbody tr").first.click()
    assert serious(page) == []


def test_headings_never_skip_a_level(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
