"""Intervals of shares from few labels: against Jeffreys' interval of a count, and where nothing rare was seen."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate
from nlgauge.stats.estimation.shares import OneMore, share_interval


@pytest.mark.parametrize("passes", [1, 4, 30])
def test_a_rare_verdict_has_the_interval_of_jeffreys_for_a_count(passes: int) -> None:
    n = 20_000
    share = passes / n
    influence = (np.repeat([1.0, 0.0], [passes, n - passes]) - share) / n
    more = OneMore(1 / n, 1 / n, (1 - share) / n, share / n)
    found = share_interval(share, influence, more, more, 0.025, count=False, tuned=False, equal_tails=True)
    wanted = stats.gamma(passes + 0.5).ppf([0.025, 0.975]) / n
    assert np.allclose([found.low, found.high], wanted, rtol=5e-3)
    assert found.worth == pytest.approx(n, rel=1e-3)


@pytest.mark.parametrize("passes", [150, 400, 500])
def test_many_labels_have_the_interval_of_jeffreys_for_a_share(passes: int) -> None:
    n, share = 1000, passes / 1000
    influence = (np.repeat([1.0, 0.0], [passes, n - passes]) - share) / n
    more = OneMore(1 / n, 1 / n, (1 - share) / n, share / n)
    found = share_interval(share, influence, more, more, 0.025, count=False, tuned=False, equal_tails=True)
    wanted = stats.beta(passes + 0.5, n - passes + 0.5).ppf([0.025, 0.975])
    assert np.allclose([found.low, found.high], wanted, atol=5e-4)


@pytest.mark.parametrize(("up", "down"), [(0, 0), (0, 1), (3, 0), (2, 2), (20, 3)])
def test_few_errors_of_two_kinds_have_the_quantiles_of_jeffreys_for_both(up: int, down: int) -> None:
    """Against draws of the two counts' gamma distributions, of which the ends are an approximation."""
    n = 20_000
    influence = np.repeat([1.0, -1.0, 0.0], [up, down, n - up - down]) / n
    more = OneMore(1 / n, 1 / n, 1 / n, 1 / n)
    share = 0.5 + (up - down) / n
    found = share_interval(share, influence, more, more, 0.025, count=False, tuned=False, equal_tails=True)
    rng = np.random.default_rng(0)
    drawn = rng.gamma(up + 0.5, size=400_000) - rng.gamma(down + 0.5, size=400_000)
    wanted = np.quantile(drawn, [0.025, 0.975])
    spread = np.sqrt(up + down + 1)
    assert np.allclose((np.array([found.low, found.high]) - 0.5) * n, wanted, atol=0.06 * spread)


def test_a_judge_without_an_error_among_the_labels_may_still_have_some() -> None:
    verdicts = np.tile([1.0, 0.0], 500)
    labels = np.where(np.arange(1000) < 30, verdicts, np.nan)
    for method in ("ppi", "ppi++"):
        found = mean_estimate(PartlyLabeled(labels, verdicts), method)
        # The judge's share .5 is known to ± .03; one unseen error of 30 labels is .03 more.
        assert found.low < 0.44 and found.high > 0.56
        assert found.width < 0.55 * mean_estimate(PartlyLabeled(labels), "labels").width


def test_labels_of_one_verdict_leave_a_judge_nothing_to_add() -> None:
    rng = np.random.default_rng(0)
    labels = np.where(np.arange(300) < 30, 0.0, np.nan)
    plain = mean_estimate(PartlyLabeled(labels), "labels")
    found = mean_estimate(PartlyLabeled(labels, rng.random(300)))
    assert float(found.low) == 0.0
    assert float(plain.high) <= float(found.high) < 1.07 * float(plain.high)


def test_an_end_that_is_held_against_a_limit_is_not_shortened() -> None:
    rng = np.random.default_rng(1)
    y = (rng.random(1000) < 0.04).astype(float)
    sample = PartlyLabeled(np.where(np.arange(1000) < 60, y, np.nan), y + rng.normal(size=1000))
    short, equal = (mean_estimate(sample, "ppi++", equal_tails=e) for e in (False, True))
    assert equal.low <= short.low and equal.high >= short.high


def test_the_order_of_rows_and_clusters_does_not_matter() -> None:
    rng = np.random.default_rng(2)
    y = (rng.random(300) < 0.2).astype(float)
    score, clusters = y + rng.normal(size=300), np.arange(300) // 3
    labels = np.where(clusters < 20, y, np.nan)
    there = rng.permutation(300)
    one = mean_estimate(PartlyLabeled(labels, score, clusters=clusters))
    other = mean_estimate(PartlyLabeled(labels[there], score[there], clusters=clusters[there]))
    assert np.allclose([one.low, one.high], [other.low, other.high])


@pytest.mark.parametrize("verdicts", [True, False])
def test_probabilities_beside_strata_do_not_lose_what_strata_gain(verdicts: bool) -> None:
    rng = np.random.default_rng(3)
    strata = np.arange(900) % 3
    y = np.clip(np.round(1 + 1.7 * strata + 0.5 * rng.normal(size=900)), 1, 5)
    y = (y > 2).astype(float) if verdicts else y
    labels, score = np.where(np.arange(900) < 90, y, np.nan), rng.normal(size=900)
    plain, given, without = (
        mean_estimate(PartlyLabeled(labels, score, probability, codes, bounds=(1, 5)))
        for probability, codes in ((None, strata), (np.full(900, 0.1), strata), (np.full(900, 0.1), None))
    )
    assert given.width == pytest.approx(plain.width)
    assert given.width < 0.8 * without.width
