"""The explorer in a real browser and over the wire: points, brushing, texts, export; and who gets no answer."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from browser_visit import Visit
from scipy.stats import rankdata, spearmanr

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.errors import DataError, NameUnknown
from nlgauge.report.explorer import app
from nlgauge.report.explorer.label_file import GivenLabels
from nlgauge.report.explorer.points import Explored

HOSTILE = "<script>document.title='run'</script></script>{{ 7*7 }}\u202eabc <img src=x onerror=alert(1)>"


def data() -> Dataset:
    rng = np.random.default_rng(0)
    keys = [(f"s{i}", f"i{j}") for i in range(3) for j in range(20)]
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row").with_columns(
        output=pl.Series([f"output {k} {HOSTILE}" for k in range(60)]),
        source=pl.lit(HOSTILE),
        references=pl.Series([["one", "two"]] * 60),
    )
    people = rng.integers(1, 6, 60).astype(float)
    ratings = samples.select("system", "input").with_columns(
        aspect=pl.lit("quality"), rater=pl.lit("r1"), value=pl.Series(people)
    )
    scores = samples.select("system", "input").with_columns(
        good=pl.Series([None, *(people[1:] + rng.normal(0, 0.5, 59)).tolist()]), bad=pl.Series(-people)
    )
    return Dataset.of(f"a set {HOSTILE}", samples, ratings=ratings, scores=scores, lower=["bad"], human_systems=["s2"])


def served(explored: Explored) -> str:
    """The address of a real server on loopback."""
    pytest.importorskip("uvicorn")
    told: list[str] = []
    threading.Thread(target=app.serve, args=(explored, 0, told.append), daemon=True).start()
    for _ in range(200):
        if told:
            break
        time.sleep(0.05)
    return told[0]


@pytest.fixture(scope="module")
def address() -> str:
    return served(Explored(data()))


def ask(address: str, path: str, body: Any = None, **headers: str) -> Any:
    base, _, token = address.partition("/?token=")
    given = {"X-Token": token, "Content-Type": "application/json", **headers}
    request = urllib.request.Request(base + path, None if body is None else json.dumps(body).encode(), given)
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def test_points_are_the_scored_and_rated_outputs_with_rank_gaps(address: str) -> None:
    found = json.loads(ask(address, "/points?aspect=quality&metric=good&other=bad"))
    assert (len(found["place"]), found["missing"]) == (59, 1)
    score, people = np.array(found["score"]), np.array(found["human"])
    np.testing.assert_allclose(found["gap"], (rankdata(score) - rankdata(people)) / 58)
    np.testing.assert_allclose(
        found["other"], 0, atol=1e-12
    )  # lower is better: with the sign flipped, the order of the human ratings


def test_export_holds_the_selection_with_texts_ratings_and_scores(address: str) -> None:
    table = pl.read_csv(ask(address, "/export", {"places": [3, 5], "format": "csv"}).encode())
    assert table["input"].to_list() == ["i3", "i5"]
    assert {"output", "references", "people:quality", "good", "bad"} <= set(table.columns)
    lines = ask(address, "/export", {"places": [3, 5], "format": "jsonl"}).splitlines()
    assert [json.loads(line)["references"] for line in lines] == ["one ||| two"] * 2


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/points?aspect=quality&metric=good", {"X-Token": "wrong"}, 403),
        ("/", {"X-Token": ""}, 403),
        ("/points?aspect=quality&metric=good", {"Host": "evil.example:80"}, 400),
        ("/points?aspect=wit&metric=good", {}, 400),
        ("/sample?place=999", {}, 400),
        ("/sample?place=x", {}, 400),
        ("/gone", {}, 404),
    ],
)
def test_who_lacks_token_host_or_sense_gets_no_data(
    address: str, path: str, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(address, path, **headers)
    assert error.value.code == status
    assert HOSTILE[:8] not in error.value.read().decode()


def test_words_are_looked_for_in_the_whole_output_and_shown_in_the_list(address: str) -> None:
    found = json.loads(ask(address, "/list", {"places": list(range(60)), "words": "OUTPUT 7 "}))
    assert found["places"] == [7]
    long = data().samples.with_columns(output=pl.lit("x" * 9000 + " the needle " + "y" * 9000))
    explored = Explored(Dataset.of("long", long, ratings=data().ratings, scores=data().scores))
    assert "needle" in explored.listed([3], "Needle")["rows"][0]["output"]
    assert explored.listed([3], "pin") == {"places": [], "rows": []}


def test_the_choice_is_what_was_asked_for_and_a_wrong_name_is_said() -> None:
    facts = Explored(data(), ["quality"], ["bad"]).facts()
    assert (facts["aspects"], facts["metrics"]) == (["quality"], ["bad"])
    with pytest.raises(NameUnknown, match=r"no metric 'goof'\. Did you mean 'good'"):
        Explored(data(), None, ["goof"])


def test_the_server_listens_on_loopback_only(address: str) -> None:
    assert address.startswith("http://127.0.0.1:")


def test_a_text_beyond_the_limit_is_cut_with_a_count() -> None:
    one = data()
    long = one.samples.with_columns(output=pl.lit("x" * 1_000_000))
    shown = Explored(Dataset.of("long", long, ratings=one.ratings, scores=one.scores)).sample(0)["texts"]["output"]
    assert len(shown) < 21_000
    assert "980,000 more signs" in shown


@pytest.mark.parametrize("width", [375, 1440])
def test_a_person_reads_filters_brushes_and_compares(visit: Visit, address: str, width: int) -> None:
    from playwright.sync_api import expect

    page = visit.page
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert HOSTILE.replace("\u202e", "") in page.locator("#title").inner_text().replace("\u202e", "")
    assert page.title() == "NLGauge explorer"
    page.wait_for_selector("#list button")
    page.locator("#list button").first.click()
    page.wait_for_selector("#detail pre")
    assert HOSTILE in page.locator("#detail pre").first.text_content()
    page.locator("#systems input").nth(1).uncheck()
    expect(page.locator("#count")).to_contain_text("39 outputs")
    page.click("#none")
    expect(page.locator("#count")).to_contain_text("0 outputs")
    page.click("#every")
    page.fill("#words", "output 7 ")
    expect(page.locator("#count")).to_contain_text("1 output,")
    page.fill("#words", "")
    page.select_option("#other", "bad")
    expect(page.locator("#h-plot")).to_contain_text("two metrics")
    expect(page.locator("#plot .subplot.x2y2")).to_have_count(1)
    expect(page.locator("#stats")).to_contain_text("bad: rank correlation with human ratings 1.00 over 59 outputs")
    box = page.locator("#plot .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + box["height"] - 5, steps=5)
    page.mouse.up()
    expect(page.locator("#count")).to_contain_text("selected")
    with page.expect_download() as saved:
        page.click("#csv")
    assert saved.value.suggested_filename == "selection.csv"
    base = address.partition("/?")[0]
    assert all(r.startswith((base, "blob:", "data:")) for r in visit.requests)
    assert not visit.errors


def test_the_correlation_is_that_of_the_chosen_outputs() -> None:
    explored = Explored(data())
    frame = explored.frame.filter(pl.col("place") < 30).drop_nulls()
    whole = explored.agreement("quality", "good", range(30))
    expected = spearmanr(frame["good"].to_numpy(), frame["people:quality"].to_numpy()).statistic
    assert whole["n"] == 29 and whole["correlation"] == pytest.approx(expected)
    assert explored.agreement("quality", "bad", range(60))["correlation"] == pytest.approx(1)  # less is better: turned
    assert explored.agreement("quality", "good", [1, 2, 3]) == {"n": 3, "correlation": None}


def test_labels_go_to_a_file_that_load_reads_and_outlive_the_server(tmp_path: Path) -> None:
    path = tmp_path / "mine.labels.csv"
    address = served(Explored(data(), given=GivenLabels(path)))
    for place, label in ((0, "pass"), (21, "fail"), (3, "fail"), (3, "")):
        given = json.loads(ask(address, "/label", {"place": place, "label": label}))
    assert given == {"0": "pass", "21": "fail"}
    with pytest.raises(urllib.error.HTTPError) as error:
        ask(address, "/label", {"place": 1, "label": "4"})
    assert "holds pass and fail" in error.value.read().decode()
    for wrong in ({"place": 1, "label": "perhaps"}, {"place": 99, "label": "pass"}):
        with pytest.raises(urllib.error.HTTPError):
            ask(address, "/label", wrong)
    assert Explored(data(), given=GivenLabels(path)).labels() == {0: "pass", 21: "fail"}  # another server goes on
    outputs = tmp_path / "outputs.csv"
    data().samples.select("system", "input").with_columns(judge=pl.Series([0.5, 0.7] * 30)).write_csv(outputs)
    loaded = ng.load(outputs, metrics=["judge"], labels=path)
    assert {(r["system"], r["input"], r["value"]) for r in loaded.ratings.iter_rows(named=True)} == {
        ("s0", "i0", 1.0),
        ("s1", "i1", 0.0),
    }


def test_a_file_that_holds_something_else_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="its columns are a, b"):
        GivenLabels(path)
    assert path.read_text() == "a,b\n1,2\n"


def test_outputs_that_nobody_rated_can_be_explored_and_labelled() -> None:
    one = data()
    found = Explored(Dataset.of("unrated", one.samples, scores=one.scores)).points("", "good", "bad")
    assert len(found["score"]) == 59 and set(found["human"]) == {0.0}


@pytest.mark.parametrize("width", [390, 1440])
def test_a_person_labels_by_keys_and_a_reload_loses_nothing(visit: Visit, tmp_path: Path, width: int) -> None:
    from playwright.sync_api import expect

    path = tmp_path / "labels.csv"
    page = visit.page
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(served(Explored(data(), given=GivenLabels(path))))
    page.wait_for_selector("#list button")
    expect(page.locator("#labels")).to_be_hidden()
    assert " · " in page.locator("#list").inner_text() and page.locator("#plot").is_visible()
    page.click("#mode")
    expect(page.locator("#count")).to_contain_text("random order")
    page.wait_for_selector("#detail pre")
    assert page.locator("#detail table").count() == 0  # who labels sees no rating, no score and no system
    assert not page.locator("#plot").is_visible()
    assert " · " not in page.locator("#list").inner_text() + page.locator("#h-detail").inner_text()
    first = page.locator("#h-detail").inner_text()
    page.keyboard.press("4")
    expect(page.locator("#labeled")).to_contain_text("1 of 60 labeled")
    assert page.locator("#progress").evaluate("p => p.value / p.max") == 1 / 60
    expect(page.locator("#h-detail")).not_to_have_text(first)
    page.get_by_role("button", name="2", exact=True).click()
    expect(page.locator("#labeled")).to_contain_text("2 of 60 labeled")
    page.fill("#words", "5")  # a digit that is typed into the search is no label
    expect(page.locator("#labeled")).to_contain_text("2 of 60 labeled")
    page.fill("#words", "")
    page.reload()
    page.wait_for_selector("#list button")
    page.click("#mode")
    expect(page.locator("#labeled")).to_contain_text("2 of 60 labeled")
    assert [line.split(",")[2] for line in path.read_text().splitlines()] == ["label", "4", "2"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not visit.errors


def test_the_chosen_point_is_ringed_where_it_is_drawn_and_peoples_outputs_are_stars(visit: Visit, address: str) -> None:
    from playwright.sync_api import expect

    page = visit.page
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    page.select_option("#other", "bad")
    expect(page.locator("#stats")).to_contain_text("bad: ")  # the list is that of both metrics
    fourth = page.locator("#list button").nth(3)
    fourth.click()
    expect(fourth).to_have_attribute("aria-current", "true")  # the page opens with the first output of the list
    traces = page.evaluate("document.getElementById('plot').data.map(t => ({...t, marker: {...t.marker}}))")
    rings = [t for t in traces if t["name"] == "chosen"]
    assert len(rings) == 2
    at = page.evaluate("now.place.indexOf(" + fourth.get_attribute("data-place") + ")")
    for ring, xaxis in zip(rings, ("x", "x2"), strict=True):
        mine = next(t for t in traces if t.get("xaxis") == xaxis and at in t.get("customdata", []))
        k = mine["customdata"].index(at)
        assert (ring["x"][0], ring["y"][0]) == (mine["x"][k], mine["y"][k])
    by_name = {t["name"]: t["marker"]["symbol"] for t in traces}
    assert by_name["s2 (human)"] == "star" and by_name["s0"] == "circle"


def test_late_responses_change_neither_the_titles_nor_the_chosen_output(visit: Visit, address: str) -> None:
    from playwright.sync_api import expect

    page = visit.page
    page.goto(address)
    page.wait_for_selector("body[data-ready]")
    first, second = (page.locator("#list button").nth(k) for k in range(2))
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/points?*", hold)
    page.select_option("#metric", "bad")
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    expect(page.locator("#plot .xtitle")).to_have_text("good")  # of the points that are drawn
    held.pop().continue_()
    expect(page.locator("#stats")).to_contain_text("bad: ")
    expect(page.locator("#plot .xtitle")).to_have_text("bad")
    page.route(f"**/sample?place={first.get_attribute('data-place')}", hold)
    first.click()
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    with page.expect_response("**/sample?*"):
        held.pop().continue_()
    page.wait_for_timeout(200)
    expect(second).to_have_attribute("aria-current", "true")
    assert page.evaluate("shown") == int(second.get_attribute("data-place") or -1)


def test_points_of_one_value_are_moved_apart_by_less_than_half_a_step(visit: Visit, address: str) -> None:
    from playwright.sync_api import expect

    page = visit.page
    page.goto(address)
    page.wait_for_selector("#list button")
    page.select_option("#metric", "bad")
    expect(page.locator("#plot .xtitle")).to_have_text("bad")
    drawn = page.evaluate(
        "document.getElementById('plot').data.filter(t => t.name !== 'chosen').flatMap(t => t.x.map((x, k) => [x, t.y[k]]))"
    )
    true = page.evaluate("now.score.map((x, k) => [x, now.human[k]])")
    assert len({tuple(p) for p in true}) == 5 and len({tuple(p) for p in drawn}) == len(true)
    assert max(abs(x - round(x)) for x, _ in drawn) < 0.5 > max(abs(y - round(y)) for _, y in drawn)
    page.select_option("#scale", "rank")
    expect(page.locator("#plot .xtitle")).to_have_text("bad (rank)")
    ranked = page.evaluate("ranks(now.score)")
    np.testing.assert_allclose(ranked, (rankdata([x for x, _ in true]) - 1) / (len(true) - 1))
