"""The first screen at both sizes: the sentence and badges of results.json, one aspect and use for the whole page."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from browser_visit import Visit
from report_made import two_aspects

import nlgauge as ng

SIZES = [(1440, 900), (390, 844)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return ng.report(two_aspects(), out=tmp_path_factory.mktemp("first") / "page.html", quick=True)


@pytest.fixture(scope="module")
def stored(made: Any) -> dict[str, Any]:
    return dict(json.loads(made.results.read_text())["answer"])


def marks(page: Any) -> dict[str, list[str]]:
    """Metric → words of its badges, of the aspect that is shown."""
    rows = page.locator(".picture:visible tbody tr").all()
    return {r.locator(".name").inner_text(): r.locator(".chip .word").all_text_contents() for r in rows}


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_sentence_and_marks_are_those_of_the_results_and_stand_on_the_first_screen(
    visit: Visit, made: Any, stored: dict[str, Any], width: int, height: int
) -> None:
    page = visit.open(made.path, width, height)
    first = stored["aspects"][0]
    sentence = page.locator(".verdict:visible")
    assert sentence.all_inner_texts() == [first["sentences"][""]]
    assert marks(page) == {m["metric"]: [k["badge"] for k in m["marks"].values()] for m in first["metrics"]}
    seen = page.locator(".picture:visible tbody tr").first.bounding_box()
    assert sentence.bounding_box()["y"] > 0 and seen["y"] + seen["height"] < height
    assert page.locator(".made-of").inner_text() == f"{two_aspects().name}: {stored['evaluated']}"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.errors == [] and visit.requests == [made.path.resolve().as_uri()]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_the_forest_holds_the_intervals_of_the_results(
    visit: Visit, made: Any, stored: dict[str, Any], width: int, height: int
) -> None:
    page = visit.open(made.path, width, height)
    told = page.locator(".picture:visible td.forest svg").evaluate_all(
        "all => all.map(s => s.getAttribute('aria-label'))"
    )
    expected = [
        f"{m['metric']}: {m['value']:.2f} [{m['low']:.2f}, {m['high']:.2f}]" for m in stored["aspects"][0]["metrics"]
    ]
    assert told == expected
    for line, value in (("nothing", stored["aspects"][0]["chance"]), ("limit", stored["limits"]["reliable"])):
        marked = page.locator(f".picture:visible td.forest line.{line}")
        at = marked.evaluate_all("all => all.map(l => parseFloat(l.getAttribute('x1')))")
        assert len(at) == len(expected) and len(set(at)) == 1
        dots = page.locator(".picture:visible td.forest circle").evaluate_all(
            "all => all.map(c => parseFloat(c.getAttribute('cx')))"
        )
        assert [dot > at[0] for dot in dots] == [m["value"] > value for m in stored["aspects"][0]["metrics"]]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_aspect_and_use_are_chosen_once_for_the_whole_page_and_stay_in_its_address(
    visit: Visit, made: Any, stored: dict[str, Any], width: int, height: int
) -> None:
    page = visit.open(made.path, width, height)
    page.locator("[data-control=aspect]").select_option("charm")
    page.locator("[data-control=use]").select_option("pairwise")
    charm = stored["aspects"][1]
    assert page.locator(".verdict:visible").all_inner_texts() == [charm["sentences"]["pairwise"]]
    order = sorted(charm["metrics"], key=lambda m: -m["marks"]["pairwise"]["value"])
    assert list(marks(page)) == [m["metric"] for m in order]
    for block in page.locator("main [data-aspect]").all():
        assert block.get_attribute("data-aspect") == "charm" or not block.is_visible()
    page.reload()
    assert page.locator(".verdict:visible").all_inner_texts() == [charm["sentences"]["pairwise"]]
    assert visit.errors == []


def test_badges_do_not_overlap(visit: Visit, made: Any) -> None:
    page = visit.open(made.path, 1280, 860)
    for row in page.locator(".picture:visible tbody tr").all():
        boxes = [chip.bounding_box() for chip in row.locator(".chip").all()]
        assert len(boxes) > 1
        assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))
        edge = row.bounding_box()
        assert boxes[-1]["x"] + boxes[-1]["width"] <= edge["x"] + edge["width"]


def test_the_first_screen_needs_nothing_of_the_packed_data(visit: Visit, made: Any) -> None:
    html = made.path.read_text(encoding="utf-8")
    first, packed = html.index('id="answer"'), html.index('id="data"')
    assert first < packed  # painted while the megabytes behind it are still read
    visit.page.add_init_script("delete window.DecompressionStream")  # nothing can be unpacked
    page = visit.open(made.path)
    assert page.evaluate("typeof Plotly") == "undefined"
    assert page.locator(".picture:visible svg, svg.picture:visible").count() > 0


def test_without_scripts_every_aspect_has_its_sentence_and_marks(
    chromium: Any, made: Any, stored: dict[str, Any]
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(made.path.resolve().as_uri())
    assert page.locator(".verdict:visible").all_inner_texts() == [a["sentences"][""] for a in stored["aspects"]]
    assert page.locator(".picture:visible").count() == 2
    context.close()


def test_the_button_turns_light_into_dark_and_back(visit: Visit, made: Any) -> None:
    page = visit.open(made.path)
    back = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(back)
    page.locator("#theme").click()
    assert page.evaluate(back) != light
    page.locator("#theme").click()
    assert page.evaluate(back) == light
