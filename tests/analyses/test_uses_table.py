"""For what use a metric is reliable: three shares, each equal to a direct count, and badges that they support."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from nlgauge.analyses.agreement.uses import uses
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.stats.correlation.uses import bad_areas


def arrays(seed: int, missing: bool = True) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, (6, 30)).astype(float)
    metric = np.round(human + rng.normal(0, 1.5, human.shape))
    if missing:
        metric[rng.random(human.shape) < 0.1] = np.nan
        human[rng.random(human.shape) < 0.1] = np.nan
    return metric, human


def half(m: float, h: float) -> float:
    return 0.5 if m == 0 else float((m > 0) == (h > 0))


@pytest.mark.parametrize("seed", range(5))
def test_each_use_equals_a_direct_count(seed: int) -> None:
    metric, human = arrays(seed)
    at = {r["use"]: r for r in uses(made(human, m=metric).panel())}
    shares = []
    for j in range(30):
        counted = [
            half(metric[a, j] - metric[b, j], human[a, j] - human[b, j])
            for a, b in combinations(range(6), 2)
            if np.isfinite(metric[[a, b], j] + human[[a, b], j]).all() and human[a, j] != human[b, j]
        ]
        shares += [np.mean(counted)] if counted else []
    assert at["pairwise"]["value"] == pytest.approx(np.mean(shares))
    both = np.isfinite(metric + human)
    m, h = (np.array([v[i][both[i]].mean() for i in range(6)]) for v in (metric, human))
    systems = [half(m[a] - m[b], h[a] - h[b]) for a, b in combinations(range(6), 2) if h[a] != h[b]]
    assert at["rank systems"]["value"] == pytest.approx(np.mean(systems))
    bad = human < 1 + 4 / 3  # the lowest third of the scale
    assert at["flag"]["value"] == pytest.approx(roc_auc_score(bad[both], -metric[both]))
    assert (at["flag"]["positives"], at["flag"]["positive_systems"]) == (int((bad & both).sum()), 6)


@pytest.mark.parametrize("seed", range(3))
def test_areas_without_a_unit_are_those_of_the_other_outputs(seed: int) -> None:
    metric, human = arrays(seed)
    bad, both = human < 2.3, np.isfinite(metric + human)
    clusters, families, outputs = np.arange(30) // 4, np.array([0, 0, 1, 2, 3, 3]), np.arange(180).reshape(6, 30) % 7
    whole, *areas = bad_areas(metric, bad, human, clusters[None, :], families[:, None], outputs)
    assert whole[0] == pytest.approx(roc_auc_score(bad[both], -metric[both]))
    for labels, without in zip((clusters[None, :], families[:, None], outputs), areas, strict=True):
        unit = np.broadcast_to(labels, human.shape)
        left = [both & (unit != k) for k in range(unit.max() + 1)]
        assert without == pytest.approx([roc_auc_score(bad[rest], -metric[rest]) for rest in left], abs=1e-14)


def test_without_bad_outputs_or_scores_there_is_no_area() -> None:
    metric, human = arrays(0)
    unit = np.arange(30)[None, :]
    for bad, scores in ((human < 0, metric), (human < 2.3, np.full(human.shape, np.nan))):
        assert all(np.isnan(areas).all() for areas in bad_areas(scores, bad, human, unit))


def made(human: np.ndarray, length: np.ndarray | None = None, **metrics: np.ndarray) -> Dataset:
    """Data with these scores; `length` is the number of words of each output."""
    keys = [(f"s{i}", f"i{j}") for i in range(human.shape[0]) for j in range(human.shape[1])]
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row")
    rated = samples.with_columns(
        aspect=pl.lit("q"), rater=pl.lit(None, pl.String), value=pl.Series(human.ravel()).fill_nan(None)
    ).drop_nulls("value")
    scores = samples.with_columns(**{n: pl.Series(v.ravel()).fill_nan(None) for n, v in metrics.items()})
    if length is not None:
        samples = samples.with_columns(output=pl.Series([" ".join(["word"] * int(n)) for n in length.ravel()]))
    return Dataset.of("made", samples, ratings=rated.select(list(Dataset.RATINGS)), scores=scores, lower=["turned"])


def rated(systems: int, inputs: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(np.round(3 + rng.normal(0, 1, (systems, 1)) + rng.normal(0, 1, (systems, inputs))), 1, 5)


def test_perfect_is_reliable_random_never_is_and_lower_is_better_is_flipped() -> None:
    human = rated(12, 40)
    noise = np.random.default_rng(5).random(human.shape)
    table = uses(made(human, perfect=human, turned=-human, noise=noise).panel())
    at = {(r["metric"], r["use"]): r for r in table}
    for use in ("rank systems", "pairwise", "flag"):
        assert at["perfect", use]["badge"] == at["turned", use]["badge"] == "reliable"
        assert at["perfect", use]["value"] == at["turned", use]["value"] == pytest.approx(1.0)
        assert 0.75 <= at["perfect", use]["low"] < 1.0
        assert at["perfect", use]["advantage_low"] > 0
        assert at["noise", use]["badge"] in ("not reliable", "inconclusive")
    assert at["noise", "pairwise"]["badge"] == at["noise", "flag"]["badge"] == "not reliable"
    assert table.rows[0]["metric"] in ("perfect", "turned")


def test_a_limit_that_the_interval_contains_is_inconclusive() -> None:
    human = rated(12, 40, seed=2)
    panel = made(human, m=human + np.random.default_rng(2).normal(0, 1, human.shape)).panel()
    assert uses(panel).facts["outlying"] == []
    row = next(r for r in uses(panel) if r["use"] == "pairwise")
    badges = [
        next(r["badge"] for r in uses(panel, limit=limit) if r["use"] == "pairwise")
        for limit in (row["low"] - 0.01, (row["low"] + row["high"]) / 2, row["high"] + 0.01)
    ]
    assert badges == ["reliable", "inconclusive", "not reliable"]


def test_a_metric_that_only_follows_the_length_is_not_reliable_however_high_its_share() -> None:
    """Longer outputs are better here: a metric that counts words reaches any limit and knows no more than length."""
    human = rated(12, 40)
    length = np.round(20 + 5 * human + np.random.default_rng(4).normal(0, 2, human.shape))
    panel = made(human, length=length, words=length, judge=human).panel()
    at = {(r["metric"], r["use"]): r for r in uses(panel)}
    for use in ("pairwise", "flag"):
        row = at["words", use]
        assert row["low"] > 0.75  # the share alone would be called reliable
        assert (row["baseline"], row["baseline_value"]) == ("output length", pytest.approx(row["value"]))
        assert row["advantage_low"] <= 0 <= row["advantage_high"] + 1e-12
        assert row["badge"] == "not reliable"
        assert at["judge", use]["badge"] == "reliable"
    without = {(r["metric"], r["use"]): r for r in uses(made(human, words=length, judge=human).panel())}
    assert without["words", "pairwise"]["badge"] == "reliable"  # no texts, no such baseline
    assert without["words", "pairwise"]["baseline"] == "constant"


def test_flagging_by_the_input_alone_is_not_reliable() -> None:
    """Some inputs are hard for every system: a metric that knows the input and nothing about the output flags them."""
    rng = np.random.default_rng(8)
    hard = rng.random((1, 60)) < 0.4
    human = np.where(hard, 1.0, 4.0) + (rng.random((8, 60)) < 0.3)
    known = np.where(hard, 0.0, 1.0) + rng.normal(0, 0.1, (1, 60))
    panel = made(human, input_only=np.repeat(known, 8, axis=0), judge=human + rng.normal(0, 0.3, human.shape)).panel()
    at = {(r["metric"], r["use"]): r for r in uses(panel)}
    assert at["input_only", "flag"]["low"] > 0.75
    assert at["input_only", "flag"]["badge"] == "not reliable"
    assert at["input_only", "pairwise"]["value"] == pytest.approx(0.5)


def test_systems_that_are_outliers_cannot_carry_a_badge() -> None:
    """Ten systems are nearly equal and the metric is noise on them; three are far worse, and any metric notices."""
    rng = np.random.default_rng(3)
    human = 4.0 + (rng.random((13, 200)) < 0.08)
    human[:3] = 1.0 + (rng.random((3, 200)) < 0.1)
    metric = rng.normal(0, 1, human.shape)
    metric[:3] -= 20
    table = uses(made(human, m=metric, perfect=human).panel())
    at = {(r["metric"], r["use"]): r for r in table}
    assert sorted(table.facts["outlying"]) == ["s0", "s1", "s2"]
    assert at["m", "pairwise"]["low"] > 0.75
    assert at["m", "pairwise"]["advantage_low"] > 0
    assert at["m", "pairwise"]["badge"] == "inconclusive"
    assert at["perfect", "pairwise"]["badge"] == "reliable"
    others = {(r["metric"], r["use"]): r for r in uses(made(human[3:], m=metric[3:], perfect=human[3:]).panel())}
    assert at["m", "pairwise"]["without_outliers"] == pytest.approx(others["m", "pairwise"]["value"])
    assert any("is an outlier: a badge that changes without it" in note for note in table.notes)


def test_few_bad_outputs_or_bad_outputs_of_few_systems_give_no_badge_for_flagging() -> None:
    rng = np.random.default_rng(6)
    good = 4.0 + (rng.random((8, 40)) < 0.5)
    few, two = good.copy(), good.copy()
    few[np.arange(8), np.arange(8)] = 1.0
    few[0, 20] = 1.0
    two[0, :10], two[1, :10] = 1.0, 1.0
    for human, words, counts in (
        (few, "at least 10 bad outputs; here are 9", (9, 8)),
        (two, "at least 3 systems; here are 2", (20, 2)),
    ):
        row = next(r for r in uses(made(human, m=human).panel()) if r["use"] == "flag")
        assert (row["value"], row["badge"]) == (1.0, None)
        assert np.isnan([row["low"], row["high"], row["advantage_low"], row["advantage_high"]]).all()
        assert words in row["reason"]
        assert (row["positives"], row["positive_systems"]) == counts


def test_intervals_hold_for_all_metrics_together() -> None:
    human = rated(12, 40)
    rng = np.random.default_rng(9)
    metrics = {f"m{k}": human + rng.normal(0, 2, human.shape) for k in range(6)}
    many = {(r["metric"], r["use"]): r for r in uses(made(human, **metrics).panel())}
    for row in uses(made(human, m0=metrics["m0"]).panel()):
        wide = many["m0", row["use"]]
        assert wide["value"] == pytest.approx(row["value"])
        assert wide["low"] < row["low"]
        assert wide["high"] >= row["high"]


def test_two_by_two_outputs_carry_no_interval_and_no_badge() -> None:
    human = np.array([[1.0, 2.0], [4.0, 5.0]])
    table = uses(made(human, perfect=human).panel())
    assert {r["badge"] for r in table} == {None}
    assert all(np.isnan(r["low"]) and np.isnan(r["high"]) for r in table)
    assert any("at least 10 inputs; here are 2" in note for note in table.notes)
    assert any("at least 10 bad outputs; here are" in note for note in table.notes)


def test_three_systems_are_spoken_of_as_these_three_only() -> None:
    human = rated(3, 40)
    table = uses(made(human, m=human + np.random.default_rng(2).normal(0, 1, human.shape)).panel())
    at = {r["use"]: r for r in table}
    assert at["rank systems"]["badge"] is None
    assert at["rank systems"]["reason"]
    assert np.isfinite(at["pairwise"]["low"])
    assert at["pairwise"]["badge"] is not None
    assert "With fewer than 6 systems, results do not generalize to other systems." in table.notes


@pytest.mark.parametrize("limit", [0.4, 1.2])
def test_limits_that_make_no_sense_are_refused(limit: float) -> None:
    human = rated(6, 12)
    with pytest.raises(NlgaugeError, match=r"limit= must be between 0\.5 and 1"):
        uses(made(human, m=human).panel(), limit=limit)


def test_one_system_leaves_only_flagging_and_says_so() -> None:
    human = np.arange(1.0, 21.0)[None] % 5
    table = uses(made(human, m=human).panel())
    assert {r["use"] for r in table} == {"flag"}
    assert sum("no pairs with different" in note for note in table.notes) == 2


def test_equal_ratings_everywhere_are_refused() -> None:
    with pytest.raises(NeedsMissing, match="human ratings do not differ"):
        uses(made(np.ones((3, 4)), m=np.arange(12.0).reshape(3, 4)).panel())
