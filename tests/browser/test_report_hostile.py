"""Texts and names of other people are shown as text: nothing runs, nothing breaks out, nothing is cut silently."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from browser_visit import Visit
from report_made import report_of

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load

SCRIPT = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
TEMPLATE = "{{ 7 * 7 }} {% for x in y %} ${7*7}"
TURNED = "abc\u202edef\u2066ghi"
LONG = "word " * 200_000  # a megabyte
COMMENT = "<!-- <script> ]]> &lt;b&gt; <b onmouseover=alert(1)>bold</b>"
TEXTS = [SCRIPT, TEMPLATE, TURNED, LONG, COMMENT]


@pytest.fixture(scope="module")
def data() -> Dataset:
    rows = [
        {
            "system": f"{SCRIPT}{s}",
            "input": f"{TEMPLATE}{i}",
            "output": TEXTS[(i + k) % 5],
            "source": TEXTS[i % 5],
            "quality": (i * 3 + k * k) % 5 + 1,
            f"{SCRIPT}m": (i * 7 + k) % 5 + 0.1 * k,
            f"{TURNED}n": (i + k) % 3,
            "evil.py@x": i * k % 4,
        }
        for k, s in enumerate("ABCD")
        for i in range(10)
    ]
    return load(
        rows,
        name=SCRIPT,
        system="system",
        input="input",
        output="output",
        human=["quality"],
        metrics=[f"{SCRIPT}m", f"{TURNED}n", "evil.py@x"],
    )


@pytest.fixture(scope="module")
def report(data: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report_of(data, tmp_path_factory.mktemp("hostile") / "hostile.html")


def test_nothing_runs_and_nothing_is_asked_for(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate("document.querySelectorAll('#outputs-table tbody tr').forEach(r => r.click())")
    page.mouse.move(400, 300)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, b[onmouseover]").count() == 0
    assert visit.errors == []
    assert visit.requests == [report.resolve().as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_texts_show_as_they_are_written(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate("document.querySelectorAll('#outputs-table tbody tr').forEach(r => r.click())")
    shown = page.locator(".text p").all_inner_texts()
    assert any(SCRIPT in text for text in shown)
    assert any("{{ 7 * 7 }}" in text for text in shown)
    assert any("⟦U+202E⟧" in text for text in shown)
    assert not any("\u202e" in text or "49" in text for text in shown)
    assert any(
        f"… ({len(LONG.strip()) - 1500:,} more characters)" in text
        or f"… ({len(LONG) - 1500:,} more characters)" in text
        for text in shown
    )


def test_a_megabyte_does_not_make_the_page_heavy(report: Path) -> None:
    assert report.stat().st_size < 1_500_000


def test_results_in_a_notebook_run_nothing_and_ask_for_nothing(visit: Visit, data: Dataset, tmp_path: Path) -> None:
    """`_repr_html_` is part of the page of the notebook itself: no template and no policy protects it."""
    named = replace(data, name=f"{SCRIPT}{TURNED}")
    parts = [named._repr_html_(), ng.correlate(named)._repr_html_()]
    cell = tmp_path / "cell.html"
    cell.write_text(f"<!doctype html><meta charset=utf-8><div>{'</div><div>'.join(parts)}</div>", encoding="utf-8")
    page = visit.open(cell)
    page.mouse.move(400, 300)
    assert page.evaluate("window.hacked") is None
    assert page.locator("script, img, b[onmouseover], a").count() == 0
    assert visit.errors == [] and visit.requests == [cell.resolve().as_uri()]
    assert SCRIPT in page.locator("body").inner_text()
    assert "⟦U+202E⟧" in page.locator("body").inner_text()
