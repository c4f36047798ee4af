"""The report page in a real browser: renders, asks nobody, breaks nothing, fits a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser_visit import Visit

from nlgauge.data.card import card
from nlgauge.data.example import example
from nlgauge.data.load import load
from nlgauge.report.page import write_report

HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>{{7*7}} \u202e'


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = example()
    path = tmp_path_factory.mktemp("page") / "report.html"
    return write_report(path, data.name, card(data), [data.panel().correlate()], ["run"])


def test_the_page_renders_without_requests_or_errors(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    assert page.locator("svg.figure path").count() > 5
    assert visit.requests == [report.resolve().as_uri()]
    assert visit.errors == []
    assert page.locator("tbody tr").count() == 5


@pytest.mark.parametrize("width", [375, 1440])
def test_nothing_overflows_the_page(visit: Visit, report: Path, width: int) -> None:
    page = visit.open(report, width=width)
    assert page.locator("svg.figure path").count() > 5
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_show_as_text_and_run_nothing(visit: Visit, tmp_path: Path) -> None:
    rows = [
        {"system": s, "input": i, "quality": i + k, HOSTILE: (i * 7 + k) % 5}
        for k, s in enumerate("ABC")
        for i in range(4)
    ]
    data = load(rows, name=HOSTILE, human=["quality"], metrics=[HOSTILE])
    path = write_report(tmp_path / "x.html", HOSTILE, card(data), [data.panel().correlate()], [HOSTILE])
    page = visit.open(path)
    assert page.locator("svg.figure path").count() > 5
    assert page.evaluate("window.hacked") is None
    assert visit.errors == []
    assert "<img src=x" in page.locator("tbody th").first.inner_text()
