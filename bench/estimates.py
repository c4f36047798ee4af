"""Do the intervals of estimates hold the truth, and what is gained? Simulates and writes docs/estimate_coverage.md.

    python -m bench.estimates                                        all cells that out/estimates.json does not hold yet
    python -m bench.estimates --write docs/estimate_coverage.md      and the page
    python -m bench.estimates --only systems                         cells whose name begins so

Seeds are fixed; cells are kept as they end. tests/test_estimate_coverage.py runs a small version.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench import _estimate_worlds as world
from bench import _grouped_worlds as groups
from bench._cells import cells_or_page, fingerprint
from bench._estimate_exact import FLOOR, least_corrected, least_coverage
from bench._trust_page import table
from nlgauge.stats.agreement import proportion
from nlgauge.stats.estimation import (
    grouped_correlation,
    means,
    rogan_gladen,
    several_judges,
    shares,
    sparse_correlation,
    systems,
)
from nlgauge.stats.estimation.systems import PROBE_LABELS

Row = world.Row
KEPT = Path("out/estimates.json")
BAND = (0.93, 0.97)
TRIALS = 2000
FEWER = 1000  # of systems and correlations, which take longer
BY_GROUP = {"input": 2000, "item": 400, "system": 600}  # data sets of correlations by group
METHODS = {"labels": "labels only", "ppi": "PPI", "ppi++": "PPI++"}


def cells() -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    """(name, what it computes), means first."""
    for n in world.SIZES:
        for design, kind, q, judge in _mean_cells():
            run = partial(world.mean_coverage, n, q, kind, judge, design, TRIALS)
            yield f"means {design} {kind} {n} {q} {judge}", run
    for n in world.SIZES:
        for p in world.PREVALENCES:
            for judge in world.JUDGES:
                yield f"corrected {n} {p} {judge}", partial(world.corrected_coverage, n, p, judge, TRIALS)
        for real in (("gpt-4-0314", "rts"), ("llama-2-7b-chat-hf", "rts")) if n < 300 else ():
            for aspect in ("coherence", "consistency", "fluency", "relevance"):
                yield f"summeval {n} {real[0]} {aspect}", partial(world.summeval_coverage, n, real, aspect, TRIALS)
        for q in (None, 0.05, 0.5, 0.9):
            yield f"several {n} {q}", partial(world.several_coverage, n, q, TRIALS)
    for n in world.SIZES:
        for kind in ("verdict", world.RATING):
            yield f"systems {n} {kind}", partial(world.systems_coverage, n, kind, FEWER)
        for design in ("random", "strata", "probabilities") if n < 300 else ("random",):
            for rho in (0.3, 0.6, 0.9):
                run = partial(world.correlation_coverage, n, rho, True, design, FEWER)
                yield f"correlations {n} {design} {rho}", run
    for kind in world.KINDS:
        for leniency in world.LENIENCIES:
            for probe in world.PROBES:
                run = partial(world.transfer_coverage, probe, leniency, kind, TRIALS)
                yield f"transfer {kind} {leniency} {probe}", run
    for grouping in ("input", "item", "system"):
        for n in (30, 100):
            for rho in (0.5, 0.9):
                yield (
                    f"groups {grouping} {n} {rho}",
                    partial(groups.grouped_coverage, grouping, n, rho, BY_GROUP[grouping]),
                )


def _mean_cells() -> Iterator[tuple[str, str, float | None, str]]:
    """Design, kind of labels and scores, share that pass, judge."""
    for design in world.DESIGNS:
        some = world.PREVALENCES if design == "random" else world.PREVALENCES[::2]
        for kind in world.KINDS if design == "random" else world.KINDS[1:]:
            for p in (None,) if kind == world.RATING else some:
                for judge in world.JUDGES:
                    yield design, kind, p, judge


CODE = {  # that the cells of a kind rest on
    "means": (means, shares, proportion, world.mean_coverage),
    "summeval": (means, shares, proportion, world.summeval_coverage),
    "corrected": (rogan_gladen, world.corrected_coverage),
    "several": (several_judges, means, shares, proportion, world.several_coverage),
    "systems": (systems, means, shares, proportion, world.systems_coverage),
    "transfer": (systems, means, shares, proportion, world.transfer_coverage),
    "correlations": (sparse_correlation, several_judges, means, world.correlation_coverage),
    "groups": (grouped_correlation, sparse_correlation, means, several_judges, groups),
}


def keys() -> dict[str, str]:
    """Name of each cell → the name under which it is kept, which changes with the code that it rests on."""
    made = {kind: fingerprint(*parts) for kind, parts in CODE.items()}
    return {name: f"{name} @{made[name.split()[0]]}" for name, _ in cells()}


def compute(only: str) -> dict[str, list[Row]]:
    kept: dict[str, list[Row]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.parent.mkdir(exist_ok=True)
    start, key = time.monotonic(), keys()
    for name, run in cells():
        if name.startswith(only) and key[name] not in kept:
            kept[key[name]] = run()
            KEPT.write_text(json.dumps(kept))
            print(f"{time.monotonic() - start:6.0f} s  {name}", flush=True)
    return kept


def shown(row: Row) -> str:
    """Coverage, bold where it is too low, slanted where an interval is wider than it had to be."""
    text = f"{row['coverage']:.3f}".removeprefix("0")
    return f"**{text}**" if row["coverage"] < BAND[0] else f"*{text}*" if row["coverage"] > BAND[1] else text


def page(kept: dict[str, list[Row]]) -> str:
    kept = {name: kept[key] for name, key in keys().items() if key in kept}

    def of(kind: str) -> list[Row]:
        return [row for name, rows in kept.items() if name.startswith(kind + " ") for row in rows]

    means = [row for row in of("means") if row["method"] != "judge"]
    alone = [row["coverage"] for row in of("means") if row["method"] == "judge" and row["kind"] != "number"]
    wanted = [name for name, _ in cells()]
    missing = [name for name in wanted if name not in kept]
    parts = [
        INTRO,
        *(
            [
                f"**Not computed yet: {len(missing)} of {len(wanted)} cells**, so their lines are not below: "
                f"{_counted(missing)}. The command above adds them.\n"
            ]
            if missing
            else []
        ),
        *_counts(of),
        _narrowing(means),
        f"The judge alone covers the truth in {100 * sum(alone) / len(alone):.0f} % of the data sets on average, in at most "
        f"5 % in {sum(a <= 0.05 for a in alone)} of {len(alone)} cells.\n",
        *_least(means, of("corrected")),
    ]
    for design in world.DESIGNS:
        parts.append(f"\n## {DESIGN_WORDS[design]}\n")
        for kind in world.KINDS:
            inside = [row for row in means if row["design"] == design and row["kind"] == kind]
            if inside:
                parts += [f"### {KIND_WORDS[kind]}\n", *_mean_table(inside)]
    parts += [
        "\n## Several judges at once\n",
        SEVERAL,
        *table(
            ["labels", "human pass rate", "judges", "coverage", "width"],
            [[r["n"], r["p"] or world.RATING, r["judges"], shown(r), f"{r['width']:.2f}"] for r in of("several")],
        ),
    ]
    parts += [
        "\n## Verdicts corrected for both error rates (Rogan and Gladen)\n",
        CORRECTED,
        *table(
            ["labels", "human pass rate", "judge", "given", "coverage", "width"],
            [
                [r["n"], r["p"], r["judge"], f"{r['given']:.2f}", shown(r), f"{r['width']:.2f}"]
                for r in of("corrected")
                if r["given"] > 0.5
            ],
        ),
    ]
    parts += [
        "\n## Five systems at once\n",
        SYSTEMS,
        *table(
            ["labels a system", "ratings", "all means", "all differences", "all ranks"],
            [
                [r["n"], r["ratings"], *(f"{r[k]:.3f}" for k in ("all means", "all differences", "all ranks"))]
                for r in of("systems")
            ],
        ),
    ]
    parts += _transfer_section(of("transfer"))
    parts += [
        "\n## Real judges: SummEval\n",
        REAL,
        *table(
            [
                "labels",
                "judge",
                "aspect",
                "people's scale",
                "correlation",
                "labels only",
                "PPI++",
                "judge alone",
                "width",
            ],
            [
                [
                    r["n"],
                    r["judge"],
                    r["aspect"],
                    r["scale"],
                    f"{r['correlation']:.2f}",
                    *(shown({"coverage": r[m]}) for m in ("labels", "ppi++")),
                    f"{r['judge alone']:.3f}",
                    f"{r['width']:.2f}",
                ]
                for r in of("summeval")
            ],
        ),
    ]
    parts += [
        "\n## Correlations with human ratings\n",
        CORRELATIONS,
        *table(
            ["labels", "drawn", "coefficient", "truth", "coverage", "labels alone", "width", "bias"],
            [
                [
                    r["n"],
                    r["design"],
                    r["coefficient"],
                    f"{r['true']:.2f}",
                    shown(r),
                    shown({"coverage": r["plain"]}),
                    f"{r['width']:.2f}",
                    f"{r['bias']:+.3f}",
                ]
                for r in of("correlations")
            ],
        ),
    ]
    parts += [
        "\n## Correlations by input, by system and over system means\n",
        GROUPS,
        *table(
            ["labelled inputs", "measure", "abilities", "coverage", "labels alone", "width", "mean width", "bias"],
            [
                [
                    r["n"],
                    f"{r['grouping']}/{r['coefficient']}",
                    f"{r['true']:.1f}",
                    shown(r),
                    shown({"coverage": r["plain"]}),
                    f"{r['width']:.2f}",
                    f"{r['mean width']:.2f}",
                    f"{r['bias']:+.3f}",
                ]
                for r in of("groups")
            ],
        ),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _transfer_section(rows: list[Row]) -> list[str]:
    """Coverage by leniency and number of labels of the second system, and the outcomes of the audit."""

    def cell(row: Row, name: str) -> str:
        return "refused" if row[name] is None else shown({"coverage": row[name]})

    def share(row: Row, name: str) -> str:
        return "" if row[name] is None else f"{row[name]:.3f}"

    outcomes = ("transfers", "does not transfer", "undecided")
    return [
        "\n## Labels that do not cover every system\n",
        TRANSFER,
        *table(
            [
                "ratings",
                "leniency",
                "labels of the second",
                "first",
                "second",
                "pooled",
                "labels taken as random",
                "difference",
                *outcomes,
            ],
            [
                [
                    r["kind"],
                    f"{r['leniency']:g}",
                    r["probe"],
                    *(cell(r, k) for k in ("first", "second", "pooled")),
                    f"{r['before']:.3f}",
                    "" if r["difference"] is None else f"{r['difference']:+.2f}",
                    *(share(r, k) for k in outcomes),
                ]
                for r in rows
            ],
        ),
    ]


def _families(of: Callable[[str], list[Row]]) -> dict[str, list[float]]:
    """Coverage of every cell of the tables below, by table; of ranks none is stated, so they are not among them."""
    found: dict[str, list[float]] = {}
    for row in of("means"):
        if row["method"] != "judge":
            found.setdefault(FAMILIES[row["design"]], []).append(row["coverage"])
    found["several judges"] = [row["coverage"] for row in of("several")]
    found["corrected for both error rates"] = [row["coverage"] for row in of("corrected") if row["given"] > 0.5]
    found["five systems at once"] = [row[k] for row in of("systems") for k in ("all means", "all differences")]
    found["systems with few labels, and pooled"] = [
        row[k] for row in of("transfer") for k in ("first", "second", "pooled") if row[k] is not None
    ]
    found["real judges"] = [row[k] for row in of("summeval") for k in ("labels", "ppi++")]
    found["correlations over all rows"] = [row[k] for row in of("correlations") for k in ("coverage", "plain")]
    for name in ("input", "item", "system"):
        mine = [row for row in of("groups") if row["grouping"] == name]
        found[f"correlations by {name}"] = [row[k] for row in mine for k in ("coverage", "plain")]
    return {name: each for name, each in found.items() if each}


def _counts(of: Callable[[str], list[Row]]) -> list[str]:
    def line(name: str, each: list[float]) -> list[Any]:
        below, above = sum(c < BAND[0] for c in each), sum(c > BAND[1] for c in each)
        ends = (f"{c:.3f}".removeprefix("0") for c in (min(each), max(each)))
        return [name, len(each), len(each) - below - above, above, below, *ends]

    families = _families(of)
    every = [c for each in families.values() for c in each]
    return table(
        ["intervals", "cells", ".93 to .97", "above (*slanted*)", "below (**bold**)", "lowest", "highest"],
        [*(line(name, each) for name, each in families.items()), line("all", every)],
    )


def _narrowing(every: list[Row]) -> str:
    """Could the cells above the band lie in it? What a user knows is the number of labels, how they were drawn and what
    the judge gives; intervals of such a family can only be narrowed together."""
    high = [row for row in every if row["coverage"] > BAND[1]]
    if not high:
        return ""
    families: dict[tuple[Any, ...], list[Row]] = {}
    for row in every:
        families.setdefault(tuple(row[k] for k in ("n", "design", "kind", "method")), []).append(row)
    wide = [rows for rows in families.values() if any(r["coverage"] > BAND[1] for r in rows)]
    below = [lowest for rows in wide if (lowest := _narrowed(rows)) < BAND[0]]
    inside = sum(r["coverage"] > BAND[1] for rows in wide if _narrowed(rows) < BAND[0] for r in rows)
    few = sum(r["n"] * min(r["p"], 1 - r["p"]) <= 5 for r in high if r["p"])
    return (
        f"Of the {len(high)} means above the band {few} expect at most five labels of the rarer verdict. Nobody who has the data "
        "knows the cell: only the number of labels, how they were drawn and what the judge gives. Of the "
        f"{len(wide)} such families with a cell above, {len(below)} (with {inside} of the {len(high)} cells) fall below .93 "
        f"in another cell, to {min(below, default=float('nan')):.3f}, when all their intervals are narrowed by one factor "
        "until none is above .97. "
    )


def _least(means: list[Row], corrected: list[Row]) -> list[str]:
    """What no interval from the counts of errors can do, beside what ours do."""
    recall = world.JUDGES["good"][0][0]
    asked = [("PPI", p, least_coverage(30, p, recall)) for p in world.PREVALENCES]
    asked.append(("corrected for both error rates", 0.5, least_corrected(15, recall)))
    ours = {
        ("PPI", r["p"]): r
        for r in means
        if (r["n"], r["kind"], r["judge"], r["method"]) == (30, "verdict", "good", "ppi")
    }
    ours |= {("corrected for both error rates", r["p"]): r for r in corrected if (r["n"], r["judge"]) == (30, "good")}
    lines = [
        [name, f"{p:g}", f"{found.coverage:.3f}" + ("" if found.exact else " at least"), shown(ours[name, p])]
        for name, p, found in asked
        if (name, p) in ours
    ]
    return ["", LEAST, *table(["interval", "human pass rate", "least possible", "ours"], lines)]


def _narrowed(rows: list[Row]) -> float:
    """The lowest coverage of a family whose intervals are narrowed by one factor until none is above the band."""
    for k in range(len(world.NARROWER)):
        found = [row["narrowed"][k] for row in rows]
        if max(found) <= BAND[1]:
            return min(found)
    return min(row["narrowed"][-1] for row in rows)


def _counted(names: list[str]) -> str:
    """How many cells of which kind and number of labels."""
    kinds = Counter(
        " ".join([name.split()[0], *(w for w in name.split() if w in ("30", "100", "300"))]) for name in names
    )
    return ", ".join(f"{kind} labels ({count})" for kind, count in kinds.items())


def _mean_table(rows: list[Row]) -> list[str]:
    """One line a number of labels and a judge; a column a method and prevalence; the width beside that of labels only."""
    ps = list(dict.fromkeys(row["p"] for row in rows))
    head = [
        "labels",
        "judge",
        *(f"{word}{f', {p:g}' if p else ''}" for word in METHODS.values() for p in ps),
        "width of PPI++",
    ]
    lines = []
    for n in world.SIZES:
        for judge in world.JUDGES:
            mine = {(r["method"], r["p"]): r for r in rows if r["n"] == n and r["judge"] == judge}
            if len(mine) < len(METHODS) * len(ps):
                continue  # not computed yet
            widths = [mine["ppi++", p]["width"] for p in ps]
            ends = f"{min(widths):.2f}" if len(ps) == 1 else f"{min(widths):.2f} to {max(widths):.2f}"
            lines.append([n, judge, *(shown(mine[m, p]) for m in METHODS for p in ps), ends])
    return table(head, lines)


DESIGN_WORDS = {
    "random": "Simple random samples",
    "clusters": f"Whole clusters of {world.CLUSTER} rows that are alike (correlation .3)",
    "strata": "Stratified samples by the judge's score",
    "probabilities": "Known sampling probabilities, higher for uncertain rows",
}
KIND_WORDS = {
    "verdict": "Human labels and judge verdicts: pass or fail",
    "number": "Human labels: pass or fail; judge: a score",
    world.RATING: "Ratings from 1 to 5",
}
SEVERAL = "Beside one fair judge: that one, a second fair one, and one that says nothing, by cross-fitted regression.\n"
CORRECTED = (
    "The estimate requires ten labels of each verdict and a judge that is significantly better than chance; "
    "cells in which at least half of the data sets meet this. Unless the judge is good, the interval is wider "
    "than that from labels alone; PPI++ uses the same labels more efficiently.\n"
)
SYSTEMS = (
    "400 inputs, answered by five systems of different quality. Share of data sets in which **all** intervals "
    "cover the true values. Ranks are derived from all differences, so that their coverage is above nominal.\n"
)
CORRELATIONS = (
    "A metric's correlation with people's ratings from 1 to 5 over all rows. *Labels alone*: the same labeled "
    "rows, weighted by their probability, without the metric's scores of the other rows. *Bias*: mean of the "
    "estimates minus the true value.\n"
)
GROUPS = (
    "Eight systems, 400 inputs; *abilities*: correlation of the systems' qualities with what the metric "
    f"sees of them. The truth is that of these systems over all inputs like these ({groups.MANY:,} drawn, or computed for system means), which is what the interval is for; "
    f"Data sets a line: {BY_GROUP['input']:,} by input and {BY_GROUP['item']} by item, {groups.SAME} of the same systems, {BY_GROUP['system']} over system means, each of other systems (chance, where .95 is right: .940 to .960, .929 to .971, .933 to .967). Few systems make few values of a rank correlation of their means, so its interval holds more often than stated.\n"
)
TRANSFER = (
    f"Two systems that are equally good answer the same {world.INPUTS} inputs (verdict: both give pass or fail; number: the judge gives a number). The first has {world.LABELED} labels. The judge is more "
    "lenient toward the second one, by a part of its scale, and that one has no label or few. *First, second, pooled*: coverage of the estimate for each system and over all outputs. "
    "*Labels taken as random*: coverage of the estimate over all outputs from all labels as if they were drawn from all outputs, which uses the judge's errors on the first "
    "system for the second. The last three columns: how often the test with a margin of 5% of the scale says that the judge's error transfers, does not, or is undecided. "
    "*Difference*: of the judge's mean error between the systems, mean over the data sets. "
    f"{TRIALS:,} data sets a line (an interval that is right shows .940 to .960). The least number of labels of a system, {PROBE_LABELS}, was chosen on other seeds: with 15 labels and verdicts coverage was .926.\n"
)
REAL = (
    "Rows drawn with replacement from the 1,200 outputs that the judges scored, so that the true value is the "
    "mean over all of them. Only the sampling is simulated.\n"
)
LEAST = (
    "**Few errors cannot give .95.** A judge's verdicts, 30 labels, recalls of .95: a passes that the judge failed and b fails that it passed "
    "are seen, one or two in all, and the interval rests on these counts. Searched were *all* intervals whose ends rise with a and fall with b and that cover at "
    f"least {FLOOR:g} whatever the errors that give the same share (recalls down to about .8, which 30 labels cannot tell from .95), with the judge's share taken as known "
    "(integer program, bench/_estimate_exact.py; corrected: 15 labels of each verdict). *Least possible*: the smallest coverage that any of them has in the cell; "
    "where it is above .97, no such interval is in the band there and at least .93 everywhere. The 1,000 rows leave the judge's share uncertain by half a step of the counts, which blurs the steps a little.\n"
)
FAMILIES = {
    "random": "means, rows at random",
    "clusters": "means, clusters",
    "strata": "means, strata",
    "probabilities": "means, known probabilities",
}
INTRO = f"""# Simulation: coverage of prediction-powered estimates

Written by `python -m bench.estimates --write docs/estimate_coverage.md` (seeds fixed; do not edit); a small version runs in the tests.
The estimates are defined in [prediction-powered estimation](estimate.md). This simulation measures the coverage of their 95% confidence intervals.

Data sets of {world.ROWS:,} rows are drawn from populations whose truth is known, {TRIALS:,} a cell; 30, 100 or 300 rows are labelled.
*Coverage*: share of the 95 % intervals that hold the truth; wanted .93 to .97. More is wider than it had to be, by the steps of
few labels of a verdict or few errors of the judge. Labels only, verdicts drawn at random: not drawn but summed over all counts. The rules were chosen on data sets with other seeds, shares, judges and numbers of labels; two were corrected after a look at these (labels only by strata: with 300 labels .926 at a share of .95; correlations over system means took the metric's means as known: down to .868). *Width*: mean width of the interval over that from the labels alone. Judges: poor (recall of passes
and fails .75 and .55; its numbers .7 standard deviations apart; correlation .3), fair (.85 and .8; 1.5; .6), good (.95 and .95; 3; .9).
Chance: with {TRIALS:,} data sets an interval that is right shows .940 to .960 ({FEWER:,} for systems and correlations: .936 to .964).
"""


def main() -> None:
    cells_or_page("estimates", __doc__ or "", KEPT, compute, page)


if __name__ == "__main__":
    main()
