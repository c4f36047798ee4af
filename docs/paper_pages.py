"""The pages of the five papers that come from papers/scoreboard.csv and inventory.toml: papers.md, papers/inventory.md, the
scoreboards of papers/*.md and of the README, and the picture of the scoreboard. docs/generate.py writes them.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge_papers.compare import (
    ABSENT,
    CHOSEN,
    DIFFERS,
    ELSEWHERE,
    EQUAL,
    EXCEPTIONS,
    FEWER,
    HOLDS,
    LEFT,
    NEVER,
    OTHER,
    SLIP,
    VERDICTS,
    WEIGHTS,
    WITHIN,
)

if TYPE_CHECKING:
    from nlgauge_papers.inventory import Item

HERE = Path(__file__).parent
BOARD = HERE / "papers" / "scoreboard.csv"
MARKS = ("<!-- written by docs/generate.py -->\n", "<!-- end -->\n")
QUESTIONS = {
    "nimah2023": ("checklist", "What can a metric do beside correlating?"),
    "deng2021": ("ctc", "Can one idea, information alignment, evaluate many tasks?"),
    "gao2025": ("measures", "Which of twelve correlations should one report?"),
    "colombo2023": ("ceiling", "Do new metrics say anything new?"),
    "novikova2017": ("novikova", "Does a metric reflect what people think?"),
}
# Every verdict is in one group; in this order from left to right in the picture: heading, verdicts, colour, ink.
GROUPS = {
    "equal": ((EQUAL,), "#0072B2", "#ffffff"),
    "within": ((WITHIN,), "#56B4E9", "#10202e"),
    "with slip": ((SLIP,), "#009E73", "#ffffff"),
    "differ": ((DIFFERS,), "#D55E00", "#ffffff"),
    "not judged": ((CHOSEN, HOLDS, EXCEPTIONS, OTHER, FEWER), "#F0E442", "#10202e"),
    "can be had": ((WEIGHTS, LEFT, ELSEWHERE), "#D3D9E2", "#10202e"),
    "cannot be had": ((NEVER, ABSENT), "#98A2B3", "#10202e"),
}
JUDGED = ("equal", "within", "with slip", "differ")
# What is said of the other cells of a table.
REST = {
    CHOSEN: "with a rater chosen to match",
    HOLDS: "statements that hold",
    EXCEPTIONS: "statements that do not hold",
    OTHER: "with other weights",
    FEWER: "over fewer sets",
    WEIGHTS: "need weights",
    LEFT: "run a model",
    ELSEWHERE: "to fetch",
    NEVER: "never published",
    ABSENT: "without a rule",
}

PAPERS = """# The five papers

NLGauge asks the questions of five papers. Each has a page: its question, its figure drawn again, what came out, what did not and why, and the same
question asked of your own data.

{questions}

## Scoreboard

Every cell that the papers print, beside ours: `nlgauge reproduce --all --no-slow`, all published files there (METEOR's own are in pycocoevalcap), no model run.

{picture}

{board}

* **equal**: rounds to what is printed.
* **within**: off by no more than the table's tolerance.
* **with slip**: equal once [a slip of the paper](#slips) is repeated.
* **differ**: off by more. The reason stands on the paper's page, and below the table that `nlgauge reproduce PAPER TABLE` prints.

Of the cells that are not compared,

* {judged} are **not judged**: {not_judged};
* {had} **can be had**: {weights} need weights, by name or from their authors, {left} run a model and were left out, {elsewhere} need a file that is not
  redistributed here (`nlgauge data show NAME` says where it is);
* {cannot} **cannot be had**: {never} need what was never published, {absent} have no rule.

One rule says what is judged, whatever the metric: scores from the texts by the same formula, and scores that somebody released. A model of ours with
other weights and a mean over fewer sets only stand beside.

## Slips

A slip is something that the paper's own numbers show. The tables have both values, ours and ours with the slip.

| where | what |
| --- | --- |
| deng2021 E.1, F-1 in F.2 to F.4; nimah2023 11 | a tie split by rounding |
| deng2021 F.1, F.2 | the values of Overall, printed for two other aspects |
| nimah2023 21 | rows exchanged |
| nimah2023 6, 19, 21, 22, section 5.3 | values cut instead of rounded |
| nimah2023 section 5.3 | the value of another cell quoted |
| nimah2023 Figure 7 | of each comparison only one topic counted; its 15 numbers stand in the authors' notebook, not in the paper |
| novikova2017 3 | a metric named best that is not |

## Is the print read right?

It was read twice. `tests/real/test_printed_from_text.py` extracts the tables anew from the papers' texts and compares them cell by cell, in order where
the text keeps it: all tables of nimah2023 with figures, deng2021 1–3 and D.1–F.6, gao2025 3 and 7, novikova2017 2 and 8–14.

## What is covered

{states}

Tables, figures, metrics, data sets and algorithms. [The inventory](papers/inventory.md) has a line for each of them, and says what the columns mean.
"""

INVENTORY = """# Inventory of the papers

Every table, figure, metric, data set and algorithm of [the five papers](../papers.md): where it lives here, the data it needs (`nlgauge data show NAME`),
and its state. Written from `papers/src/nlgauge_papers/inventory.toml` (`python docs/generate.py`). Where there is a study, its command prints each published
cell beside ours.

"""
KIND = {
    "table": "Tables",
    "figure": "Figures",
    "metric": "Metrics",
    "data": "Data",
    "algorithm": "Algorithms and equations",
}


def rows_of(paper: str = "") -> list[dict[str, str]]:
    """The tables of a paper and their sum; or the sums of all papers, the last one of them all."""
    with BOARD.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [r for r in rows if (r["paper"] == paper if paper else "/" not in r["table"])]


def counts(row: dict[str, str]) -> dict[str, int]:
    """Cells of a line of the scoreboard by group."""
    return {name: sum(int(row[v]) for v in verdicts) for name, (verdicts, *_) in GROUPS.items()}


def table(heads: list[str], rows: list[list[str]], words: int = 1) -> str:
    """Markdown; all but the first `words` columns are numbers, 0 is left out."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * words + " ---: |" * (len(heads) - words)]
    return "\n".join([*lines, *("| " + " | ".join(c if c != "0" else " " for c in row) + " |" for row in rows)])


def number(value: int | str) -> str:
    return f"{int(value):,}"


def board(path: str = "papers/", asked: bool = False) -> str:
    """A line a paper: cells, those that are compared, and how many are not; `asked`: with the paper's question."""
    lines = []
    for row in rows_of():
        name, found = row["table"], counts(row)
        linked = f"[{name}]({path}{name}.md)" if name in QUESTIONS else name
        question = [QUESTIONS[name][1] if name in QUESTIONS else " "] if asked else []
        judged = [found[g] for g in JUDGED]
        lines.append([linked, *question, *map(number, [row["cells"], *judged, int(row["cells"]) - sum(judged)])])
    heads = ["paper", *(["its question"] if asked else []), "cells", *JUDGED, "not compared"]
    return table(heads, lines, words=1 + asked)


def paper_board(paper: str) -> str:
    """The tables of a paper: cells that are compared as numbers, the others in words below the name of the table."""
    rows = rows_of(paper)
    heads = {EQUAL: "equal", WITHIN: "within", SLIP: "with slip", DIFFERS: "differ"}
    kept = [v for v in heads if v in (EQUAL, DIFFERS) or any(int(r[v]) for r in rows)]
    lines = []
    for row in rows:
        short = row["table"].partition("/")[2]
        name = f"**{short}** {cell(row['what'])}" if short else "all"
        rest = ", ".join(f"{number(row[v])} {words}" for v, words in REST.items() if int(row[v]))
        lines.append([name + (f"<br><small>{rest}</small>" if rest else ""), row["cells"], *(row[v] for v in kept)])
    return table(["table", "cells", *(heads[v] for v in kept)], [[a, *map(number, rest)] for a, *rest in lines])


def between_marks(path: Path, new: str) -> str:
    """A page as it stands, with what is between its marks written anew."""
    text = path.read_text(encoding="utf-8")
    return f"{text.split(MARKS[0])[0]}{MARKS[0]}\n{new}\n\n{MARKS[1]}{text.split(MARKS[1])[1]}"


def page(paper: str) -> str:
    return between_marks(HERE / "papers" / f"{paper}.md", paper_board(paper))


def readme() -> str:
    return between_marks(HERE.parent / "README.md", board("docs/papers/", asked=True))


def overview() -> str:
    every = rows_of()[-1]
    found = counts(every)
    questions = ["| paper | its question |", "| --- | --- |"]
    questions += [f"| [{p}](papers/{p}.md) ({short}) | {asks} |" for p, (short, asks) in QUESTIONS.items()]
    judged = ", ".join(f"{number(every[v])} {REST[v]}" for v in GROUPS["not judged"][0] if int(every[v]))
    names = {
        "within": WITHIN,
        "slip": SLIP,
        "weights": WEIGHTS,
        "left": LEFT,
        "elsewhere": ELSEWHERE,
        "never": NEVER,
        "absent": ABSENT,
    }
    picture = (
        '<picture><source media="(max-width: 600px)" srcset="images/scoreboard-phone.svg">'
        '<img src="images/scoreboard.svg" alt="Share of each paper\'s cells that are equal, nearly equal, differ, are not '
        'judged, can be had, cannot be had; the table below has the numbers"></picture>'
    )
    return PAPERS.format(
        questions="\n".join(questions),
        board=board(),
        states=states(),
        picture=picture,
        not_judged=judged,
        judged=number(found["not judged"]),
        had=number(found["can be had"]),
        cannot=number(found["cannot be had"]),
        **{name: number(every[verdict]) for name, verdict in names.items()},
    )


def states() -> str:
    from nlgauge_papers.inventory import STATES, items
    from nlgauge_papers.inventory import papers as known

    rows = [
        [f"[{p.id}](papers/{p.id}.md)"] + [str(sum(i.state == s for i in items(p.id))) for s in STATES] for p in known()
    ]
    return table(["paper", *STATES], rows)


def inventory() -> str:
    """A section a paper, a folded table a kind: the page is searched, not read."""
    from nlgauge_papers.inventory import KINDS, STATES, items
    from nlgauge_papers.inventory import papers as known

    lines = [INVENTORY + "\n".join(f"* **{state}**: {meaning}." for state, meaning in STATES.items())]
    for paper in known():
        lines.append(f"\n## {paper.id}\n\n*{paper.title}* ({paper.short}; [its page]({paper.id}.md))")
        for kind in KINDS:
            if found := items(paper.id, kind):
                states = [i.state for i in found]
                said = ", ".join(f"{states.count(s)} {s}" for s in STATES if s in states)
                lines += [
                    f'\n<details markdown="1"><summary>{KIND[kind]} ({len(found)}: {said})</summary>\n',
                    "| name | what | state | where |",
                    "| --- " * 4 + "|",
                    *(_line(item) for item in found),
                    "\n</details>",
                ]
    return "\n".join(lines) + "\n"


def _line(item: Item) -> str:
    study = f"`nlgauge reproduce {item.study.replace('/', ' ')}`" if item.study else ""
    data = f"data: {', '.join(item.data)}" if item.data else ""
    what = cell(item.what) + (f"<br><small>{cell(item.missing)}</small>" if item.missing else "")
    where = "<br>".join(part for part in (_code(item.where), data, study) if part)
    return "| " + " | ".join([cell(item.name), what, item.state, where.replace("|", "\\|") or "–"]) + " |"


def _code(where: str) -> str:
    """Commands stand out; files as they are."""
    parts = [part.strip() for part in where.split(";")]
    return "<br>".join(
        f"`{p}`" if p.startswith(("nlgauge ", "python ")) else p.replace("<", "&lt;") for p in parts if p
    )


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") or "–"


def picture(width: int = 700) -> str:
    """Bars of one length, a line a paper, cut by group; as SVG, so that it needs no browser to be drawn anew."""
    rows = rows_of()
    narrow, tall, left = width < 500, 30, 0 if width < 500 else 185
    step = tall + (30 if narrow else 12)
    legend, x, y = [], 0, 4
    for name, (_, colour, _) in GROUPS.items():
        if x + 17 + 7.5 * len(name) > width:
            x, y = 0, y + 22
        legend.append(
            f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/><text x="{x + 17}" y="{y + 11}">{name}</text>'
        )
        x += 28 + 8 * len(name)
    parts, top = [], y + 26
    for row in rows:
        label = f"{row['table']}, {number(row['cells'])} cells"
        above = 16 if narrow else 0
        parts.append(f'<text x="0" y="{top + (12 if narrow else tall / 2 + 5):g}">{label}</text>')
        at, room = float(left), width - left
        for name, count in counts(row).items():
            wide = room * count / int(row["cells"])
            _, colour, ink = GROUPS[name]
            parts.append(f'<rect x="{at:.1f}" y="{top + above}" width="{wide:.1f}" height="{tall}" fill="{colour}"/>')
            if wide > 10 + 8 * len(number(count)):
                parts.append(
                    f'<text x="{at + wide / 2:.1f}" y="{top + above + tall / 2 + 5:g}" text-anchor="middle" '
                    f'fill="{ink}">{number(count)}</text>'
                )
            at += wide
        top += step
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" font-family="system-ui,-apple-system,'
        f'\'Segoe UI\',Roboto,sans-serif" font-size="14" fill="#1c2330" role="img" aria-label="Cells of the papers by '
        f'verdict"><rect width="{width}" height="{top}" fill="#ffffff"/>' + "".join(legend + parts) + "</svg>\n"
    )


assert sorted(v for verdicts, *_ in GROUPS.values() for v in verdicts) == sorted(VERDICTS), "a verdict without a group"
