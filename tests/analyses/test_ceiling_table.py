"""The human ceiling and each metric's share of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, same_rows, upside_down

from nlgauge.analyses.agreement.ceiling import ceiling
from nlgauge.errors import NeedsMissing
from nlgauge.stats.correlation.measure import Measure


def test_raters_who_always_agree_put_the_ceiling_at_one() -> None:
    human = np.random.default_rng(0).integers(1, 6, (6, 20)).astype(float)
    panel = panel_of(
        human, {"m": human + np.random.default_rng(1).normal(0, 1, human.shape)}, raters=np.stack([human] * 4)
    )
    table = ceiling(panel, splits=10)
    assert len(table) == 12
    for row in table:
        assert row["ceiling"] == pytest.approx(1.0)
        assert row["share"] == pytest.approx(row["value"])


def test_the_share_is_the_correlation_over_the_ceiling() -> None:
    panel = noisy_panel()
    for row in ceiling(panel, splits=20):
        x = panel.metrics[row["metric"]]
        assert row["value"] == pytest.approx(Measure.parse(row["measure"])(x, panel.human).value)
        assert row["share"] == pytest.approx(row["value"] / row["ceiling"])
        assert 0 < row["ceiling_low"] < row["ceiling"] < row["ceiling_high"] <= 1


def test_a_metric_that_knows_the_truth_comes_near_the_ceiling() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, (20, 100))
    cube = truth + rng.normal(0, 1, (4, 20, 100))
    row = ceiling(
        panel_of(cube.mean(axis=0), {"truth": truth}, raters=cube), measures=["global/pearson"], splits=30
    ).rows[0]
    assert row["share"] == pytest.approx(1.0, abs=0.02)
    assert row["ceiling"] == pytest.approx(np.sqrt(4 / 5), abs=0.02)  # reliability k / (k + 1) at equal variances
    assert row["closer_than_raters"] == 1.0


def test_sign_and_seed() -> None:
    panel = noisy_panel()
    assert same_rows(ceiling(panel, splits=10), ceiling(upside_down(panel, "m0"), splits=10))
    assert same_rows(ceiling(panel, splits=10, seed=1), ceiling(panel, splits=10, seed=1))


def test_anonymous_raters_are_compared_with_no_metric() -> None:
    table = ceiling(replace(noisy_panel(), persons=False), splits=5)
    assert all(np.isnan(r["closer_than_raters"]) for r in table)
    assert any("annotator IDs are unknown" in note for note in table.notes)


def test_one_rater_has_no_ceiling() -> None:
    with pytest.raises(NeedsMissing, match="a ceiling needs at least two annotators"):
        ceiling(noisy_panel(raters=1))


def test_a_median_is_said_to_be_judged_by_the_mean() -> None:
    assert any("median" in note for note in ceiling(replace(noisy_panel(), aggregate="median"), splits=5).notes)


def test_one_system_keeps_what_is_defined() -> None:
    rows = by(ceiling(noisy_panel(systems=1, inputs=40), splits=5), "metric", "measure")
    assert {m.partition("/")[0] for _, m in rows} == {"global", "item"}
    assert all(np.isfinite(row["ceiling"]) for row in rows.values())


def test_a_measure_without_a_ceiling_says_so_and_borrows_none() -> None:
    """Raters agree about inputs and not at all about systems: what orders systems has no ceiling, the rest has one."""
    rng = np.random.default_rng(3)
    cube = np.repeat(rng.normal(0, 2, (1, 1, 60)), 8, axis=1) + rng.normal(0, 1, (3, 8, 60))
    table = ceiling(panel_of(cube.mean(axis=0), {"m": cube[0]}, raters=cube), splits=5)
    top = {row["measure"]: row["ceiling"] for row in table}
    assert np.isnan(top["input/kendall"]) and np.isfinite(top["item/kendall"])
    assert any(note.startswith("input/kendall: the annotators agree no better than by chance") for note in table.notes)
