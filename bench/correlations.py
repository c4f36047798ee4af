"""Speed of the correlation measures, compared with a scipy loop in the same run.

    python bench/correlations.py

CPU time (process_time), best of several, after a warm-up call. Random scores; people rate on 13 levels unless it says
otherwise.
"""

from __future__ import annotations

import math
import platform
import time
import warnings
from collections.abc import Callable

import numpy as np
import scipy
from scipy import stats

from nlgauge.stats.correlation.measure import TWELVE, Measure, evaluate
from nlgauge.stats.correlation.tie_calibration import calibrate

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def best_of(function: Callable[[], object], times: int = 5) -> float:
    function()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def panel(metrics: int, systems: int, inputs: int, levels: int = 13) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([metrics, systems, inputs])
    human = rng.normal(size=(systems, inputs)) + 0.5 * rng.normal(size=(systems, 1))
    scores = 0.5 * human + rng.normal(size=(metrics, systems, inputs))
    if levels:
        human = np.round(np.clip((human + 3) / 6, 0, 1) * (levels - 1))
    return scores, human


def scipy_loop(x: np.ndarray, z: np.ndarray) -> list[float]:
    """What one writes without a library: a scipy call per group, constant groups left out."""
    values = []
    for measure in TWELVE:
        function = SCIPY[measure.coefficient]
        if measure.grouping == "global":
            groups = [(x.ravel(), z.ravel())]
        elif measure.grouping == "system":
            groups = [(x.mean(axis=1), z.mean(axis=1))]
        else:
            groups = list(zip(x, z, strict=True) if measure.grouping == "item" else zip(x.T, z.T, strict=True))
        values.append(float(np.nanmean([function(a, b)[0] for a, b in groups])))
    return values


def line(what: str, seconds: float, remark: str = "") -> None:
    print(f"{what:<62} {seconds * 1e3:>11.3f} ms  {remark}")


def against_scipy() -> float:
    scores, human = panel(1, 16, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = best_of(lambda: scipy_loop(scores[0], human), times=3)
        apart = np.abs(np.array(scipy_loop(scores[0], human)) - evaluate(scores, human, TWELVE).value[0]).max()
    ours = best_of(lambda: evaluate(scores, human, TWELVE), times=50)
    line("12 measures, 1 metric, 16 × 100: scipy loop", theirs)
    line(
        "12 measures, 1 metric, 16 × 100: nlgauge", ours, f"{theirs / ours:.0f} times faster, values within {apart:.0e}"
    )
    scores, human = panel(32, 16, 100)
    ours = best_of(lambda: evaluate(scores, human, TWELVE), times=10)
    line("12 measures, 32 metrics, 16 × 100: nlgauge", ours, f"{32 * theirs / ours:.0f} times faster per metric")


def whole_panels() -> None:
    for metrics, systems, inputs, levels in [(43, 17, 1976, 13), (43, 17, 1976, 0)]:
        scores, human = panel(metrics, systems, inputs, levels)
        seconds = best_of(lambda s=scores, h=human: evaluate(s, h, TWELVE), times=3)
        people = f"{levels} levels" if levels else "no ties"
        line(f"12 measures, {metrics} metrics, {systems} × {inputs}, {people}", seconds)


def growth() -> None:
    for levels in (13, 0):
        for inputs in (62, 250, 1000, 4000, 16000, 64000):
            scores, human = panel(1, 16, inputs, levels)
            measures = [Measure("global", c) for c in SCIPY]
            seconds = best_of(lambda s=scores, h=human, m=measures: evaluate(s, h, m), times=5)
            n = 16 * inputs
            remark = f"{seconds * 1e9 / (n * math.log2(n)):.2f} ns per n log₂ n"
            line(
                f"global, 3 coefficients, {n:>9,} cells, {f'{levels} levels' if levels else 'no ties'}", seconds, remark
            )


def calibration() -> None:
    for systems, inputs, levels in [(16, 100, 13), (16, 1000, 13), (16, 1000, 3)]:
        scores, human = panel(1, systems, inputs, levels)
        x, z = scores.reshape(1, 1, -1), human.reshape(1, 1, -1)
        n = systems * inputs
        seconds = best_of(lambda x=x, z=z: calibrate(x, z), times=2)
        line(f"tie calibration, global, {n * (n - 1) // 2:>11,} pairs, {levels} levels", seconds)


def main() -> None:
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}; CPU time\n")
    for part in (against_scipy, whole_panels, growth, calibration):
        part()
        print()


if __name__ == "__main__":
    main()
