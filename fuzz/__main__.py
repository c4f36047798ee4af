"""`python -m fuzz --runs 1000000`: every target, each in a process of its own; prints executions and what broke."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from fuzz.runner import Outcome, Window, keep, run_target, save, saved

STALLED = 40  # times the limit of one case without an execution: the process is stuck in compiled code


def main() -> int:
    asked = options()
    if not asked.list:
        asked.crashes.mkdir(parents=True, exist_ok=True)
    if asked.engine == "atheris" and asked.child:
        from fuzz.guided import main as guided

        guided(asked.target[0], asked.runs, asked.seed, asked.limit, asked.memory, asked.crashes)
        return 0
    from fuzz.targets import find

    chosen = find(asked.target)
    if asked.child:
        outcome = run_target(chosen[0], asked.runs, asked.seed, asked.limit, asked.memory, asked.crashes)
        save(outcome, asked.crashes / f"{chosen[0].name}.json")
        return 0
    total = sum(t.weight for t in chosen)
    shares = {t.name: max(1, -(-asked.runs * t.weight // total)) for t in chosen}
    if asked.list:
        print("\n".join(f"{name:<24} {share:>10,} of {asked.runs:,}" for name, share in shares.items()))
        return 0
    return guide(shares, asked) if asked.engine == "atheris" else watch(shares, asked)


def options(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Whatever comes in: a value or one clear line.")
    parser.add_argument("--runs", type=int, default=100_000, help="executions in all, shared by weight (100000)")
    parser.add_argument("--target", action="append", default=[], help="only these (repeat), by name or beginning")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of the processor for one case (5)")
    parser.add_argument("--memory", type=int, default=1024, help="MiB more than at the start (1024)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--crashes", type=Path, default=Path("out/fuzz"), help="folder for what broke (out/fuzz)")
    parser.add_argument("--engine", choices=["random", "atheris"], default="random")
    parser.add_argument("--list", action="store_true", help="show the targets and their shares")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def command(name: str, runs: int, seed: int, asked: argparse.Namespace) -> list[str]:
    given = {
        "runs": runs,
        "seed": seed,
        "limit": asked.limit,
        "memory": asked.memory,
        "crashes": asked.crashes,
        "engine": asked.engine,
    }
    return [
        sys.executable,
        "-m",
        "fuzz",
        "--child",
        "--target",
        name,
        *(w for k, v in given.items() for w in (f"--{k}", str(v))),
    ]


class Child:
    """A process with one target, watched: one that dies or stalls leaves its last input, and another goes on."""

    def __init__(self, name: str, runs: int, asked: argparse.Namespace) -> None:
        self.name, self.asked, self.left = name, asked, runs
        self.whole = Outcome(name)
        self.window = Window(asked.crashes / f"{name}.now")
        self.start()

    def start(self) -> None:
        self.result = self.asked.crashes / f"{self.name}.json"
        self.result.unlink(missing_ok=True)
        self.window.show(0, b"")
        seed = self.asked.seed + 1000 * len(self.whole.found)
        environment = os.environ | {"POLARS_MAX_THREADS": "1"}
        self.process = subprocess.Popen(command(self.name, self.left, seed, self.asked), env=environment)
        self.moved, self.seen = time.monotonic(), (0, b"")

    def done(self) -> bool:
        """Whether this target is finished; starts anew after a death."""
        now = self.window.see()
        if now != self.seen:
            self.seen, self.moved = now, time.monotonic()
        stalled = time.monotonic() - self.moved > max(120.0, STALLED * self.asked.limit)
        if self.process.poll() is None and not stalled:
            return False
        if stalled:
            self.process.kill()
            self.process.wait()
        if self.result.exists():
            self.add(saved(self.result))
            return True
        runs, data = self.window.see()
        self.add(Outcome(self.name, runs))
        why = "stalled" if stalled else f"died with {self.process.returncode}"
        keep(self.whole, data, RuntimeError(f"the process {why} ({len(self.whole.found)})"), self.asked.crashes)
        self.left -= runs + 1
        if self.left <= 0 or len(self.whole.found) > 20:
            return True
        self.start()
        return False

    def add(self, more: Outcome) -> None:
        self.whole.runs += more.runs
        self.whole.seconds += more.seconds
        self.whole.slowest = max(self.whole.slowest, more.slowest)
        self.whole.found |= more.found


def watch(shares: dict[str, int], asked: argparse.Namespace) -> int:
    todo, running, outcomes = sorted(shares.items(), key=lambda s: s[1]), list[Child](), list[Outcome]()
    begin = time.monotonic()
    while todo or running:
        while todo and len(running) < asked.workers:
            running.append(Child(*todo.pop(), asked))
        time.sleep(0.2)
        for child in [c for c in running if c.done()]:
            running.remove(child)
            outcomes.append(child.whole)
            (asked.crashes / f"{child.name}.now").unlink(missing_ok=True)
            child.result.unlink(missing_ok=True)
            print(child.whole.line(), flush=True)
    ways = [(o.target, way, *seen) for o in outcomes for way, seen in o.found.items()]
    runs, seconds = sum(o.runs for o in outcomes), time.monotonic() - begin
    print(f"\n{runs:,} executions of {len(outcomes)} targets in {seconds:,.0f} s; {len(ways)} ways to break them")
    for target, way, count, name in ways:
        print(f"  {target}: {way} ({count}×, {asked.crashes / str(name)})")
    return 1 if ways else 0


def guide(shares: dict[str, int], asked: argparse.Namespace) -> int:
    """Each target under atheris, one after the other: libFuzzer stops at the first input that breaks it."""
    broken = 0
    for name, runs in shares.items():
        print(f"== {name}: {runs:,} runs, guided by coverage", flush=True)
        broken += subprocess.run(command(name, runs, asked.seed, asked), check=False).returncode != 0
    print(
        f"\n{sum(shares.values()):,} guided executions of {len(shares)} targets; {broken} broke (inputs in "
        f"{asked.crashes})"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
