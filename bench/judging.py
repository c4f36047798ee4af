"""Judges under load and under fire, on loopback: `python -m bench judging`, or `python bench/judging.py --kills 30`.

Load: many requests at concurrency 64 through a server that fails in six ways; requests per second, memory, nothing
lost.
Kills: runs of 2,000 requests killed with SIGKILL at random moments and resumed; the scores must equal an undisturbed
run, and the server must see no request again whose reply the store had committed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

SERVER = Path(__file__).parents[1] / "tests" / "judges" / "judge_server.py"
FAULTS = {"429": 0.02, "500": 0.02, "drop": 0.02, "half": 0.02, "html": 0.01, "drip": 0.01}
NLGAUGE = [sys.executable, "-c", "from nlgauge.cli import main; main()"]


class Server:
    def __init__(self, **settings: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER), json.dumps(settings)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.base_url = f"http://127.0.0.1:{self.port}/v1"

    def log(self) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/log") as answer:
            found: dict[str, Any] = json.load(answer)
            return found

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load(n: int, faults: dict[str, float]) -> None:
    from nlgauge.metrics import Batch
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.scoring.judging import judged
    from nlgauge.scoring.replies import Replies
    from nlgauge.scoring.store import Store

    with tempfile.TemporaryDirectory() as folder, Server(faults=faults) as server:
        batch = Batch.from_columns([f"output {i} " + "word " * 40 for i in range(n)], source=["an article " * 50] * n)
        judge = Judge(aspect="coherence", model="m", base_url=server.base_url)
        begun, cpu, before = time.perf_counter(), time.process_time(), memory()
        result = judged(judge, batch, Replies(Store(Path(folder) / "s")), Asking(concurrency=64, pause=0.05))
        wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
        lost = int(np.isnan(result.scores.values).sum())
        kept = sum(1 for _ in Replies(Store(Path(folder) / "s")).all())
        seen = server.log()["stats"]
        print(
            f"{n:7,} requests, {'faulty' if faults else 'calm'} server: {n / wall:6.0f} a second (wall {wall:.1f} s, "
            f"CPU {cpu:.1f} s), lost {lost}, kept {kept:,}, the server saw {seen['requests']:,}, memory {before:.0f} "
            f"-> {memory():.0f} MB"
        )


def kills(runs: int, n: int, seed: int = 0) -> None:
    rng = random.Random(seed)
    again = unequal = interrupted = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = ["system,input,output,source"] + [f"s{i % 4},i{i // 4},output {i},article {i // 4}" for i in range(n)]
        (folder / "outputs.csv").write_text("\n".join(lines) + "\n")
        words = [*NLGAUGE, "judge", "outputs.csv", "--aspect", "coherence", "--model", "m", "--concurrency", "32"]
        with Server() as calm:
            env = {**os.environ, "NLGAUGE_STORE": str(folder / "calm"), "NLGAUGE_BASE_URL": calm.base_url}
            subprocess.run([*words, "-o", "calm.jsonl"], cwd=folder, env=env, check=True, capture_output=True)
        for run in range(runs):
            with Server(latency=0.004) as server:
                store = folder / f"store{run}"
                env = {**os.environ, "NLGAUGE_STORE": str(store), "NLGAUGE_BASE_URL": server.base_url}
                killed = subprocess.Popen(
                    words, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
                while server.log()["stats"].get("requests", 0) == 0:
                    time.sleep(0.01)
                time.sleep(rng.random() * 2.5)
                killed.send_signal(signal.SIGKILL)
                killed.wait()
                time.sleep(0.1)
                kept = committed(store)
                interrupted += len(kept) < n
                before = server.log()["seen"]
                subprocess.run([*words, "-o", "judged.jsonl"], cwd=folder, env=env, check=True, capture_output=True)
                after = server.log()["seen"]
                again += sum(after[m] > before.get(m, 0) for m in kept)
                unequal += (folder / "judged.jsonl").read_text() != (folder / "calm.jsonl").read_text()
    print(
        f"{runs} runs of {n:,} requests killed with SIGKILL ({interrupted} before the end) and resumed: "
        f"{unequal} with other scores than the undisturbed run, {again} kept replies asked for again"
    )


def committed(store: Path) -> set[str]:
    if not store.exists():
        return set()
    with sqlite3.connect(store) as db:
        try:
            bodies = [json.loads(zlib.decompress(row[0])) for row in db.execute("SELECT request FROM replies")]
        except sqlite3.OperationalError:
            return set()
    return {blake2b(b["messages"][-1]["content"].encode(), digest_size=8).hexdigest() for b in bodies}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--load", type=int, nargs="*", default=[2000, 20000])
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--requests", type=int, default=2000)
    given = parser.parse_args(argv)
    for n in given.load:
        load(n, {})
        load(n, FAULTS)
    if given.kills:
        kills(given.kills, given.requests)


if __name__ == "__main__":
    main()
