"""The answer as data: sentences and badges are those of the tables, few data give none, and the headline is right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

import nlgauge as ng
from nlgauge.analyses.agreement.replacement import replacement
from nlgauge.api.questions import select
from nlgauge.report.answer import AspectAnswer, ReportAnswer, answer_of
from nlgauge.report.sections import ReportContext
from nlgauge.session import Session


def grid(systems: int, inputs: int, seed: int = 0) -> ng.Dataset:
    """`near` follows the ratings, `error_rate` is the same with the sign flipped, `noise` is unrelated."""
    rng = np.random.default_rng(seed)
    rows = []
    for s in range(systems):
        for i in range(inputs):
            true = s / systems + rng.normal(0, 0.3)
            rows.append(
                {
                    "system": f"s{s}",
                    "input": f"i{i}",
                    "quality": float(np.clip(round(5 * true), 0, 5)),
                    "near": true,
                    "error_rate": -true,
                    "noise": rng.normal(),
                }
            )
    return ng.load(pl.DataFrame(rows), human=["quality"], metrics=["near", "error_rate", "noise"], lower=["error_rate"])


@pytest.fixture(scope="module")
def answered() -> tuple[Session, ReportAnswer]:
    chosen = Session(grid(8, 30))
    return chosen, answer_of(ReportContext(chosen, quick=True))


def test_marks_are_those_of_the_table_of_uses(answered: tuple[Session, ReportAnswer]) -> None:
    chosen, answer = answered
    marks = {(m.metric, use): k for m in answer.aspects[0].metrics for use, k in m.marks.items()}
    for row in chosen.analyze("uses"):
        mark = marks[row["metric"], row["use"]]
        assert (mark.badge, mark.value) == (row["badge"], row["value"])
        assert (mark.low, mark.high) == (row["low"], row["high"])
        assert (mark.positives, mark.positive_systems) == (row["positives"], row["positive_systems"])
    assert {mark.badge for mark in marks.values()} >= {"reliable", "not reliable"}


def test_metrics_stand_in_the_order_of_the_ranking(answered: tuple[Session, ReportAnswer]) -> None:
    chosen, answer = answered
    assert [m.metric for m in answer.aspects[0].metrics] == [r["metric"] for r in chosen.analyze("compare")]


def test_a_lower_is_better_metric_gets_the_badges_of_its_flipped_twin(answered: tuple[Session, ReportAnswer]) -> None:
    first = {m.metric: m for m in answered[1].aspects[0].metrics}
    assert first["error_rate"].lower_is_better and not first["near"].lower_is_better
    assert first["error_rate"].value == first["near"].value > 0.5
    assert first["error_rate"].marks == first["near"].marks


def test_a_sentence_lists_each_metric_under_its_own_badge(answered: tuple[Session, ReportAnswer]) -> None:
    aspect = answered[1].aspects[0]
    assert aspect.uses == ["rank systems", "pairwise", "flag"]
    for use in aspect.uses:
        listed = aspect.sentences[use].partition(", ")[2].partition(". ")[0]
        for part in listed.split("; "):
            badge, _, names = part.partition(": ")
            assert names.split(" and ") == [m.metric for m in aspect.metrics if m.marks[use].badge == badge]
        assert next(m for m in aspect.metrics if m.metric == "noise").marks[use].badge != "reliable"
        assert "near" in listed.partition("reliable: ")[2]


@pytest.mark.parametrize("size", [(2, 2), (4, 5), (8, 9)])
def test_too_few_data_give_a_warning_and_no_badge_or_interval(size: tuple[int, int]) -> None:
    answer = answer_of(ReportContext(Session(grid(*size)), quick=True))
    aspect = answer.aspects[0]
    marks = [k for m in aspect.metrics for use, k in m.marks.items() if use != "rank systems" or size[0] < 6]
    assert all(k.badge is None and k.low is None for k in marks)
    assert all(m.low is None for m in aspect.metrics)
    if size[0] < 6:
        assert answer.warnings and answer.warnings[0].startswith("Too few data for any conclusion")
        assert aspect.sentences[""].startswith("Quality: too few data for a conclusion: ")
        assert not any("[" in text or "reliable" in text for text in aspect.sentences.values())


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"judge_score": [1, 0] * 20},
            "all human ratings have one value (1; 40 ratings); good and bad outputs are needed",
        ),
        ({}, "There are no metric scores to compare with the human ratings"),
    ],
)
def test_the_reason_why_there_is_no_answer_is_the_true_one(columns: dict[str, list[int]], said: str) -> None:
    data = ng.load({"id": list(range(40)), "label": ["pass"] * 40, **columns})
    warnings = answer_of(ReportContext(Session(data), quick=True)).warnings
    assert any(said in line for line in warnings) and not any("no output has both" in line for line in warnings)


def test_a_metric_below_chance_is_named_with_the_option_that_flips_it() -> None:
    rows = grid(8, 30)
    turned = ng.load(
        rows.samples.join(rows.scores, on=["system", "input"]).with_columns(rows.ratings["value"].alias("quality")),
        human=["quality"],
        metrics=["near", "error_rate"],
        lower=[],
    )
    assert turned.lower == {"error_rate"}  # by its name
    against = replace(turned, lower=frozenset({"near"}))
    warnings = answer_of(ReportContext(Session(against), quick=True)).warnings
    disagrees = "disagrees with the human ratings (below chance)"
    assert f"error_rate {disagrees}; if lower is better: lower='error_rate'." in warnings
    assert f"near {disagrees}; it counts as lower-is-better; if higher is better: higher='near'." in warnings
    assert not any("disagrees" in line for line in answer_of(ReportContext(Session(turned), quick=True)).warnings)


def test_results_hold_the_answer_of_the_report(tmp_path: Path) -> None:
    made = ng.report(ng.example(), out=tmp_path / "page.html", quick=True)
    stored = json.loads(made.results.read_text())["answer"]
    assert stored == json.loads(json.dumps(made.answer.to_dict()))
    assert (
        "agrees best with the ratings by construction:" in stored["aspects"][0]["sentences"][""]
    )  # rated by construction, not humans


def test_verdicts_are_marked_by_what_the_judge_catches_and_passes() -> None:
    chosen = select("examples/judged.csv")
    answer = answer_of(ReportContext(chosen))
    rows = {r["measure"]: r for r in chosen.analyze("verdicts")}
    marks = answer.aspects[0].metrics[0].marks
    assert marks["catch failures"].value == rows["fail_recall"]["value"]
    assert marks["pass good answers"].low == rows["pass_recall"]["low"] >= 0.75
    assert rows["youden"]["low"] > 0
    assert (marks["catch failures"].badge, marks["pass good answers"].badge) == ("not reliable", "reliable")


def test_a_constant_is_never_reliable_to_replace_an_annotator() -> None:
    """Its rank is the middle, near to everybody: annotators who hardly agree are farther from each other."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "system": f"s{s}",
            "input": f"i{i}",
            "rater": f"r{r}",
            "fun": float(rng.integers(1, 6)),
            "flat": 1.0 + (s + i == 0),
        }
        for s in range(4)
        for i in range(40)
        for r in range(4)
    ]
    data = ng.load(pl.DataFrame(rows), human=["fun"], metrics=["flat"])
    row = replacement(data.panel("fun")).rows[0]
    assert row["passes"] and row["verdict"] == "inconclusive"
    assert "would pass too" in row["reason"]
    (answer,) = answer_of(ReportContext(Session(data), quick=True)).aspects
    assert answer.metrics[0].marks["replace an annotator"].badge == "inconclusive"


def test_a_judge_that_misses_failures_is_not_praised_without_saying_so(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "id": range(200),
            "judge": ["pass"] * 170 + ["fail"] * 30,
            "label": ["pass"] * 100 + ["fail"] * 50 + ["pass"] * 20 + ["fail"] * 15 + [None] * 15,
        }
    )
    made = ng.report(frame, out=tmp_path / "page.html", quick=True)
    (aspect,) = json.loads(Path(made.results).read_text())["answer"]["aspects"]
    marks = aspect["metrics"][0]["marks"]
    assert (marks["catch failures"]["badge"], marks["pass good answers"]["badge"]) == ("not reliable", "reliable")
    assert aspect["sentences"][""].startswith("judge misses most failures: recall on failures 0.23 [")


def test_the_section_of_uses_has_the_sentence_of_every_use(tmp_path: Path) -> None:
    made = ng.report(ng.example(), out=tmp_path / "page.html", quick=True)
    (found,) = made.answer.aspects
    page = made.path.read_text()
    section = page[page.index('id="uses"') :]
    for use, sentence in found.sentences.items():
        if use:
            assert sentence in section.replace("&#39;", "'")


def headline_of(data: ng.Dataset) -> AspectAnswer:
    (aspect,) = answer_of(ReportContext(Session(data), quick=True)).aspects
    return aspect


def rated_by_metrics(quality: np.ndarray, **metrics: np.ndarray) -> ng.Dataset:
    """Systems × inputs of human ratings and of each metric."""
    rows = [
        {
            "system": f"s{s}",
            "input": f"i{i}",
            "quality": float(quality[s, i]),
            **{name: float(x[s, i]) for name, x in metrics.items()},
        }
        for s, i in np.ndindex(quality.shape)
    ]
    return ng.load(pl.DataFrame(rows), human=["quality"], metrics=list(metrics))


@pytest.mark.parametrize("seed", range(8))
def test_the_metric_named_as_best_is_first_by_the_quoted_figure(seed: int) -> None:
    """Metrics on coarse and fine scales, which other coefficients order differently; the figure is recomputed."""
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, (8, 20)).astype(float)
    fine = {f"fine{k}": quality + rng.normal(0, 1.5 + 0.3 * k, quality.shape) for k in range(3)}
    coarse = {f"coarse{k}": np.round((quality + rng.normal(0, 1.0, quality.shape)) / (1.5 + k)) for k in range(3)}
    aspect = headline_of(rated_by_metrics(quality, **fine, **coarse))
    accuracy = {name: accuracy_within_inputs(x, quality) for name, x in (fine | coarse).items()}
    best = max(accuracy, key=lambda name: accuracy[name])
    sentence = aspect.sentences[""]
    assert sentence.startswith(
        f"Quality: {best} agrees best with the human ratings: pairwise accuracy {accuracy[best]:.2f} ["
    )
    assert [m.metric for m in aspect.metrics] == sorted(accuracy, key=lambda name: -accuracy[name])
    assert all(m.value == pytest.approx(accuracy[m.metric]) for m in aspect.metrics)


def test_a_lead_over_none_of_the_others_is_said_as_such() -> None:
    rng = np.random.default_rng(2)
    quality = rng.integers(1, 6, (8, 20)).astype(float)
    alike = {f"m{k}": quality + rng.normal(0, 1.5, quality.shape) for k in range(4)}
    aspect = headline_of(rated_by_metrics(quality, **alike))
    assert all(m.may_be_best for m in aspect.metrics)
    assert "It is not significantly better than any of the other 3 metrics." in aspect.sentences[""]


def accuracy_within_inputs(x: np.ndarray, z: np.ndarray) -> float:
    """Mean over the inputs of the share of pairs with unequal ratings that x orders alike; its ties count one half."""
    per_input = []
    for i in range(z.shape[1]):
        pairs = [(a, b) for a in range(len(z)) for b in range(len(z)) if z[a, i] > z[b, i]]
        if pairs:
            per_input.append(np.mean([(np.sign(x[a, i] - x[b, i]) + 1) / 2 for a, b in pairs]))
    return float(np.mean(per_input))


def test_a_leader_by_another_measure_is_named() -> None:
    """tau-b divides out the ties of `steps`, which knows the order but not the neighbors; `fine` knows a little of all."""
    rng = np.random.default_rng(0)
    quality = np.tile(np.arange(1.0, 7.0)[:, None], (2, 24))
    steps = (quality > 3.5).astype(float)
    fine = quality + rng.normal(0, 1.7, quality.shape)
    aspect = headline_of(rated_by_metrics(quality, steps=steps, fine=fine))
    value = {m.metric: m.value for m in aspect.metrics}
    tau = {
        name: np.mean([kendalltau(x[:, i], quality[:, i]).statistic for i in range(24)])
        for name, x in (("steps", steps), ("fine", fine))
    }
    first, other = max(value, key=lambda m: value[m] or 0), max(tau, key=lambda m: tau[m])
    assert first == "fine" and other == "steps", (value, tau)
    assert aspect.sentences[""].startswith(f"Quality: {first} agrees best")
    assert "The leader depends on the measure: steps leads by tau-b" in aspect.sentences[""]


@pytest.mark.parametrize("passes", [0.05, 0.5, 0.95, 1.0])
def test_a_coin_or_a_constant_judge_earns_no_reliable_badge(passes: float) -> None:
    """Always answering "pass" has recall 1 on passes: a badge needs Youden's J above 0, too."""
    rng = np.random.default_rng(3)
    label = rng.random(400) < 0.6
    judge = rng.random(400) < passes
    names = np.array(["fail", "pass"])
    data = ng.load(pl.DataFrame({"id": range(400), "judge": names[judge * 1], "label": names[label * 1]}))
    aspect = headline_of(data)
    badges = [mark.badge for m in aspect.metrics for mark in m.marks.values()]
    assert badges and "reliable" not in badges
    assert "catches failures reliably" not in aspect.sentences[""] and ": reliable." not in aspect.sentences[""]


def test_a_coin_or_a_constant_metric_earns_no_reliable_badge() -> None:
    rng = np.random.default_rng(5)
    quality = np.clip(np.round(rng.normal(3, 1, (10, 40)) + np.linspace(-1, 1, 10)[:, None]), 1, 5)
    coin = rng.integers(0, 2, quality.shape).astype(float)
    constant = np.ones_like(quality)
    constant[0, 0] = 2.0  # a column of one value would not be read as a metric
    aspect = headline_of(
        rated_by_metrics(quality, coin=coin, constant=constant, good=quality + rng.normal(0, 0.2, quality.shape))
    )
    badges = {m.metric: {mark.badge for mark in m.marks.values()} for m in aspect.metrics}
    assert "reliable" not in badges["coin"] | badges["constant"]
    assert badges["good"] == {"reliable"}  # the same data can earn one


def test_a_judge_file_states_recall_on_failures_with_interval_and_count() -> None:
    chosen = select("examples/judged.csv")
    (aspect,) = answer_of(ReportContext(chosen)).aspects
    row = next(r for r in chosen.analyze("verdicts") if r["measure"] == "fail_recall")
    figure = (
        f"recall on failures {row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}] ({row['n']} failures labeled)"
    )
    assert figure in aspect.sentences[""]
    assert row["n"] == chosen.data.ratings.filter(pl.col("value") == 0).height


def test_data_without_metrics_are_answered_with_the_agreement_of_the_annotators_and_the_trials() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for i, trial in np.ndindex(15, 2):
        label = rng.integers(3)
        for annotator in ("ann", "bob", "cyd"):
            value = "abc"[label if rng.random() < 0.8 else rng.integers(3)]
            rows.append(
                {"input": f"i{i}", "trial": trial, "output": f"{i} {trial}", "annotator": annotator} | {"safety": value}
            )
    data = ng.load(pl.DataFrame(rows), human=["safety"])
    answer = answer_of(ReportContext(Session(data), quick=True))
    alpha = ng.agreement(data).rows[0]
    figure = f"{alpha['value']:.2f} [{alpha['low']:.2f}, {alpha['high']:.2f}]"
    assert f"safety: inter-annotator agreement, Krippendorff's alpha (nominal): {figure}." in answer.warnings
    assert answer.evaluated.startswith("30 outputs of 1 system for 15 inputs × 2 trials")
