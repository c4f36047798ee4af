"""Intervals: the bootstrap of the statistics, Fisher from the textbook, and when they do not apply."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, same_rows, with_metrics
from scipy import stats

from nlgauge.analyses.agreement.intervals import intervals
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.resampling.bootstrap import bootstrap


@pytest.mark.parametrize("over", ["inputs", "systems", "both", "raters"])
@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_ends_are_those_of_the_bootstrap(over: str, kind: str) -> None:
    panel = noisy_panel().canonical()
    table = by(intervals(panel, measures=["global/pearson"], over=over, kind=kind, draws=99, seed=4), "metric")  # type: ignore[arg-type]
    human = panel.raters["quality"] if over == "raters" else panel.human
    found = bootstrap(panel.stacked(), human, ["global/pearson"], how=over, draws=99, seed=4)  # type: ignore[arg-type]
    low, high = found.interval(kind)  # type: ignore[arg-type]
    for k, name in enumerate(panel.names):
        assert table[name]["low"] == pytest.approx(low[k, 0])
        assert table[name]["high"] == pytest.approx(high[k, 0])


def test_fisher_equals_scipy_for_one_correlation() -> None:
    panel = noisy_panel()
    row = by(intervals(panel, measures=["global/pearson"], kind="fisher"), "metric")["m1"]
    expected = stats.pearsonr(panel.metrics["m1"].ravel(), panel.human.ravel()).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx(tuple(expected))


def test_fisher_is_refused_for_means_of_correlations() -> None:
    panel = noisy_panel()
    with pytest.raises(NeedsMissing, match="a single correlation"):
        intervals(panel, measures=["input/kendall"], kind="fisher")
    table = intervals(panel, measures=["input/kendall", "system/pearson"], kind="fisher")
    assert {r["measure"] for r in table} == {"system/pearson"}
    assert any("input/kendall" in note for note in table.notes)


def test_the_order_of_metrics_changes_nothing_and_flat_metrics_stand_last() -> None:
    panel = noisy_panel()
    assert same_rows(
        intervals(panel, measures=["global/pearson"], draws=49),
        intervals(reordered(panel), measures=["global/pearson"], draws=49),
    )
    worst = with_metrics(panel, {"flat": np.ones_like(panel.human), "anti": -panel.human, **panel.metrics})
    assert [r["metric"] for r in intervals(worst, measures=["global/pearson"], draws=19)][-2:] == ["anti", "flat"]


def test_what_cannot_be_had_is_named() -> None:
    with pytest.raises(NeedsMissing, match="resampling annotators needs at least two annotators"):
        intervals(noisy_panel(raters=1), over="raters")
    with pytest.raises(NameUnknown, match="kind must be jackknife"):
        intervals(noisy_panel(), kind="exact")  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    with pytest.raises(NeedsMissing, match="at least 2 systems"):
        intervals(panel_of(rng.random((1, 9)), {"m": rng.random((1, 9))}), measures=["system/pearson"])
