"""The best of k: the honest interval holds where the plain one does not."""

from __future__ import annotations

import numpy as np
import pytest
from bench.best_of import rates

from nlgauge.stats.resampling.best_of import best_correlation, best_verdicts, choose


def test_the_honest_interval_holds_where_the_plain_one_does_not() -> None:
    found = rates(20, 300, "all equal", "little", trials=120)
    assert found["honest"] > 0.92 and found["plain"] < 0.88 and found["above"] > 0.03


def test_a_winner_far_ahead_pays_next_to_nothing() -> None:
    found = rates(10, 300, "one far ahead", "much", trials=60)
    assert 1.0 < found["longer"] < 1.1


@pytest.mark.parametrize("k", [2, 5, 20])
def test_more_rivals_ask_for_a_stricter_level(k: int) -> None:
    fewer, more = (choose(np.full(n, 0.8), np.eye(n) * 0.04**2).level for n in (k - 1, k))
    assert more > fewer
    assert choose(np.full(k, 0.8), np.full((k, k), 0.04**2) + np.eye(k) * 1e-9).level == pytest.approx(0.95, abs=0.01)


def test_rows_of_one_cluster_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    people = np.repeat(rng.random(50) < 0.5, 4)
    judges = np.stack([np.where(np.repeat(rng.random(50) < 0.85, 4), people, ~people) for _ in range(3)])
    alone = best_verdicts(people, judges, "kappa")
    grouped = best_verdicts(people, judges, "kappa", np.repeat(np.arange(50), 4))
    assert grouped.chosen.best == alone.chosen.best and grouped.honest.low < alone.honest.low


def test_correlations_pay_too() -> None:
    rng = np.random.default_rng(3)
    z = rng.standard_normal((1, 80))
    found = best_correlation(z + rng.standard_normal((6, 1, 80)), z, "global/pearson")
    assert found.honest.low < found.own.low < found.own.value < found.own.high == found.honest.high
