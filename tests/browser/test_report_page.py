"""The whole report in a real browser: sections that open, figures, sorting, aspects, outputs, print, no script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit
from report_made import two_aspects

from nlgauge.analyses.errors.disagreements import disagreements
from nlgauge.report.sections import sections
from nlgauge.text.output_kinds import KINDS

MARKS = ".heatmaplayer image, .hm image, .points path, .scatterlayer .point, .scatterlayer .js-line, .barlayer .point"


def until(page: Any, holds: str) -> None:
    """Waits; Playwright's own waiting evaluates text in the page, which the page's policy forbids."""
    for _ in range(600):
        if page.evaluate(holds):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {holds}")


def test_every_section_stands_on_the_page_with_an_answer_or_a_reason(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    questions = page.locator("main h2").all_inner_texts()
    # The example has human ratings, neither pass and fail nor choices, no judge and no second run.
    of_others = ("metrics-alone", "verdicts", "rank", "bias", "drift", "jury")
    assert questions == [s.question for s in sections() if s.key not in of_others]
    assert page.locator("nav a").all_inner_texts() == ["The answer", *questions]
    for section in page.locator("main details.section").all():
        words = section.locator("summary .answer:visible, summary .missing").all_inner_texts()
        assert len(words) == 1, section.inner_text()[:80]
        assert len(words[0]) > 20
    assert page.locator("main details.section:has(.missing)").count() == 1  # costs: the example knows none


def opened(page: Any, key: str) -> Any:
    page.locator(f"#{key} > summary").click()
    return page.locator(f"#{key}")


def test_sections_are_closed_until_mouse_keyboard_or_link_opens_them(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    assert page.locator("details.section[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") < 4 * 900
    page.locator("#people > summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("#people .inside").is_visible()
    assert page.evaluate("location.hash") == "#people"
    page.locator("nav a[href='#uses']").click()
    page.locator("#uses .inside").wait_for()  # visible; the link is followed by an event
    page.keyboard.press("Enter")  # the link again: it stays open
    assert page.locator("#uses .inside").is_visible()


def test_a_deep_link_opens_its_section_and_lands_on_it(visit: Visit, report: Path) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(report.resolve().as_uri() + "#uses")
    page.wait_for_selector("#uses .plot.drawn")
    assert page.locator("details.section[open]").count() == 1
    page.wait_for_timeout(300)
    top = page.locator("#uses > summary").bounding_box()["y"]
    assert 0 <= top < 100
    # Figures above the target keep their place free before they are drawn: the target does not move.
    page.goto("about:blank")
    page.goto(report.resolve().as_uri())
    page.evaluate("document.querySelectorAll('details.section').forEach(d => d.open = true)")
    before = page.evaluate("document.documentElement.scrollHeight")
    page.evaluate("nlgauge.drawAll()")
    assert abs(page.evaluate("document.documentElement.scrollHeight") - before) < 5


def test_figures_are_drawn_when_they_come_into_view_and_all_can_be(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    until(page, "!!window.Plotly")
    every = page.locator("main .plot").count()
    assert every > 15
    assert page.locator("main .plot.drawn").count() == 0
    opened(page, "uses")
    page.wait_for_selector("#uses .plot.drawn")
    page.evaluate("nlgauge.drawAll()")
    assert page.locator("main .plot.drawn").count() == every
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
    opened(page, "agrees").locator(".folds:visible .fold > summary").first.click()
    table = page.locator("#agrees .folds:visible table").first
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


def test_the_control_chooses_the_aspect_of_all_sections(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.evaluate("document.querySelectorAll('details.section').forEach(d => d.open = true)")
    page.locator("[data-control=aspect]").select_option("charm")
    for key in ("agrees", "uses", "wins"):
        for block in (".answer", ".part", ".folds"):
            shown = page.locator(f"#{key} {block}:visible")
            assert shown.count() == 1, f"{key} {block}"
            assert shown.get_attribute("data-aspect") == "charm"


def listed(page: Any, metric: str) -> list[str]:
    page.locator("#outputs-metric").select_option(metric)
    return [name.strip() for name in page.locator("#outputs-list .reading > summary b").all_inner_texts()]


def test_the_outputs_to_read_are_those_of_the_analysis(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    opened(page, "disagree")
    page.wait_for_selector("#outputs-plot .points path")
    page.locator("[data-control=aspect]").select_option("charm")
    for metric in ("unigram_f1", "random"):
        table = disagreements(two_aspects(), metric=metric, aspects=["charm"], top=5)
        assert listed(page, metric) == [f"{row['system']}, {row['input']}" for row in table]
    texts = page.locator("#outputs-list .reading[open] .text.output p:last-child").first.inner_text()
    assert texts in {" ".join(t.split()) for t in two_aspects().samples["output"]}
    assert page.locator("#outputs-count").inner_text().startswith("10 outputs. Kinds: ")
    assert visit.errors == []


def test_words_that_nothing_supports_are_marked_and_kinds_are_named(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    opened(page, "disagree")
    page.wait_for_selector("#outputs-plot .points path")
    known = {r["output"]: r for r in two_aspects().samples.iter_rows(named=True)}
    page.evaluate("document.querySelectorAll('.reading').forEach(d => d.open = true)")
    marked = 0
    for box in page.locator(".reading .text.output p:last-child").all():
        row = known[box.inner_text()]
        words = {w.lower() for text in (row["source"], *row["references"]) for w in re.findall(r"\w+", text)}
        for word in box.locator(".w0").all_inner_texts():
            assert word.lower() not in words
            marked += 1
    assert marked
    assert set(page.locator(".kind").all_inner_texts()) <= set(KINDS)


def test_dragging_over_points_lists_their_texts(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    opened(page, "disagree")
    page.wait_for_selector("#outputs-plot .points path")
    page.locator("#outputs-plot").scroll_into_view_if_needed()
    page.wait_for_timeout(400)  # the window still scrolls to it
    area = page.locator("#outputs-plot .nsewdrag").bounding_box()
    page.mouse.move(area["x"] + 3, area["y"] + 3)
    page.mouse.down()
    page.mouse.move(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2, steps=8)
    page.mouse.up()
    page.wait_for_selector("#outputs-list h3:has-text('Chosen in the picture')")
    chosen = int(page.locator("#outputs-count").inner_text().split()[0])
    assert 0 < chosen < 192
    assert page.locator("#outputs-list .reading").count() == min(chosen, 30)
    assert visit.errors == []


def test_on_paper_everything_is_open_and_closes_again(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    until(page, "!!window.Plotly")
    folded = page.locator("details:not([open])").count()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".part").count() == page.locator(".part:visible").count()
    until(page, "!document.querySelector('[data-packed]')")
    until(page, "document.querySelectorAll('.plot.drawn').length === document.querySelectorAll('.plot').length")
    page.emulate_media(media="screen")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    until(page, f"document.querySelectorAll('details:not([open])').length === {folded}")
    assert visit.errors == []


def test_on_paper_each_mark_stands_below_its_use(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 1000})
    shown = page.locator(".picture:visible").first
    heads, marks = (
        shown.locator(where).evaluate_all("all => all.map(each => Math.round(each.getBoundingClientRect().x))")
        for where in (".marks thead .use", ".marks tbody tr:nth-child(1) .mark")
    )
    assert len(set(heads)) == len(heads) > 1 and heads == marks


def test_without_scripts_all_answers_and_tables_can_be_read(chromium: Any, report: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.resolve().as_uri())
    for key in ("people", "agrees"):
        opened(page, key)
        assert page.locator(f"#{key} .answer:visible b").all_inner_texts() == ["constructed_quality:", "charm:"]
    for fold in page.locator("#agrees .fold > summary:has-text('Table')").all():
        fold.click()
    assert page.locator("#agrees table:visible").count() == 2
    assert not page.locator(".outputs").is_visible()
    context.close()


def test_the_page_is_small(report: Path) -> None:
    assert report.stat().st_size < 2_500_000
