"""Reasons for undefined values: every NaN comes with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nlgauge.stats.correlation.coefficients import Coefficient
from nlgauge.stats.correlation.groups import Groups

if TYPE_CHECKING:
    from nlgauge.stats.correlation.panel_kernels import GroupStats


def why_undefined(facts: Coefficient, groups: Groups, stats: GroupStats, k: int) -> str:
    """Return the reason why metric `k` has no value, in one line."""
    shared = np.isfinite(groups.metrics[k]) & np.isfinite(groups.human)
    if not shared.any():
        return "no output has both a metric score and a human score"
    systems, inputs = int(shared.any(axis=1).sum()), int(shared.any(axis=0).sum())
    if groups.grouping in ("input", "system") and systems < 2:
        return f"needs at least 2 systems, found {systems}"
    if groups.grouping == "item" and inputs < 2:
        return f"needs at least 2 inputs, found {inputs}"
    if groups.grouping in ("global", "system") and stats.n[k, 0] < 3:
        return _too_few_points(facts, groups.grouping, int(stats.n[k, 0]))
    return _not_varying(facts, groups.grouping, stats, k)


def _too_few_points(facts: Coefficient, grouping: str, n: int) -> str:
    points = "systems" if grouping == "system" else "outputs"
    if n < 2:
        return f"needs at least 3 {points}, found {n}"
    if facts.needs == "own" or facts.name.startswith("acc"):
        return f"only 2 {points}: at least two pairs are needed"
    return f"only 2 {points}: a correlation of two points is always ±1"


def _not_varying(facts: Coefficient, grouping: str, stats: GroupStats, k: int) -> str:
    # Imported late: the compiled kernels, which naming a measure does not need.
    from nlgauge.stats.correlation.panel_kernels import BOTH_CONSTANT, HUMAN_CONSTANT, METRIC_CONSTANT, TOO_FEW

    points = "systems" if grouping == "system" else "outputs"
    texts = {
        TOO_FEW: f"fewer than 2 {points} have both scores",
        METRIC_CONSTANT: f"the metric gives all {points} the same score",
        HUMAN_CONSTANT: f"all {points} have the same human rating",
        BOTH_CONSTANT: f"all {points} have the same score and the same human rating",
    }
    codes, times = np.unique(stats.state[k], return_counts=True)
    counted = {int(c): int(t) for c, t in zip(codes, times, strict=True)}
    group = {"input": "input", "item": "system"}.get(grouping)
    if any(code not in texts for code in counted):
        return f"{facts.formula} is undefined on these scores"
    if group is None:
        return texts[next(iter(counted))]
    if len(counted) == 1:
        return f"in every {group} {texts[next(iter(counted))]}"
    return f"no {group} is left: " + ", ".join(f"in {times} {texts[code]}" for code, times in counted.items())
