"""Do the intervals of verdicts hold the truth? Simulates each of them and writes docs/verdicts_coverage.md.

    python -m bench.verdicts                       all cells that out/verdicts.json does not hold yet
    python -m bench.verdicts --write docs/verdicts_coverage.md    and the page
    python -m bench.verdicts --only area           cells whose name begins so

Seeds are fixed; cells are kept as they end. tests/test_verdict_coverage.py runs a small version with binomial bands.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench import _verdict_worlds as world
from bench._cells import cells_or_page
from bench._trust_page import table
from nlgauge.stats.agreement.two_by_two import FEWEST

Row = world.Row
KEPT = Path("out/verdicts.json")
BAND = (0.93, 0.97)
ENOUGH = 10  # expected rows of the rarer outcome from which on counts are no longer coarse
OFTEN = 0.5  # share of data sets with an interval below which coverage speaks of a lucky selection


def cells() -> Iterator[world.Cell]:
    """(name, what it computes)."""
    for n in world.SIZES:
        for p in world.PREVALENCES:
            for judge in world.JUDGES:
                trials = 2000 if n <= 50 else 1000
                yield (
                    f"verdicts {n} {p} {judge}",
                    lambda n=n, p=p, j=judge, t=trials: world.verdict_coverage(n, p, j, t),
                )
    for clusters in (20, 50, 200):
        for p in (0.1, 0.5, 0.9):
            for judge in ("lenient", "good"):
                yield (
                    f"clusters {clusters} {p} {judge}",
                    lambda c=clusters, p=p, j=judge: world.clustered_coverage(c, p, j, 500),
                )
    shapes = [(a, d, s) for a, d in ((0.3, 1.0), (1.2, 1.0), (2.4, 1.0), (1.5, 1.6)) for s in (False, True)]
    areas = [(n, p, shape) for n in (30, 100, 400) for p in (0.1, 0.5, 0.9) for shape in shapes]
    areas += [(2000, p, shapes[k]) for p in (0.02, 0.5, 0.98) for k in (2, 3)]
    for n, p, (apart, spread, steps) in areas:
        trials = 1000 if n <= 100 else 400 if n <= 400 else 200
        yield (
            f"area {n} {p} {apart} {steps}",
            lambda n=n, p=p, a=apart, d=spread, s=steps, t=trials: world.area_coverage(n, p, a, d, s, t),
        )
    for n in (30, 100, 400, 2000):
        for p in (0.02, 0.1, 0.5, 0.9, 0.98):
            for kind in world.CALIBRATIONS:
                yield (f"calibration {n} {p} {kind}", lambda n=n, p=p, k=kind: world.calibration_coverage(n, p, k, 500))
    for n in (60, 200, 1000):
        for p in (0.5, 0.9):
            yield f"threshold {n} {p}", lambda n=n, p=p: world.threshold_honesty(n, p, 2000)
    for failures in (2, 3, 5, 8, 10, 15, 20):
        for passes in (10, 20, 62, 180):
            yield f"few exact {failures} {passes}", lambda f=failures, p=passes: world.few_failures_exact(f, p)
        for passes in (20, 62, 180):
            if failures >= FEWEST:
                yield f"few area {failures} {passes}", lambda f=failures, p=passes: world.few_failures_area(f, p, 500)
    for systems in (2, 3, 6):
        yield f"few clusters {systems}", lambda s=systems: world.few_failures_clustered(s, 200)
    for pair in (*world.PAIRS, *world.SCORE_PAIRS):
        for n in (40, 80, 200, 600):
            for share in (0.1, 0.25, 0.5):
                yield (
                    f"compare {pair} {n} {share}",
                    lambda n=n, s=share, p=pair: [world.comparison_size(n, s, p, 3000)],
                )
        yield f"compare {pair} 240 0.25, 3 systems", lambda p=pair: [world.comparison_size(240, 0.25, p, 3000, 3)]
    for n, share in ((80, 0.1), (80, 0.22), (200, 0.1), (200, 0.5)):
        for judge, length in ((0.0, 0.0), (1.0, 1.0), (2.4, 0.3), (3.5, 1.0)):
            yield (
                f"baseline {n} {share} {judge} {length}",
                lambda n=n, s=share, j=judge, b=length: [world.baseline_advantage(n, s, j, b, 4000)],
            )
    for judge in world.BADGE_JUDGES:
        for n in (80, 200):
            for share in (0.1, 0.22, 0.5):
                yield f"badge {judge} {n} {share}", lambda n=n, s=share, j=judge: [world.badge_errors(n, s, j, 4000)]
    for n, slices, bad in ((150, 8, 0), (150, 8, 2), (600, 20, 0), (600, 20, 3), (2000, 40, 5)):
        yield (f"slices {n} {slices} {bad}", lambda n=n, s=slices, b=bad: [world.slice_discoveries(n, s, b, 1000)])


def compute(only: str = "") -> dict[str, list[Row]]:
    """All cells, from the file where they are known; the file is written now and then."""
    kept: dict[str, list[Row]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.parent.mkdir(exist_ok=True)
    saved = time.monotonic()
    for name, work in cells():
        if name in kept or not name.startswith(only):
            continue
        kept[name] = work()
        if time.monotonic() - saved > 10:
            KEPT.write_text(json.dumps(kept))
            saved = time.monotonic()
            print(name, flush=True)
    KEPT.write_text(json.dumps(kept))
    return kept


def summary(rows: Sequence[Row], more: Sequence[str] = (), coarse: bool = False) -> list[str]:
    """One line per figure over all its cells; coverage where an interval is given in at least half of the data sets."""
    lines = []
    for name in dict.fromkeys(row["figure"] for row in rows):
        mine = [row for row in rows if row["figure"] == name]
        given = [row for row in mine if row["given"] >= OFTEN]
        found = [row["coverage"] for row in given]
        inside = sum(BAND[0] <= c <= BAND[1] for c in found)
        over = sum(c > BAND[1] for c in found)
        extra = [min(row[m] for row in given) for m in more]
        if coarse:
            extra.append(sum(row["coverage"] > BAND[1] and world.rarer(row) >= ENOUGH for row in given))
        lines.append(
            [
                f"`{name}`",
                f"{len(given)} of {len(mine)}",
                min(found),
                sum(found) / len(found),
                max(found),
                inside,
                over,
                len(found) - inside - over,
                max(row["wrong"] for row in mine),
                *extra,
            ]
        )
    heads = ["figure", "cells", "lowest", "mean", "highest", "in .93 to .97", "above", "below", "wrong at most"]
    extra_heads = [
        *(f"lowest {m}" for m in more),
        *([f"above, {ENOUGH} or more of the rarer outcome"] if coarse else []),
    ]
    return table([*heads, *extra_heads], lines)


def grid(rows: Sequence[Row], figure: str, judge: str) -> list[str]:
    """Coverage by prevalence and number of rows."""
    mine = {(r["prevalence"], r["n"]): r for r in rows if r["figure"] == figure and r["judge"] == judge}
    sizes = sorted({n for _, n in mine})

    def cell(row: Row) -> str:
        return "none" if row["given"] < OFTEN else f"{row['coverage']:.3f}".lstrip("0")

    body = [[f"{p:g}", *(cell(mine[p, n]) for n in sizes)] for p in sorted({p for p, _ in mine})]
    return table(["human pass rate", *(f"{n:,} rows" for n in sizes)], body)


def page(kept: dict[str, list[Row]]) -> str:
    def of(start: str) -> list[Row]:
        return [row for name, rows in kept.items() if name.startswith(start + " ") for row in rows]

    plain, areas, calibrated = of("verdicts"), of("area"), of("calibration")
    parts = [
        INTRO,
        "## Verdicts, rows independent\n",
        f"{len(world.SIZES)} sizes from {min(world.SIZES)} to {max(world.SIZES):,} rows, human pass rates of 0.02 to 0.98, "
        "three judges "
        + "("
        + "; ".join(
            f"{name}: recall on failures {f:g}, recall on passes {p:g}" for name, (f, p) in world.JUDGES.items()
        )
        + "). 2,000 data sets per cell up to 50 rows, 1,000 above.\n",
        *summary(plain, coarse=True),
        " rows of the rarer outcome are expected (the last column counts the others): with such small counts, an "
        "interval whose coverage is never below 0.93 must have a higher coverage on average.\n",
        "\n`fail_recall`, the lenient judge (none: too few rows with the human label fail in most data sets):\n",
        *grid(plain, "fail_recall", "lenient"),
        "\n`kappa`, the lenient judge:\n",
        *grid(plain, "kappa", "lenient"),
        "\n## Verdicts, several rows of one conversation\n",
        "Conversations of 1 to 8 rows, verdicts and errors alike within one (correlation .3); 20, 50 and 200 "
        "conversations, human pass rates of 0.1 to 0.9, 500 data sets per cell. Last column: intervals that treat "
        "rows as independent.\n",
        *summary(of("clusters"), ["as independent"]),
        "\n## ROC area and average precision\n",
        "Normal scores (apart by .3 to 2.4, also with unequal spread), and cut into five steps; 30 to 2,000 rows. "
        "1,000 data sets per cell up to 100 rows, 400 at 400, 200 at 2,000; with 100 rows or fewer average precision is "
        "held more often than stated (its binomial variance counts as 60 rows there).\n",
        *summary(areas),
        "\n## Brier's score and ECE\n",
        "Judges that are calibrated, overconfident, underconfident and lenient; 30 to 2,000 rows, 500 data sets "
        "per cell. ECE cannot be below 0 and is biased upward, so that the coverage of its interval is above "
        "nominal for well-calibrated scores.\n",
        *summary(calibrated),
        "\n## The threshold, on rows that chose it and on others\n",
        "Agreement at the threshold of least cost: coverage of the 95 % interval on the other half, and on the half "
        "that chose the threshold, which flatters. (The other half is held more often than stated where fails are "
        "few: they are dealt evenly.)\n",
        *table(
            ["labeled rows", "human pass rate", "other half", "same half"],
            [
                [a["n"], f"{a['prevalence']:g}", a["coverage"], b["coverage"]]
                for a, b in (rows for name, rows in kept.items() if name.startswith("threshold "))
            ],
        ),
        "\n## Slices\n",
        "Slices of equal size, agreement .85, in bad ones .6. Wanted: a false share of the marks of at most .05.\n",
        *table(list(of("slices")[0]), [list(row.values()) for row in of("slices")]),
        *first_screen(kept),
    ]
    return "\n".join(parts).rstrip() + "\n"


def first_screen(kept: dict[str, list[Row]]) -> list[str]:
    """Write the sections on floors, comparisons and badges."""

    def of(start: str) -> list[Row]:
        return [row for name, rows in kept.items() if name.startswith(start + " ") for row in rows]

    few, sizes, lengths, badges = (of(start) for start in ("few", "compare", "baseline", "badge"))

    def lowest(figure: str, failures: int, systems: int) -> float | str:
        found = [
            row["coverage"]
            for row in few
            if (row["figure"], row["failures"], row["systems"]) == (figure, failures, systems)
            and (row["data sets"] == "exact" or row["data sets"] >= 100)
        ]
        return min(found) if found else "none"

    figures, systems = ("fail_recall", "youden", "roc_area"), (1, 2, 3, 6)
    heads = [f"`{figure}`, {k} system{'s' * (k > 1)}" for k in systems for figure in figures]
    floors = [[f, *(lowest(figure, f, k) for k in systems for figure in figures)] for f in (2, 3, 5, 8, 10, 15, 20)]

    def size(pair: str, n: int, share: float, systems: int = 1, column: str = "size") -> float:
        (row,) = (r for r in sizes if (r["pair"], r["n"], r["failures"], r["systems"]) == (pair, n, share, systems))
        return float(row[column])

    grid = [(n, share) for n in (40, 80, 200, 600) for share in (0.1, 0.25, 0.5)]
    pairs = [
        [
            pair,
            *(size(pair, n, share) for n, share in grid),
            size(pair, 240, 0.25, 3),
            size(pair, 80, 0.1, column="size, 5 to 9 failures"),
        ]
        for pair in dict.fromkeys(row["pair"] for row in sizes)
    ]
    return [
        "\n## Few failures\n",
        "Lowest coverage of 95% CIs by the number of human failures. One system: rows are independent; recall on failures "
        "and Youden's J exactly, over true recalls from 0.02 to 0.98 and 10 to 180 passes (the interval of balanced "
        "accuracy is that of J, rescaled); ROC area over eight shapes of scores, 500 data sets each. Several systems: the "
        "outputs for one input are alike (correlation 0.4); none: fewer than 10 inputs with failures, so no interval.\n",
        *table(["failures", *heads], floors),
        "\n## Comparison of two judges\n",
        "Share of data sets in which two judges of equal balanced accuracy (or equal ROC area, where the name begins with "
        "*scores*) differ significantly at 5%; 3,000 data sets per cell, so .050 shows as .042 to .058. Columns: labels "
        "and share of failures. *3 systems*: 80 inputs, 240 labels, share 0.25. *5 to 9 failures*: those data sets of 80 "
        "labels at share 0.1. Fewer than 5 failures or passes: no test.\n",
        *table(["judges", *(f"{n}, {share:g}" for n, share in grid), "3 systems", "5 to 9 failures"], pairs),
        "\n## Output length as a baseline\n",
        "ROC area of a judge's scores minus that of output length, 4,000 data sets per line. *Low above*: the lower end "
        "lies above the true difference and above 0.\n",
        *table(
            ["labels", "failures", "area of the judge", "area of length", "coverage", "low above"],
            [
                [r["n"], f"{r['failures']:g}", r["judge"], r["length"], r["coverage"], r["low above the truth"]]
                for r in lengths
            ],
        ),
        "\n## Badges of uninformative judges\n",
        "Share of 4,000 data sets in which the judge earns *reliable*. *length*: passes the longer 70% of the "
        "outputs, and quality does not depend on length. The share should be at most 0.025 (0.030 with sampling "
        "error).\n",
        *table(
            list(badges[0])[:-1],
            [[*list(r.values())[:2], f"{r['failures']:g}", *list(r.values())[3:-1]] for r in badges],
        ),
    ]


INTRO = """# Simulation: coverage of pass/fail statistics

Written by `python -m bench.verdicts --write docs/verdicts_coverage.md` (seeds fixed; do not edit); a small version runs in the tests.
The statistics are defined in [accuracy of pass/fail judges](verdicts.md). This simulation measures the coverage of their 95% confidence intervals.

Data sets are drawn from populations whose truth is known. *Coverage*: share of the given 95 % intervals that hold the truth; wanted .93
to .97, or more where counts are so small that no interval can be nearer (2 of 6 rows cannot be split finer). It is shown for cells in which at least
half of the data sets have enough rows for an interval: where fewer do, those with an interval are a lucky selection, and what counts is *wrong*, the share of **all** data
sets with an interval that misses the truth (wanted: at most .07). Chance: with 500 data sets an interval that is right shows .93 to .97, with 1,000 .936 to .964.
"""


def main() -> None:
    cells_or_page("verdicts", __doc__ or "", KEPT, compute, page)


if __name__ == "__main__":
    main()
