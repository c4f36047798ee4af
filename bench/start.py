"""Time to the first answer: whole commands, as measured by the shell: `python -m bench start`.

Each command runs ten times in a home folder of its own: nothing is kept there before the first run (first after an
install, that is; Python's own bytecode was written before). Seconds by the clock of the first and of the tenth run,
processor seconds of the tenth with all threads and child processes, and these as a ratio to `python -c pass`, measured
next to each command: ratios say more than seconds on a busy machine. The file has 180 rows: 6 systems × 30 inputs, texts
with references, four metrics and one human rating. `run summeval` (four aspects rated by experts) is run where
NLGAUGE_DATA has SummEval; `--runs 1` for a short look.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bench.scoring import pairs

SYSTEMS, INPUTS = 6, 30
COMMANDS = {
    "analyze correlate": ["analyze", "correlate", "scores.csv"],
    "run --quick": ["run", "scores.csv", "--quick"],
    "run": ["run", "scores.csv"],
    "score, all word metrics": ["score", "scores.csv"],
}
SUMMEVAL = ["run", "summeval", "--aspect", "coherence,consistency,fluency,relevance"]


def write_file(path: Path) -> None:
    """Outputs of systems of different quality, scores that see it with noise, ratings from 1 to 5."""
    rng = np.random.default_rng(1)
    outputs, references = pairs(SYSTEMS * INPUTS, 25)
    quality = np.linspace(-1, 1, SYSTEMS)[:, None] + rng.normal(size=(SYSTEMS, INPUTS))
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["system", "input", "output", "reference", "m1", "m2", "m3", "m4", "human"])
        for k, (output, reference) in enumerate(zip(outputs, references, strict=True)):
            system, item = divmod(k, INPUTS)
            q = quality[system, item]
            scores = [round(q * weight + rng.normal(), 3) for weight in (0.2, 0.5, 1.0, 2.0)]
            rating = int(np.clip(round(3 + q), 1, 5))
            out.writerow([f"s{system}", f"i{item}", output, reference, *scores, rating])


def run(command: list[str], home: Path) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "LOCALAPPDATA": str(home / "cache")}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(
        [sys.executable, *command], cwd=home, env=os.environ | own, capture_output=True, text=True, check=False
    )
    clock = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {ran.returncode}\n{ran.stderr[-2000:]}")
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def line(name: str, command: list[str], runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_file(home / "scores.csv")
        found, empty = [], []
        for _ in range(runs):
            empty.append(run(["-c", "pass"], home)[1])
            found.append(run(["-m", "nlgauge", *command], home))
    ratio = found[-1][1] / min(empty)
    print(f"{name:26}{found[0][0]:>10.2f}{found[-1][0]:>10.2f}{found[-1][1]:>10.2f}{ratio:>10.0f}", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--runs", type=int, default=10)
    runs = options.parse_args().runs
    print(f"{'seconds':26}{'first run':>10}{f'run {runs}':>10}{'CPU':>10}{'ratio':>10}")
    for name, command in COMMANDS.items():
        line(name, command, runs)
    if Path(os.environ.get("NLGAUGE_DATA", "")).joinpath("summeval").exists():
        line("run summeval, 4 aspects", SUMMEVAL, min(runs, 2))
    else:
        print("run summeval: NLGAUGE_DATA has no SummEval: left out")


if __name__ == "__main__":
    main()
