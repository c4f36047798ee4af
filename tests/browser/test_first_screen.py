"""The first screen at both sizes: sentence, rows and matrix hold the numbers of results.json and need no scripts."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from browser_visit import Visit
from report_made import two_aspects

import nlgauge as ng

SIZES = [(1440, 900), (390, 844)]
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ng.report(two_aspects(), out=tmp_path_factory.mktemp("first") / "page.html", quick=True)


@pytest.fixture(scope="module")
def stored(made: Any) -> dict[str, Any]:
    return dict(json.loads(made.results.read_text())["answer"])


def numbers_of(value: Any) -> set[str]:
    """All numbers of stored data: as written in texts, numbers rounded to two decimals, counts as they are."""
    if isinstance(value, dict):
        return set().union(*map(numbers_of, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(numbers_of, value)) if value else set()
    if isinstance(value, str):
        return set(NUMBER.findall(value))
    if isinstance(value, bool) or value is None:
        return set()
    return {f"{value:.2f}", f"{value:,}"}


@pytest.mark.parametrize("name", ["report", "judge_page"])
def test_every_number_on_the_first_screen_stands_in_the_results(visit: Visit, name: str, request: Any) -> None:
    path: Path = request.getfixturevalue(name)
    answer = json.loads(path.with_suffix(".results.json").read_text())["answer"]
    page = visit.open(path)
    ticks = {"0", "0.25", "0.5", "0.75", "1", "95"}  # of the axes, and the level
    known = numbers_of(answer) | ticks
    totals = [m["counts"] for a in answer["aspects"] for m in a["metrics"] if m["counts"]]
    for c in totals:  # the margins of the confusion matrix
        known |= {str(c["both_fail"] + c["only_humans_fail"]), str(c["only_judge_fails"] + c["both_pass"])}
    shown = page.locator("#answer .made-of, #answer .verdict, #answer td, #answer .legend").all_inner_texts()
    found = {number for text in shown for number in NUMBER.findall(text)}
    assert len(found) > 8
    assert found <= known, found - known


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_sentence_and_badges_are_those_of_the_results(
    visit: Visit, made: Any, stored: dict[str, Any], width: int, height: int
) -> None:
    page = visit.open(made.path, width, height)
    first = stored["aspects"][0]
    assert page.locator(".verdict:visible").all_inner_texts() == [first["sentences"][""]]
    rows = page.locator(".picture:visible tbody tr:not(.base)").all()
    badges = {r.locator(".name").inner_text(): r.locator(".chip .word").all_text_contents() for r in rows}
    assert badges == {m["metric"]: [k["badge"] for k in m["marks"].values()] for m in first["metrics"]}
    assert page.locator(".made-of").inner_text() == stored["evaluated"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.errors == [] and visit.requests == [made.path.resolve().as_uri()]


def test_rows_have_value_interval_and_baselines_on_one_axis(visit: Visit, made: Any, stored: dict[str, Any]) -> None:
    page = visit.open(made.path)
    first = stored["aspects"][0]
    values = page.locator(".picture:visible tbody tr:not(.base) td.value").all_inner_texts()
    assert values == [f"{m['value']:.2f} [{m['low']:.2f}, {m['high']:.2f}]" for m in first["metrics"]]
    assert page.locator(".picture:visible thead .title").inner_text() == "pairwise accuracy"
    ticks = page.locator(".picture:visible .scale text")
    at = {
        float(t.text_content()): float(str(t.get_attribute("x")).rstrip("%")) for t in ticks.all()
    }  # the axis is linear
    (a, xa), *_, (b, xb) = sorted(at.items())
    svgs = page.locator(".picture:visible tbody tr:not(.base) svg.interval").all()
    for svg, m in zip(svgs, first["metrics"], strict=True):
        place = float(svg.locator("circle").get_attribute("cx").rstrip("%"))
        assert place == pytest.approx(xa + (m["value"] - a) / (b - a) * (xb - xa), abs=0.1)
        axis = page.locator(svg.locator("use").get_attribute("href"))
        lines = axis.locator("line.baseline").evaluate_all("all => all.map(l => parseFloat(l.getAttribute('x1')))")
        expected = [xa + (v - a) / (b - a) * (xb - xa) for v in first["baselines"].values()]
        assert lines == pytest.approx(expected, abs=0.1)
    assert page.locator(".picture:visible tr.base").count() == len(first["baselines"])


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_several_aspects_begin_with_a_matrix_that_chooses_the_aspect(
    visit: Visit, made: Any, stored: dict[str, Any], width: int, height: int
) -> None:
    page = visit.open(made.path, width, height)
    rows = page.locator(".matrix tbody tr")
    assert rows.locator(".name").all_inner_texts() == [a["about"] for a in stored["aspects"]]
    for row, aspect in zip(rows.all(), stored["aspects"], strict=True):
        best = aspect["metrics"][0]
        assert best["metric"] in row.locator(".value").inner_text()
        assert f"{best['value']:.2f} [{best['low']:.2f}, {best['high']:.2f}]" in row.locator(".value").inner_text()
    rows.nth(1).locator(".name").click()
    assert page.locator(".verdict:visible").all_inner_texts() == [stored["aspects"][1]["sentences"][""]]
    for block in page.locator("main [data-aspect]").all():
        assert block.get_attribute("data-aspect") == "charm" or not block.is_visible()
    page.reload()
    assert page.locator("[data-control=aspect]").input_value() == "charm"
    assert visit.errors == []


def test_badges_do_not_overlap(visit: Visit, made: Any) -> None:
    page = visit.open(made.path, 1280, 860)
    for row in page.locator(".picture:visible tbody tr:not(.base)").all():
        boxes = [chip.bounding_box() for chip in row.locator(".chip").all()]
        assert len(boxes) > 1
        assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
        edge = row.bounding_box()
        assert boxes[-1]["x"] + boxes[-1]["width"] <= edge["x"] + edge["width"] + 1


def test_without_scripts_every_aspect_has_sentence_matrix_and_rows(
    chromium: Any, made: Any, stored: dict[str, Any]
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made.path.resolve().as_uri())
    assert page.locator(".verdict:visible").all_inner_texts() == [a["sentences"][""] for a in stored["aspects"]]
    assert page.locator(".picture:visible svg.interval").count() >= 10
    assert page.locator(".matrix tbody tr:visible").count() == 2
    assert not page.locator("#theme").is_visible()
    context.close()


def test_the_button_says_which_theme_it_turns_on(visit: Visit, made: Any) -> None:
    page = visit.open(made.path)
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    assert page.locator("#theme").inner_text() == "Dark theme"
    page.locator("#theme").click()
    assert page.evaluate(back) != light and page.locator("#theme").inner_text() == "Light theme"
    page.locator("#theme").click()
    assert page.evaluate(back) == light


def test_the_page_ends_at_its_footer(visit: Visit, made: Any) -> None:
    page = visit.open(made.path)
    gap = "document.documentElement.scrollHeight - document.querySelector('footer').getBoundingClientRect().bottom"
    assert page.evaluate(gap) < 60
