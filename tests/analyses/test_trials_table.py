"""Trials of one input: pass@k and pass^k by hand, reliability of a judge, and no analysis that counts trials as inputs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.api.questions import select
from nlgauge.errors import NeedsMissing
from nlgauge.stats.estimation.trials import pass_at_k, pass_hat_k, trial_icc
from test_api import MORE, with_trials


def rows(inputs: int = 40, trials: int = 5, *, text: str = "{i} {t}", seed: int = 1) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    for i, share in enumerate(rng.random(inputs)):
        for t in range(trials):
            passed = bool(rng.random() < share)
            judge = passed if rng.random() < 0.8 else not passed
            yield {
                "id": f"q{i}",
                "epoch": t,
                "answer": text.format(i=i, t=t),
                "judge": int(judge),
                "human": int(passed),
            }


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_pass_at_k_and_pass_hat_k_are_means_over_all_sets_of_k_trials(k: int) -> None:
    for passes in range(6):
        sets = list(combinations([1] * passes + [0] * (5 - passes), k))
        assert pass_at_k(5, passes, k) == pytest.approx(np.mean([any(s) for s in sets]))
        assert pass_hat_k(5, passes, k) == pytest.approx(np.mean([all(s) for s in sets]))


def test_the_table_holds_pass_at_k_of_each_system_and_the_agreement_of_trials() -> None:
    made = list(rows())
    table = ng.analyze("trials", ng.load(made, human=["human"], metrics=["judge"]))
    found = {(row["metric"], row["measure"]): row for row in table}
    by_input = np.array([row["human"] for row in made]).reshape(40, 5).sum(axis=1)
    assert found["human", "pass@1"]["value"] == pytest.approx(by_input.mean() / 5)
    assert found["human", "pass^5"]["value"] == pytest.approx((by_input == 5).mean())
    assert found["human", "pass@5"]["value"] == pytest.approx((by_input > 0).mean())
    assert found["human", "pass@2"]["n"] == 40
    for row in table:
        assert row["low"] < row["value"] < row["high"]
    assert "40 inputs × 5 trials: the trials of an input are a cluster." in table.notes


def test_equal_texts_show_the_test_retest_reliability_of_the_judge() -> None:
    made = [{**row, "answer": f"text {row['id']}"} for row in rows()]
    measures = [r["measure"] for r in ng.analyze("trials", ng.load(made, human=["human"], metrics=["judge"]))]
    assert "retest_icc" in measures and "retest_agreement" in measures
    different = [r["measure"] for r in ng.analyze("trials", ng.load(list(rows()), human=["human"], metrics=["judge"]))]
    assert "retest_icc" not in different


def test_icc_of_trials_is_that_of_the_one_way_analysis_of_variance() -> None:
    from nlgauge.stats.agreement.icc import icc

    scores = np.random.default_rng(2).normal(size=(30, 1)) + np.random.default_rng(3).normal(size=(30, 4))
    inputs = np.repeat(np.arange(30), 4)
    assert trial_icc(scores.ravel(), inputs, inputs).value == pytest.approx(
        icc(scores.T, persons=False)["ICC(1)"].value
    )
    certain = trial_icc(np.repeat(np.arange(30) % 2, 4), inputs, inputs)
    assert certain.value == 1 and 0.6 < certain.low < 0.9


def test_few_inputs_give_no_interval_and_no_trials_no_table() -> None:
    table = ng.analyze("trials", ng.load(list(rows(inputs=6)), human=["human"], metrics=["judge"]))
    assert all(np.isnan(row["low"]) and "at least 10" in row["reason"] for row in table)
    with pytest.raises(NeedsMissing, match="no input has several trials"):
        ng.analyze("trials", ng.example())


@pytest.mark.parametrize("repeated", [True, False])
def test_identical_epochs_decide_a_gate_no_more_than_single_questions(repeated: bool) -> None:
    rng = np.random.default_rng(2)
    made = []
    for i in range(40):
        human = bool(rng.random() < 0.7)
        judge = human if rng.random() < 0.8 else not human
        made += [
            {"question_id": f"q{i}", "epoch": t, "answer": f"a {i} {t}", "judge": int(judge), "human": int(human)}
            for t in range(5 if repeated else 1)
        ]
    (row,) = ng.gate(ng.load(made, human=["human"], metrics=["judge"]), min={"kappa": 0.3}).rows
    assert row["verdict"] == "undecided"


# Intervals of these rest on design effects of at least 1, so that trials can only widen those of one system.
CLUSTERED = ["intervals", "compare-pairs", "best-of", "jury", "judge-card", "estimate"]
MERGED = [
    "best-metric",
    "ceiling",
    "chance",
    "discrimination",
    "ensemble",
    "predictability",
    "quality-bins",
    "relative-ranking",
    "stability",
    "system-means",
]


@pytest.mark.parametrize("name", [*CLUSTERED, *MERGED])
def test_identical_trials_make_no_interval_shorter_and_no_p_smaller(name: str) -> None:
    once, thrice = (
        select(data).analyze(name, **MORE.get(name, (None, {}))[1]) for data in (ng.example(), with_trials())
    )
    assert len(once) == len(thrice)
    for one, three in zip(once, thrice, strict=True):
        if np.isfinite(one.get("low") or np.nan):
            assert three["high"] - three["low"] >= 0.97 * (one["high"] - one["low"])
        for column in ("p", "p_to_next"):
            if np.isfinite(one.get(column) or np.nan):
                assert three[column] >= 0.9 * one[column] - 1e-6
    if name in MERGED:
        assert any("counts once" in note for note in thrice.notes)


def test_identical_trials_leave_the_intervals_of_agreement_over_inputs_as_they_are() -> None:
    from nlgauge.stats.agreement.alpha import alpha
    from nlgauge.stats.agreement.icc import icc

    panel = ng.example().panel()
    cube = panel.raters[panel.aspect]
    inputs = np.tile(np.arange(panel.n_inputs), panel.n_systems)
    units = cube.reshape(len(cube), -1)
    once = {"Krippendorff's alpha (interval)": alpha(units, clusters=inputs), **icc(units, clusters=inputs).forms}
    thrice = {row["coefficient"]: row for row in with_trials().analyze("agreement", aspect=panel.aspect)}
    for name, figure in once.items():
        row = thrice[name]
        assert row["n"] == 3 * units.shape[1]
        expected = figure.value, figure.low, figure.high
        assert (row["value"], row["low"], row["high"]) == pytest.approx(expected, abs=0.02), name
