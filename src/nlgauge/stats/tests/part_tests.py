"""Jackknife test of whether a metric's correlation with human ratings is equal in two parts of one table.

The parts may share systems or inputs: outputs of one system affect both parts, which Fisher's z test for independent
outputs ignores.
"""

from __future__ import annotations

import numpy as np

from nlgauge.stats.correlation.evaluate_groups import fisher_z, plan_measures
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.weighted import weighted
from nlgauge.stats.resampling.jackknife import (
    LeaveOneOut,
    generalizes_to,
    input_groups,
    output_sets,
    student_p,
    too_few,
    without_each,
)
from nlgauge.types import Array, Mask

METHOD = (
    "difference of Fisher's z over its jackknife standard error against Student's t, two-sided, for systems and "
    "inputs like these (with fewer than 6 systems: for these systems and inputs like these)"
)


def part_tests(x: Array, z: Array, one: Mask, two: Mask, measure: Measure, *, absolute: bool = True) -> Array:
    """Compute two-sided p-values that the correlation with the ratings is equal on the outputs `one` and `two`.

    Metrics are K × N × M, ratings N × M. `absolute` compares correlations without sign; NaN with too few systems or
    inputs.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(8, 60))
    >>> first = np.broadcast_to(np.arange(60) < 30, z.shape)
    >>> good_there = z + np.where(first, 0.2, 5) * rng.normal(size=z.shape)
    >>> bool(part_tests(good_there[None], z, first, ~first, Measure.parse("global/pearson"))[0] < 0.01)
    True
    """
    n, m = z.shape
    over = generalizes_to("auto", int(np.isfinite(z).any(axis=1).sum()))
    groups, sets = input_groups(x, z), output_sets(z)
    rows, cols = without_each((n, m), groups, over)
    start = 1 + (n if over == "both" else 0)
    want = plan_measures([measure])
    sides = []
    for part in (one, two):
        ratings = np.where(part, z, np.nan)
        result = weighted(x, ratings, rows, cols, want)[:, 0]
        left = LeaveOneOut(result[:, 0], result[:, 1:start] if over == "both" else None, result[:, start:], None)
        if over == "both":
            each = [
                evaluate(x, np.where(sets == s, np.nan, ratings), [measure]).value[:, 0]
                for s in range(int(sets.max()) + 1)
            ]
            left = LeaveOneOut(left.value, left.systems, left.inputs, np.stack(each, axis=-1))
        sign = np.where(absolute & (left.value < 0), -1.0, 1.0)
        sides.append(left.transform(lambda v, s=sign: fisher_z(v) * (s if v.ndim == 1 else s[:, None])))  # type: ignore[misc]
    p = student_p(sides[0].transform(np.subtract, sides[1]))
    there = np.isfinite(x) & np.isfinite(z)
    for k in range(len(x)):
        for part in (one, two):
            systems, inputs = (int((there[k] & part).any(axis=axis).sum()) for axis in (1, 0))
            if too_few(systems if over == "both" else n, inputs, over, measure.grouping):
                p[k] = np.nan
    return p
