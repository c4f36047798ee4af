"""The pages of the five papers that come from papers/ledger.csv and inventory.toml: papers.md, papers/inventory.md, the
scoreboards of papers/*.md and of the README, and the picture of the scoreboard. docs/generate.py writes them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nlgauge_papers import ledger
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
from nlgauge_papers.inventory import KINDS, STATES, find_paper, items, studies
from nlgauge_papers.inventory import papers as all_papers

if TYPE_CHECKING:
    from nlgauge_papers.inventory import Item

HERE = Path(__file__).parent
LEDGER = HERE / "papers" / "ledger.csv"
README_LINES = {
    "novikova2017": ("Novikova et al. (2017)", "does a metric reflect human ratings, and on which outputs?"),
    "gao2025": ("Gao et al. (2025)", "which of twelve correlations should be reported?"),
    "nimah2023": ("Ni'mah et al. (2023)", "what can a metric do besides correlate? A checklist."),
    "colombo2023": ("Colombo et al. (2023)", "do new metrics add information to the old ones?"),
    "deng2021": (
        "Deng et al. (2021)",
        "can information alignment evaluate many tasks, and which words are ungrounded?",
    ),
}
MARKS = ("<!-- written by docs/generate.py -->\n", "<!-- end -->\n")
QUESTIONS = {
    "nimah2023": ("checklist", "What can a metric do besides correlating with human ratings?"),
    "deng2021": ("ctc", "Can one idea, information alignment, evaluate many tasks?"),
    "gao2025": ("measures", "Which of twelve correlation measures should one report?"),
    "colombo2023": ("ceiling", "Do new metrics measure anything new?"),
    "novikova2017": ("novikova", "Do metrics reflect human ratings?"),
}
# Every verdict is in one group; in this order from left to right in the picture: heading, verdicts, color, ink.
GROUPS = {
    "matches": ((EQUAL,), "#0072B2", "#ffffff"),
    "within tolerance": ((WITHIN,), "#56B4E9", "#10202e"),
    "paper's error": ((SLIP,), "#009E73", "#ffffff"),
    "differs": ((DIFFERS,), "#D55E00", "#ffffff"),
    "not judged": ((CHOSEN, HOLDS, EXCEPTIONS, OTHER, FEWER), "#F0E442", "#10202e"),
    "needs a download": ((ELSEWHERE,), "#D3D9E2", "#10202e"),
    "needs weights": ((WEIGHTS, LEFT), "#B7C0CE", "#10202e"),
    "never published": ((NEVER, ABSENT), "#98A2B3", "#10202e"),
}
JUDGED = ("matches", "within tolerance", "paper's error", "differs")
# How the other cells of a table are described.
REST = {
    CHOSEN: "with an annotator chosen to match",
    HOLDS: "statements that hold",
    EXCEPTIONS: "statements that do not hold",
    OTHER: "with other weights",
    FEWER: "over fewer data sets",
    WEIGHTS: "need weights",
    LEFT: "run a model",
    ELSEWHERE: "need a download",
    NEVER: "never published",
    ABSENT: "with nothing to compute",
}

PAPERS = """# The five papers

NLGauge reproduces five papers and applies their methods to your own data. The page of each paper describes its question, a reproduced figure, the published
numbers that are reproduced, those that are not and why, and the commands that apply the paper's recommendation to your own data.

{questions}

## Scoreboard

The scoreboard compares every printed cell of the five papers with the value that `nlgauge reproduce --all --no-slow` computes without running a model.
METEOR's own data files come with the package pycocoevalcap.

{picture}

{board}

* **matches**: the value equals the printed value after rounding.
* **within tolerance**: the difference is at most the tolerance of the table.
* **paper's error**: the value matches after reproducing [an error in the paper](#errors-in-the-papers).
* **differs**: the difference is larger. The reason is given on the paper's page and below the table that `nlgauge reproduce PAPER TABLE` prints.

[ledger.csv](papers/ledger.csv) has one row per cell, with the printed value, the recomputed value, the verdict, the evidence and the line of the file that contains the
printed value. `nlgauge reproduce --all -o cells.csv` writes the same table for your files.

The same rule applies to every metric. Scores that are computed from the texts by the same formula and released scores receive a verdict. Values of a model with
other weights than the paper's and means over fewer data sets are shown next to the printed value without a verdict.

## What you need

{needs}

The table shows how many cells have a value after each step. The first column is measured; the others state how many cells would have a value.

* **after `data get`**: `nlgauge data get all` downloads the data sets from public repositories at pinned commits, checks their SHA-256 and converts them
  ({sets} of {all_sets} data sets). `make scoreboard` does this and prints the scoreboard that everyone gets.
* **and its untested files**: {unseen} cells need files of these repositories that we could not read (the authors' score tables of nimah2023 and the single
  ratings of novikova2017). Commit and git hash are pinned.
* **and manual downloads**: files for which a browser is needed, mainly the scores of gao2025 on Google Drive. `nlgauge data get NAME` prints the address and
  where to save the file.
* **and models**: `nlgauge reproduce --weights` runs the papers' models that are in the folder given with `--models`, in the cache or on the hub. The models of
  {not_run} of these cells are not implemented: Table C.1, the ablations of D and R, and USR on Persona-Chat in deng2021.
* **never**: the data were never published, or there is nothing to compute.

## Errors in the papers

An error is listed only if the paper's own numbers or the authors' own programs show it. The tables contain both values, with and without the error.

| where | what |
| --- | --- |
| novikova2017 12 | raw scores compared as text, so that 1e-09 ranks above 0.2 |
| novikova2017 3 | a metric is named as the best that is not the best |
| deng2021 E.1, F-1 in F.2 to F.4; nimah2023 11 | a tie split by rounding |
| deng2021 F.1, F.2 | the values of Overall, printed for two other aspects |
| nimah2023 21 | rows exchanged; a score of the easy pairs averaged into the hard pairs (cell 95 of the authors' notebook) |
| nimah2023 22 | the value of the hard pairs printed for both; one column left out (cell 96 of the notebook) |
| nimah2023 6, 19, 21, 22, section 5.3 | values cut instead of rounded |
| nimah2023 section 5.3 | the value of another cell quoted |
| nimah2023 Figure 7 | of each comparison only one topic counted; its 15 numbers are in the authors' notebook, not in the paper |

## Are the printed values read correctly?

The printed values were transcribed twice. `tests/real/test_printed_from_text.py` extracts the tables again from the papers' texts and compares them cell by cell, in order
if the text preserves it. It covers all numerical tables of nimah2023, deng2021 1–3 and D.1–F.6, gao2025 3 and 7, and novikova2017 2 and 8–14.

## What is covered

{states}

The table counts tables, figures, metrics, data sets and algorithms. [The inventory](papers/inventory.md) has a row for each of them and defines the columns.
"""

INVENTORY = """# Inventory of the papers

This page lists every table, figure, metric, data set and algorithm of [the five papers](../papers.md), where it is implemented, the data it requires
(`nlgauge data show NAME`), and its state. It is written from `papers/src/nlgauge_papers/inventory.toml` (`python docs/generate.py`). If an item has a study, its command compares each
published cell with the recomputed value.

"""
KIND = {
    "table": "Tables",
    "figure": "Figures",
    "metric": "Metrics",
    "data": "Data",
    "algorithm": "Algorithms and equations",
}


@cache
def cells() -> list[dict[str, str]]:
    """Return the ledger."""
    return ledger.read(LEDGER)


def verdicts(paper: str = "", table: str = "") -> Counter[str]:
    """Cells by verdict, of all papers, one paper or one table."""
    return Counter(r["verdict"] for r in cells() if paper in ("", r["paper"]) and table in ("", r["table"]))


def counts(found: Counter[str]) -> dict[str, int]:
    """Cells by group of verdicts."""
    return {name: sum(found[v] for v in some) for name, (some, *_) in GROUPS.items()}


def table(heads: list[str], rows: list[list[str]], words: int = 1) -> str:
    """Markdown; all but the first `words` columns are numbers, 0 is left out."""
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * words + " ---: |" * (len(heads) - words)]
    return "\n".join([*lines, *("| " + " | ".join(c if c != "0" else " " for c in row) + " |" for row in rows)])


def number(value: int | str) -> str:
    return f"{int(value):,}"


def board(path: str = "papers/", asked: bool = False) -> str:
    """One row per paper: cells, those that are compared, and how many are not; `asked`: with the paper's question."""
    lines = []
    for name in (*QUESTIONS, ""):
        found = verdicts(name)
        groups = counts(found)
        linked = f"[{name}]({path}{name}.md)" if name else "all"
        question = [QUESTIONS[name][1] if name else " "] if asked else []
        judged = [groups[g] for g in JUDGED]
        lines.append([linked, *question, *map(number, [found.total(), *judged, found.total() - sum(judged)])])
    heads = ["paper", *(["its question"] if asked else []), "cells", *JUDGED, "not compared"]
    return table(heads, lines, words=1 + asked)


def needs(path: str = "papers/") -> str:
    """One row per paper: how many cells have a value by what a reader has done."""
    lines = []
    for name in (*QUESTIONS, ""):
        found = ledger.tiers([r for r in cells() if name in ("", r["paper"])])
        reached = [found["here"] + found["package"]]
        for step in ("data get", "browser", "weights"):
            reached.append(reached[-1] + found[step])
        linked = f"[{name}]({path}{name}.md)" if name else "all"
        lines.append([linked, *map(number, [sum(found.values()), *reached, found["none"]])])
    heads = [
        "paper",
        "cells",
        "after `data get`",
        "and its untested files",
        "and manual downloads",
        "and models",
        "never",
    ]
    return table(heads, lines)


def paper_board(paper: str) -> str:
    """The tables of a paper: cells that are compared as numbers, the others in words below the name of the table."""
    of_paper = verdicts(paper)
    kept = [v for v in (EQUAL, WITHIN, SLIP, DIFFERS) if v in (EQUAL, DIFFERS) or of_paper[v]]
    lines = []
    for s in (*(s for s in studies(paper) if not s.further), None):
        found = verdicts(paper, s.table if s else "")
        name = f"**{s.table}** {cell(s.title)}" if s else "all"
        rest = ", ".join(f"{number(found[v])} {words}" for v, words in REST.items() if found[v])
        row = [found.total(), *(found[v] for v in kept)]
        lines.append([name + (f"<br><small>{rest}</small>" if rest else ""), *map(number, row)])
    return table(["table", "cells", *("paper's error" if v == SLIP else v for v in kept)], lines)


def citation(paper: str) -> str:
    """Authors, venue and BibTeX of a paper."""
    p = find_paper(paper)
    return f"{p.authors} ({p.venue}): [{p.title}]({p.url}).\n\n````bibtex\n{p.bibtex.strip()}\n````"


def between_marks(path: Path, new: str) -> str:
    """A page as it stands, with what is between its marks written anew."""
    text = path.read_text(encoding="utf-8")
    return f"{text.split(MARKS[0])[0]}{MARKS[0]}\n{new}\n\n{MARKS[1]}{text.split(MARKS[1])[1]}"


def page(paper: str) -> str:
    return between_marks(HERE / "papers" / f"{paper}.md", f"{paper_board(paper)}\n\n### Cite\n\n{citation(paper)}")


def readme() -> str:
    lines = []
    for paper, (authors, question) in README_LINES.items():
        groups = counts(verdicts(paper))
        judged = sum(groups[name] for name in JUDGED)
        lines.append(f"* {authors}: {question} {judged - groups['differs']:,} of {judged:,} compared numbers match.")
    return between_marks(HERE.parent / "README.md", "\n".join(lines))


def overview() -> str:
    from nlgauge.datasets import entries

    questions = ["| paper | its question |", "| --- | --- |"]
    questions += [f"| [{p}](papers/{p}.md) ({short}) | {asks} |" for p, (short, asks) in QUESTIONS.items()]
    picture = (
        '<picture><source media="(max-width: 600px)" srcset="images/scoreboard-phone.svg">'
        '<img src="images/scoreboard.svg" alt="Share of each paper\'s cells by verdict; the table below has the numbers">'
        "</picture>"
    )
    loadable = [e for e in entries() if e.loader is not None]
    by_program = [e for e in loadable if all(f.downloadable for f in e.needed)]
    return PAPERS.format(
        questions="\n".join(questions),
        board=board(),
        states=states(),
        picture=picture,
        needs=needs(),
        sets=len(by_program),
        all_sets=len(loadable),
        unseen=number(ledger.tiers(cells())["data get"]),
        not_run=number(sum(r["verdict"] == WEIGHTS and "--weights" not in r["evidence"] for r in cells())),
    )


def states() -> str:
    rows = [
        [f"[{p.id}](papers/{p.id}.md)"] + [str(sum(i.state == s for i in items(p.id))) for s in STATES]
        for p in all_papers()
    ]
    return table(["paper", *STATES], rows)


def inventory() -> str:
    """A section per paper, a folded table per kind: the page is searched, not read."""
    lines = [INVENTORY + "\n".join(f"* **{state}**: {meaning}." for state, meaning in STATES.items())]
    for paper in all_papers():
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
    """Bars of one length, one per paper, cut by group; as SVG, so that it needs no browser to be drawn again."""
    narrow, tall, left = width < 500, 30, 0 if width < 500 else 185
    step = tall + (30 if narrow else 12)
    legend, x, y = [], 0, 4
    for name, (_, color, _) in GROUPS.items():
        if x + 17 + 7.5 * len(name) > width:
            x, y = 0, y + 22
        legend.append(
            f'<rect x="{x}" y="{y}" width="12" height="12" fill="{color}"/><text x="{x + 17}" y="{y + 11}">{name}</text>'
        )
        x += 28 + 8 * len(name)
    parts, top = [], y + 26
    for paper in (*QUESTIONS, ""):
        found = verdicts(paper)
        label = f"{paper or 'all'}, {number(found.total())} cells"
        above = 16 if narrow else 0
        parts.append(f'<text x="0" y="{top + (12 if narrow else tall / 2 + 5):g}">{label}</text>')
        at, room = float(left), width - left
        for name, count in counts(found).items():
            wide = room * count / found.total()
            _, color, ink = GROUPS[name]
            parts.append(f'<rect x="{at:.1f}" y="{top + above}" width="{wide:.1f}" height="{tall}" fill="{color}"/>')
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
