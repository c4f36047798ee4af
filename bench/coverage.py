"""How often is what NLGauge says wrong? Simulates it and writes the tables of the pages that show it.

    python -m bench.coverage                            the statements of the first screen: cells that are not kept yet
    python -m bench.coverage --write docs/trust.md      and the page
    python -m bench.coverage --write docs/gate.md       the tables of that page; also drift.md, bias.md, tuning.md, jury.md
    python -m bench.coverage --only set                 cells whose name begins so

Seeds are fixed. Cells are kept in out/ as they end (a file per kind, so that kinds can be computed side by side), so it
can be stopped at any moment; a changed cell is computed again when its line is deleted there. Real data sets are read
from the folder NLGAUGE_DATA. Small versions with binomial bands run in the tests (tests/test_trust.py and others).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bench import _statements as say
from bench import best_of, bias, drift, gate, jury
from bench._cells import between
from bench._trust_page import write_page

Row = say.Row
Cells = Iterator[tuple[str, Callable[[], list[Row]]]]
# Pages of the guards of a judge: each module has `cells` and puts what they give into `tables` of its page.
GUARDS = {"gate.md": gate, "drift.md": drift, "bias.md": bias, "tuning.md": best_of, "jury.md": jury}
TRIALS, SIZE_TRIALS = 2000, 5000
SIZES = ((8, 50), (12, 100))
ROUNDED_SIZES = ((8, 50), (12, 100), (12, 400))
TEST_SIZES = ((6, 50), (8, 50), (12, 50), (16, 50))
# Sizes of populations that need others, as 8 families of 3, 10 documents of 8.
OTHER_SIZES = {"plain": SIZES, "outlying": SIZES, "families": ((24, 50),), "documents": ((12, 80),)}
REAL = (("tac11", "pyr"), ("summeval-table", "coherence"), ("wmt23-en-de", "mqm"), ("hanna", "Coherence"))
KINDS = ("rounded", "set", "lead", "size", "power", "interval", "few", "best", "badge", "floor", "more")


def cells() -> Cells:
    """(name, what it computes); the first word of a name is its kind."""
    for n, m in ROUNDED_SIZES:
        for levels in (3, 5, 10):
            yield f"rounded {levels} {n}x{m}", lambda a=(levels, n, m): [say.rounded_copy(*a, TRIALS)]
    for n, m in TEST_SIZES:
        yield f"power {n}x{m}", lambda n=n, m=m: [say.power(n, m, TRIALS)]
        for null in say.NULLS:
            yield f"size {null} {n}x{m}", lambda a=(null, n, m): [say.size_of_test(*a, SIZE_TRIALS)]
    for population in say.WORLDS:
        for n, m in OTHER_SIZES.get(population.split(" ", maxsplit=1)[0], ((8, 50),)):
            yield f"interval {population} {n}x{m}", lambda a=(population, n, m): say.coverage(*a, TRIALS)
    yield "interval plain, 5 metrics 12x100", lambda: say.coverage("plain", 12, 100, TRIALS, metrics=5)
    for name, aspect in REAL:
        yield f"interval {name} 10x30", lambda n=name, a=aspect: say.coverage(n, 10, 30, TRIALS, aspect=a)
    for n, m in ((4, 100), (1, 200)):
        yield f"few {n}x{m}", lambda n=n, m=m: [say.few_systems(n, m, TRIALS)]
    yield "best 10 8x50", lambda: [say.best_interval(10, 8, 50, TRIALS)]
    for kind, metrics in (("unrelated", 1), ("unrelated", 10), ("constant", 1), ("length", 1), ("very good", 1)):
        for n, m in SIZES[:1]:
            name = f"badge {kind} {metrics} {n}x{m}"
            yield name, lambda a=(kind, n, m), k=metrics: say.badges(*a, TRIALS, metrics=k)
    for bad, systems in ((2, 1), (5, 2), (5, 4), (10, 2), (10, 3), (20, 3)):
        for n, m in SIZES[1:]:
            yield f"floor {bad} {systems} {n}x{m}", lambda a=(bad, systems, n, m): [say.flag_floor(*a, TRIALS)]
    for metrics in (2, 10, 30, 100):
        for n, m in SIZES if metrics < 100 else SIZES[:1]:
            yield f"set {metrics} {n}x{m}", lambda a=(metrics, n, m): [say.confidence_set(*a, TRIALS)]
    for lead in (0.02, 0.05, 0.1):
        for n, m in SIZES:
            yield (
                f"lead {lead} 10 {n}x{m}",
                lambda a=(10, n, m), lead=lead: [say.confidence_set(*a, TRIALS, lead=lead, mcb=True)],
            )
    yield "more “This metric is related to the ratings”, of one that is not", related

    yield "more A hint where families are not named and system names look unrelated", say.family_hints


def related() -> list[Row]:
    """Zero tests, KS and relative ranking: as if outputs were independent, and by shuffling whole systems and inputs."""
    from bench.clusters import simulate

    rows = []
    for n, m in SIZES:
        found = {(r["statement"], r["test"]): r for r in simulate(n, m, trials=300, seed=17)}
        rows += [
            {
                "systems × inputs": f"{n} × {m}",
                "statement": s,
                "before (outputs independent)": found[s, "independent"]["called"],
                "now (whole systems and inputs shuffled)": found[s, "clustered"]["called"],
                "data sets": 300,
            }
            for s in dict.fromkeys(s for s, _ in found)
        ]
    return rows


def compute(path: Path, work: Iterable[tuple[str, Callable[[], Any]]], only: str = "") -> dict[str, Any]:
    """All cells, from the file where they are known; the file is written after each."""
    kept: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    for name, run in work:
        if name in kept or not name.startswith(only):
            continue
        began = time.process_time()
        kept[name] = run()
        path.write_text(json.dumps(kept, indent=1))
        print(f"{name}: {time.process_time() - began:.0f} s CPU", flush=True)
    return kept


def guard_page(page: Path, only: str = "") -> None:
    """The tables of a page, once all of its cells are there."""
    module = GUARDS[page.name]
    work = module.cells()
    kept = compute(Path(f"out/{page.stem}.json"), work.items(), only)
    if missing := [name for name in work if name not in kept]:
        raise SystemExit(f"{page}: {len(missing)} of {len(work)} cells are not computed yet, such as {missing[0]}")
    between(page, {name: "\n".join(lines) for name, lines in module.tables({n: kept[n] for n in work}).items()})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the page: docs/trust.md, " + ", ".join(GUARDS)
    )
    parser.add_argument("--only", default="", metavar="NAME", help="cells whose name begins so")
    parser.add_argument("--page", action="store_true", help="compute nothing: docs/trust.md from what is kept")
    asked = parser.parse_args()
    if asked.write is not None and asked.write.name in GUARDS:
        guard_page(asked.write, asked.only)
        return
    kept: dict[str, Any] = {}
    for kind in KINDS:
        path = Path(f"out/coverage_{kind}.json")
        work = [(name, run) for name, run in cells() if name.split(" ", maxsplit=1)[0] == kind]
        if asked.page:
            kept |= json.loads(path.read_text()) if path.exists() else {}
        elif any(name.startswith(asked.only) for name, _ in work):
            kept |= compute(path, work, asked.only)
    for name, rows in kept.items():
        if name.startswith(asked.only):
            for row in rows:
                print(name, {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    if asked.write:
        write_page(asked.write, kept, Path(__file__).parent / "trust_headlines.md")


if __name__ == "__main__":
    main()
