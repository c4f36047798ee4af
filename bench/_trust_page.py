"""docs/trust.md from the rows of the simulation: tables, and two pictures drawn here as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nlgauge.number import number

Row = dict[str, Any]
Kept = dict[str, list[Row]]
BAND = (0.93, 0.97)
MEASURES = [f"{g}/{c}" for g in ("system", "input", "global", "item") for c in ("pearson", "spearman", "kendall")]


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    def cell(value: object) -> str:
        return number(value) if isinstance(value, float) else str(value)

    lines = [f"| {' | '.join(heads)} |", f"| {' | '.join('---' for _ in heads)} |"]
    return [*lines, *(f"| {' | '.join(cell(v) for v in row)} |" for row in rows), ""]


def size(row: Row) -> str:
    return f"{row['systems']} × {row['inputs']}"


def sure(row: Row) -> str:
    """A share with what the number of data sets leaves open."""
    return f"{number(row['share'])} [{number(row['low'])} {number(row['high'])}]"


def picked(kept: Kept, start: str, **equal: object) -> list[Row]:
    rows = [r for name, rows in kept.items() if name.startswith(start) for r in rows]
    return [r for r in rows if all(r.get(k) == v for k, v in equal.items())]


def intervals_part(kept: Kept) -> list[str]:
    plain = [r for r in picked(kept, "interval plain") if r["world"] == "plain"]
    sizes = list(dict.fromkeys(size(r) for r in plain))
    at = {(r["measure"], size(r)): r for r in plain}
    rows = []
    for measure in MEASURES:
        cells = [at.get((measure, s)) for s in sizes]
        before = [r for r in cells if r and "before" in r]
        rows.append(
            [
                f"`{measure}`",
                *(number(r["share"]) if r else "–" for r in cells),
                " / ".join(number(r["before"]) for r in before) or "–",
            ]
        )
    counts = ", ".join(f"{s}: {next(r['data sets'] for r in plain if size(r) == s):,}" for s in sizes)
    one, few = picked(kept, "interval one"), picked(kept, "interval few")
    said = [r for r in few if not r["measure"].startswith("system/") or r["measure"] == "system/pearson"]
    return [
        "## Does the interval hold the value?", "",
        "Share of data sets in which the 95 % interval holds the population's value; wanted: .93 to .97. Last column: "
        "the percentile bootstrap over systems and inputs, the default until now, at 8 × 50 and 12 × 100.", "",
        *table(["measure", *sizes, "before"], rows),
        f"Data sets: {counts}.", "",
        "![Coverage of the intervals, all measures and sizes](images/trust/coverage.svg)", "",
        "One system, 200 inputs (inputs are the sample): " + ", ".join(f"`{r['measure']}` {sure(r)}" for r in one) + ".", "",
        "Four systems, 100 inputs (too few to speak of others; the value to hold is that of these four): "
        + ", ".join(f"`{r['measure']}` {number(r['share'])}" for r in said) + ". Rank correlations of so few "
            "systems' means get no interval.", "",
    ]  # fmt: skip


def best_part(kept: Kept) -> list[str]:
    rows = [r for r in picked(kept, "best") if r["statement"] == "clearly the best"]
    steps = {
        (size(r), r["measure"], r["metrics"]): r
        for r in picked(kept, "best")
        if r["statement"] == "a step between equals"
    }
    return [
        "## “Clearly the best”", "",
        "Metrics that are equally good in the population; any of them called clearly the best is a false alarm. "
        "Wanted: at most .06. *before*: the test that swaps systems and inputs (how=both), the default until now, "
        "which asks about these very outputs.", "",
        *table(
            ["systems × inputs", "measure", "metrics", "called best", "before", "a step drawn between equals"],
            [[size(r), f"`{r['measure']}`", r["metrics"], sure(r), r.get("before", "–"), number(steps[size(r),
                r["measure"], r["metrics"]]["share"])] for r in rows],
        ),
        "To name the best of many no correction for their number is needed: it must beat each single one. Steps are "
        "drawn with Holm's correction over all pairs of the aspect.", "",
    ]  # fmt: skip


def power_part(kept: Kept) -> list[str]:
    rows = picked(kept, "power")
    return [
        "## What it costs", "",
        "One metric is better (rho_sys .9, mu_rho .6 against .5 and .2): how often each test finds it at .05, "
        "`input/kendall`. The old test finds more because it asks less; swapping systems asks about other systems on "
        "these inputs.", "",
        *table(["systems × inputs", "the test here", "swap systems", "swap both (before)"], [[size(r), sure(r),
            r["swap systems"], r["swap both"]] for r in rows]),
    ]  # fmt: skip


def uses_part(kept: Kept) -> list[str]:
    rows = picked(kept, "uses")
    return [
        "## good, usable, not, cannot tell", "",
        "Limits .60 (usable) and .75 (good) of being right. A metric unrelated to people must be called usable or "
        "good in at most .05 of data sets; a good one must rarely be called not. The last column is the coverage of "
        "the interval behind the word.", "",
        *table(
            ["systems × inputs", "metric", "use", "true", "good", "usable", "not", "cannot tell", "coverage"],
            [[size(r), r["metric"], r["use"], r["true"], r["good"], r["usable"], r["not"], r["cannot tell"],
              r["coverage"]] for r in rows],
        ),
    ]  # fmt: skip


def worlds_part(kept: Kept) -> list[str]:
    rows = [r for r in picked(kept, "interval") if r["world"] != "plain"]
    names = list(dict.fromkeys(r["world"] for r in rows))
    lines = []
    for name in names:
        for s in dict.fromkeys(size(r) for r in rows if r["world"] == name):
            mine = {r["measure"]: r["share"] for r in rows if r["world"] == name and size(r) == s}
            lines.append([name, s, *(mine.get(m, "–") for m in MEASURES)])
    grid = {(r["systems"], r["inputs"]): r["share"] for r in picked(kept, "grid")}
    ns, ms = sorted({n for n, _ in grid}), sorted({m for _, m in grid})
    return [
        "## Other populations", "",
        "The same shares where people rate without steps and inputs are alike (Algorithm 1 of gao2025 itself), where "
        "inputs differ much, for weak and strong metrics, for the mean of three raters, with a fifth of the ratings "
        "missing, and on a scale of two steps. 500 data sets each.", "",
        *table(["population", "size", *(m.replace("/", "/ ") for m in MEASURES)], lines),
        "`input/kendall` over sizes (300 data sets each, so ± .025):", "",
        *table(["systems \\ inputs", *map(str, ms)], [[str(n), *(grid.get((n, m), "–") for m in ms)] for n in ns]),
    ]  # fmt: skip


def more_part(kept: Kept) -> list[str]:
    """Statements whose simulations live in modules of their own: their rows as they are."""
    found: list[str] = []
    for name, rows in kept.items():
        if name.startswith("more ") and rows:
            heads = list(rows[0])
            found += [
                f"## {name.removeprefix('more ')}",
                "",
                *table(heads, [[r.get(h, "–") for h in heads] for r in rows]),
            ]
    return found


def dots(rows: Sequence[Row], path: Path) -> None:
    """Coverage as dots with intervals, a line a measure, a colour a size, over the band that is wanted."""
    inks = {"8 × 50": "#0072B2", "12 × 100": "#D55E00", "16 × 100": "#009E73", "30 × 100": "#CC79A7"}
    left, width, line = 130, 560, 26

    def x(share: float) -> float:
        return left + (max(share, 0.85) - 0.85) / 0.15 * width

    height = 60 + line * len(MEASURES) + 20
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height}" font-family="system-ui, '
        'sans-serif" font-size="13" role="img" aria-label="Coverage of 95 percent intervals by measure and size">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<rect x="{x(BAND[0]):.0f}" y="40" width="{x(BAND[1]) - x(BAND[0]):.0f}" height="{height - 80}" '
        'fill="#e8eef4"/>',
        f'<line x1="{x(0.95):.0f}" x2="{x(0.95):.0f}" y1="40" y2="{height - 40}" stroke="#777" '
        'stroke-dasharray="2 3"/>',
    ]  # fmt: skip
    for tick in (0.85, 0.9, 0.93, 0.95, 0.97, 1.0):
        out.append(
            f'<text x="{x(tick):.0f}" y="{height - 18}" text-anchor="middle" fill="#555">{number(tick, 2)}</text>'
        )
    for at, (name, ink) in enumerate(inks.items()):
        out.append(
            f'<circle cx="{left + 110 * at}" cy="18" r="5" fill="{ink}"/><text x="{left + 110 * at + 10}" '
            f'y="22">{name}</text>'
        )
    for place, measure in enumerate(MEASURES):
        y = 52 + line * place
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{measure}</text>')
        for at, (name, ink) in enumerate(inks.items()):
            for r in rows:
                if r["measure"] == measure and size(r) == name:
                    dy = y - 6 + 4 * at
                    out.append(
                        f'<line x1="{x(r["low"]):.1f}" x2="{x(r["high"]):.1f}" y1="{dy}" y2="{dy}" '
                        f'stroke="{ink}" stroke-width="1.5"/>'
                    )
                    out.append(f'<circle cx="{x(r["share"]):.1f}" cy="{dy}" r="3.5" fill="{ink}"/>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*out, "</svg>", ""]), encoding="utf-8")


INTRO = """# How often is what NLGauge says wrong?

The verdicts of the first screen are functions of numbers, with an error rate that this page shows: populations whose truth is known are
drawn from again and again, and what NLGauge says of each data set is held against the truth.
It is written by `python -m bench.coverage --write docs/trust.md` (seeds fixed); a small version runs in `make test`.

## Two questions

*Would it hold for systems and inputs like these?* Both are samples then: outputs of one system share its faults, outputs of one input
its difficulty. Headlines, “clearly the best”, ranks, steps and words for uses speak about this. Each system is left out in turn, then
each input; the spread gives a standard error, with Student's t and on Fisher's scale (`nlgauge.stats.resampling.jackknife`; no random draws, so
nothing depends on a seed or on the order of the file). Rank correlations of systems' means get Bonett and Wright's interval, widened near 1 by the exact
interval of a count of pairs out of order; differences at system level are tested by swapping the two metrics on whole systems.
What an interval covers is the mean of the measure over other sets of as many systems and inputs. Inputs of one document or conversation
(a column doc, document, conversation, dialogue, thread or session) are left out together, and count as one.

*On these very outputs?* The papers' own tests ask this (swapping systems and inputs, single outputs, Williams): `--test permutation`,
`--how`, `--profile`, `--test williams`, and `nlgauge reproduce`. They are right for their question and wrong for the first one.

Sizes: fewer than 6 systems cannot speak of others, so only these systems are spoken of; fewer than 10 inputs give no interval, no test and no
verdict (but for measures of systems' means, where systems are the points), and a line says what would be needed. One system: inputs are
the sample.

The populations: Algorithm 1 of gao2025 (rho_sys .8, mu_rho .4, sigma_rho .15) with inputs of unequal difficulty and a rating scale of five steps.
The method was chosen on a first run with other seeds and fewer data sets; the figures below are from seeds not looked at before.

What this page does not show: that real systems and inputs are drawn at random, or like these populations. Where a few systems are far worse than
the rest, for metric and people alike, intervals of `system/pearson` are too short: with 15 % such systems a first look (600 data sets)
gave .88 to .92 at 12 and 20 systems, for Fisher's interval .86 to .90.
"""


def write_page(path: Path, kept: Kept, heads: Path | None = None) -> None:
    """The page and its picture; `heads` is a Markdown file with headlines of real data before and after."""
    dots(
        [r for r in picked(kept, "interval plain") if r["world"] == "plain"],
        path.parent / "images" / "trust" / "coverage.svg",
    )
    parts = [intervals_part, best_part, power_part, uses_part, worlds_part, more_part]
    text = INTRO + "\n" + "\n".join(line for part in parts for line in part(kept))
    if heads is not None and heads.exists():
        text += "\n" + heads.read_text(encoding="utf-8")
    path.write_text(text.rstrip() + "\n", encoding="utf-8")
