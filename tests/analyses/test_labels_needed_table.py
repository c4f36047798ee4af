"""Labels needed: the curve holds what a study of that size then finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nct, t

import nlgauge as ng
from nlgauge.errors import NlgaugeError


def made(noise: float, outputs: int = 400, labels: int = 400) -> ng.Dataset:
    rng = np.random.default_rng(3)
    quality = rng.normal(3, 1, outputs)
    rows = [
        {
            "system": "AB"[i % 2],
            "id": f"q{i // 2}",
            "judge": quality[i] + noise * rng.normal(),
            "human": quality[i] + 0.3 * (i % 2) if i < labels else None,
        }
        for i in range(outputs)
    ]
    return ng.load(rows, human=["human"], metrics=["judge"], name="made")


def conversations(
    similarity: float, labels: int = 400, whole: bool = True, column: str = "conversation_id", verdicts: bool = False
) -> ng.Dataset:
    """100 conversations of 10 turns; `similarity` is the intraclass correlation of ratings and of the judge's errors."""
    rng = np.random.default_rng(11)
    conversation = np.repeat(np.arange(100), 10)

    def draw() -> np.ndarray:
        shared, own = rng.normal(size=100)[conversation], rng.normal(size=1000)
        return np.sqrt(similarity) * shared + np.sqrt(1 - similarity) * own

    human, error = draw(), draw()
    judge = human + error
    if verdicts:
        human, judge = (human > 0).astype(float), (judge > 0).astype(float)
    labeled = np.isin(np.arange(1000), np.arange(labels) if whole else rng.permutation(1000)[:labels])
    rows = [
        {"id": f"q{i}", column: f"c{conversation[i]}", "judge": judge[i], "human": human[i] if labeled[i] else None}
        for i in range(1000)
    ]
    return ng.load(rows, human=["human"], metrics=["judge"], input="id", name="log")


def at(table: ng.Table, metric: str, labels: int) -> float:
    return next(row["value"] for row in table if row["metric"] == metric and row["labels"] == labels)


def test_widths_are_those_of_the_formula_and_a_good_judge_needs_fewer_labels():
    data = made(0.5)
    table = ng.analyze("labels-needed", data, width=0.2, sizes=[50, 100, 200], trials=40)
    sd = data.ratings["value"].std()
    assert at(table, "human", 100) == pytest.approx(2 * 1.984 * sd / 10, rel=0.05)
    assert at(table, "judge", 100) < 0.8 * at(table, "human", 100)
    quantiles = t.ppf(0.975, 99) / t.ppf(0.975, 24)  # the two outputs of an input are one cluster
    assert at(table, "human", 200) == pytest.approx(at(table, "human", 50) / 2 * quantiles, rel=0.06)


def test_the_number_asked_for_lies_where_the_curve_meets_the_width():
    data = made(5.0, outputs=2000)
    said = ng.analyze("labels-needed", data, width=0.25, trials=40).answers[0]
    needed = int(said.split()[1].replace(",", ""))
    sd = data.ratings["value"].std()
    assert needed == pytest.approx((2 * 1.96 * sd / 0.25) ** 2, rel=0.1)


def test_power_to_tell_two_systems_apart_is_that_of_the_t_test():
    data = made(1.0)
    table = ng.analyze("labels-needed", data, goal="compare", sizes=[60, 120], trials=400)
    wide = data.ratings.pivot(on="system", index="input", values="value")
    gaps = (wide["B"] - wide["A"]).to_numpy()
    for row in table:
        n = row["labels"] // 2
        expected = 1 - nct.cdf(t.ppf(0.975, n - 1), n - 1, np.sqrt(n) * abs(gaps.mean()) / gaps.std(ddof=1))
        assert row["value"] == pytest.approx(expected, abs=0.08)


def test_a_gate_that_is_far_is_decided_with_few_labels_and_one_that_is_near_is_not():
    rng = np.random.default_rng(1)
    passed = rng.random(300) < 0.6
    judged = np.where(rng.random(300) < 0.1, ~passed, passed)
    rows = [{"id": i, "human": int(p), "judge": int(j)} for i, (p, j) in enumerate(zip(passed, judged, strict=True))]
    data = ng.load(rows, human=["human"], metrics=["judge"], name="verdicts")
    kappa = next(r["value"] for r in ng.verdicts(data) if r["measure"] == "kappa")
    far = ng.analyze("labels-needed", data, goal="gate", gate="kappa=.2", sizes=[80], trials=30)
    near = ng.analyze("labels-needed", data, goal="gate", gate=f"kappa={kappa:.2f}", sizes=[80], trials=30)
    for written in ("tnr=.2", "fail_recall=.2"):  # the names that `gate` takes
        assert len(ng.analyze("labels-needed", data, goal="gate", gate=written, sizes=[80], trials=2)) == 1
    assert at(far, "judge", 80) > 0.9 and at(near, "judge", 80) < 0.2


def test_few_raters_of_more_outputs_need_fewer_ratings():
    said = ng.analyze("labels-needed", ng.example(), metrics="unigram_f1", sizes=[120], trials=10).answers[-1]
    assert "1 rating each of" in said and "2 ratings each of" in said


def test_a_log_of_conversations_needs_as_many_labels_as_its_design_effect_says():
    options = {"width": 0.2, "sizes": [200, 400], "trials": 40}
    similar = ng.analyze("labels-needed", conversations(0.4), **options)
    independent = ng.analyze("labels-needed", conversations(0.4, column="topic"), **options)
    for metric in ("human", "judge"):
        ratio = at(similar, metric, 400) / at(independent, metric, 400)
        assert ratio == pytest.approx(np.sqrt(1 + 9 * 0.4), rel=0.15)
    assert [row["clusters"] for row in similar] == [20, 40] * 2
    assert "whole clusters labeled" in similar.method and "clustered by conversation_id" in similar.method


def test_labels_drawn_at_random_are_spread_over_more_conversations_than_whole_ones():
    data = conversations(0.4, labels=150, whole=False)
    table = ng.analyze("labels-needed", data, width=0.2, sizes=[200], trials=40)
    assert {row["clusters"] for row in table} <= set(range(80, 95)) and "drawn at random" in table.method
    whole = ng.analyze("labels-needed", conversations(0.4), width=0.2, sizes=[200], trials=40)
    assert at(table, "human", 200) < 0.7 * at(whole, "human", 200)


@pytest.mark.parametrize(
    ("share", "drawn"), [(0.1, "drawn at random"), (0.7, "drawn at random"), (1.0, "whole inputs")]
)
def test_one_label_of_each_pair_of_outputs_is_no_whole_cluster(share, drawn):
    rng = np.random.default_rng(5)
    rows = [
        {
            "system": "AB"[i % 2],
            "id": f"q{i // 2}",
            "judge": rng.normal(),
            "human": value if rng.random() < share else None,
        }
        for i, value in enumerate(rng.normal(size=600))
    ]
    data = ng.load(rows, human=["human"], metrics=["judge"], name="pairs")
    assert drawn in ng.analyze("labels-needed", data, sizes=[40], trials=2).method


def test_the_planned_width_of_clusters_is_the_one_that_estimate_gives():
    data = conversations(0.4)
    row = next(r for r in ng.estimate(data) if r["measure"] == "labels_only" and r["system"] == "all")
    table = ng.analyze("labels-needed", data, sizes=[400], trials=40)
    assert at(table, "human", 400) == pytest.approx(row["high"] - row["low"], rel=0.1)


def test_the_answer_counts_labels_and_clusters_and_a_column_can_be_named():
    data = conversations(0.4, column="topic").clustered("topic")
    answer = ng.analyze("labels-needed", data, width=0.4, trials=40).answers[0]
    labels, clusters = (int(answer.split()[k]) for k in (1, 4))
    assert answer == f"About {labels} labels in {clusters} clusters without a judge."
    assert clusters == pytest.approx(labels / 10, abs=1)


def test_there_is_no_width_where_estimate_gives_no_interval():
    table = ng.analyze("labels-needed", conversations(0.4), width=0.2, sizes=[50], trials=5)
    assert all(np.isnan(row["value"]) and row["clusters"] == 5 for row in table)
    assert table.answers[0] == (
        "Not reached by 50 labels without a judge: a confidence interval requires labels in at least 10 clusters; found 5."
    )


def test_a_gate_on_a_log_of_conversations_is_decided_less_often():
    options = {"goal": "gate", "gate": "accuracy=.65", "sizes": [200], "trials": 60}
    similar = ng.analyze("labels-needed", conversations(0.6, verdicts=True), **options)
    independent = ng.analyze("labels-needed", conversations(0.6, column="topic", verdicts=True), **options)
    assert at(similar, "judge", 200) < at(independent, "judge", 200) - 0.15


def test_verdicts_without_clusters_are_planned_row_by_row():
    rng = np.random.default_rng(8)
    human = rng.random(200) < 0.7
    judge = np.where(rng.random(200) < 0.2, ~human, human)
    rows = [{"id": i, "human": int(h), "judge": int(j)} for i, (h, j) in enumerate(zip(human, judge, strict=True))]
    data = ng.load(rows, human=["human"], metrics=["judge"], name="verdicts")
    widths = ng.analyze("labels-needed", data, width=0.2, sizes=[30, 120], trials=20)
    assert [round(row["value"], 6) for row in widths] == [0.320863, 0.158752, 0.265477, 0.146308]
    decided = ng.analyze("labels-needed", data, goal="gate", gate="accuracy=.7", sizes=[30, 120], trials=20)
    assert [row["value"] for row in decided] == [0.55, 0.95]
    assert {row["clusters"] for row in (*widths, *decided)} == {None} and "clusters" not in widths.shown


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (made(1.0, labels=12), {}, "requires at least 20 labels; found 12"),
        (made(1.0), {"goal": "gate"}, "not pass and fail"),
        (made(1.0), {"goal": "compare", "systems": ["A", "Z"]}, "system 'Z' not found"),
        (made(1.0), {"width": -1.0}, "width= must be above 0"),
        (made(1.0), {"goal": "gate", "gate": "kappa"}, "such as kappa=.6"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(data, options, said):
    with pytest.raises(NlgaugeError, match=said) as error:
        ng.analyze("labels-needed", data, **options)
    assert "\n" not in str(error.value)
