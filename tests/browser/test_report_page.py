"""The whole report in a real browser: sections, figures, sorting, aspects, print, PDF, no scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit

from nlgauge.report.sections import sections

OPEN_ALL = "document.querySelectorAll('details').forEach(d => d.open = true)"


def test_every_section_stands_on_the_page_with_an_answer_or_a_line_at_the_end(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    of_judges = {"verdicts", "threshold-curve", "slices", "calibration", "trials", "labels", "flips", "classes"}
    of_others = {"metrics-alone", "rank", "bias", "drift", "jury"} | of_judges
    titles = [s.title for s in sections() if s.key not in of_others]
    shown = page.locator("main details.section h2").all_inner_texts()
    missing = page.locator("#not-computed li b").all_inner_texts()
    assert [t for t in titles if f"{t}:" not in missing] == shown
    assert missing == ["Cost of the scores:"]  # the example knows none
    assert page.locator("nav a").all_inner_texts() == ["Answer", *shown, "Not computed"]
    assert all(len(text) > 20 for text in page.locator("#not-computed li").all_inner_texts())


def opened(page: Any, key: str) -> Any:
    page.locator(f"#{key} > summary").click()
    return page.locator(f"#{key}")


def test_sections_are_closed_until_mouse_keyboard_or_link_opens_them(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    assert page.locator("details.section[open]").count() == 0
    page.locator("#annotators > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#annotators .inside").is_visible()
    assert page.evaluate("location.hash") == "#annotators"
    page.locator("nav a[href='#uses']").click()
    page.locator("#uses .inside").wait_for()  # visible; the link is followed by an event
    page.keyboard.press("Enter")  # the link again: it stays open
    assert page.locator("#uses .inside").is_visible()
    page.goto("about:blank")
    page.goto(report.resolve().as_uri() + "#uses")
    assert page.locator("details.section[open]").count() == 1
    page.wait_for_timeout(200)
    assert 0 <= page.locator("#uses > summary").bounding_box()["y"] < 120


def test_sections_cite_their_papers_with_link_and_bibtex(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    section = opened(page, "agrees")
    link = section.locator(".cites a")
    assert link.inner_text() == "Gao et al. (2025)" and link.get_attribute("href").startswith("https://")
    section.locator(".cite > summary").click()
    assert re.match(r"@inproceedings\{gao2025,\n  title = \{", section.locator(".bibtex").inner_text())
    assert opened(page, "made").locator(".cites a").count() > 2


@pytest.mark.parametrize("width", [375, 1440])
@pytest.mark.parametrize("name", ["report", "judge_page"])
def test_nothing_is_wider_than_the_window(visit: Visit, name: str, request: Any, width: int) -> None:
    page = visit.open(request.getfixturevalue(name), width=width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.errors == []


def column(table: Any, place: int) -> list[float]:
    return table.locator(f"tbody tr td:nth-child({place + 1})").evaluate_all(
        "all => all.map(c => parseFloat(c.dataset.v || c.textContent))"
    )


def test_headers_sort_by_mouse_and_keyboard_and_say_so(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    table = opened(page, "agrees").locator(".part:visible table.grid").first
    place = 2
    before = column(table, place)
    button = table.locator("thead th button").nth(place)
    button.click()
    down = column(table, place)
    assert down == sorted(before, reverse=True)
    assert table.locator("thead th").nth(place).get_attribute("aria-sort") == "descending"
    button.focus()
    page.keyboard.press("Enter")
    assert column(table, place) == down[::-1]
    assert "ascending" in page.locator("#live").inner_text()
    table.locator("thead th button").first.click()
    shown = table.locator("tbody th").all_inner_texts()
    assert shown == sorted(shown) and table.locator("th[aria-sort]").count() == 1


def test_the_table_of_measures_has_intervals_and_letters(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    table = opened(page, "agrees").locator(".part:visible table.grid").first
    cells = table.locator("tbody td").all_inner_texts()
    assert sum(bool(re.fullmatch(r"-?\d\.\d\d \[-?\d\.\d\d, -?\d\.\d\d\] [a-z]+", c)) for c in cells) >= 5


def printed(page: Any, path: Path) -> str:
    """The text of a PDF, uncompressed streams aside: Chromium is asked for the text that it lays out on paper."""
    page.pdf(path=path, format="A4")
    return path.read_bytes()[:5].decode("latin-1")


@pytest.mark.parametrize("scripts", [True, False])
def test_on_paper_all_sections_tables_and_figures_are_there(
    chromium: Any, report: Path, tmp_path: Path, scripts: bool
) -> None:
    """Both ways of printing: the event that opens everything, and rules of the style sheet where scripts are off."""
    context = chromium.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    assert printed(page, tmp_path / "a.pdf") == "%PDF-"
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "a.pdf").read_bytes()))
    page.emulate_media(media="print")
    if scripts:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for what in ("main svg.figure", "main table.grid", ".picture", ".inside", ".limits"):
        every = page.locator(what)
        shown = every.evaluate_all("all => all.filter(e => e.getClientRects().length && e.offsetHeight !== 0).length")
        assert every.count() == shown > 0, what
    assert pages > 8
    assert not page.locator(".controls:visible, nav:visible, #theme:visible").count()
    if scripts:
        page.emulate_media(media="screen")
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator("details.section[open]").count() == 0
    context.close()


A4 = 680  # pixels between margins of 15 mm


@pytest.mark.parametrize("name", ["report", "judge_page"])
def test_no_table_or_figure_is_cut_on_paper(visit: Visit, name: str, request: Any) -> None:
    page = visit.open(request.getfixturevalue(name), width=A4)
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    right = "all => all.filter(e => e.getClientRects().length).map(e => Math.ceil(e.getBoundingClientRect().right))"
    for what in ("main table", "main svg.figure", "main .chip", "main td"):
        edges = page.locator(what).evaluate_all(right)
        assert edges and max(edges) <= A4, what
    clipped = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
    assert page.locator("main td, main .marks th").evaluate_all(clipped) == []


def test_without_scripts_tables_figures_and_outputs_can_be_read(chromium: Any, report: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    section = opened(page, "agrees")
    assert section.locator("table.grid:visible").count() == 2  # one per aspect
    assert opened(page, "uses").locator("svg.figure:visible").count() == 2
    assert opened(page, "disagree").locator("#outputs-table tbody tr:visible").count() == 30
    assert "needs scripts" not in page.content()
    context.close()


def test_the_page_is_small(report: Path, judge_page: Path) -> None:
    assert report.stat().st_size < 1_500_000 and judge_page.stat().st_size < 500_000
