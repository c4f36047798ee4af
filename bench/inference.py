"""Speed of inference, compared with nlpstats in the same run.

    python bench/inference.py                          about a minute and a half
    NLGAUGE_DATA=... python bench/inference.py --wmt   the discriminative power of WMT23 zh-en news too

CPU time (process_time) of one test or bootstrap after a warm-up call, best of several; wall time of whole
studies on all cores. nlpstats is measured on a few draws and scaled linearly to 1,000 (its cost per draw does
not change); its item level is its global level on one row after the other, as in the fork that gao2025
used. Random scores, 13 human levels, one metric in two with ties, unless stated otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nlgauge.engines import Local, using
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.stats.design.stability import discriminative_power, ranking_consistency
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.tests.permutation import permutation_pairs, permutation_test

MEASURES = [str(m) for m in TWELVE]


def panel(metrics: int, systems: int, inputs: int, levels: int = 13) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([metrics, systems, inputs])
    human = rng.normal(size=(systems, inputs)) + 0.5 * rng.normal(size=(systems, 1))
    scores = 0.5 * human + rng.normal(size=(metrics, systems, inputs)) * np.linspace(0.8, 1.6, metrics)[:, None, None]
    scores[1::2] = np.round(scores[1::2] * 4)
    if levels:
        human = np.round(np.clip((human + 3) / 6, 0, 1) * (levels - 1))
    return scores, human


def cpu(function: Callable[[], object], times: int = 5) -> float:
    function()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def wall(function: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def theirs(kind: str, x: np.ndarray, z: np.ndarray, measure: str, draws: int) -> float:
    """CPU seconds of nlpstats for 1,000 draws, scaled from a few."""
    from nlpstats.correlations import bootstrap as their_bootstrap
    from nlpstats.correlations import correlations as c
    from nlpstats.correlations import permutation_test as their_test

    def item_level(x: np.ndarray, z: np.ndarray, coefficient: object) -> float:
        return float(np.mean([c.global_level(a[None], b[None], coefficient) for a, b in zip(x, z, strict=True)]))

    level, coefficient = measure.split("/")
    plain = c.system_level
    c.system_level = (
        item_level if level == "item" else plain
    )  # the only name it looks up that is free to stand for item
    level = "system" if level == "item" else level
    try:
        start = time.process_time()
        if kind == "test":
            their_test(x[0], x[1], z, level, coefficient, "both", n_resamples=draws)
        else:
            their_bootstrap(x[0], z, level, coefficient, "both", n_resamples=draws)
        return (time.process_time() - start) * 1000 / (draws + (kind == "test"))
    finally:
        c.system_level = plain


@using(Local(threads=1))
def against_nlpstats(draws: int) -> None:
    x, z = panel(2, 16, 100)
    print(f"\n16 systems × 100 inputs, 1,000 draws, CPU ms (nlpstats from {draws} draws)")
    print(f"{'':18}{'PERM-BOTH':>12}{'nlpstats':>12}{'ratio':>9}{'BOOT-BOTH':>14}{'nlpstats':>12}{'ratio':>9}")
    sums = np.zeros(4)
    for m in MEASURES:
        row = np.array(
            [
                cpu(lambda m=m: permutation_test(x[0], x[1], z, [m])),
                theirs("test", x, z, m, draws),
                cpu(lambda m=m: bootstrap(x[0], z, [m])),
                theirs("boot", x, z, m, draws),
            ]
        )
        sums += row
        _row(m, row)
    _row("sum", sums)
    together = sums.copy()
    together[0] = cpu(lambda: permutation_test(x[0], x[1], z, MEASURES))
    together[2] = cpu(lambda: bootstrap(x[0], z, MEASURES))
    _row("all twelve at once", together)


def _row(name: str, s: np.ndarray) -> None:
    a, b, c, d = 1000 * s
    print(f"{name:18}{a:12.1f}{b:12,.0f}{b / a:9,.0f}{c:14.1f}{d:12,.0f}{d / c:9,.0f}")


@using(Local(threads=1))
def growth() -> None:
    print("\nall twelve measures, CPU ms, how it grows (16 × 100, 1,000 draws, 13 levels but for what is named)")
    cases = {
        "N = 8, 16, 32, 64": [(n, 100, 1000, 13) for n in (8, 16, 32, 64)],
        "M = 50, 100, 200, 400": [(16, m, 1000, 13) for m in (50, 100, 200, 400)],
        "draws = 250, 1000, 2000": [(16, 100, d, 13) for d in (250, 1000, 2000)],
        "levels = 2, 13, 100, none": [(16, 100, 1000, v) for v in (2, 13, 100, 0)],
    }
    for name, sizes in cases.items():
        tests, boots = [], []
        for n, m, draws, levels in sizes:
            x, z = panel(2, n, m, levels)
            tests.append(cpu(lambda x=x, z=z, d=draws: permutation_test(x[0], x[1], z, MEASURES, draws=d), 2))
            boots.append(cpu(lambda x=x, z=z, d=draws: bootstrap(x[0], z, MEASURES, draws=d), 2))
        print(
            f"{name:30} test {'  '.join(f'{1000 * t:.0f}' for t in tests):32} bootstrap "
            f"{'  '.join(f'{1000 * t:.0f}' for t in boots)}"
        )


def studies() -> None:
    print(f"\nwhole studies, wall seconds on {os.cpu_count()} cores, 12 measures, 16 × 100, 1,000 draws or trials")
    for k in (8, 32):
        x, z = panel(k, 16, 100)
        dp, found = wall(lambda x=x, z=z: permutation_pairs(x, z, MEASURES))
        rc, _ = wall(lambda x=x, z=z: ranking_consistency(x, z, MEASURES))
        pairs = len(found.p)  # type: ignore[attr-defined]
        print(f"K = {k:2}: discriminative power of {pairs:3} pairs {dp:6.1f}   ranking consistency {rc:5.1f}")


def wmt(folder: Path) -> None:
    """WMT23 zh-en, news, MQM, refA kept: 17 systems × 377 inputs, 43 metrics."""
    import gzip

    import polars as pl

    with gzip.open(folder / "wmt23_metrics/wmt23_zh-en_inputs.jsonl.gz", "rt") as lines:
        news = [row["seg"] for row in map(json.loads, lines) if row["doc"][0] == "news"]
    frame = pl.read_parquet(folder / "wmt23_metrics/wmt23_zh-en_segment.parquet").filter(pl.col("seg").is_in(news))
    frame = frame.sort("system", "seg")
    shape = (frame["system"].n_unique(), frame["seg"].n_unique())
    columns = [c for c in frame.columns if c.startswith("metric.")]
    x = np.stack([frame[c].to_numpy().astype(float).reshape(shape) for c in columns])
    z = frame["human.mqm"].to_numpy().astype(float).reshape(shape)
    rated = np.isfinite(z).any(axis=0)
    x, z = x[:, :, rated], z[:, rated]
    seconds, found = wall(lambda: permutation_pairs(x, z, MEASURES))
    pairs, power = len(found.p), discriminative_power(found.p)  # type: ignore[attr-defined]
    print(
        f"\nWMT23 zh-en news, {z.shape[0]} × {z.shape[1]}, {len(x)} metrics, {pairs} pairs: DP in {seconds:.1f} s wall"
    )
    print("   ".join(f"{m} {v:.3f}" for m, v in zip(MEASURES, power, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4, help="draws on which nlpstats is measured")
    parser.add_argument("--wmt", action="store_true", help="also WMT23 (needs NLGAUGE_DATA)")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    against_nlpstats(asked.draws)
    growth()
    studies()
    if asked.wmt:
        wmt(Path(os.environ["NLGAUGE_DATA"]))


if __name__ == "__main__":
    main()
