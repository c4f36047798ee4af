"""From outputs without labels to a file for people, back as labels, to an estimate that knows how they were drawn."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.api.questions import select
from nlgauge.errors import NlgaugeError
from nlgauge.stats.design.label_sampling import combined_probability

SAMPLES = Path(__file__).parent / "data" / "samples"
TOOLS = ("csv", "label-studio", "argilla")


def quality(system: str, name: str) -> float:
    """What people would say: known to the fake annotators only."""
    return round(3 + "ABC".index(system) / 2 + 1.5 * np.sin(int(name[1:]) * 12.9898 + ord(system)), 3)


@pytest.fixture
def outputs(tmp_path):
    rows = [
        {
            "system": s,
            "id": f"q{i}",
            "question": f"what is {i}",
            "output": f"{s} says {i}",
            "judge": round(quality(s, f"q{i}") + np.cos(7.1 * i), 3),
        }
        for s in "ABC"
        for i in range(80)
    ]
    path = tmp_path / "outputs.csv"
    pl.DataFrame(rows).write_csv(path)
    return path


def answered(path, tool):
    """The file as it comes back from people."""
    if tool == "csv":
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        for row in rows:
            row["quality"] = quality(row["system"], row["input"])
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(text.getvalue())
        return path
    tasks = json.loads(path.read_text())
    for number, task in enumerate(tasks, 1):
        if tool == "label-studio":
            value = quality(task["data"]["system"], task["data"]["input"])
            result = {"from_name": "quality", "to_name": "output", "type": "number", "value": {"number": value}}
            task |= {"id": number, "annotations": [{"id": number, "completed_by": 1, "result": [result]}]}
        else:
            value = quality(task["metadata"]["system"], task["metadata"]["input"])
            task["responses"] = {"quality": [{"value": value, "user_id": "u1"}]}
    path.write_text(json.dumps(tasks))
    return path


def drawn(data):
    return data.samples.filter(pl.col("label_probability").is_not_null()).sort("system", "input")


@pytest.mark.parametrize("tool", TOOLS)
def test_from_no_label_to_an_estimate(outputs, tmp_path, tool):
    file = tmp_path / f"tasks.{'csv' if tool == 'csv' else 'json'}"
    result = run_command("label", outputs, "--budget", 36, "--aspect", "quality", "--tool", tool, "-o", file)
    assert result.returncode == 0, result.stderr
    assert "judge" not in file.read_text()  # who labels does not see scores
    data = ng.load(outputs, labels=answered(file, tool))
    assert data.aspects == ["quality"] and data.ratings.height == 36
    rows = drawn(data)
    assert rows.height == 36
    assert rows["label_probability"].to_list() == pytest.approx([12 / 80] * 36)
    assert set(data.samples["label_stratum"]) == {"A", "B", "C"}  # known of rows without a label, too
    values = dict(zip(*data.ratings.select("input", "value"), strict=False))
    assert values[rows["input"][0]] in {quality(s, rows["input"][0]) for s in "ABC"}
    found = ng.estimate(data).rows
    truth = np.mean([quality(s, f"q{i}") for s in "ABC" for i in range(80)])
    whole = next(r for r in found if r["system"] == "all" and r["metric"] == "judge")
    assert whole["low"] < truth < whole["high"]


def test_records_that_argilla_itself_wrote_find_their_outputs():
    rows = [{"system": s, "id": f"q{i}", "output": f"{s} answers {i}", "judge": i} for s in "AB" for i in range(20)]
    data = ng.load(rows, metrics=["judge"], labels=SAMPLES / "argilla_labelled.json")
    assert data.aspects == ["quality"] and sorted(data.ratings["value"]) == [1, 1, 2, 2, 3, 3, 4, 5]
    assert drawn(data)["label_probability"].to_list() == [0.2] * 8
    assert len(data.raters) == 2


def test_a_second_draw_takes_other_outputs_and_both_count_as_one(outputs, tmp_path):
    first = tmp_path / "first.csv"
    ng.label(select(str(outputs), aspect="quality"), budget=60, out=first)
    once = ng.load(outputs, labels=answered(first, "csv"))
    second = tmp_path / "second.csv"
    table = once.label(budget=30, how="optimal", out=second)
    assert {row["label_round"] for row in table} == {2}
    keys = [(r["system"], r["input"]) for r in table]
    assert not set(keys) & set(once.ratings.select("system", "input").iter_rows())
    rows = list(csv.DictReader(io.StringIO(answered(second, "csv").read_text())))
    header, *lines = first.read_text().splitlines()
    assert header.split(",") == list(rows[0])
    both = tmp_path / "both.csv"
    both.write_text("\n".join([header, *lines, *second.read_text().splitlines()[1:]]))
    data = ng.load(outputs, labels=both)
    assert data.ratings.height == 90
    assert any("draws" in note for note in data.notes)
    each = np.array([0.25] * 60 + [float(r["label_probability"]) for r in rows])
    expected = combined_probability(each, np.repeat([1, 2], [60, 30]))
    assert sorted(drawn(data)["label_probability"]) == pytest.approx(sorted(expected))
    assert (1 / drawn(data)["label_probability"]).sum() == pytest.approx(240, rel=0.1)


@pytest.mark.parametrize("tool", TOOLS)
def test_labels_of_two_draws_are_given_as_two_files(outputs, tmp_path, tool):
    files = [tmp_path / f"{name}.{'csv' if tool == 'csv' else 'json'}" for name in ("first", "second")]
    ng.label(select(str(outputs), aspect="quality"), budget=60, out=files[0], tool=tool)
    first = ng.load(outputs, labels=answered(files[0], tool))
    table = first.label(budget=30, out=files[1], tool=tool)
    assert "next to labels= of the earlier draws" in table.notes[-1]
    data = ng.load(outputs, labels=[files[0], answered(files[1], tool)])
    assert data.ratings.height == 90
    told = " ".join(data.notes)
    assert "first" in told and "second" in told and "labels of 2 draws" in told
    assert (1 / drawn(data)["label_probability"]).sum() == pytest.approx(240, rel=0.1)


def test_files_of_labels_of_two_kinds_are_refused_in_one_line(outputs, tmp_path):
    files = [tmp_path / "first.csv", tmp_path / "second.json"]
    for file, tool in zip(files, TOOLS, strict=False):
        ng.label(select(str(outputs), aspect="quality"), budget=30, out=file, tool=tool)
    with pytest.raises(
        NlgaugeError, match=r"is an export of a tool, .* a plain table; expected files of one kind"
    ) as error:
        ng.load(outputs, labels=[answered(f, t) for f, t in zip(files, TOOLS, strict=False)])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_is_said_to_be_unused_or_missing_that_is_used_or_there(outputs, tmp_path, tool):
    file = tmp_path / f"tasks.{'csv' if tool == 'csv' else 'json'}"
    ng.label(select(str(outputs), aspect="quality"), budget=36, out=file, tool=tool)
    told = [n for n in ng.load(outputs, labels=answered(file, tool)).notes if n.startswith("labels: ")]
    assert not [n for n in told if "not used" in n or "share an input" in n], told


def test_rows_that_were_drawn_and_got_no_label_are_counted(outputs, tmp_path):
    file = tmp_path / "tasks.csv"
    ng.label(select(str(outputs), aspect="quality"), budget=36, out=file)
    lines = answered(file, "csv").read_text().splitlines()
    rows = [line.rsplit(",", 4) for line in lines]
    file.write_text("\n".join(",".join([r[0], "" if 0 < k < 11 else r[1], *r[2:]]) for k, r in enumerate(rows)))
    data = ng.load(outputs, labels=file)
    assert data.ratings.height == 26
    assert any("without a label: 10 of 36;" in note for note in data.notes), data.notes


def test_a_draw_says_what_it_will_save_before_people_label():
    """A judge that follows people, and one that does not."""
    rng = np.random.default_rng(4)
    rows = [
        {
            "system": s,
            "id": f"q{i}",
            "output": f"{s}{i}",
            "judge": v + rng.normal(0, 0.5),
            "noise": rng.normal(),
            "quality": v if i < 40 else None,
        }
        for s in "AB"
        for i in range(1000)
        for v in [rng.normal()]
    ]
    said = {}
    for judge in ("judge", "noise"):
        data = ng.load(rows, metrics=[judge], human=["quality"])
        table = data.label(budget=60)
        facts = table.facts
        assert facts["saved_low"] <= facts["saved"] <= facts["saved_high"]
        said[judge] = facts["saved_low"], facts["saved_high"], table.answers[0]
    truth = 1 / 1.25 * (1 - 140 / 2000)  # of a straight line; the draw goes by ranks
    assert said["judge"][0] - 0.1 < truth < said["judge"][1] + 0.1
    assert said["noise"][1] < 0.1 and "random sampling is nearly as efficient" in said["noise"][2]
    assert "%" in said["judge"][2] and "nearly as efficient" not in said["judge"][2]
    assert ng.load(rows, metrics=["noise"], human=["quality"]).label(budget=60, goal="agreement").answers == []


def test_a_long_draw_shows_its_first_rows_and_where_the_others_are(outputs, tmp_path):
    shown, whole = (
        run_command("label", outputs, "--budget", 40, *more, cwd=tmp_path).stdout for more in (["-o", "tasks.csv"], [])
    )
    assert "… and 35 more in tasks.csv" in shown and "more in" not in whole
    assert len(whole.splitlines()) > len(shown.splitlines()) + 30
    assert len((tmp_path / "tasks.csv").read_text().splitlines()) == 41


def test_earlier_labels_without_a_probability_count_as_drawn_at_random(outputs, tmp_path):
    file = tmp_path / "labels.csv"
    rows = [
        {"system": "A", "id": f"q{i}", "quality": quality("A", f"q{i}"), "label_probability": p}
        for i, p in ((1, None), (2, None), (3, 0.5))
    ]
    pl.DataFrame(rows).write_csv(file)
    data = ng.load(outputs, labels=file)
    assert any("2 of 240 outputs, treated as a random draw" in note for note in data.notes)


@pytest.mark.parametrize("how", ["random", "stratified", "diverse"])
def test_the_order_of_the_file_does_not_decide_what_is_drawn(outputs, how):
    rows = pl.read_csv(outputs)
    turned = ng.load(rows.reverse(), metrics=["judge"], name="x").label(budget=20, how=how)
    assert turned.rows == ng.load(rows, metrics=["judge"], name="x").label(budget=20, how=how).rows


def test_a_threshold_that_nobody_knows_is_sought_along_the_whole_score(outputs):
    data = ng.load(outputs)
    table = data.label(budget=60, goal="threshold")
    assert table.facts["how"] == "stratified" and "the threshold is unknown: set cut=" in table.method
    with pytest.raises(ng.NlgaugeError, match="requires cut=, or 30 labels of pass and fail"):
        data.label(budget=60, goal="threshold", how="optimal")


@pytest.mark.parametrize(
    ("goal", "better"),
    [
        ("threshold", lambda judge: -abs(judge - np.median(judge))),
        ("agreement", lambda judge: abs(judge - judge.mean())),
    ],
)
def test_draws_lean_to_where_labels_tell_most(outputs, goal, better):
    data = ng.load(outputs)
    judge = dict(zip(data.scores.select("system", "input").iter_rows(), data.scores["judge"], strict=True))
    worth = dict(zip(judge, better(np.array(list(judge.values()))), strict=True))
    cut = float(np.median(list(judge.values()))) if goal == "threshold" else None
    table = data.label(budget=60, goal=goal, cut=cut)
    assert np.mean([worth[r["system"], r["input"]] for r in table]) > np.mean(list(worth.values()))
    assert len({r["label_probability"] for r in table}) > 5


def test_a_diverse_draw_without_scores_takes_texts_of_every_kind():
    kinds = ("weather rain sun cloud", "football goal match team", "bread butter flour oven")
    rows = [{"id": f"q{i}", "output": f"{kinds[i % 3]} {i}"} for i in range(90)]
    data = ng.load(rows, name="texts")
    for seed in range(10):  # of random draws every second one would fail
        table = ng.label(select(data, seed=seed), budget=9, how="diverse")
        assert "by their words" in table.method
        taken = [int(row["input"][1:]) % 3 for row in table]
        assert all(2 <= taken.count(k) <= 4 for k in range(3)), taken
        assert {row["label_probability"] for row in table} == {0.1}


def test_labels_for_a_ranking_are_of_the_same_inputs(outputs):
    table = ng.load(outputs).label(budget=30, goal="ranking")
    by = {s: {r["input"] for r in table if r["system"] == s} for s in "ABC"}
    assert by["A"] == by["B"] == by["C"] and len(by["A"]) == 10


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": 0}, "budget= must be between 1 and 240, the number of outputs without a label; got 0"),
        ({"budget": 241}, "budget= must be between 1 and 240, the number of outputs without a label; got 241"),
        ({"budget": 9, "how": "optimal"}, "label a first sample with how='stratified'"),
        ({"budget": 9, "how": "disagreement"}, "requires two or more metrics"),
        ({"budget": 9, "goal": "fun"}, "use estimate, agreement, ranking, threshold"),
        ({"budget": 9, "out": "x.csv", "tool": "excel"}, "use csv, label-studio, argilla"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(outputs, options, said):
    with pytest.raises(NlgaugeError, match=said) as error:
        ng.load(outputs).label(**options)
    assert "\n" not in str(error.value)
