"""The alternative annotator test as an analysis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, same_rows, upside_down, with_metrics

from nlgauge.analyses.agreement.replacement import replacement
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.alttest import alt_test


def test_rows_are_those_of_the_test() -> None:
    panel = noisy_panel(inputs=40)
    for row in replacement(panel):
        found = alt_test(panel.raters["quality"], panel.metrics[row["metric"]], epsilon=0.2, scale="ranks")
        assert (row["winning_rate"], row["advantage"], row["passes"]) == (
            found.winning_rate,
            found.advantage,
            found.passed,
        )


def test_the_mean_of_the_raters_passes_and_noise_does_not() -> None:
    panel = noisy_panel(inputs=40)
    noise = np.random.default_rng(9).normal(size=panel.human.shape)
    rows = by(replacement(with_metrics(panel, {"noise": noise, "mean": panel.human})), "metric")
    assert rows["mean"]["passes"]
    assert not rows["noise"]["passes"]
    assert next(iter(rows)) == "mean"


def test_turning_a_metric_upside_down_changes_nothing() -> None:
    panel = noisy_panel(inputs=40)
    assert same_rows(replacement(panel), replacement(upside_down(panel, "m0")))


def test_it_needs_three_persons() -> None:
    with pytest.raises(NeedsMissing, match="at least three annotators; found 2"):
        replacement(noisy_panel(raters=2))
    with pytest.raises(NeedsMissing, match="annotator IDs are unknown"):
        replacement(noisy_panel(raters=1))
    with pytest.raises(NeedsMissing, match="requires annotator IDs"):
        replacement(replace(noisy_panel(), persons=False))


def test_a_silent_third_rater_does_not_count() -> None:
    panel = noisy_panel(raters=2)
    cube = np.concatenate([panel.raters["quality"], np.full((1, 8, 20), np.nan)])
    with pytest.raises(NeedsMissing, match="found 2"):
        replacement(replace(panel, raters={"quality": cube}, rater_names=("r0", "r1", "r2")))
