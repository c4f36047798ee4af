"""Coverage-guided fuzzing with atheris: `pip install atheris` first; it steers towards inputs that reach new code."""

from __future__ import annotations

import sys
from pathlib import Path

READING, JUDGING = ["nlgauge.data", "nlgauge.errors"], ["nlgauge.metrics.judge", "nlgauge.spec"]
# Code whose coverage steers a target, by the beginning of its name: instrumenting all of it takes minutes.
CODE = {
    "reader": READING,
    "table": READING,
    "load": READING,
    "source": READING,
    "path": READING,
    "batches": [*READING, "nlgauge.scoring"],
    "stream": [*READING, "nlgauge.scoring"],
    "parts": ["nlgauge.scoring"],
    "store": ["nlgauge.scoring"],
    "spec": ["nlgauge.spec", "nlgauge.registry"],
    "metric": ["nlgauge.spec", "nlgauge.registry", "nlgauge.metrics"],
    "measure": ["nlgauge.stats.correlation.measure", "nlgauge.stats.correlation.names"],
    "scale": JUDGING,
    "reply": JUDGING,
    "choice": JUDGING,
    "completion": JUDGING,
    "task": JUDGING,
    "prices": JUDGING,
    "batch": JUDGING,
    "option": ["nlgauge.cli"],
}


def main(target: str, runs: int, seed: int, limit: float, memory: int, folder: Path) -> None:
    """Fuzz one target until it breaks or the runs are over; libFuzzer ends this process itself."""
    try:
        import atheris
    except ImportError:
        sys.exit("fuzz: --engine atheris needs `pip install atheris` (Linux, Python 3.11 to 3.13)")
    with atheris.instrument_imports(include=CODE.get(target.partition("-")[0], ["nlgauge"])):
        from fuzz.targets import find

        chosen = find([target])[0]
        for data in chosen.seeds:  # imports and compiles what is needed
            chosen.run(data)
    seeds = folder / f"{target}.seeds"
    seeds.mkdir(parents=True, exist_ok=True)
    for n, data in enumerate(chosen.seeds):
        (seeds / str(n)).write_bytes(data)
    options = [
        f"-runs={runs}",
        f"-seed={seed + 1}",
        f"-timeout={max(1, round(limit))}",
        f"-rss_limit_mb={memory + 2048}",
    ]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={folder}/{target}-", str(seeds)], chosen.run)
    atheris.Fuzz()
