"""`nlgauge judge --rubric`: items of a rubric as parts of outputs, one reply per output or per item, and the totals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.replies import Failure, Reply, Request
from nlgauge.metrics.judge.rubric import RubricProtocol, load_rubric, shipped_rubrics
from nlgauge.scoring.rubric_parts import with_rubric
from nlgauge.text.batch import Batch

Serve = Callable[..., Any]
RUBRIC = """
[[items]]
name = "polite"
text = "The answer is polite."
points = 2

[[items]]
name = "cites"
criterion = "The answer cites a source."
points = 3

[[items]]
name = "rude"
text = "The answer insults the reader."
points = -4
"""
TEXTS = {
    "polite": "The answer is polite.",
    "cites": "The answer cites a source.",
    "rude": "The answer insults the reader.",
}
POINTS = {"polite": 2, "cites": 3, "rude": -4}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rubric.toml").write_text(RUBRIC)
    lines = [f"s{i % 2},q{i // 2},answer {i},question {i // 2}" for i in range(24)]
    (tmp_path / "outputs.csv").write_text("\n".join(["system,input,output,source", *lines]) + "\n")
    items = [
        f"q{i},{name},answer {i},question {i},{(i + k) % 3 % 2}" for i in range(20) for k, name in enumerate(TEXTS)
    ]
    (tmp_path / "labeled.csv").write_text("\n".join(["id,rubric_item,output,source,human_label", *items]) + "\n")
    return tmp_path


def nlgauge(folder: Path, *words: str) -> Any:
    return run_command(*words, cwd=folder, NLGAUGE_STORE=str(folder / "store.sqlite"), NO_COLOR="1")


def judged(folder: Path, server: Any, file: str, *words: str) -> Any:
    words = ("judge", file, "--rubric", "rubric.toml", "--model", "m", "--base-url", server.base_url, *words)
    ran = nlgauge(folder, *words)
    assert ran.returncode == 0, ran.stderr
    return ran


def test_one_request_per_output_gives_a_verdict_per_item_and_the_total(serve: Serve, folder: Path) -> None:
    server = serve(bodies=True)
    planned = judged(folder, server, "outputs.csv", "--dry-run")
    assert "24 requests, of which 0" in planned.stdout and "requests" not in server.log()["stats"]
    judged(folder, server, "outputs.csv", "-o", "judged.jsonl", "--name", "house")
    log = server.log()
    assert log["stats"]["good"] == 24
    prompt = log["bodies"][0]["messages"][-1]["content"]
    assert all(f"{k}. {text}" in prompt for k, text in enumerate(TEXTS.values(), 1))
    data = ng.load(folder / "judged.jsonl")
    assert len(data) == 72 and {"house", "house-total"} <= set(data.metrics)
    table = data.samples.join(data.scores, on=["system", "input"])
    for _, output in table.group_by("output"):
        met = dict(output.select("part", "house").iter_rows())
        total = sum(POINTS[name] * met[name] for name in POINTS) / 5
        assert output["house-total"].to_list() == pytest.approx([total] * 3)
    assert 0.4 < data.scores["house"].mean() < 0.8
    judged(folder, server, "outputs.csv", "-o", "judged.jsonl", "--name", "house")
    assert server.log()["stats"]["good"] == 24  # all replies are in the cache
    assert "24 requests, of which 24" in judged(folder, server, "outputs.csv", "--dry-run").stdout


def test_items_by_themselves_and_by_a_schema_have_a_request_each(serve: Serve, folder: Path) -> None:
    server = serve(bodies=True)
    single = judged(folder, server, "outputs.csv", "--mode", "item", "--structured", "--format", "json")
    assert server.log()["stats"]["good"] == 72
    (row,) = json.loads(single.stdout)["tables"][0]["rows"]
    assert (row["scored"], row["unscored"], row["replies"]) == (72, 0, 72)
    schema = server.log()["bodies"][0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["items"]["items"]["required"] == ["item", "reason", "met"]


def test_a_run_that_is_cut_off_goes_on_where_it_stopped(serve: Serve, folder: Path) -> None:
    server = serve(after=10, faults={"402": 1.0}, most=10**9)
    words = ["judge", "outputs.csv", "--rubric", "rubric.toml", "--model", "m", "--base-url", server.base_url]
    broken = nlgauge(folder, *words, "--concurrency", "1", "-o", "judged.jsonl")
    assert broken.returncode and "partly done" in broken.stderr + broken.stdout
    server.set(after=None, faults={})
    assert nlgauge(folder, *words, "-o", "judged.jsonl").returncode == 0
    assert server.log()["stats"]["good"] == 24


def test_labeled_items_are_judged_and_analyzed_as_a_rubric(serve: Serve, folder: Path) -> None:
    judged(folder, serve(), "labeled.csv", "-o", "judged.jsonl", "--name", "house")
    ran = nlgauge(folder, "analyze", "rubric", "judged.jsonl", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    rows = json.loads(ran.stdout)["tables"][0]["rows"]
    found = {row["measure"]: row for row in rows if row["metric"] == "house" and row["measure"] != "item"}
    data = ng.load(folder / "judged.jsonl")
    totals = data.scores["house-total"].to_numpy()[::3]
    assert found["judge_total"]["value"] == pytest.approx(totals.mean())
    assert found["judge_total"]["n"] == 20
    assert {row["item"] for row in rows if row["measure"] == "item"} == set(TEXTS.values())


def test_criteria_of_the_data_are_used_and_other_parts_are_refused(folder: Path) -> None:
    items = [{"criterion": f"says {k}", "points": 5 - 4 * k, "criteria_met": k == 0} for k in range(3)]
    prompt = [{"role": "user", "content": "q"}]
    lines = [{"prompt_id": f"p{i}", "prompt": prompt, "completion": f"c{i}", "rubrics": items} for i in range(4)]
    path = folder / "graded.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    data = with_rubric(ng.load(path), "data")
    assert data.samples["criterion"].to_list()[:3] == ["says 0", "says 1", "says 2"]
    with pytest.raises(NlgaugeError, match="parts that are not items of the rubric"):
        with_rubric(ng.load(path), folder / "rubric.toml")
    with pytest.raises(NlgaugeError, match="no items of a rubric"):
        with_rubric(ng.load(folder / "outputs.csv"), "data")


HEALTHBENCH = {"rubrics": [{"criterion": text, "points": POINTS[name], "tags": []} for name, text in TEXTS.items()]}
WEIGHTS = [{"text": text, "weight": POINTS[name]} for name, text in TEXTS.items()]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("healthbench.json", json.dumps(HEALTHBENCH)),
        ("weights.json", json.dumps(WEIGHTS)),
        ("list.json", json.dumps(list(TEXTS.values()))),
        ("lines.txt", "".join(f"- {text}\n" for text in TEXTS.values())),
    ],
)
def test_layouts_of_rubrics(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    items = load_rubric(folder / name)
    assert [item.text for item in items] == list(TEXTS.values())
    assert [item.points for item in items] == ([1, 1, 1] if name.startswith("li") else [2, 3, -4])
    assert [item.name for item in items] == ["item 1", "item 2", "item 3"]


def test_shipped_rubrics_can_be_read_and_have_points_of_both_signs() -> None:
    assert len(shipped_rubrics()) == 2
    for name in shipped_rubrics():
        points = [item.points for item in load_rubric(name)]
        assert len(points) >= 5 and min(points) < 0 < max(points)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "not JSON"),
        ("b.json", '{"other": 1}', "no list of items"),
        ("c.json", '[{"points": 2}]', "item 1: no text"),
        ("d.json", '[{"text": "x", "points": "many"}]', "points 'many' are not a number"),
        ("e.txt", "same\nsame\n", "two items have the text 'same'"),
        ("f.toml", "items = []", "no items of a rubric"),
    ],
)
def test_a_file_that_is_no_rubric_is_refused_in_one_line(folder: Path, name: str, text: str, message: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(NlgaugeError, match=message) as error:
        load_rubric(folder / name)
    assert "\n" not in str(error.value)


def protocol(**settings: Any) -> RubricProtocol:
    made = Judge(task="rubric", model="m", **settings).decided()
    assert isinstance(made, RubricProtocol)
    return made


def verdicts(text: str, code: str = "7f3a", **settings: Any) -> list[tuple[float | None, str]]:
    shown = "Someone wrote ITEM: 2 met here."
    request = Request("", {"messages": [{"role": "user", "content": shown}]}, shown=(0, len(shown)))
    return [(v.value, v.reason) for v in protocol(**settings).item_verdicts(Reply(text, code=code), request, 3)]


def test_verdicts_are_read_by_item_and_doubtful_ones_are_missing_with_a_reason() -> None:
    lines = "Fine.\nITEM-7f3a: 1 met\n**ITEM-7f3a: 2** not met\nITEM-7f3a: 3 met\nITEM-7f3a: 3 not met"
    assert verdicts(lines) == [(1.0, ""), (0.0, ""), (None, "two verdicts on an item")]
    # Without the code the second line may be a repetition of the judged text.
    assert verdicts("ITEM: 1 met\nITEM: 2 met")[:2] == [(1.0, ""), (None, "no verdict on an item")]
    items = [{"item": 1, "reason": "", "met": True}, {"item": 3, "reason": "", "met": False}]
    assert [value for value, _ in verdicts(json.dumps({"items": items}), structured=True)] == [1.0, None, 0.0]
    failed = protocol().item_verdicts(Failure("no reply"), Request("", {}), 2)
    assert [verdict.reason for verdict in failed] == ["no reply"] * 2


def test_several_draws_decide_by_majority(folder: Path) -> None:
    data = ng.load([{"id": "q1", "output": "x", "source": "y", "quality": 1}], name="one")
    batch, judge = Batch.of(with_rubric(data, folder / "rubric.toml")), protocol(n=3)
    replies = ["ITEM: 1 met\nITEM: 2 met", "ITEM: 1 not met\nITEM: 2 met", "ITEM: 1 met\nITEM: 3 met"]
    found = {r.key: Reply(text) for r, text in zip(judge.requests(batch), replies, strict=True)}
    scores = judge.scores(batch, found)
    np.testing.assert_array_equal(scores.values, [1, 1, 1])
    np.testing.assert_array_equal(judge.draws(batch, found)[0], [1, 0, 1])
    assert "2 of 3 draws without a verdict" in scores.notes[2]
    assert len(judge.unread(batch, found)) == 3


def test_what_a_rubric_does_not_go_with_is_refused(folder: Path) -> None:
    data = ng.load(folder / "outputs.csv")
    with pytest.raises(NlgaugeError, match="goes with"):
        ng.judge(data, rubric="answer", mode="pairwise", model="m", dry_run=True)
    with pytest.raises(NlgaugeError, match="no rubric 'answers'"):
        ng.judge(data, rubric="answers", model="m", dry_run=True)
    with pytest.raises(NlgaugeError, match="needs the items of a rubric"):
        ng.judge(data, judge="rubric", model="m", base_url="http://localhost:1/v1", dry_run=True)


def test_human_labels_of_items_are_joined_by_input_and_item(serve: Serve, folder: Path) -> None:
    judged(folder, serve(), "outputs.csv", "-o", "judged.jsonl", "--name", "house")
    lines = [f"s{i % 2},q{i // 2},{name},{(i + k) % 3 % 2}" for i in range(24) for k, name in enumerate(TEXTS)]
    (folder / "labels.csv").write_text("\n".join(["system,input,part,human_label", *lines]) + "\n")
    data = ng.load(folder / "judged.jsonl", labels=folder / "labels.csv")
    assert len(data.ratings.filter(aspect="label")) == 72
    human = {(r["system"], r["input"]): r["value"] for r in data.ratings.filter(aspect="label").to_dicts()}
    assert human["s1", "q0 / cites"] == (1 + 1) % 3 % 2 and human["s0", "q1 / rude"] == (2 + 2) % 3 % 2
    table = ng.analyze("rubric", data, aspect="label")
    assert next(row for row in table if row["measure"] == "human_total")["n"] == 24
