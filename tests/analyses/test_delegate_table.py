"""Which verdicts may the judge decide alone: the table, the policy file, and what is said with too few labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.analyses.verdicts.policy import read_policy
from nlgauge.errors import NlgaugeError


def judged(labeled: int, outputs: int = 600, gap: float = 4.0, seed: int = 0, lower: bool = False) -> ng.Dataset:
    """One system with a human verdict on the first outputs and a judge's score on all."""
    rng = np.random.default_rng(seed)
    passes = rng.random(outputs) < 0.6
    score = rng.normal(size=outputs) + gap * passes
    rows = [
        {
            "system": "bot",
            "input": f"q{k}",
            "output": f"text {k}",
            "judge": float(-score[k] if lower else score[k]),
            "label": int(passes[k]) if k < labeled else None,
        }
        for k in range(outputs)
    ]
    return ng.load(rows, human=["label"], metrics=["judge"], lower=["judge"] if lower else [], name="log")


def by_measure(table: ng.Table) -> dict[str, dict]:
    return {row["measure"]: row for row in table if row["chosen"]}


def test_a_good_judge_decides_both_verdicts_and_humans_get_the_rest() -> None:
    rows = by_measure(ng.delegate(judged(400)))
    assert rows["pass"]["value"] > 0.4 and rows["fail"]["value"] > 0.2
    assert rows["decided"]["value"] == pytest.approx(rows["pass"]["value"] + rows["fail"]["value"])
    assert rows["pass"]["threshold"] >= rows["fail"]["threshold"]
    assert rows["decided"]["to_humans"] == round(600 * (1 - rows["decided"]["value"]))
    assert rows["decided"]["cost"] == pytest.approx(100 * (1 - rows["decided"]["value"]))


def test_with_80_labels_three_sentences_say_what_is_missing() -> None:
    table = ng.delegate(judged(80, gap=2.5))
    first, second, third = table.answers
    assert first == (
        "judge may not pass or fail outputs alone: 80 labels do not guarantee an error rate of at most 5% with 90% "
        "confidence."
    )
    assert second.startswith(
        "A rule takes at least 59 labels that the judge decides without an error (93 with one error)"
    )
    assert third == "100% of the outputs go to humans (600 of 600 outputs), at a cost of 100 per 100 outputs."
    assert by_measure(table)["pass"]["reason"]


def test_one_kind_of_verdict_takes_fewer_labels() -> None:
    """Delta is split over the kinds of verdict: 45 labels without an error instead of 59."""
    data = judged(80, gap=9.0)
    assert "pass" in by_measure(ng.delegate(data, decide="pass"))
    assert by_measure(ng.delegate(data, decide="pass"))["pass"]["value"] > 0
    assert by_measure(ng.delegate(data))["pass"]["value"] == 0


def test_a_judge_of_which_lower_is_better_has_the_same_rule_on_its_own_scale() -> None:
    plain, turned = (by_measure(ng.delegate(judged(400, lower=lower))) for lower in (False, True))
    for side in ("pass", "fail"):
        assert turned[side]["threshold"] == -plain[side]["threshold"]
        assert turned[side]["value"] == plain[side]["value"]
    assert "below" in ng.delegate(judged(400, lower=True)).answers[0]


def test_several_judges_split_delta_and_the_chosen_one_decides_most() -> None:
    data = judged(400)
    noise = np.random.default_rng(3).normal(size=len(data))
    data = data.with_scores({"noise": noise.tolist()})
    table = ng.delegate(data)
    assert table.facts["delta"] == pytest.approx(0.1 / (2 * 3))  # judge, noise, and their mean
    shares = {row["metric"]: row["value"] for row in table if row["measure"] == "decided"}
    assert table.facts["chosen"] == max(shares, key=shares.__getitem__)
    assert shares["noise"] == 0


def test_the_draws_of_one_judge_are_one_signal() -> None:
    data = judged(400)
    scores = data.scores["judge"].to_numpy()
    rng = np.random.default_rng(4)
    draws = {f"llm#{k}": (scores + rng.normal(size=len(scores))).tolist() for k in range(4)}
    table = ng.delegate(data.with_scores(draws), metrics=list(draws))
    assert {row["metric"] for row in table} == {"llm"}
    assert by_measure(table)["pass"]["value"] > 0


def test_more_judges_than_delta_can_be_split_over_are_refused() -> None:
    data = judged(100).with_scores({f"m{k}": [float(k)] * 600 for k in range(6)})
    with pytest.raises(NlgaugeError, match="name at most 5 judges"):
        ng.delegate(data)


def test_the_policy_file_decides_as_the_table_says(tmp_path: Path) -> None:
    data, path = judged(400), tmp_path / "policy.json"
    rows = by_measure(ng.delegate(data, policy=path))
    decisions = read_policy(path).decisions(data)["decision"].value_counts()
    counts = dict(decisions.iter_rows())
    assert counts["pass"] == round(600 * rows["pass"]["value"])
    assert counts["human"] == rows["decided"]["to_humans"]


def test_a_rule_for_every_score_survives_the_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [{"system": "a", "input": f"q{k}", "judge": rng.random(), "label": 1} for k in range(200)]
    path = tmp_path / "policy.json"
    ng.delegate(ng.load(rows, human=["label"], metrics=["judge"]), policy=path)
    assert json.loads(path.read_text())["pass_above"] == "all"
    assert read_policy(path).decide(np.array([-99.0])).tolist() == ["pass"]


@pytest.mark.parametrize("text", ["", "{}", '{"nlgauge_policy": 2}', '{"nlgauge_policy": 1}', "[1]"])
def test_a_file_that_is_no_policy_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(text)
    with pytest.raises(NlgaugeError, match=r"policy\.json: not a policy"):
        read_policy(path)


def test_a_plan_finds_the_labels_that_a_rule_takes() -> None:
    """A judge that never errs on a quarter of the outputs on each side: 59 labels there are about 240 in all."""
    table = ng.plan(judged(200, gap=4.0), goal="delegate", share=0.5, sizes=[60, 150, 800], trials=20)
    values = [row["value"] for row in table]
    assert values == sorted(values)
    assert values[0] == 0.0 and values[-1] >= 0.8
    assert "labels" in table.answers[0]
