"""Texts and names of other people are shown as text: nothing runs, nothing breaks out, nothing is cut silently."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_visit import Visit
from report_made import report_of

from nlgauge.data.load import load

SCRIPT = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
TEMPLATE = "{{ 7 * 7 }} {% for x in y %} ${7*7}"
TURNED = "abc\u202edef\u2066ghi"
LONG = "word " * 200_000  # a megabyte
COMMENT = "<!-- <script> ]]> &lt;b&gt; <b onmouseover=alert(1)>bold</b>"
TEXTS = [SCRIPT, TEMPLATE, TURNED, LONG, COMMENT]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    data = load(
        rows,
        name=SCRIPT,
        system="system",
        input="input",
        output="output",
        human=["quality"],
        metrics=[f"{SCRIPT}m", f"{TURNED}n", "evil.py@x"],
    )
    return report_of(data, tmp_path_factory.mktemp("hostile") / "hostile.html")


def test_nothing_runs_and_nothing_is_asked_for(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("#outputs-plot").scroll_into_view_if_needed()
    page.wait_for_selector("#outputs-plot .points path")
    page.evaluate("nlgauge.drawAll()")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.mouse.move(400, 300)
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, b[onmouseover]").count() == 0
    assert visit.errors == []
    assert visit.requests == [report.resolve().as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440


def test_texts_show_as_they_are_written(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.locator("#outputs-plot").scroll_into_view_if_needed()
    page.wait_for_selector("#outputs-plot .points path")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
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
    assert report.stat().st_size < 4_000_000
