"""What a metric is good for: three probabilities, each equal to a direct count."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from nlgauge.analyses.uses import uses
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.stats.uses import choose_right, flag_right, rank_right


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
    once = np.ones((1, 30))
    counted = [
        half(metric[a, j] - metric[b, j], human[a, j] - human[b, j])
        for j in range(30)
        for a, b in combinations(range(6), 2)
        if np.isfinite(metric[[a, b], j] + human[[a, b], j]).all() and human[a, j] != human[b, j]
    ]
    assert choose_right(metric, human, once)[0] == pytest.approx(np.mean(counted))
    both = np.isfinite(metric + human)
    m, h = (np.array([v[i][both[i]].mean() for i in range(6)]) for v in (metric, human))
    systems = [half(m[a] - m[b], h[a] - h[b]) for a, b in combinations(range(6), 2) if h[a] != h[b]]
    assert rank_right(metric, human, once)[0] == pytest.approx(np.mean(systems))
    bad = human < 2.3
    area = roc_auc_score(bad[both], -metric[both])
    assert flag_right(metric, bad, human, once)[0] == pytest.approx(area)


def test_weights_count_inputs_as_often_as_they_were_drawn() -> None:
    metric, human = arrays(7)
    drawn = np.array([3, 3, 5, 7, 7, 7])
    times = np.bincount(drawn, minlength=30)[None].astype(float)
    again = (metric[:, drawn], human[:, drawn])
    once = np.ones((1, len(drawn)))
    bad = human < 2.3
    assert choose_right(metric, human, times) == pytest.approx(choose_right(*again, once))
    assert rank_right(metric, human, times) == pytest.approx(rank_right(*again, once))
    assert flag_right(metric, bad, human, times) == pytest.approx(
        flag_right(again[0], bad[:, drawn], again[1], once)
    )


def made(human: np.ndarray, **metrics: np.ndarray) -> Dataset:
    keys = [(f"s{i}", f"i{j}") for i in range(human.shape[0]) for j in range(human.shape[1])]
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row")
    rated = samples.with_columns(
        aspect=pl.lit("q"), rater=pl.lit(None, pl.String), value=pl.Series(human.ravel())
    )
    scores = samples.with_columns(**{n: pl.Series(v.ravel()).fill_nan(None) for n, v in metrics.items()})
    return Dataset.of(
        "made", samples, ratings=rated.select(list(Dataset.RATINGS)), scores=scores, lower=["turned"]
    )


def test_perfect_is_yes_random_is_no_and_lower_is_better_is_turned() -> None:
    _, human = arrays(1, missing=False)
    noise = np.random.default_rng(5).random(human.shape)
    table = uses(made(human, perfect=human, turned=-human, noise=noise).panel())
    at = {(r["metric"], r["use"]): r for r in table}
    for use in ("choose of two", "flag bad"):
        assert at["perfect", use]["verdict"] == at["turned", use]["verdict"] == "yes"
        assert at["perfect", use]["value"] == at["turned", use]["value"] == 1.0
        assert at["noise", use]["verdict"] == "no"
    assert table.rows[0]["metric"] in ("perfect", "turned")


def test_one_system_leaves_only_flagging_and_says_so() -> None:
    human = np.arange(1.0, 21.0)[None] % 5
    table = uses(made(human, m=human).panel())
    assert {r["use"] for r in table} == {"flag bad"}
    assert sum("not given" in note for note in table.notes) == 2


def test_equal_ratings_everywhere_are_refused() -> None:
    with pytest.raises(NeedsMissing, match="differently"):
        uses(made(np.ones((3, 4)), m=np.arange(12.0).reshape(3, 4)).panel())
