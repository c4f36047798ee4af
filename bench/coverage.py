"""How often is what NLGauge says wrong? Simulates it and writes the tables of the pages that show it.

    python -m bench.coverage                            the statements of the first screen: cells that are not kept yet
    python -m bench.coverage --write docs/trust.md      and the page with its pictures
    python -m bench.coverage --write docs/gate.md       the tables of that page; also drift.md, bias.md, tuning.md, jury.md
    python -m bench.coverage --only best                cells whose name begins so

Seeds are fixed. Cells are kept in out/ as they end, so it can be stopped at any moment; a changed cell is computed again
when its line is deleted there. Small versions with binomial bands run in the tests (tests/test_trust.py and others).
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
KEPT = Path("out/coverage.json")
# Pages of the guards of a judge: each module has `cells` and puts what they give into `tables` of its page.
GUARDS = {"gate.md": gate, "drift.md": drift, "bias.md": bias, "tuning.md": best_of, "jury.md": jury}
SIZES = ((8, 50), (12, 100), (16, 100), (30, 100))


def cells() -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """(name, what it computes), what is wanted most first."""
    for n, m in SIZES:
        trials = 1000 if n <= 16 else 500
        yield (f"interval plain {n}x{m}", lambda n=n, m=m, t=trials: say.coverage("plain", n, m, t, old=n <= 12))
        yield f"best 2 {n}x{m}", lambda n=n, m=m, t=trials: say.called_best(n, m, 2, t, old=n <= 16)
        yield f"best 5 {n}x{m}", lambda n=n, m=m, t=trials: say.called_best(n, m, 5, t)
        yield f"uses {n}x{m}", lambda n=n, m=m: say.use_verdicts(n, m, 400 if n <= 16 else 200)
    yield "interval one 1x200", lambda: say.coverage("plain", 1, 200, 1000)
    yield "best one 2 1x200", lambda: say.called_best(1, 200, 2, 1000, measure="global/kendall")
    yield "uses one 1x200", lambda: say.use_verdicts(1, 200, 400)
    yield "interval few 4x100", lambda: say.coverage("plain", 4, 100, 1000)
    for measure in ("global/pearson", "system/pearson", "item/pearson"):
        yield (
            f"best {measure} 12x100",
            lambda measure=measure: say.called_best(12, 100, 2, 500, measure=measure, old=True),
        )
    yield "best 10 12x100", lambda: say.called_best(12, 100, 10, 500)
    yield "best two of five 12x100", lambda: say.called_best(12, 100, 2, 500, worse=3)
    for n, m in SIZES[:3]:
        yield f"power {n}x{m}", lambda n=n, m=m: [say.power(n, m, 500)]
    for world in list(say.WORLDS)[1:]:
        for n, m in SIZES[:2]:
            yield f"interval {world} {n}x{m}", lambda w=world, n=n, m=m: say.coverage(w, n, m, 500)
    yield "more “This metric is related to people”, of one that is not", related
    yield "more “Trust this measure”", advice
    yield "more The human ceiling and its interval", ceiling
    for n in (6, 10, 20, 30):
        for m in (20, 50, 200, 400):
            yield (
                f"grid {n}x{m}",
                lambda n=n, m=m: say.coverage("plain", n, m, 300, measures=["input/kendall"], seed=15),
            )


def related() -> list[Row]:
    """Zero tests, KS and relative ranking: as if outputs were independent, and by shuffling whole systems and inputs."""
    from bench.clusters import simulate

    rows = []
    for n, m in SIZES[:2]:
        found = {(r["statement"], r["test"]): r for r in simulate(n, m, trials=300, seed=17)}
        rows += [
            {"systems × inputs": f"{n} × {m}", "statement": s, "before (outputs independent)": found[s,
                "independent"]["called"],
             "now (whole systems and inputs shuffled)": found[s, "clustered"]["called"], "data sets": 300}
            for s in dict.fromkeys(s for s, _ in found)
        ]  # fmt: skip
    return rows


def advice() -> list[Row]:
    """Stability: all metrics equally good, and metrics that differ."""
    from bench._coverage_stability import simulate

    wide = [0.2, 0.31, 0.41, 0.52, 0.63, 0.74, 0.84, 0.95]
    return [
        {"the metrics are": name, **simulate(n, m, strengths, runs=100, seed=17)}
        for name, strengths in (("equally good", [0.7] * 8), ("different", wide))
        for n, m in SIZES[:2]
    ]


def ceiling() -> list[Row]:
    from bench._coverage_ceiling import World, simulate

    return [row for n, m in ((5, 60), *SIZES[:2]) for row in simulate(World(n, m), runs=100, seed=17)]


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
    kept = json.loads(KEPT.read_text()) if asked.page else compute(KEPT, cells(), asked.only)
    for name, rows in kept.items():
        if name.startswith(asked.only):
            for row in rows:
                print(name, {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()})
    if asked.write:
        write_page(asked.write, kept, Path(__file__).parent / "trust_headlines.md")


if __name__ == "__main__":
    main()
