"""`nlgauge gate`: coin flips fail, a good judge passes, ten labels decide nothing."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from command import run_command
from nlgauge.api.questions import select
from nlgauge.errors import NameUnknown, NeedsMissing


def answers(
    folder: Path, labels: int, right: float, seed: int = 1, name: str = "answers.csv", unlabelled: int = 0
) -> Path:
    """Rows with people's verdict (the same for every `right` and name) and a judge's that is right with that chance."""
    rng, truth = random.Random(seed), random.Random(7)
    path = folder / name
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "answer", "judge", "human"])
        for k in range(labels + unlabelled):
            good = truth.random() < 0.6
            label = int(good) if k < labels else ""
            rows.writerow([k, f"answer {k:04}", int(good if rng.random() < right else not good), label])
    return path


@pytest.mark.parametrize(
    "labels, right, verdict", [(400, 0.95, "passed"), (400, 0.5, "failed"), (10, 0.9, "undecided")]
)
def test_the_verdict_follows_the_interval(tmp_path: Path, labels: int, right: float, verdict: str) -> None:
    table = ng.gate(answers(tmp_path, labels, right), min="kappa=.6,tnr=.7", metrics="judge")
    assert table.facts["verdict"] == verdict
    for row in table:
        inside = row["reason"] is not None or row["low"] < row["limit"] <= row["high"]
        assert row["verdict"] == ("undecided" if inside else "passed" if row["low"] >= row["limit"] else "failed")


def test_the_labels_named_decide_in_about_four_of_five_data_sets() -> None:
    from bench.gate import labels_named

    decided, right = labels_named("good", 0.5, 100, "agreement", -0.08, trials=60)
    assert 0.65 < decided <= 1 and right > 0.9  # half would decide with the number at which the interval just ends


def test_failures_are_those_of_holm() -> None:
    from nlgauge.api.limits import correct_failures
    from nlgauge.stats.tests.corrections import holm

    rng = np.random.default_rng(5)
    counts = set()
    for tested in rng.integers(1, 12, 300):
        p = rng.random(tested) ** 6
        failed, last = correct_failures(lambda level, p=p: p < (1 - level) / 2, len(p), 0.95)
        assert failed.tolist() == (holm(p) < 0.025).tolist() == (p < (1 - last) / 2).tolist()
        counts.add(int(failed.sum()))
    assert len(counts) > 5


def test_a_figure_below_its_limit_by_chance_fails_alone_and_not_among_thirty() -> None:
    rng = random.Random(4)
    judges = [f"judge {j}" for j in range(10)]
    rows = []
    for k in range(150):
        good = rng.random() < 0.6
        rows.append({"id": k, "human": int(good)} | {j: int(good if rng.random() < 0.83 else not good) for j in judges})
    data = ng.load(rows, human=["human"], metrics=judges)
    limits = "kappa=.72,agreement=.86,tnr=.83"  # .06 or less above the true values
    assert ng.gate(data, min="agreement=.86", metrics="judge 7").facts["verdict"] == "failed"
    table = ng.gate(data, min=limits)
    below = [r for r in table if r["high"] < r["limit"]]
    assert table.facts["verdict"] == "undecided" and table.facts["limits"] == 30 and below
    assert all(r["verdict"] == "undecided" and r["labels"] > r["n"] for r in below)
    assert f"{len(below)} figures lie below the limit if taken alone" in table.to_markdown()
    worse = ng.gate(data, min="kappa=.72,agreement=.95,tnr=.83")
    last = {
        (r["metric"], r["measure"]): r["high"] for r in data.verdicts(level=worse.facts["level_failed"])
    }  # one level decides all rows
    found = {(r["metric"], r["measure"]): r["verdict"] == "failed" for r in worse}
    assert found == {(r["metric"], r["measure"]): last[r["metric"], r["measure"]] < r["limit"] for r in worse}
    assert 0 < sum(found.values()) < 30


def test_planned_looks_make_both_decisions_harder_for_every_kind_of_limit(tmp_path: Path) -> None:
    path = answers(tmp_path, 150, 0.9, unlabelled=600)
    old = answers(tmp_path, 150, 0.8, seed=2, name="old.csv", unlabelled=600)
    options = {"metrics": "judge", "against": old, "max_drop": "kappa=.1,global/pearson=.1"}
    one, many = (
        ng.gate(path, min="kappa=.6,global/pearson=.6,pass_rate=.5", **options, looks=looks) for looks in (None, 20)
    )
    assert len(one) == 5 and many.facts["level"] == pytest.approx(0.9975)
    for a, b in zip(one, many, strict=True):
        assert (a["measure"], a["value"]) == (b["measure"], b["value"]) and b["low"] < a["low"] < a["high"] < b["high"]
    at_look = {r["measure"]: r["high"] for r in ng.verdicts(path, metrics="judge", level=0.9975)}
    assert at_look["kappa"] == many.rows[0]["high"]
    advice = "The error rate holds for one look; use looks="
    assert any(note.startswith(advice) for note in one.notes) and not any(n.startswith(advice) for n in many.notes)
    for limit, verdict in ((one.rows[0]["low"], "passed"), (one.rows[0]["high"] + 1e-6, "failed")):
        assert ng.gate(path, min={"kappa": limit}, metrics="judge").facts["verdict"] == verdict
        assert ng.gate(path, min={"kappa": limit}, metrics="judge", looks=2).facts["verdict"] == "undecided"
    with pytest.raises(NameUnknown, match="looks must be a whole number"):
        ng.gate(path, min="kappa=.6", looks=0)


def test_correlations_have_limits_too() -> None:
    rows = ng.gate(ng.example(), min={"input/kendall": 0.3, "global/pearson": 0.99}, metrics="unigram_f1").rows
    assert {r["measure"]: r["verdict"] for r in rows} == {"input/kendall": "passed", "global/pearson": "failed"}


def test_a_slip_of_the_pen_is_answered() -> None:
    with pytest.raises(NameUnknown, match=r"measure 'kapa' not found\. Did you mean 'kappa'"):
        ng.gate(ng.example(), min="kapa=.6")
    with pytest.raises(NameUnknown, match="expected a number"):
        ng.gate(ng.example(), min="kappa=good")


@pytest.mark.parametrize(
    "limits, said",
    [
        ("kappa=nan", "expected a number"),
        ("kappa=inf", "expected a number"),
        ("kappa=60", "kappa must be at most 1"),
        ("pass_rate=80", "pass_rate must be at most 1"),
        ("tnr=.8,fail_recall=.7", "fail_recall has two limits"),
    ],
)
def test_a_limit_that_cannot_be_meant_is_answered_and_not_held_against_anything(limits: str, said: str) -> None:
    with pytest.raises(NameUnknown, match=said):
        ng.gate(ng.example(), min=limits)


@pytest.mark.parametrize("labels, right, code", [(400, 0.95, 0), (400, 0.5, 1), (10, 0.9, 3)])
def test_the_exit_code_is_the_verdict(tmp_path: Path, labels: int, right: float, code: int) -> None:
    path = answers(tmp_path, labels, right)
    done = run_command("gate", path, "--min", "kappa=.6", "--metrics", "judge", "-f", "json")
    assert done.returncode == code, done.stderr
    (table,) = json.loads(done.stdout)["tables"]
    assert table["facts"]["verdict"] == {0: "passed", 1: "failed", 3: "undecided"}[code]


def test_a_judge_that_got_worse_fails_and_one_that_did_not_passes(tmp_path: Path) -> None:
    old = answers(tmp_path, 400, 0.95, seed=1, name="old.csv")
    for right, seed, verdict in ((0.95, 2, "passed"), (0.6, 3, "failed")):
        new = answers(tmp_path, 400, right, seed=seed, name="new.csv")
        table = ng.gate(new, metrics="judge", against=old, max_drop="kappa=.15,agreement=.08")
        assert table.facts["verdict"] == verdict
        change = {r["measure"]: r["value"] for r in table}
        for measure, value in change.items():
            now, then = (
                next(r["value"] for r in ng.verdicts(path, metrics="judge") if r["measure"] == measure)
                for path in (new, old)
            )
            assert value == pytest.approx(now - then)


def test_an_earlier_run_is_the_same_as_data_and_as_results(tmp_path: Path) -> None:
    old, new = (answers(tmp_path, 120, 0.9, seed=s, name=f"{s}.csv") for s in (1, 2))
    results = ng.report(old, out=tmp_path / "old.html", quick=True).results
    limits = {"kappa": 0.1, "fail_recall": 0.1, "global/pearson": 0.1}
    one, other = (ng.gate(new, metrics="judge", against=found, max_drop=limits).rows for found in (old, results))
    keys = ("measure", "value", "low", "high", "n", "verdict")
    assert len(one) == 3
    for a, b in zip(one, other, strict=True):
        assert {k: a[k] for k in keys} == pytest.approx({k: b[k] for k in keys})


def test_values_per_input_of_several_systems_are_paired(tmp_path: Path) -> None:
    results = ng.report(ng.example(), out=tmp_path / "old.html", quick=True).results
    passed = ng.gate(ng.example(), metrics="unigram_f1", against=results, max_drop={"input/pairwise-accuracy": 0.1})
    assert [(r["verdict"], r["value"], r["n"]) for r in passed] == [("passed", 0.0, 24)]
    assert "on the 24 inputs of both runs" in passed.notes[0] and "for these systems on other inputs" in passed.notes[1]
    (row,) = ng.gate(ng.example(), metrics="unigram_f1", against=results, max_drop={"input/pearson": 0.1})
    assert row["verdict"] == "undecided" and "nlgauge.report(data, gate='input/pearson')" in row["reason"]


def test_rows_that_lost_their_verdict_or_have_another_label_are_not_passed_over(tmp_path: Path) -> None:
    old = answers(tmp_path, 200, 0.9, name="old.csv")
    header, *rows = [line.split(",") for line in old.read_text().splitlines()]
    new = tmp_path / "new.csv"

    def written(change: int, column: int, value: str) -> Path:
        changed = [[*row[:column], value, *row[column + 1 :]] if k < change else row for k, row in enumerate(rows)]
        new.write_text("\n".join(",".join(row) for row in [header, *changed]) + "\n")
        return new

    (row,) = ng.gate(written(40, 2, ""), metrics="judge", against=old, max_drop="kappa=.1")
    assert row["verdict"] == "undecided" and row["reason"].startswith("40 outputs lost their value")
    other = sum(row[3] == "0" for row in rows[:10])
    table = ng.gate(written(10, 3, "1"), metrics="judge", against=old, max_drop="kappa=.1")
    assert table.rows[0]["n"] == 200 - other
    assert f"{other} outputs whose human label changed are excluded from the change." in table.notes


def test_outputs_have_limits_by_their_estimated_pass_rate(tmp_path: Path) -> None:
    path = answers(tmp_path, 150, 0.95, unlabelled=600)
    found = next(r for r in ng.estimate(path, metrics="judge") if r["measure"] == "ppi_plus")
    for limit, verdict in (
        (found["low"] - 0.01, "passed"),
        (found["high"] + 0.01, "failed"),
        (found["value"] + 0.01, "undecided"),
    ):
        (row,) = ng.gate(path, min={"pass_rate": limit}, metrics="judge")
        assert (row["verdict"], row["low"], row["n"]) == (verdict, found["low"], 150)
    with pytest.raises(NeedsMissing, match=r"use a limit on pass_rate"):
        ng.gate(path, min="mean=.5", metrics="judge")
    with pytest.raises(NeedsMissing, match="human_pass_from="):
        ng.gate(ng.example(), min="pass_rate=.5", metrics="unigram_f1")


def test_labelled_rows_without_a_verdict_are_counted(tmp_path: Path) -> None:
    path = answers(tmp_path, 400, 0.95)
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    rows = [[*row[:2], "" if k % 4 == 0 else row[2], row[3]] for k, row in enumerate(rows)]
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    table = ng.gate(path, min="kappa=.6,global/pearson=.5", metrics="judge")
    assert "100 of 400 labeled outputs have no value of judge and are left out." in table.to_markdown()


def several_aspects() -> list[dict[str, object]]:
    rng = random.Random(3)
    rows = []
    for k in range(300):
        good, kind = rng.random(), rng.random()
        rows.append(
            {
                "id": k,
                "language": "de" if k % 2 else "en",
                "accurate": round(good, 2),
                "kind": round(kind, 2),
                "judge-accurate": good + rng.gauss(0, 0.1),
                "judge-kind": kind + rng.gauss(0, 0.1 + 9 * (k % 2)),
            }
        )
    return rows


def test_a_column_of_one_aspect_is_held_against_that_aspect_alone() -> None:
    data = ng.load(several_aspects(), human=["accurate", "kind"], metrics=["judge-accurate", "judge-kind"])
    table = ng.gate(data, min="global/pearson=.6")
    assert [(r["metric"], r["aspect"], r["verdict"]) for r in table] == [
        ("judge-accurate", "accurate", "passed"),
        ("judge-kind", "kind", "failed"),
    ]
    assert "judge-kind global/pearson on kind" in table.answers[0]
    changed = ng.gate(data, against=data, max_drop="global/pearson=.1")
    assert [(r["metric"], r["aspect"]) for r in changed] == [("judge-accurate", "accurate"), ("judge-kind", "kind")]


def test_each_group_is_held_against_the_limit_and_named() -> None:
    data = ng.load(several_aspects(), human=["kind"], metrics=["judge-kind"])
    table = ng.gate(select(data, by="language"), min="global/pearson=.6")
    assert {r["language"]: r["verdict"] for r in table} == {"de": "failed", "en": "passed"}
    assert "| language |" in table.to_markdown() and "language de" in table.answers[0]
    with pytest.raises(NeedsMissing, match="cannot be combined with by="):
        ng.gate(select(data, by="language"), against=data, max_drop="global/pearson=.1")


def test_a_group_that_cannot_be_computed_has_its_own_reason_and_remedy() -> None:
    rng = random.Random(5)
    rows = []
    for region in ("r1", "r10", "r3"):
        for k in range(45):
            good = rng.random() < 0.6
            score = rng.random() if region == "r10" else int(good == (rng.random() < 0.95))
            row = {"id": f"{region}-{k}", "region": region, "human": int(good), "llm_judge": score, "other": int(good)}
            rows.append(row)
    data = ng.load(rows, human=["human"], metrics=["llm_judge", "other"])
    table = ng.gate(select(data, by="region"), min="kappa=.3", metrics="llm_judge")
    reasons = {r["region"]: r["reason"] or "" for r in table}
    assert "llm_judge gave 45 distinct values" in reasons["r10"] and "judge_pass_from=" in reasons["r10"]
    assert "different values" not in reasons["r1"] + reasons["r3"]
    # The reason is the same where another judge of that group can be computed.
    both = ng.gate(select(data, by="region"), min="kappa=.3", metrics=["llm_judge", "other"])
    reasons = {(r["region"], r["metric"]): r["reason"] or "" for r in both}
    assert "llm_judge gave 45 distinct values" in reasons["r10", "llm_judge"]
    assert "different values" not in reasons["r10", "other"]


def test_what_cannot_be_computed_is_undecided_and_not_left_out() -> None:
    rows = [
        {
            "id": k,
            "language": "de" if k % 3 else "en",
            "human": k % 2,
            "same": 1 if k % 3 else k % 2,
            "numbers": k / 7,
            "verdict": k % 2,
        }
        for k in range(120)
    ]
    data = ng.load(rows, human=["human"], metrics=["same", "verdict", "numbers"])
    found = ng.gate(select(data, by="language"), min="global/pearson=.3", metrics="same")
    assert {r["language"]: r["verdict"] for r in found} == {"en": "passed", "de": "undecided"}
    assert "the same score" in next(r["reason"] for r in found if r["language"] == "de")
    named = ng.gate(data, min="kappa=.6", metrics=["verdict", "numbers"])
    assert {r["metric"]: r["verdict"] for r in named} == {"verdict": "passed", "numbers": "undecided"}
    every = ng.gate(ng.load(rows, human=["human"], metrics=["verdict", "numbers"]), min="kappa=.6")
    assert [r["metric"] for r in every] == ["verdict"] and "excluded: numbers gave" in every.to_markdown()


def test_labels_that_do_not_stand_for_all_decide_nothing(tmp_path: Path) -> None:
    path = answers(tmp_path, 150, 0.95, unlabelled=600)
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    rows = [[*row[:2], "1", row[3]] if not row[3] else row for row in rows]  # the judge passes all that nobody labelled
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")
    (row,) = ng.gate(path, min="pass_rate=.1", metrics="judge")
    assert row["verdict"] == "undecided" and "labeled outputs differ from the others in judge" in row["reason"]


def test_an_earlier_run_and_a_drop_belong_together(tmp_path: Path) -> None:
    path = answers(tmp_path, 100, 0.9)
    for options in ({"against": path}, {"max_drop": "kappa=.1"}):
        with pytest.raises(NeedsMissing, match="must be given together"):
            ng.gate(path, min="kappa=.1", metrics="judge", **options)
    with pytest.raises(NameUnknown, match="no limit found"):
        ng.gate(path)


def test_markdown_says_the_verdict_before_the_table(tmp_path: Path) -> None:
    text = ng.gate(answers(tmp_path, 400, 0.5), min="kappa=.6", metrics="judge").to_markdown()
    assert text.index("The gate failed: judge kappa") < text.index("| judge |")
    assert text.count("The gate failed") == 1


def test_undecided_can_be_let_through(tmp_path: Path) -> None:
    done = run_command("gate", answers(tmp_path, 10, 0.9), "--min", "kappa=.6", "--allow-undecided")
    assert done.returncode == 0 and "gate undecided" in done.stdout
