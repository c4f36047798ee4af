"""The table of outputs in a real browser: filter, sort, search, links to rows, full texts, flipped verdicts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from browser_visit import Visit
from report_made import two_aspects, verdict_rows

from nlgauge.analyses.errors.disagreements import disagreements

ROWS = verdict_rows()


def cells(page: Any, place: int) -> list[str]:
    return page.locator(f"#outputs-table tbody tr:not(.detail) td:nth-child({place})").all_inner_texts()


def rows(page: Any) -> list[int]:
    return [int(t) for t in page.locator("#outputs-table tbody tr:not(.detail) th").all_inner_texts()]


def test_disagreements_come_first_with_labels_and_reasons(visit: Visit, judge_page: Path) -> None:
    page = visit.open(judge_page)
    apart = [k for k, r in enumerate(ROWS, 1) if r["label"] and r["label"] != r["judge"]]
    shown = rows(page)
    assert sorted(shown[: len(apart)]) == apart and len(shown) == 50
    missed = [k for k in apart if ROWS[k - 1]["label"] == "fail"]
    assert sorted(shown[: len(missed)]) == missed  # missed failures before false alarms
    for place, name in ((2, "label"), (3, "judge"), (4, "answer"), (5, "question"), (6, "judge_reason")):
        assert cells(page, place) == [ROWS[k - 1][name] or "–" for k in shown]
    assert f"judge and human disagree on {len(apart)}." in page.locator("#outputs-count").inner_text()
    page.locator("#outputs-more").click()
    assert len(rows(page)) == 100
    assert visit.errors == []


def test_outputs_are_filtered_and_searched(visit: Visit, judge_page: Path) -> None:
    page = visit.open(judge_page)
    page.locator("#outputs-show").select_option("over")
    missed = [k for k, r in enumerate(ROWS, 1) if (r["label"], r["judge"]) == ("fail", "pass")]
    assert sorted(rows(page)) == missed
    page.locator("#outputs-show").select_option("none")
    assert sorted(rows(page)) == [k for k, r in enumerate(ROWS, 1) if r["label"] is None]
    page.locator("#outputs-show").select_option("")
    page.locator("#outputs-search").fill("incomplete, see case 1")
    expected = [k for k, r in enumerate(ROWS, 1) if "Incomplete, see case 1" in r["judge_reason"]]
    assert sorted(rows(page)) == expected


def test_outputs_are_sorted_by_a_column(visit: Visit, judge_page: Path) -> None:
    page = visit.open(judge_page)
    page.locator("#outputs-table th[data-key=row] button").click()
    assert rows(page) == sorted(range(1, 121), reverse=True)[:50]
    page.locator("#outputs-table th[data-key=row] button").click()
    assert rows(page) == list(range(1, 51))
    assert page.locator("#outputs-table th[data-key=row]").get_attribute("aria-sort") == "ascending"
    page.locator("#outputs-table th[data-key=reason] button").click()
    shown = cells(page, 6)
    assert shown[0].startswith("Complete") and shown == sorted(shown, key=str.lower)


def test_a_link_leads_to_its_row(visit: Visit, judge_page: Path) -> None:
    from playwright.sync_api import expect

    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(judge_page.resolve().as_uri() + "#output-117")
    row = page.locator("#output-117")
    assert row.is_visible() and row.bounding_box()["y"] < 900
    detail = page.locator("tr.detail").inner_text()
    for name in ("answer", "question", "judge_reason"):
        assert ROWS[116][name] in detail
    page.locator("#outputs-table tbody th a").first.click()
    assert re.fullmatch(r"#output-\d+", page.evaluate("location.hash"))
    expect(page.locator("tr.detail")).to_have_count(2)  # "hashchange" arrives after the address has changed


def test_the_first_disagreement_is_that_of_the_analysis_for_each_metric_and_aspect(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.locator("#disagree > summary").click()
    page.locator("[data-control=aspect]").select_option("charm")
    keys = list(two_aspects().samples.select("system", "input").iter_rows())
    for metric in ("unigram_f1", "random"):
        page.locator("#outputs-metric").select_option(metric)
        table = disagreements(two_aspects(), metric=metric, aspects=["charm"], top=1)
        widest = max(table, key=lambda r: abs(r["gap"]))
        assert keys[rows(page)[0] - 1] == (widest["system"], widest["input"])
    page.locator("#outputs-system").select_option("severe")
    assert set(cells(page, 2)) == {"severe"}
    assert visit.errors == []


def test_words_that_nothing_supports_are_marked(visit: Visit, report: Path) -> None:
    page = visit.open(report)
    page.locator("#disagree > summary").click()
    known = {r["output"]: r for r in two_aspects().samples.iter_rows(named=True)}
    page.evaluate("[...document.querySelectorAll('#outputs-table tbody tr')].slice(0, 9).forEach(r => r.click())")
    marked = 0
    for box in page.locator(".text.output p:last-child").all():
        row = known[box.inner_text()]
        words = {w.lower() for text in (row["source"], *row["references"]) for w in re.findall(r"\w+", text)}
        for word in box.locator(".w0").all_inner_texts():
            assert word.lower() not in words
            marked += 1
    assert marked


def test_flipped_verdicts_are_listed_with_both_reasons(visit: Visit, judge_page: Path) -> None:
    page = visit.open(judge_page)
    old = {r["id"]: r for r in verdict_rows(flip=0.2)}
    flipped = [r for r in ROWS if old[r["id"]]["judge"] != r["judge"]]
    (change,) = page.locator("#answer p:has(a[href='#flips'])").all_inner_texts()
    assert f"judge changed {len(flipped)} of 120 verdicts" in change
    assert f"judge changed {len(flipped)} of 120 verdicts" in page.locator("#flips .answer").inner_text()
    page.locator("#flips > summary").click()
    table = page.locator("#flips table.grid").first
    assert table.locator("tbody tr").count() == len(flipped)
    first = table.locator("tbody tr").first
    row = next(r for r in flipped if r["id"] == first.locator("th").inner_text())
    shown = first.locator("td").all_inner_texts()
    assert shown == [
        row["label"],
        old[row["id"]]["judge"],
        row["judge"],
        old[row["id"]]["judge_reason"],
        row["judge_reason"],
    ]
