"""Change of a judge's correlation with human ratings between two runs of one system, on shared outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.tests.permutation import permutation_test
from nlgauge.table import Row
from nlgauge.types import Array, Ints

MEASURE = "global/pearson"
DRAWN = 500  # swaps at a time
METHOD = (
    f"{MEASURE} with one system: over the shared outputs with the same human rating; old and new scores "
    "are swapped at random (for all outputs of an input or document together)"
)


def has_scores(results: Mapping[str, Any], aspect: str, metric: str) -> bool:
    """Return whether the run recorded the scores of the metric per output (of one system)."""
    return metric in results.get("one_system", {}).get(aspect, {}).get("metrics", {})


def score_change(
    old: Mapping[str, Any], new: Mapping[str, Any], metric: str, units: Mapping[str, str], draws: int, seed: int
) -> tuple[Row, str]:
    """Return the row of the table (without aspect and metric) and a sentence; `units` maps inputs to clusters."""
    before, after = _rows(old, metric), _rows(new, metric)
    shared = [given for given in before if given in after]
    same = [given for given in shared if before[given][0] == after[given][0]]
    people, first = np.array([before[given] for given in same], float).reshape(-1, 2).T
    second = np.array([after[given][1] for given in same], float)
    both = np.isfinite(first) & np.isfinite(second)
    z, x = people[both], np.stack([first[both], second[both]])
    n = int(both.sum())
    values = evaluate(x[:, None], z[None], [Measure.parse(MEASURE)]).value[:, 0] if n else np.full(2, np.nan)
    p, (_, unit) = float("nan"), np.unique([units.get(i, i) for i in np.array(same)[both]], return_inverse=True)
    clusters = int(unit.max(initial=-1)) + 1
    if np.isfinite(values).all() and clusters < n:
        p = _p_by_units(x, z, unit, draws, seed)
    elif np.isfinite(values).all():
        p = float(permutation_test(x[1:], x[:1], z[None], [MEASURE], how="inputs", draws=draws, seed=seed).p[0])
    constant = bool(n and np.isfinite(values[0]) and np.ptp(x[1]) == 0)  # a constant judge has no correlation
    row = {
        "measure": MEASURE,
        "old": float(values[0]),
        "new": float(values[1]),
        "change": float(values[1] - values[0]),
        "p": p,
        "p_corrected": float("nan"),
        "inputs": n,
        "lost": n if constant else int((np.isfinite(first) & ~np.isfinite(second)).sum()),
        "gained": int((~np.isfinite(first) & np.isfinite(second)).sum()),
        "new_values": n if np.isfinite(values[1]) else 0,
        "least_p": max(2.0 ** (1 - clusters), 1 / (draws + 1)),
    }
    if not n:
        return row, "no rated output has a score in both runs"
    apart = np.abs(x - z).mean(axis=1)
    words = f"correlation with human ratings r = {values[1]:.2f} on {n:,} outputs, before {values[0]:.2f}"
    if _same_scale(x, z):
        words += f"; mean absolute error {apart[1]:.2f}, before {apart[0]:.2f}"
    left = len(shared) - len(same)
    return row, words + (f"; {left:,} outputs whose human rating changed are excluded" if left else "")


def _p_by_units(x: Array, z: Array, unit: Ints, draws: int, seed: int) -> float:
    """Return the p-value of the difference of two correlations; old and new scores are swapped for whole units."""
    x, z = ((v - v.mean(axis=-1, keepdims=True)) / v.std(axis=-1, keepdims=True) for v in (x, z))
    observed = abs(float((x[1] - x[0]) @ z))
    rng, count = np.random.default_rng(np.random.SeedSequence(seed)), 0
    for start in range(0, draws, DRAWN):
        swap = rng.random((min(DRAWN, draws - start), int(unit.max()) + 1)) < 0.5
        first = np.where(swap[:, unit], x[1], x[0])
        second = x.sum(axis=0) - first
        with np.errstate(divide="ignore", invalid="ignore"):  # a constant has no correlation and counts as extreme
            r = [(v - v.mean(axis=1, keepdims=True)) @ z / v.std(axis=1) for v in (first, second)]
            count += int((~(np.abs(r[1] - r[0]) < observed - 1e-9)).sum())
    return (count + 1) / (draws + 1)


def _rows(found: Mapping[str, Any], metric: str) -> dict[str, tuple[float, float]]:
    """Return the human rating and the score of each input, NaN without a score."""
    scores = [np.nan if v is None else v for v in found["metrics"][metric]]
    return dict(zip(map(str, found["inputs"]), zip(found["human"], scores, strict=True), strict=True))


def _same_scale(x: np.ndarray, z: np.ndarray) -> bool:
    """Return whether the judge gives the same whole numbers as the annotators, so that differences are meaningful."""
    return bool((x == np.round(x)).all() and x.min() >= np.floor(z.min()) and x.max() <= np.ceil(z.max()))
