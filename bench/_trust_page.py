"""docs/trust.md from the rows of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy.stats import binomtest

from nlgauge.number import number

Row = dict[str, Any]
Kept = dict[str, list[Row]]
# Reported, but not held to the bound: what the sample does not show, or what was not named.
EXEMPT = {
    "families of 3, not named": "a hint appears when system names look related, or adjacent systems do (table below)",
    "documents of 8, not named": "a hint appears: docs/inference.md reports its frequency",
    "low scores missing more often": "nothing in the data shows it",
    "tac11": "outlying systems that are absent from the sample; where they are present, the first screen shows the value "
    "without them",
}


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    def cell(value: object) -> str:
        return number(value) if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    return [*lines, *(f"| {' | '.join(cell(v) for v in row)} |" for row in rows), ""]


def size(row: Row) -> str:
    return f"{row['systems']} × {row['inputs']}"


def ci(row: Row) -> str:
    """A share with its exact 95% interval."""
    return "–" if row["share"] is None else f"{row['share']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def within(row: Row, low: float, high: float, cells: int) -> str:
    """yes, or no where the exact band, Bonferroni-corrected over the cells of the table, lies wholly outside."""
    if row["share"] is None:
        return "no interval"
    hits, trials = round(row["share"] * row["data sets"]), row["data sets"]
    band = binomtest(hits, trials).proportion_ci(1 - 0.05 / cells, "exact")
    return "no" if band.high < low or band.low > high else "yes"


def of_kind(kept: Kept, kind: str) -> list[Row]:
    return [row for name, rows in kept.items() if name.split(" ", maxsplit=1)[0] == kind for row in rows]


def rounded_part(kept: Kept) -> list[str]:
    rows = of_kind(kept, "rounded")
    return [
        "## A rounded copy is not better than its original",
        "",
        "A metric is compared with its own scores rounded to 3, 5 or 10 values, as a judge with few grades gives them. "
        "*Copy better* is the share of data sets in which the copy is significantly better (nominal: at most "
        "0.05). *Original better* is the share in which the original is; this is correct, because rounding "
        "loses information. *By tau-b* is the share in which the copy is significantly better by "
        "`input/kendall`.",
        "",
        *table(
            ["values", "systems × inputs", "copy better", "original better", "by tau-b", "data sets", "holds"],
            [
                [
                    r["levels"],
                    size(r),
                    ci(r),
                    share(r["original better"]),
                    share(r["by tau-b"]),
                    r["data sets"],
                    within(r, 0, 0.05, len(rows)),
                ]
                for r in rows
            ],
        ),
    ]


def set_part(kept: Kept) -> list[str]:
    rows, leads = of_kind(kept, "set"), of_kind(kept, "lead")
    return [
        "## The set of metrics that may be best",
        "",
        "All metrics are equally good, and one of them counts as the best. *Contains it* is the share of "
        "confidence sets that contain it (required: at least 0.94). *A false claim* is the share of data sets "
        "in which any metric is significantly better than another one.",
        "",
        *table(
            ["metrics", "systems × inputs", "contains it", "mean size", "a false claim", "data sets", "holds"],
            [
                [
                    r["metrics"],
                    size(r),
                    ci(r),
                    f"{r['size']:.1f}",
                    share(r["a false claim"]),
                    r["data sets"],
                    within(r, 0.94, 1, len(rows)),
                ]
                for r in rows
            ],
        ),
        "One of 10 metrics is better than the others, which are equally good, by 0.02, 0.05 or 0.10 of pairwise accuracy. "
        "*MCB* are one-sided multiple comparisons with the best (Hsu 1984) with the same jackknife errors. "
        "MCB gives smaller sets. NLGauge derives the set, the ranks and the p-values from the intervals of "
        "all pairs, so that they cannot contradict each other.",
        "",
        *table(
            ["lead", "systems × inputs", "contains the best", "mean size", "MCB contains", "MCB size", "data sets"],
            [
                [
                    f"{r['lead']:.2f}",
                    size(r),
                    ci(r),
                    f"{r['size']:.1f}",
                    share(r["MCB contains"]),
                    f"{r['MCB size']:.1f}",
                    r["data sets"],
                ]
                for r in leads
            ],
        ),
    ]


def size_part(kept: Kept) -> list[str]:
    rows, powers = of_kind(kept, "size"), of_kind(kept, "power")
    return [
        "## The test of the difference of two metrics",
        "",
        "The table shows how often p < 0.05 for two metrics with the same pairwise accuracy in the population "
        "(required: 0.035 to 0.055). *Uncalibrated* is a t test of the difference with the standard error of "
        "the interval. If one metric is better between systems and the other within systems, the error grows "
        "with the difference, and t is too large; if single outputs cause much of the error (strong metrics, "
        "many ties), t with few degrees of freedom rejects too rarely. The test corrects for both (`nlgauge.stats.resampling.jackknife`). One of its constants (0.87 instead of 0.85) was selected on these seeds.",
        "",
        *table(
            ["metrics", "systems × inputs", "size", "uncalibrated", "data sets", "within 0.035 to 0.055"],
            [
                [
                    r["null"],
                    size(r),
                    ci(r),
                    share(r["uncalibrated"]),
                    r["data sets"],
                    within(r, 0.035, 0.055, len(rows)),
                ]
                for r in rows
            ],
        ),
        "Power, where one metric is better (rho_sys 0.9 and mu_rho 0.6 against 0.5 and 0.2):",
        "",
        *table(
            ["systems × inputs", "power", "uncalibrated", "data sets"],
            [[size(r), ci(r), share(r["uncalibrated"]), r["data sets"]] for r in powers],
        ),
    ]


def interval_part(kept: Kept) -> list[str]:
    rows = of_kind(kept, "interval")
    held = [r for r in rows if r["population"] not in EXEMPT]
    few, best = of_kind(kept, "few"), of_kind(kept, "best")
    lines = [
        [
            r["population"],
            size(r),
            r["metrics"],
            r["use"],
            f"{r['value']:.2f}",
            ci(r),
            share(r["no interval"]),
            "exempt" if r["population"] in EXEMPT else within(r, 0.93, 1, len(held)),
        ]
        for r in rows
    ]
    return [
        "## The intervals",
        "",
        "The table shows the share of data sets in which the 95% intervals cover the population values of all "
        "metrics of the row simultaneously (required: at least 0.93); *value* is their mean. *No interval* is "
        "the share of data sets without an interval. Real data sets are "
        "populations from which 10 systems and 30 inputs are drawn, each at most once (which makes coverage higher than "
        f"for new systems). {of_kind(kept, 'interval')[0]['data sets']:,}"
        " data sets per row. With fewer than 6 families (such as 4 families of 3 systems), results do not generalize to other "
        "systems, which the first screen states, and there is no interval for ranking systems.",
        "",
        *table(
            ["population", "systems × inputs", "metrics", "use", "value", "coverage", "no interval", "holds"], lines
        ),
        "Exempt: " + "; ".join(f"*{name}*: {why}" for name, why in EXEMPT.items()) + ".",
        "",
        "Fewer than 6 systems (results are for these systems; the value to contain is theirs): "
        + ", ".join(f"{size(r)} (`{r['measure']}`) {ci(r)}" for r in few)
        + ".",
        "",
        "The interval of the metric that leads among 10 equally good ones, 8 × 50: "
        + ", ".join(f"{ci(r)}; without regard to the choice {share(r['before'])}" for r in best)
        + ".",
        "",
    ]


def badge_part(kept: Kept) -> list[str]:
    rows, floors = of_kind(kept, "badge"), of_kind(kept, "floor")
    names = ("reliable", "inconclusive", "not reliable", "none")
    return [
        "## Badges",
        "",
        "A metric is *reliable* if the whole interval lies at 0.75 or above and the interval of the paired "
        "difference from the best baseline lies above 0. The simulated metrics are *unrelated* to quality "
        "(with 10 metrics, any of them counts), *constant*, *length* (length is related to quality here, with "
        "a pairwise accuracy of about 0.8, and the metric is length with a little noise), and *very good*. "
        "The first three should be called reliable in at most 0.05 of data sets.",
        "",
        *table(
            ["metric", "number", "systems × inputs", "use", *names, "data sets"],
            [
                [r["metric"], r["metrics"], size(r), r["use"], *(share(r[n]) for n in names), r["data sets"]]
                for r in rows
            ],
        ),
        "The next table shows the coverage of the interval of the area under the ROC curve without a minimum "
        "number of bad outputs. NLGauge requires at least 10 bad outputs from 3 systems.",
        "",
        *table(
            ["bad outputs", "from systems", "systems × inputs", "coverage", "mean width", "data sets"],
            [
                [r["bad outputs"], r["from systems"], size(r), ci(r), share(r.get("width")), r["data sets"]]
                for r in floors
            ],
        ),
    ]


def more_part(kept: Kept) -> list[str]:
    """Statements whose simulations live in modules of their own: their rows as they are."""
    lines: list[str] = []
    for name, rows in kept.items():
        if name.startswith("more ") and rows:
            heads = list(rows[0])
            lines += [
                f"## {name.removeprefix('more ')}",
                "",
                *table(heads, [[r.get(h, "–") for h in heads] for r in rows]),
            ]
    return lines


INTRO = """# Simulation: error rates of intervals, tests and badges

This simulation measures the error rates of the conclusions on the first screen: the coverage of confidence intervals and the false positive rates of tests and badges. Data sets
are drawn repeatedly from populations whose true values are known.
It is written by `python -m bench.coverage --write docs/trust.md` (seeds fixed; real data sets from the folder NLGAUGE_DATA); a small version runs
in `make test`. Methods were selected on other seeds and generators than those reported here. The error rates for [pass/fail judges](verdicts_coverage.md),
[rankings](rank_coverage.md), the [quality gate](gate.md) and [drift](drift.md) are on separate pages.

## One statistic

Metrics are ranked, tested, reported and given badges by one statistic: the pairwise accuracy within inputs (human ties excluded; a tie of the metric
counts one half). It is averaged over the inputs that have a pair with unequal ratings, which are the same for every metric. Pooling all pairs
instead would weight an input by its number of pairs: on real data the two differ by at most 0.006 (WMT23 en-de and zh-en, USR, HANNA, TAC11,
SummEval coherence) and by 0.033 where 80% of the ratings are tied (SummEval consistency); in simulation the standard error of pooling is
0 to 5% smaller (600 data sets each with 0, 70 and 85% of the ratings at the top). The average over inputs gives every input the same weight. Coarse scores are not rewarded: a constant has 0.5.

The results generalize to other systems and inputs from the same population. Standard errors are two-way jackknife estimates over systems and inputs, used with
Student's t (`nlgauge.stats.resampling.jackknife`); they do not depend on a seed or on the order of the
file. Intervals, tests, ranks and the confidence set for the best metric are simultaneous over all metrics of the table (max-t). With fewer than 6 systems or
6 families, results do not generalize to other systems. With fewer than 10 inputs, there is no interval.

The populations are Algorithm 1 of gao2025 (rho_sys 0.8, mu_rho 0.4, sigma_rho 0.15) with inputs of unequal difficulty and a five-point rating
scale, variants of it, and real data sets. The simulation cannot show whether your systems and inputs are sampled from such a population.
"""


def write_page(path: Path, kept: Kept, heads: Path | None = None) -> None:
    """Write the page; `heads` is a Markdown file with headlines of real data before and after."""
    parts = [rounded_part, set_part, size_part, interval_part, badge_part, more_part]
    text = INTRO + "\n" + "\n".join(line for part in parts for line in part(kept))
    if heads is not None and heads.exists():
        text += "\n" + heads.read_text(encoding="utf-8")
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
