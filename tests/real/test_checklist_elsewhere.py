"""The checklist's analyses on published sets that nimah2023 did not use."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from nlgauge.analyses.checklist.checklist import checklist
from nlgauge.analyses.checklist.system_preference import system_preference
from nlgauge.analyses.checklist.wins import wins
from nlgauge.datasets import load_set


def test_every_metric_of_hanna_gets_a_page(real_data: Path) -> None:
    data = load_set("hanna", real_data)
    table = checklist(data, draws=99)
    assert {row["metric"] for row in table} == {*data.metrics, "Human"}
    passed = {m: sum(r["passes"] is True for r in table if r["metric"] == m) for m in data.metrics}
    # Overlap of 4-grams with one human story says nothing about another story; chrF and METEOR do better than that.
    assert passed["ROUGE-4 F-Score"] == 0
    assert min(passed["chrF"], passed["METEOR"]) >= 3
    assert "1–5" in table.method


def test_bagel_has_two_systems_and_so_one_pair(real_data: Path) -> None:
    data = load_set("bagel-sf", real_data)
    bagel = data.where(data.samples.filter(pl.col("dataset") == "BAGEL"), "BAGEL")
    table = system_preference(bagel)
    assert {(row["pairs"], row["count"]) for row in table} == {("all", 1)}
    assert "The only pair" in table.method
    page = checklist(bagel, draws=39)
    assert all(row["passes"] is not None for row in page if row["metric"] == "TER" and row["assessment"] != "transfer")


def test_terciles_of_an_unbounded_scale_are_said(real_data: Path) -> None:
    table = checklist(
        load_set("wmt23-zh-en", real_data), metrics=["BLEU-refA", "Random-sysname-src", "MetricX-23-QE-c-src"], draws=99
    )
    assert "terciles" in table.method
    by_metric = {
        m: [r["passes"] for r in table if r["metric"] == m] for m in ("Random-sysname-src", "MetricX-23-QE-c-src")
    }
    assert by_metric["MetricX-23-QE-c-src"].count(True) == 4
    assert by_metric["Random-sysname-src"].count(True) < 4


def test_wins_count_the_comparisons_of_rankme_by_hand(real_data: Path) -> None:
    data = load_set("rankme-rank-1", real_data)
    rows = {(r["first"], r["second"]): r for r in wins(data, aspect="quality")}
    votes = data.comparisons.filter(pl.col("aspect") == "quality")
    for (first, second), row in rows.items():
        mine = votes.filter((pl.col("first") == first) & (pl.col("second") == second))
        assert row["n"] == mine.height
        if mine.height:
            assert row["value"] == pytest.approx((mine["preferred"] == "first").mean())
            assert row["tied"] == pytest.approx((mine["preferred"] == "tie").mean())
    assert sum(row["n"] for row in rows.values()) == 900
