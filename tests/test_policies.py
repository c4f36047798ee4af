"""A policy applied: the queue for humans, the gate on new labels, and the decisions of a judge."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.analyses.verdicts.policy import read_policy
from nlgauge.api.policies import range_notes, with_decisions
from nlgauge.errors import NlgaugeError


def judged(labeled: int, seed: int, outputs: int = 600, gap: float = 4.0, system: str = "bot") -> ng.Dataset:
    rng = np.random.default_rng(seed)
    passes = rng.random(outputs) < 0.6
    score = rng.normal(size=outputs) + gap * passes
    rows = [
        {
            "system": system,
            "input": f"q{k}",
            "output": f"text {k}",
            "judge": float(score[k]),
            "label": int(passes[k]) if k < labeled else None,
        }
        for k in range(outputs)
    ]
    return ng.load(rows, human=["label"], metrics=["judge"], name="log")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    ng.delegate(judged(400, seed=0), policy=path)
    return path


def test_the_queue_holds_what_goes_to_humans_and_an_audit_drawn_at_random(policy: Path, tmp_path: Path) -> None:
    data, out = judged(0, seed=1), tmp_path / "queue.csv"
    table = ng.label(data, "label", policy=policy, budget=40, out=out)
    decisions = dict(read_policy(policy).decisions(data).select("input", "decision").iter_rows())
    chance = {row["input"]: row["label_probability"] for row in table}
    humans = {name for name, decision in decisions.items() if decision == "human"}
    assert {name for name, p in chance.items() if p == 1.0} == humans
    audited = [name for name in chance if name not in humans]
    assert len(audited) == 40
    assert chance[audited[0]] == pytest.approx(40 / (600 - len(humans)))
    lines = out.read_text().splitlines()
    assert len(lines) == 1 + len(table) and "judge" not in lines[0]


def test_labeled_outputs_are_not_queued_again(policy: Path) -> None:
    table = ng.label(judged(600, seed=2), policy=policy)
    assert len(table) == 0


def test_the_gate_passes_a_judge_that_keeps_its_promise_and_fails_one_that_does_not(policy: Path) -> None:
    good = ng.gate(judged(600, seed=3), policy=policy)
    bad = ng.gate(judged(600, seed=4, gap=1.0), policy=policy)
    assert (good.facts["verdict"], good.exit_code) == ("passed", 0)
    assert (bad.facts["verdict"], bad.exit_code) == ("failed", 1)
    assert {row["measure"] for row in good} == {"pass_precision", "fail_precision"}
    assert {row["limit"] for row in good} == {0.95}


def test_other_systems_and_scores_beyond_the_labeled_ones_are_named(policy: Path) -> None:
    rule = read_policy(policy)
    assert range_notes(rule, judged(0, seed=5)) == []
    assert "1 system without labels when the policy was made (new)" in range_notes(rule, judged(0, 5, system="new"))[0]
    assert "lie beyond the labeled ones" in range_notes(rule, judged(0, seed=5, gap=12.0))[-1]


def test_the_decisions_of_a_judge_are_a_column(policy: Path) -> None:
    data, lines = with_decisions(judged(0, seed=6), policy)
    assert set(data.samples["decision"]) == {"pass", "fail", "human"}
    assert "go to humans" in lines[0]


def test_a_policy_needs_the_scores_that_it_was_made_of(policy: Path) -> None:
    rows = [{"system": "bot", "input": "q", "other": 1.0}]
    with pytest.raises(NlgaugeError, match="needs the scores of judge; found other"):
        ng.label(ng.load(rows, metrics=["other"]), policy=policy)


def test_a_policy_that_decides_nothing_has_nothing_to_check(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    ng.delegate(judged(50, seed=0), policy=path)
    assert json.loads(path.read_text())["pass_above"] is None
    with pytest.raises(NlgaugeError, match="decides nothing"):
        ng.gate(judged(600, seed=3), policy=path)


def test_without_policy_a_draw_needs_a_budget() -> None:
    with pytest.raises(NlgaugeError, match="budget=60"):
        ng.label(judged(0, seed=1))
