"""What a metric is good for: three probabilities, each equal to a direct count."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from nlgauge.analyses.agreement.uses import uses
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.stats.correlation.uses import choose_right, flag_right, rank_right


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
    once = np.ones((1, 6)), np.ones((1, 30))
    counted = [
        half(metric[a, j] - metric[b, j], human[a, j] - human[b, j])
        for j in range(30)
        for a, b in combinations(range(6), 2)
        if np.isfinite(metric[[a, b], j] + human[[a, b], j]).all() and human[a, j] != human[b, j]
    ]
    assert choose_right(metric, human, *once)[0] == pytest.approx(np.mean(counted))
    both = np.isfinite(metric + human)
    m, h = (np.array([v[i][both[i]].mean() for i in range(6)]) for v in (metric, human))
    systems = [half(m[a] - m[b], h[a] - h[b]) for a, b in combinations(range(6), 2) if h[a] != h[b]]
    assert rank_right(metric, human, *once)[0] == pytest.approx(np.mean(systems))
    bad = human < 2.3
    area = roc_auc_score(bad[both], -metric[both])
    assert flag_right(metric, bad, human, *once)[0] == pytest.approx(area)


def test_weights_count_systems_and_inputs_as_often_as_they_are_given() -> None:
    metric, human = arrays(7)
    systems, drawn = np.array([0, 2, 3, 5]), np.array([3, 3, 5, 7, 7, 7])
    weights = (
        np.bincount(systems, minlength=6)[None].astype(float),
        np.bincount(drawn, minlength=30)[None].astype(float),
    )
    again = [v[np.ix_(systems, drawn)] for v in (metric, human)]
    once = np.ones((1, len(systems))), np.ones((1, len(drawn)))
    bad = human < 2.3
    assert choose_right(metric, human, *weights) == pytest.approx(choose_right(*again, *once))
    assert rank_right(metric, human, *weights) == pytest.approx(rank_right(*again, *once))
    assert flag_right(metric, bad, human, *weights) == pytest.approx(
        flag_right(again[0], bad[np.ix_(systems, drawn)], again[1], *once)
    )


def made(human: np.ndarray, **metrics: np.ndarray) -> Dataset:
    keys = [(f"s{i}", f"i{j}") for i in range(human.shape[0]) for j in range(human.shape[1])]
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row")
    rated = samples.with_columns(aspect=pl.lit("q"), rater=pl.lit(None, pl.String), value=pl.Series(human.ravel()))
    scores = samples.with_columns(**{n: pl.Series(v.ravel()).fill_nan(None) for n, v in metrics.items()})
    return Dataset.of("made", samples, ratings=rated.select(list(Dataset.RATINGS)), scores=scores, lower=["turned"])


def rated(systems: int, inputs: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(np.round(3 + rng.normal(0, 1, (systems, 1)) + rng.normal(0, 1, (systems, inputs))), 1, 5)


def test_perfect_is_good_random_is_never_usable_and_lower_is_better_is_turned() -> None:
    human = rated(12, 40)
    noise = np.random.default_rng(5).random(human.shape)
    table = uses(made(human, perfect=human, turned=-human, noise=noise).panel())
    at = {(r["metric"], r["use"]): r for r in table}
    for use in ("rank systems", "choose of two", "flag bad"):
        assert at["perfect", use]["verdict"] == at["turned", use]["verdict"] == "good"
        assert at["perfect", use]["value"] == at["turned", use]["value"] == 1.0
        assert at["perfect", use]["low"] < 1.0
        assert at["noise", use]["verdict"] in ("not", "cannot tell")
    assert at["noise", "choose of two"]["verdict"] == "not"
    assert table.rows[0]["metric"] in ("perfect", "turned")


def test_two_by_two_outputs_carry_no_interval_and_no_verdict() -> None:
    human = np.array([[1.0, 2.0], [4.0, 5.0]])
    table = uses(made(human, perfect=human).panel())
    assert {r["verdict"] for r in table if np.isfinite(r["value"])} == {"cannot tell"}
    assert all(np.isnan(r["low"]) and np.isnan(r["high"]) for r in table)
    assert any("at least 10 inputs; here are 2" in note for note in table.notes)
    assert any("at least 6 systems; here are 2" in note for note in table.notes)


def test_three_systems_are_spoken_of_as_these_three_only() -> None:
    human = rated(3, 40)
    table = uses(made(human, m=human + np.random.default_rng(2).normal(0, 1, human.shape)).panel())
    at = {r["use"]: r for r in table}
    assert at["rank systems"]["verdict"] == "cannot tell"
    assert "at least 6 systems" in at["rank systems"]["reason"]
    assert np.isfinite(at["choose of two"]["low"])
    assert any("cannot speak of other systems" in note for note in table.notes)


@pytest.mark.parametrize("limits", [{"usable": 0.8, "good": 0.7}, {"usable": 0.4}])
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float]) -> None:
    human = rated(6, 12)
    with pytest.raises(NlgaugeError, match="limits must be"):
        uses(made(human, m=human).panel(), **limits)


def test_one_system_leaves_only_flagging_and_says_so() -> None:
    human = np.arange(1.0, 21.0)[None] % 5
    table = uses(made(human, m=human).panel())
    assert {r["use"] for r in table} == {"flag bad"}
    assert sum("not given" in note for note in table.notes) == 2


def test_equal_ratings_everywhere_are_refused() -> None:
    with pytest.raises(NeedsMissing, match="differently"):
        uses(made(np.ones((3, 4)), m=np.arange(12.0).reshape(3, 4)).panel())
