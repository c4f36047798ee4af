"""The whole report in a real browser: answers, figures, sorting, tabs, choosing outputs, print, phone, no script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit
from report_made import two_aspects

from nlgauge.report.sections import sections

MARKS = ".heatmaplayer image, .hm image, .points path, .scatterlayer .point, .scatterlayer .js-line, .barlayer .point"


def until(page: Any, holds: str) -> None:
    """Waits; Playwright's own waiting evaluates text in the page, which the page's policy forbids."""
    for _ in range(600):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {holds}")


def drawn(page: Any) -> int:
    return int(page.locator(".plot.drawn").count())


def test_every_section_stands_on_the_page_with_an_answer_or_a_reason(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    questions = page.locator("main h2").all_inner_texts()
    # The example has no pass and fail, so that section does not apply.
    assert questions == [s.question for s in sections() if s.key != "verdicts"]
    assert page.locator("nav a").all_inner_texts() == questions
    assert " for charm (input/kendall)" in page.locator("header .short").inner_text()
    for section in page.locator("main section").all():
        words = section.locator(".answer, .missing").all_inner_texts()
        assert words and all(len(w) > 20 for w in words), section.inner_text()[:80]
    assert page.locator("main section:has(.missing)").count() == 1  # costs: the example knows none


def test_figures_are_drawn_when_they_come_into_view_and_all_can_be(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    until(page, "!!window.Plotly")
    every = page.locator(".plot").count()
    assert every > 15
    assert drawn(page) < every / 2
    page.locator("#uses").scroll_into_view_if_needed()
    page.wait_for_selector("section:has(#uses) .plot.drawn")
    page.evaluate("nlgauge.drawAll()")
    assert drawn(page) == every
    assert all(plot.locator(MARKS).count() for plot in page.locator(".part:not([hidden]) > figure .plot").all())
    assert visit.errors == []
    assert visit.requests == [report.resolve().as_uri()]


@pytest.mark.parametrize("width", [375, 1440])
def test_nothing_is_wider_than_the_window(visit: Visit, report: Path, width: int) -> None:
    page = visit.open(report, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    page.evaluate("nlgauge.drawAll()")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.errors == []


def column(table: Any, place: int) -> list[str]:
    return [row.split("\n")[0] for row in table.locator(f"tbody tr td:nth-child({place + 1})").all_inner_texts()]


def test_headers_sort_by_mouse_and_keyboard_and_say_so(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    table = page.locator("section:has(#agrees) table").first
    heads = table.locator("thead th").all_inner_texts()
    place = next(k for k, head in enumerate(heads) if "item" in head and "τ" in head)
    button = table.locator("thead th button").nth(place)
    before = column(table, place)
    button.click()
    down = [float(v) for v in column(table, place)]
    assert down == sorted(map(float, before), reverse=True) != list(map(float, before))
    assert table.locator("thead th").nth(place).get_attribute("aria-sort") == "descending"
    button.focus()
    page.keyboard.press("Enter")
    assert [float(v) for v in column(table, place)] == down[::-1]
    assert "ascending" in page.locator("#live").inner_text()
    names = table.locator("thead th button").first
    names.click()
    shown = table.locator("tbody th").all_inner_texts()
    assert shown == sorted(shown)
    assert table.locator("th[aria-sort]").count() == 1


def test_one_tab_an_aspect_and_all_sections_follow(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    agrees = page.locator("section:has(#agrees)")
    assert agrees.get_by_role("tab").all_inner_texts() == ["constructed_quality", "charm"]
    assert agrees.locator(".part:visible").count() == 1
    agrees.get_by_role("tab").first.focus()
    page.keyboard.press("ArrowRight")
    for key in ("agrees", "real", "wins"):
        panel = page.locator(f"section:has(#{key}) .part:visible")
        assert panel.count() == 1
        assert panel.get_attribute("data-aspect") == "charm"
    assert agrees.locator("[aria-selected=true]").inner_text() == "charm"


def test_dragging_over_points_lists_their_texts(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    plot = page.locator("#brush-plot")
    plot.scroll_into_view_if_needed()
    page.wait_for_selector("#brush-plot .points path")
    page.wait_for_timeout(300)  # the window still scrolls to it
    area = page.locator("#brush-plot .nsewdrag").bounding_box()
    page.mouse.move(area["x"] + 3, area["y"] + 3)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2, steps=8)
    page.mouse.up()
    page.wait_for_selector("#brush-list li")
    chosen = int(page.locator("#brush-count").inner_text().split()[0])
    assert 0 < chosen < 192
    assert page.locator("#brush-list li").count() == min(chosen, 30)
    texts = set(two_aspects().samples["output"])
    first = page.locator("#brush-list li").first.locator(".text").first.locator("p").nth(1).inner_text()
    assert first in {" ".join(t.split()) for t in texts} | texts
    assert visit.errors == []


def test_corners_and_other_metrics_are_chosen_by_keyboard(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.locator("#brush-plot").scroll_into_view_if_needed()
    page.wait_for_selector("#brush-plot .points path")
    page.locator("#brush-metric").select_option("random")
    page.locator("#brush-aspect").select_option("charm")
    page.get_by_role("button", name="metric high, people low").focus()
    page.keyboard.press("Enter")
    assert page.locator("#brush-count").inner_text() == "10 outputs chosen."
    for item in page.locator("#brush-list li .soft").all_inner_texts():
        if item.startswith("random"):
            score, rating = (float(part.split()[1]) for part in item.split(", "))
            assert score > 0.5
            assert rating < 3


def test_on_paper_everything_is_open_and_closes_again(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    until(page, "!!window.Plotly")
    folded = page.locator("details:not([open])").count()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".part").count() == page.locator(".part:visible").count()
    until(page, "document.querySelectorAll('.plot.drawn').length === document.querySelectorAll('.plot').length")
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    until(page, f"document.querySelectorAll('details:not([open])').length === {folded}")
    assert visit.errors == []


def test_without_scripts_all_answers_and_tables_can_be_read(chromium: Any, report: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    assert page.locator("section:has(#agrees) .part:visible h3").all_inner_texts() == ["constructed_quality", "charm"]
    assert page.locator("section:has(#agrees) table:visible").count() == 2
    assert not page.locator(".brush").is_visible()
    context.close()


def test_the_page_is_small(report: Path) -> None:
    assert report.stat().st_size < 6_000_000
