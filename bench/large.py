"""Measure throughput and peak memory of scoring a file that is larger than memory, and how they grow with the file.

Each size is a JSONL file of its own (outputs of about 12 tokens, one reference, every text different), scored by
`nlgauge score --batch 20000` in a process of its own with BLEU, ROUGE-1, ROUGE-2, ROUGE-L and chrF, to a Parquet file.
Start-up is included. Peak memory is the largest resident set size of that process.

    python -m bench.large                        (10,000 to 1,000,000 samples)
    python -m bench.large --samples 10000000     (and 10,000,000: about 2 GB of temporary files, some minutes)
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
    scoring(options.parse_args())


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
