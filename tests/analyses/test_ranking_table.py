"""Rank clusters: the rule of the shared tasks on hand-worked cases."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, reordered, same_rows, upside_down, with_holes, with_metrics

from nlgauge.analyses.comparing.ranking import clusters, ranking
from nlgauge.analyses.comparing.significance import significance
from nlgauge.stats.resampling.jackknife import intervals


@pytest.mark.parametrize(
    ("better", "ranks"),
    [
        (set(), [1, 1, 1, 1]),
        ({("a", "b"), ("a", "c"), ("a", "d")}, [1, 2, 2, 2]),
        ({("a", "c"), ("a", "d")}, [1, 1, 2, 2]),
        ({("a", "c"), ("b", "c"), ("a", "d"), ("c", "d")}, [1, 1, 2, 3]),
        ({("b", "d")}, [1, 1, 1, 2]),
    ],
)
def test_a_rank_ends_where_a_metric_loses_to_one_that_has_the_rank(
    better: set[tuple[str, str]], ranks: list[int]
) -> None:
    assert list(clusters(list("abcd"), better).values()) == ranks


def test_ranks_follow_the_significant_pairs() -> None:
    panel = noisy_panel(systems=12, inputs=40)
    options = {"measure": "global/pearson", "draws": 199, "seed": 1}
    table, pairs = ranking(panel, **options), significance(panel, **options)
    wins = {(r["better"], r["worse"]) for r in pairs if r["significant"]}
    assert {r["metric"]: r["rank"] for r in table} == clusters([r["metric"] for r in table], wins)
    for row in table:
        lost = {a if b == row["metric"] else b for a, b in wins if row["metric"] in (a, b)}
        assert set(table.facts["no_different_from"][row["metric"]]) == set(panel.names) - lost - {row["metric"]}


def test_values_fall_and_intervals_are_those_of_the_jackknife() -> None:
    panel = noisy_panel()
    table = ranking(panel, measure="global/pearson")
    values = [r["value"] for r in table]
    assert values == sorted(values, reverse=True)
    found = intervals(panel.oriented(), panel.human, ["global/pearson"])
    low, high = found.low, found.high
    for row in table:
        k = panel.names.index(row["metric"])
        assert (row["low"], row["high"]) == (pytest.approx(low[k, 0]), pytest.approx(high[k, 0]))


def test_neither_order_nor_sign_of_a_metric_matters() -> None:
    panel = noisy_panel()
    table = ranking(panel, draws=49)
    assert same_rows(table, ranking(reordered(panel), draws=49))
    assert same_rows(table, ranking(upside_down(panel, "m2"), draws=49))


def test_missing_scores_and_flat_metrics_still_give_every_metric_one_row() -> None:
    panel = with_holes(noisy_panel(noise=(1.0, 1.1, 1.2)), share=0.4)
    panel = with_metrics(panel, {"flat": np.ones_like(panel.human), **panel.metrics})
    table = ranking(panel, draws=19)
    assert sorted(r["metric"] for r in table) == sorted(panel.names)
    assert table.rows[-1]["metric"] == "flat"
    assert np.isnan(by(table, "metric")["flat"]["value"])


def test_the_first_is_clearly_best_only_if_it_beats_every_other_one() -> None:
    """Beating the next is not enough: with gaps in the scores a later metric may be harder to tell apart."""
    seen = set()
    for seed in range(30):
        panel = noisy_panel(noise=(1.0, 1.6, 1.7), systems=8, inputs=30, seed=seed)
        sparse = {**panel.metrics, "m2": np.where(np.arange(30) < 11, panel.metrics["m2"], np.nan)}
        panel = with_metrics(panel, sparse)
        table = ranking(panel)
        first = table.rows[0]["metric"]
        p = {frozenset((r["better"], r["worse"])): r["p"] for r in significance(panel)}
        beats = [p[frozenset((first, r["metric"]))] < 0.05 for r in table.rows[1:]]
        assert table.rows[0]["clearly_best"] == all(beats)
        assert [r["may_be_best"] for r in table.rows[1:]] == [not b for b in beats]
        seen.add(tuple(beats))
    assert (True, False) in seen, "no case in which only the next one is beaten: the test shows nothing"
