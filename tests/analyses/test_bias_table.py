"""`nlgauge bias`: planted defects are found, clean judges are not blamed for people's taste, few labels tell nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.bias import CLEAN, DEFECTS, BiasWorld, drawn

import nlgauge as ng
from command import run_command
from nlgauge.analyses.judges.bias import SENTENCES, bias
from nlgauge.data.export import export
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.estimation.judge_bias import Ratings, feature_effects, rater_products

FAMILY = {"gpt-*": "judge"}


def found(world: BiasWorld, n: int = 600, seeds: int = 4) -> list[set[str]]:
    """The checks that found something, in each of some data sets."""
    tables = [bias(drawn(world, n, np.random.default_rng(seed)), family=FAMILY) for seed in range(seeds)]
    return [{row["measure"] for row in table if row["verdict"] == "found"} for table in tables]


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_planted_defect_is_found_and_others_are_not(defect: str) -> None:
    sets = found(DEFECTS[defect])
    assert all(defect in each for each in sets)
    assert sum(each != {defect} for each in sets) <= 1


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_judge_is_rarely_blamed(name: str) -> None:
    assert sum(bool(each) for each in found(CLEAN[name])) <= 1


def test_peoples_own_taste_is_no_bias_even_if_their_ratings_are_noisy() -> None:
    """A plain partial regression on noisy ratings blames the judge; here it is a judge that follows people exactly."""
    world = replace(BiasWorld(), taste=0.6, rater_noise=1.2, noise=0.3, rounded=False)
    shares = []
    for seed in range(20):
        data = drawn(world, 600, np.random.default_rng(seed))
        rows = {(r["aspect"], r["measure"]): r for r in bias(data, metrics=["judge-helpful"])}
        row = rows["helpful", "length"]
        assert row["judge"] > 0.3  # it does score longer outputs higher
        shares.append(row["low"] <= 0 <= row["high"])
    assert sum(shares) >= 17


def test_with_reliability_one_the_bias_is_the_coefficient_of_least_squares_and_its_error_a_plain_jackknife() -> None:
    rng = np.random.default_rng(0)
    n = 240
    clusters = np.repeat(np.arange(80), 3)
    features = np.column_stack([rng.normal(size=n), rng.random(n) < 0.4])
    people = rng.normal(size=n) + features @ [0.3, 0.2]
    judge = 0.7 * people + features @ [0.2, 0.0] + rng.normal(size=n)
    effects = feature_effects(Ratings(judge, people, np.full(n, np.nan), clusters), features, reliability=1.0)

    def slopes(rows: np.ndarray) -> np.ndarray:
        design = np.column_stack([np.ones(rows.sum()), features[rows], people[rows]])
        return np.linalg.lstsq(design, judge[rows] / judge.std(), rcond=None)[0][1:3]

    left = np.array([slopes(clusters != c) for c in range(80)])
    errors = np.sqrt(79 / 80 * ((left - left.mean(axis=0)) ** 2).sum(axis=0))
    assert [e.value for e in effects] == pytest.approx(slopes(np.ones(n, bool)))
    assert [e.se[2] for e in effects] == pytest.approx(errors)


def test_products_of_two_raters_are_means_over_pairs() -> None:
    cube = np.array([[1.0, 2.0, np.nan], [3.0, np.nan, np.nan], [5.0, 4.0, 2.0]])
    assert rater_products(cube) == pytest.approx([(3 + 5 + 15) / 3, 8.0, np.nan], nan_ok=True)


def test_single_ratings_leave_open_what_a_known_reliability_closes() -> None:
    data = drawn(replace(DEFECTS["length"], raters=1), 600, np.random.default_rng(1))
    open_, closed = (
        {(r["aspect"], r["measure"]): r for r in bias(data, reliability=given)}["helpful", "length"]
        for given in (None, 0.6)
    )
    assert open_["low"] < closed["low"] <= closed["high"] <= open_["high"] + 1e-9
    assert closed["verdict"] == "found"


def test_few_labels_tell_nothing_and_what_is_needed_is_said() -> None:
    table = bias(drawn(DEFECTS["length"], 40, np.random.default_rng(0)), family=FAMILY)
    assert {row["verdict"] for row in table} == {"inconclusive"}
    assert all("requires" in row["reason"] for row in table)
    assert table.answers == ["judge: too few labels to test for biases."]


def test_every_check_has_a_sentence_for_what_it_finds() -> None:
    table = bias(drawn(DEFECTS["leniency"], 600, np.random.default_rng(3)))
    assert any(SENTENCES["leniency"][0] in line for line in table.answers)
    assert set(DEFECTS) <= set(SENTENCES)


def test_only_systems_that_match_are_of_the_family_and_a_wrong_judge_is_named() -> None:
    data = drawn(CLEAN["two raters"], 200, np.random.default_rng(0))
    assert any(r["measure"] == "family" for r in ng.analyze("bias", data, family="gpt-*=judge"))
    with pytest.raises(NameUnknown, match="judge 'gpt-4' not found; the data have judge"):
        ng.analyze("bias", data, family="gpt-*=gpt-4")
    with pytest.raises(NameUnknown, match="expected SYSTEMS=JUDGE"):
        ng.analyze("bias", data, family="gpt")


def test_without_scores_or_ratings_one_line_says_what_is_missing() -> None:
    data = drawn(CLEAN["two raters"], 100, np.random.default_rng(0))
    bare = ng.Dataset.of("bare", data.samples)
    with pytest.raises(NeedsMissing, match=r"require scores \(or comparisons\) of a judge and human ratings"):
        ng.analyze("bias", bare)


def test_the_command_prints_what_the_function_says(tmp_path: Path) -> None:
    import json

    data = drawn(DEFECTS["length"], 300, np.random.default_rng(0))
    path = tmp_path / "judged.jsonl"
    export(data, path)
    done = run_command("analyze", "bias", path, "--family", "gpt-*=judge", "-f", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["tables"][0]["rows"]
    assert {(r["aspect"], r["measure"]) for r in rows if r["verdict"] == "found"} >= {("helpful", "length")}


def test_a_family_nobody_is_of_is_answered_and_a_check_that_cannot_tell_says_what_it_needs() -> None:
    data = drawn(BiasWorld(), 100, np.random.default_rng(0))
    with pytest.raises(NameUnknown, match=r"no system matches 'claude-\*'; the data have gpt-3 and llama-2"):
        bias(data, family={"claude-*": "judge"})
    few = ng.load(
        [{"id": k, "output": f"text {k}", "human": k % 5, "judge": (k + k % 2) % 5} for k in range(12)],
        human=["human"],
        metrics=["judge"],
    )
    table = ng.analyze("bias", few)
    assert any(
        note.startswith("inconclusive: length bias of judge, human") and "at least 30 inputs" in note
        for note in table.notes
    )
