"""One target in this process: damage, run, keep what broke. The case under way is in shared memory for the parent to
see.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import random
import resource
import struct
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.contract import Broken, Target, in_time
from fuzz.mutate import mutated

HEAD = struct.Struct("<QQ")  # executions so far, length of the case under way
ROOM = 1 << 17


class Window:
    """What a watching process can read at any moment, also after this one was killed."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(ROOM))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), ROOM)

    def show(self, runs: int, data: bytes) -> None:
        kept = data[: ROOM - HEAD.size]
        self._map[: HEAD.size] = HEAD.pack(runs, len(kept))
        self._map[HEAD.size : HEAD.size + len(kept)] = kept

    def see(self) -> tuple[int, bytes]:
        runs, size = HEAD.unpack(self._map[: HEAD.size])
        return runs, self._map[HEAD.size : HEAD.size + size]


@dataclass
class Outcome:
    """What was run; `found` maps what broke (exception and place) to how often and the first input's file."""

    target: str
    runs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    found: dict[str, list[int | str]] = field(default_factory=dict)

    def line(self) -> str:
        rate = self.runs / self.seconds if self.seconds else 0.0
        broke = (
            f"{sum(int(v[0]) for v in self.found.values())} broke in {len(self.found)} ways"
            if self.found
            else "none broke"
        )
        return f"{self.target:<24} {self.runs:>10,} runs  {rate:>9,.0f}/s  slowest {self.slowest:6.3f} s  {broke}"


def run_target(target: Target, runs: int, seed: int, limit: float, memory: int, folder: Path) -> Outcome:
    """Damaged seeds, each within `limit` seconds and `memory` MiB more than before; what breaks is kept in the folder."""
    rng = random.Random(f"{target.name}/{seed}")
    window = Window(folder / f"{target.name}.now")
    outcome = Outcome(target.name)
    for data in target.seeds:  # what is compiled on first use is no part of a case's time
        _broke(target, data, 600.0)
    bound_memory(memory)
    start = time.perf_counter()
    for n in range(runs):
        data = target.seeds[n] if n < len(target.seeds) else mutated(target.seeds, rng, target.words)
        window.show(n, data)
        begin = time.perf_counter()
        error = _broke(target, data, limit)
        outcome.slowest = max(outcome.slowest, time.perf_counter() - begin)
        outcome.runs += 1
        if error is not None:
            keep(outcome, data, error, folder)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _broke(target: Target, data: bytes, limit: float) -> BaseException | None:
    # A kernel built with checks cannot raise where it has let go of the interpreter: its error ends up here.
    lost: list[BaseException | None] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda found: lost.append(found.exc_value)
    try:
        with in_time(limit):
            target.run(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        return error
    finally:
        sys.unraisablehook = before
    return Broken(f"an error that could not be raised: {lost[0]!r}") if lost else None


def keep(outcome: Outcome, data: bytes, error: BaseException, folder: Path) -> None:
    """The first input of each way to break, with the traceback beside it."""
    way = way_of(error)
    if way in outcome.found:
        outcome.found[way][0] = int(outcome.found[way][0]) + 1
        return
    name = f"{outcome.target}-{hashlib.blake2b(data, digest_size=4).hexdigest()}"
    (folder / name).write_bytes(data)
    (folder / f"{name}.txt").write_text(
        "".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace"
    )
    outcome.found[way] = [1, name]


def way_of(error: BaseException) -> str:
    """Exception and the innermost place in the package: inputs that break there are one finding."""
    where = error.__cause__ or error  # a refusal of more than one line was raised elsewhere
    frames = traceback.extract_tb(where.__traceback__)
    ours = [f for f in frames if "nlgauge" in f.filename] or frames
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    said = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__} at {place}" + (f": {said[:70]}" if isinstance(error, Broken) else "")


def bound_memory(mebibytes: int) -> None:
    """Beyond so much more than now, memory is refused (Linux: data, heap and private maps)."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        now = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmData"))) << 10
        resource.setrlimit(resource.RLIMIT_DATA, (now + (mebibytes << 20), resource.RLIM_INFINITY))
    except (OSError, StopIteration, ValueError):
        pass


def save(outcome: Outcome, path: Path) -> None:
    path.write_text(json.dumps(vars(outcome)), encoding="utf-8")


def saved(path: Path) -> Outcome:
    return Outcome(**json.loads(path.read_text(encoding="utf-8")))
