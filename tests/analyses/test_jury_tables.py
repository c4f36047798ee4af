"""Panels of judges: votes, a choice that is tested elsewhere, correlated errors."""

from __future__ import annotations

import numpy as np
import pytest
from bench.jury import COPIES, called_better, coverage, rows_of

import nlgauge as ng
from nlgauge.errors import NlgaugeError
from nlgauge.stats.agreement.dawid_skene import dawid_skene
from nlgauge.stats.agreement.jury import FOLDS, choose, errors_alike

JUDGES = [f"judge_{j}" for j in range(5)]


def verdicts(n: int = 300, right: float = 0.8, shared: float = 0.0, seed: int = 0) -> ng.Dataset:
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        same, label = rng.random() < shared, int(rng.random() < 0.5)
        together = rng.random() < right
        row = {"id": k, "label": label}
        for name in JUDGES:
            row[name] = label if (together if same else rng.random() < right) else 1 - label
        rows.append(row)
    return ng.load(rows, human=["label"], metrics=JUDGES)


def scores(seed: int = 0) -> ng.Dataset:
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(40):
        for s in range(6):
            quality = rng.normal() + 0.3 * s
            row = {"system": f"s{s}", "input": i, "quality": quality}
            rows.append(row | {f"judge_{j}": quality + rng.normal() * (0.5 + j) for j in range(3)})
    return ng.load(rows, human=["quality"], metrics=JUDGES[:3])


def by_vote(table: ng.Table) -> dict[str, dict[str, object]]:
    return {row["vote"]: row for row in table if row["size"] > 1}


def test_five_judges_that_err_alone_are_better_than_one() -> None:
    found = by_vote(ng.analyze("jury", verdicts()))
    assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys(
        ("majority", "dawid-skene", "mace", "chosen"), "better"
    )
    assert found["chosen"]["difference_low"] > 0


def test_five_judges_that_err_together_are_not_called_better() -> None:
    assert {row["verdict"] for row in by_vote(ng.analyze("jury", verdicts(shared=1.0))).values()} == {"inconclusive"}


def test_the_budget_holds_and_costs_are_those_given() -> None:
    cost = {name: 1.0 + j for j, name in enumerate(JUDGES)}
    row = by_vote(ng.analyze("jury", verdicts(), cost=cost, budget=6))["chosen"]
    assert set(row["judges"].split(" + ")) == {"judge_0", "judge_1", "judge_2"} and row["cost"] == 6
    none = ng.analyze("jury", verdicts(), cost=cost, budget=3)
    assert "chosen" not in by_vote(none) and "no panel of three" in " ".join(none.notes)


def test_costs_are_read_from_columns_beside_the_scores() -> None:
    data = verdicts()
    for j, name in enumerate(JUDGES):
        data.samples.insert_column(
            0, (data.samples["input"].cast(str).str.len_chars() * 0 + j).cast(float).alias(f"{name} cost")
        )
    assert ng.analyze("jury", data).facts["costs"]["judge_4"] == 4 * 300


def test_scores_get_a_mean_and_weights_and_the_chosen_panel_a_value_of_other_rows() -> None:
    found = by_vote(ng.analyze("jury", scores(), measure="global/pearson"))
    assert set(found) == {"mean", "weighted", "chosen"}
    assert found["weighted"]["value"] > found["mean"]["value"]  # the third judge is mostly noise


def test_a_panel_is_chosen_without_the_rows_that_test_it() -> None:
    """Juries of pure noise: the one that looks best where it is chosen reaches nothing where it is tested."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(400, 100))  # juries × clusters
    chosen = choose(lambda kept: quality[:, kept].mean(axis=1), 100, np.zeros(400), rng)
    inside = quality[chosen.jury].mean()
    outside = np.mean([quality[chosen.in_folds[f], chosen.fold == f].mean() for f in range(FOLDS)])
    assert inside > 0.25 and outside < 0.15


def test_wrong_costs_and_too_few_rows_are_one_clear_line() -> None:
    data = verdicts()
    for options, said in (
        ({"cost": "gpt=1"}, "judge 'gpt' not found"),
        ({"cost": "judge_0=1"}, "the cost of judge_.*judge_1.* is missing"),
        ({"cost": "judge_0=x"}, "expected JUDGE=COST"),
        ({"measure": "input/kendall"}, "of verdicts must be one of"),
    ):
        with pytest.raises(NlgaugeError, match=said):
            ng.analyze("jury", data, **options)
    with pytest.raises(NlgaugeError, match="30 labeled outputs"):
        ng.analyze("jury", verdicts(20))


def test_correlation_of_errors_is_found_and_gives_the_effective_number() -> None:
    table = ng.analyze("jury-errors", verdicts(1000, shared=0.5))
    rows = {row["measure"]: row for row in table}
    mean, number = rows["mean_error_correlation"], rows["effective_judges"]
    assert mean["low"] < 0.5 < mean["high"]
    assert number["value"] == pytest.approx(5 / (1 + 4 * mean["value"]))


def test_partial_correlations_are_those_of_residuals() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=200)
    x = y + rng.normal(size=(3, 200))
    rest = [v - np.polyval(np.polyfit(y, v, 1), y) for v in x]
    np.testing.assert_allclose(errors_alike(y, x, np.arange(200)).value, np.corrcoef(rest), atol=1e-9)


def test_dawid_skene_equals_crowd_kit() -> None:
    aggregation = pytest.importorskip("crowdkit.aggregation")
    import pandas as pd

    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 150)
    ratings = np.where(rng.random((5, 150)) < np.linspace(0.9, 0.5, 5)[:, None], truth, rng.integers(0, 3, (5, 150)))
    frame = pd.DataFrame(
        [(f"w{r}", u, ratings[r, u]) for r in range(5) for u in range(150)], columns=["worker", "task", "label"]
    )
    theirs = aggregation.DawidSkene(n_iter=200).fit(frame).probas_.sort_index()[[0, 1, 2]].to_numpy()
    ours = dawid_skene(ratings)
    assert (ours.consensus == theirs.argmax(axis=1)).mean() > 0.98
    assert np.abs(ours.posterior - theirs).mean() < 0.02


def test_no_panel_is_called_better_where_none_is_and_intervals_hold() -> None:
    said = [called_better(rows_of("scores", COPIES, 100, np.random.default_rng([3, k])), k)[1] for k in range(60)]
    assert np.mean(said) <= 0.1
    assert coverage("verdicts", "five that err half together", 100, 100)[4] >= 0.88
