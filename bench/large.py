"""Larger than the memory: throughput and peak memory of scoring and of intervals, and how they grow.

Scoring: each size is a JSONL file of its own (outputs of about 12 tokens, one reference, every text different), scored
by
`nlgauge score --batch 20000` in a process of its own with BLEU, ROUGE-1, ROUGE-2, ROUGE-L and chrF, to a Parquet file.
Start-up is included. Peak memory is the largest resident size that the system saw of that process.

Intervals: a Parquet table of systems × inputs × metrics, people's scores the mean of three ratings from 1 to 5, read
one metric at a time by `nlgauge intervals` in a process of its own: 1,000 draws of the inputs, or of systems and
inputs, Pearson, Spearman and Kendall on system and input level.

    python -m bench.large                        (10,000 to 1,000,000 samples)
    python -m bench.large --samples 10000000     (and 10,000,000: about 2 GB of temporary files, some minutes)
    python -m bench.large --samples 0 --panel 200 100000 50      (8 GB of temporary files, long)
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.scoring import TOGETHER, pairs

PARTS = 50_000  # different texts; each gets the number of its row


@dataclass(frozen=True)
class Ran:
    samples: int
    megabytes: float
    wall: float
    cpu: float
    peak: float  # MB


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=1_000_000, help="the largest size; 10,000 is the smallest")
    options.add_argument("--only", action="store_true", help="that size alone")
    options.add_argument("--folder", type=Path, help="for the temporary files; the system's by default")
    options.add_argument("--panel", type=int, nargs=3, default=[50, 5_000, 4], metavar=("SYSTEMS", "INPUTS", "METRICS"))
    options.add_argument("--over", nargs="*", default=["inputs", "both"])
    asked = options.parse_args()
    if asked.samples:
        scoring(asked)
    for over in asked.over:
        panel(*asked.panel, over, asked.folder)


def scoring(asked: argparse.Namespace) -> None:
    steps = range(4, max(4, int(math.log10(asked.samples))) + 1)
    sizes = [asked.samples] if asked.only else [*(10**k for k in steps if 10**k < asked.samples), asked.samples]
    print(f"{'samples':>12}{'file MB':>9}{'wall s':>9}{'CPU s':>9}{'a second':>11}{'µs CPU each':>13}{'peak MB':>9}")
    ran: list[Ran] = []
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
            ran.append(one(n, Path(folder)))
        r = ran[-1]
        print(
            f"{r.samples:12,}{r.megabytes:9,.0f}{r.wall:9.1f}{r.cpu:9.1f}{r.samples / r.wall:11,.0f}"
            f"{r.cpu / r.samples * 1e6:13.1f}{r.peak:9,.0f}",
            flush=True,
        )
    for a, b in itertools.pairwise(ran):
        many = math.log(b.samples / a.samples)
        grown = [math.log(getattr(b, what) / getattr(a, what)) / many for what in ("wall", "cpu", "peak")]
        words = ", ".join(f"{w} {g:.2f}" for w, g in zip(("wall", "CPU", "memory"), grown, strict=True))
        print(f"growth exponent from {a.samples:,} to {b.samples:,}: {words} (1: in proportion; 0: not at all)")


def one(samples: int, folder: Path) -> Ran:
    """Write, score, check that every row is there, measure."""
    path, out = folder / "outputs.jsonl", folder / "scores.parquet"
    write(path, samples)
    words = ["score", str(path), "-m", ",".join(TOGETHER), "--batch", "20000", "-o", str(out), "--format", "json"]
    wall, cpu, peak = measured(words, folder)
    rows = pl.scan_parquet(out).select(pl.len()).collect().item()
    if rows != samples:
        sys.exit(f"{samples:,} samples, but {rows:,} rows of scores")
    return Ran(samples, path.stat().st_size / 1e6, wall, cpu, peak)


def measured(words: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds on the clock, seconds of the processor and peak MB of a command in a process of its own."""
    with (folder / "log").open("w") as log:
        start = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "nlgauge", *words], stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit((folder / "log").read_text()[-2000:])
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def panel(systems: int, inputs: int, metrics: int, over: str, where: Path | None) -> None:
    with tempfile.TemporaryDirectory(dir=where) as folder:
        path = Path(folder) / "panel.parquet"
        write_panel(path, systems, inputs, metrics)
        words = ["intervals", str(path), "--over", over, "-o", f"{folder}/table.csv"]
        wall, cpu, peak = measured(words, Path(folder))
        print(
            f"intervals over {over}: {systems:,} systems × {inputs:,} inputs × {metrics} metrics "
            f"({path.stat().st_size / 1e9:.1f} GB): {wall:,.0f} s on the clock, {cpu:,.0f} s of the processor "
            f"({cpu / metrics:.1f} a metric), peak {peak:,.0f} MB",
            flush=True,
        )


def write_panel(path: Path, systems: int, inputs: int, metrics: int) -> None:
    """Some systems at a time, then all as one file: no more in the memory than a part."""
    rng = np.random.default_rng(0)
    names = [f"i{i:06d}" for i in range(inputs)]
    parts = []
    some = max(1, 1_000_000 // inputs)
    for first in range(0, systems, some):
        who = range(first, min(systems, first + some))
        ratings = [rng.integers(1, 6, (3, inputs)).mean(axis=0) for _ in who]
        quality = np.concatenate(ratings)
        columns = {
            "system": np.repeat([f"s{s}" for s in who], inputs),
            "input": names * len(who),
            "human.quality": quality,
        }
        columns |= {f"metric.m{k}": quality + rng.normal(0, 1 + k / 10, len(quality)) for k in range(metrics)}
        parts.append(path.with_name(f"part-{first:06d}.parquet"))
        pl.DataFrame(columns).write_parquet(parts[-1], compression="uncompressed")
    if len(parts) == 1:
        parts[0].rename(path)
        return
    pl.scan_parquet(parts).sink_parquet(path, compression="uncompressed")
    for part in parts:
        part.unlink()


def write(path: Path, samples: int) -> None:
    outputs, references = pairs(PARTS, 12)
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for at in range(0, samples, PARTS):
            picks = rng.permutation(PARTS)[: samples - at].tolist()
            file.writelines(
                f'{{"system": "s{i % 20}", "input": "{(at + i) // 20}", "output": "{outputs[k]} {at + i}", '
                f'"references": ["{references[k]} {at + i}"]}}\n'
                for i, k in enumerate(picks)
            )


if __name__ == "__main__":
    main()
