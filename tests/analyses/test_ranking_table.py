"""Ranks, the confidence set for the best metric and the intervals say the same as the tests of pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, reordered, same_rows, upside_down, with_holes, with_metrics

from nlgauge.analyses.comparing.compare import compare
from nlgauge.analyses.comparing.compare_pairs import compare_pairs
from nlgauge.stats.resampling.jackknife import intervals


def test_ranks_follow_the_significant_pairs() -> None:
    """The lowest and the highest rank count the metrics that are significantly better and worse."""
    panel = noisy_panel(systems=12, inputs=40, noise=(0.3, 1.0, 1.2, 9.0))
    table, pairs = compare(panel), compare_pairs(panel)
    wins = {(r["better"], r["worse"]) for r in pairs if r["significant"]}
    assert 0 < len(wins) < len(pairs.rows)
    for row in table:
        name = row["metric"]
        better, worse = ({w[k] for w in wins if w[1 - k] == name} for k in (0, 1))
        assert (row["rank"], row["rank_high"]) == (1 + len(better), len(panel.names) - len(worse))
        assert row["may_be_best"] == (row["rank"] == 1)
        assert set(table.facts["no_different_from"][name]) == set(panel.names) - better - worse - {name}


def test_p_to_next_is_the_corrected_p_of_the_next_metric() -> None:
    panel = noisy_panel(noise=(0.3, 1.0, 1.2, 9.0))
    table, pairs = compare(panel), by(compare_pairs(panel), "better", "worse")
    names = [r["metric"] for r in table]
    expected = [pairs[pair]["p_corrected"] for pair in pairwise(names)]
    assert [r["p_to_next"] for r in table] == [*expected, None]


@pytest.mark.parametrize("measure", ["global/pearson", "input/pairwise-accuracy"])
def test_values_fall_and_intervals_are_those_of_the_jackknife_at_the_simultaneous_level(measure: str) -> None:
    panel = noisy_panel()
    table = compare(panel, measure=measure)
    values = [r["value"] for r in table]
    assert values == sorted(values, reverse=True)
    together = table.facts["marginal_level"]
    assert (
        0.95 < together < 1 - 0.05 / 4 + 0.003
    )  # 4 metrics: never wider than Bonferroni, up to the error of the draws
    assert f"each has a level of {together:.1%}" in table.method
    wide, single = (intervals(panel.oriented(), panel.human, [measure], level=p) for p in (together, 0.95))
    for row in table:
        k = panel.names.index(row["metric"])
        assert (row["low"], row["high"]) == (pytest.approx(wide.low[k, 0]), pytest.approx(wide.high[k, 0]))
        assert row["low"] < single.low[k, 0]
        assert row["high"] > single.high[k, 0]


def test_a_named_test_keeps_intervals_of_single_metrics() -> None:
    panel = noisy_panel()
    table = compare(panel, measure="global/pearson", test="williams")
    single = intervals(panel.oriented(), panel.human, ["global/pearson"])
    assert {r["metric"]: r["low"] for r in table} == pytest.approx(
        dict(zip(panel.names, single.low[:, 0].tolist(), strict=True))
    )
    assert "hold together" not in table.method


def test_neither_order_nor_sign_of_a_metric_matters() -> None:
    panel = noisy_panel()
    table = compare(panel, draws=49)
    assert same_rows(table, compare(reordered(panel), draws=49))
    assert same_rows(table, compare(upside_down(panel, "m2"), draws=49))


def test_missing_scores_and_flat_metrics_still_give_every_metric_one_row() -> None:
    panel = with_holes(noisy_panel(noise=(1.0, 1.1, 1.2)), share=0.4)
    panel = with_metrics(panel, {"flat": np.ones_like(panel.human), **panel.metrics})
    table = compare(panel)
    assert sorted(r["metric"] for r in table) == sorted(panel.names)
    flat = table.rows[-1]
    assert (flat["metric"], flat["value"], flat["may_be_best"]) == ("flat", 0.5, False)  # a constant is chance


def test_a_metric_without_a_value_stands_last_without_a_rank() -> None:
    panel = noisy_panel()
    panel = with_metrics(panel, {"empty": np.full_like(panel.human, np.nan), **panel.metrics})
    table = compare(panel)
    last = table.rows[-1]
    assert (last["metric"], last["rank"], last["rank_high"], last["may_be_best"]) == ("empty", None, None, False)
    assert np.isnan(last["value"])
    assert [r["rank_high"] for r in table.rows[:-1]][-1] == 4  # it takes no rank from the others
    assert "Metrics without a value are listed last, without a rank." in table.notes


def test_a_metric_is_clearly_best_only_if_it_beats_every_other_one() -> None:
    """Beating the next is not enough: with gaps in the scores a later metric may be harder to distinguish."""
    seen = set()
    for seed in range(30):
        panel = noisy_panel(noise=(1.0, 1.6, 1.7), systems=8, inputs=30, seed=seed)
        sparse = {**panel.metrics, "m2": np.where(np.arange(30) < 11, panel.metrics["m2"], np.nan)}
        panel = with_metrics(panel, sparse)
        table = compare(panel)
        wins = {(r["better"], r["worse"]) for r in compare_pairs(panel) if r["p_corrected"] < 0.05}
        for row in table:
            others = [r["metric"] for r in table if r["metric"] != row["metric"]]
            beaten = any((other, row["metric"]) in wins for other in others)
            assert row["may_be_best"] == (not beaten)
            assert row["clearly_best"] == (row["may_be_best"] and sum(r["may_be_best"] for r in table) == 1)
        first = table.rows[0]["metric"]
        seen.add(tuple((first, r["metric"]) in wins for r in table.rows[1:]))
    assert (True, False) in seen, "no case in which only the next one is beaten: the test shows nothing"
