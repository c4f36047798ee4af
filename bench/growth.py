"""How time and memory of every metric grow with the length of a text: 10⁴, 10⁵ and 10⁶ characters of four kinds.

One output of that length against a reference, source and context of the same length, rotated by a third. Each
measurement is a process of its own with a limit of CPU time and memory, so a metric that dies is a row, not the end. A
metric that has no value for a text says why, and that is quick.

    python -m bench.growth                          (all metrics, prints the table)
    python -m bench.growth --write docs/limits.md   (and writes the page)
    python -m bench.growth meteor hlepor            (some of them)
    python -m bench.growth --analyses               (analyses and `run` instead: growth in systems, inputs, metrics, raters)
    python -m bench.growth --analyses run uses      (some of them)
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

SIZES = (10_000, 100_000, 1_000_000)
SECONDS, MEGABYTES = 20, 3_000  # what one measurement may take
SHORT = "The cat sat on the mat, and it was happy. Then it ran away!"
KINDS: dict[str, Callable[[int], str]] = {
    "equal tokens": lambda n: ("word " * (n // 5 + 1))[:n],
    "distinct tokens": lambda n: " ".join(f"w{i}" for i in range(n // 5 + 1))[:n],
    "one word": lambda n: "a" * n,
    "punctuation": lambda n: (".,;:!?-\"()'" * (n // 11 + 1))[:n],
}
START = {"systems": 8, "inputs": 25, "metrics": 4, "raters": 2}
STEPS = (1, 4, 16)  # times the start, along one axis
ANALYSES = ("correlate", "compare", "intervals", "uses", "ceiling", "measures", "checklist", "run")
TRIGRAM = "perplexity(lm='trigram')"


def specs() -> list[str]:
    """Every metric that needs no neural model and whose packages are installed."""
    from nlgauge import registry
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import metric_from_spec

    found = [TRIGRAM]
    for name in registry.names("metric"):
        if registry.get("metric", name).facts.extra not in ("neural", "judges"):
            with contextlib.suppress(NlgaugeError):
                getattr(metric_from_spec(name), "ready", lambda: None)()
                found.append(name)
    return sorted(found)


def batch_of(text: str) -> Any:
    from nlgauge.metrics import Batch

    third = len(text) // 3
    other = text[third:] + text[:third]
    return Batch.from_columns(  # with a short one beside it, as some metrics weigh words by the other references
        [text, SHORT],
        source=[other, SHORT],
        context=[other, SHORT],
        references=[[other], [SHORT]],
        control=["positive"] * 2,
        system=["A"] * 2,
        input=["1", "2"],
    )


def measured(chosen: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every kind and size in a fork; after one that died the larger ones are not tried."""
    from nlgauge.metrics import metric_from_spec

    for spec in chosen:
        metric = metric_from_spec(spec)
        metric.score(batch_of(SHORT))  # compiles and loads what is loaded once
        for kind, make in KINDS.items():
            for size in SIZES:
                found = {"metric": spec, "kind": kind, "size": size, **_forked(metric, make(size))}
                yield found
                if "died" in found:
                    break


def _forked(metric: Any, text: str) -> dict[str, Any]:
    out, back = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        try:
            os.write(back, json.dumps(_cell(metric, text)).encode())
        except MemoryError:
            os.write(back, json.dumps({"died": f"more than {MEGABYTES:,} MB"}).encode())
        finally:
            os._exit(0)
    os.close(back)
    with os.fdopen(out, "rb") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if said:
        found: dict[str, Any] = json.loads(said)
        return found
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in (signal.SIGXCPU, signal.SIGKILL):
        return {"died": f"more than {SECONDS} s"}
    return {"died": f"the process: {signal.Signals(number).name if number else 'an error'}"}


def _cell(metric: Any, text: str) -> dict[str, Any]:
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    before = _status("VmRSS")
    room = (_status("VmSize") + MEGABYTES * 1024) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    began = _spent()
    try:
        scores = metric.score(batch_of(text))
    except MemoryError:
        raise
    except Exception as error:
        return {"died": f"{type(error).__name__}: {error}"[:120]}
    spent = _spent() - began
    return {"seconds": spent, "megabytes": (_status("VmHWM") - before) / 1024, "reason": scores.reasons.get(0, "")}


def _spent() -> float:
    """CPU time of this process and of programs that it has run, as the link parser."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _status(name: str) -> int:
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(name + ":"))
    return int(line.split()[1])


def rows(cells: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """A metric and what it needed for each kind: seconds at each size, megabytes at the largest that it has a value
    for.
    """
    at = {(c["metric"], c["kind"], c["size"]): c for c in cells}
    for spec in dict.fromkeys(c["metric"] for c in cells):
        shown = []
        for kind in KINDS:
            mine = [at[spec, kind, size] for size in SIZES if (spec, kind, size) in at]
            shown.append(_shown(mine))
        yield spec, shown


def _shown(cells: list[dict[str, Any]]) -> str:
    parts, memory = [], 0.0
    for cell in cells:
        if "died" in cell:
            parts.append(f"**{cell['died']}**")
        elif cell["reason"]:
            parts.append("–")
        else:
            parts.append(f"{cell['seconds']:.2f}")
            memory = cell["megabytes"]
    return f"{' / '.join(parts)} s, {memory:.0f} MB" if any(part != "–" for part in parts) else "–"


def reasons(cells: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Why a metric has no value for a text that is too long for it."""
    said: dict[str, list[str]] = {}
    for cell in cells:
        if any(words in cell.get("reason", "") for words in ("longer than", "too long", "grows faster")):
            said.setdefault(cell["reason"], []).append(cell["metric"])
    for reason, names in said.items():
        yield f"{', '.join(f'`{n}`' for n in dict.fromkeys(names))}: {reason}"


def rated_table(systems: int, inputs: int, metrics: int, raters: int) -> Any:
    """Ratings from 1 to 5 and scores of systems of different quality, one row per output and rater."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(1)
    quality, n = np.tile(rng.normal(size=systems), inputs), systems * inputs
    names = {
        "system": np.tile([f"system {i}" for i in range(systems)], inputs),
        "input": np.repeat([f"input {i}" for i in range(inputs)], systems),
    }
    truth = quality + rng.normal(size=n)
    scores = {f"metric{k}": truth + rng.normal(0, 1 + k / metrics, n) for k in range(metrics)}
    rated = [np.clip(np.round(truth + rng.normal(0, 0.5, n)) + 3, 1, 5) for _ in range(raters)]
    return pl.concat(
        [pl.DataFrame({**names, "rater": [f"r{r}"] * n, "coherence": rated[r], **scores}) for r in range(raters)]
    )


def one_analysis(name: str, axis: str, times: int) -> None:
    """Print CPU seconds and megabytes that one analysis needs beside loading; limits hold for this process."""
    import nlgauge

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 10, SECONDS + 11))
    table = rated_table(**{**START, axis: START[axis] * times})
    data = nlgauge.load(table, columns={"human": "coherence"}, name="grown")
    warm = nlgauge.load(rated_table(4, 12, 3, 2), columns={"human": "coherence"}, name="warm")
    with tempfile.TemporaryDirectory() as folder:

        def asked(of: Any) -> None:
            if name == "run":
                nlgauge.report(of, out=Path(folder) / "page.html")
            else:
                nlgauge.analyze(name, of)

        asked(warm)  # imports and what is loaded once
        Path("/proc/self/clear_refs").write_text("5")
        before, began = _status("VmRSS"), _spent()
        asked(data)
        print(json.dumps({"seconds": _spent() - began, "megabytes": (_status("VmHWM") - before) / 1024}))


def growth_of_analyses(names: Sequence[str]) -> Iterator[str]:
    """A line per analysis and axis: seconds and megabytes at each size, and the exponent of the last step."""
    for name in names or ANALYSES:
        for axis, start in START.items():
            found: list[dict[str, float]] = []
            for times in STEPS:
                command = [sys.executable, "-m", "bench.growth", "--one", name, axis, str(times)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    break
                found.append(json.loads(done.stdout.splitlines()[-1]))
            shown = " / ".join(f"{f['seconds']:.2f}" for f in found)
            ends = [max(f["seconds"], 1e-3) for f in found[-2:]]
            exponent = f"{math.log(ends[-1] / ends[0], STEPS[1]):.2f}" if len(ends) > 1 else "–"
            broke = "" if len(found) == len(STEPS) else f"  not at {start * STEPS[len(found)]:,}"
            memory = f"{found[-1]['megabytes']:.0f} MB" if found else ""
            yield f"{name:12} {axis:8} {start:>4} ×1/×4/×16  {shown} s  exponent {exponent}  {memory}{broke}"


TOP = """# Longest texts

Written by `python -m bench.growth --write docs/limits.md`; do not edit.

The table shows the time and memory of every metric on one output of 10⁴, 10⁵ and 10⁶ characters, with a reference, source and context of the
same length. Each cell contains the CPU time in seconds at the three lengths (–: no value, with the reason below or because the text has
no words), and the additional memory for the longest text with a value. The texts are `word word
word …`, `w0 w1 w2 …`, a single word of one repeated letter, and only punctuation. A metric whose running time grows faster than linearly has
a length limit; beyond it, the output has no value, and the reason states the limit. Metrics that run a neural model are not in the table: they
truncate texts that are too long for the model, or read them in windows, with a note.
"""


def page(cells: Sequence[dict[str, Any]]) -> str:
    lines = [TOP, f"| metric | {' | '.join(KINDS)} |", f"| --- |{' --- |' * len(KINDS)}"]
    lines += [f"| `{spec}` | {' | '.join(shown)} |" for spec, shown in rows(cells)]
    lines += ["", "## Limits", "", *(f"- {line}" for line in reasons(cells)), ""]
    return "\n".join(lines)


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("metrics", nargs="*")
    parser.add_argument("--analyses", action="store_true", help="analyses and `run` instead of metrics")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the page, e.g. docs/limits.md")
    asked = parser.parse_args(arguments)
    if asked.one:
        name, axis, times = asked.metrics
        return one_analysis(name, axis, int(times))
    if asked.analyses:
        for line in growth_of_analyses(asked.metrics):
            print(line, flush=True)
        return None
    cells = []
    for cell in measured(asked.metrics or specs()):
        cells.append(cell)
        what = cell.get("died") or cell["reason"] or f"{cell['seconds']:.2f} s, {cell['megabytes']:.0f} MB"
        print(f"{cell['metric']:28} {cell['kind']:16} {cell['size']:>9,}  {what}", flush=True)
    if asked.write:
        asked.write.write_text(page(cells), encoding="utf-8")
        print(f"written: {asked.write}")
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
