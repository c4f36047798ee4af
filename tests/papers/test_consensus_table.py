"""Consensus of people and of metrics, and who stands apart."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by
from aspect_data import data_of, made
from scipy.stats import kendalltau

from nlgauge.errors import NeedsMissing
from nlgauge.stats.ranking.rankings import system_representation
from nlgauge_papers.colombo2023.consensus import consensus, consensus_distance


def test_a_clear_order_is_the_consensus_of_both_sides() -> None:
    truth = np.arange(5.0)[:, None] + np.zeros((5, 8))
    table = consensus(data_of({"a": truth, "b": truth * 2}, {"m": truth, "upside": -truth}, lower=["upside"]))
    assert [row["system"] for row in table] == ["s4", "s3", "s2", "s1", "s0"]
    for row, place in zip(table, range(1, 6), strict=True):
        assert {row[f"{s}_{k}"] for s in ("human", "metrics") for k in ("borda", "kemeny")} == {place}
    assert by(table, "system")["s4"]["human_share"] == 1
    assert any("contradicts 0 of 160 votes, the fewest possible (proved)" in n for n in table.notes)


def test_borda_by_hand_and_equal_shares_have_equal_places() -> None:
    # a > b > c on two inputs, b > c > a on one: a and b win 4 of 6 comparisons each.
    votes = np.array([[3.0, 3.0, 1.0], [2.0, 2.0, 3.0], [1.0, 1.0, 2.0]])
    rows = by(consensus(data_of({"a": votes}, {"m": votes}, systems=["a", "b", "c"])), "system")
    assert [rows[s]["human_borda"] for s in "abc"] == [1, 1, 3]
    assert [rows[s]["human_kemeny"] for s in "abc"] == [1, 2, 3]
    assert rows["c"]["human_share"] == pytest.approx(1 / 6)


def test_consensus_of_inputs_ranks_inputs() -> None:
    table = consensus(made(inputs=7), of="inputs")
    assert len(table) == 7
    assert sorted(row["human_kemeny"] for row in table) == list(range(1, 8))


def test_distances_are_those_between_rank_sums_and_the_consensus() -> None:
    data = made(systems=8)
    place = {row["system"]: row["human_kemeny"] for row in consensus(data)}
    panel = data.panel("a0")
    sums = system_representation(panel.oriented())
    rows = by(consensus_distance(data), "metric")
    for name, own in zip(panel.names, sums, strict=True):
        tau = kendalltau(own, [place[s] for s in panel.systems]).statistic
        assert rows[name]["from_human"] == pytest.approx((1 - tau) / 2)
    assert rows["H:a0"]["from_human"] < rows["noise"]["from_human"]


def test_two_systems_one_aspect_and_holes() -> None:
    assert len(consensus(made(systems=2, aspects=1))) == 2
    assert any("are missing" in n for n in consensus(made(holes=0.3)).notes)
    with pytest.raises(NeedsMissing, match="at least two systems"):
        consensus(made(systems=1))


def test_without_scores_people_stand_alone() -> None:
    ratings = np.random.default_rng(0).random((3, 6))
    table = consensus(data_of({"a": ratings}, {}))
    assert "metrics_kemeny" not in table.columns
    assert any("the human consensus only" in n for n in table.notes)
