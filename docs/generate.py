"""Write the pages that come from code: measures.md, metrics.md, data.md, figures.md, papers.md, the tables in formats.md
and agents.md, the scoreboards of papers/*.md and of the README, and the guide of the package (llms.txt,
output.schema.json). `python docs/generate.py`; a test says when it is due. `python docs/generate.py --ledger`
recomputes papers/ledger.csv first (the published sets in NLGAUGE_DATA; minutes).
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.stats.correlation.coefficients import ALIASES, COEFFICIENTS
from nlgauge.stats.correlation.groups import GROUPINGS

if TYPE_CHECKING:
    from nlgauge.datasets.catalog import Entry

HEAD = """# Measures

A measure is a grouping and a coefficient, written `grouping/coefficient`, for example `input/kendall`.
This page is written from the code (`python docs/generate.py`).

Counts of pairs: C is the number of concordant pairs of metric and human ratings, D of discordant pairs, T_h of pairs tied by the human ratings only, T_m by the metric only, and
T_hm by both.

## Groupings

"""


def measures() -> str:
    lines = [HEAD + "| grouping | coefficient … |\n| --- | --- |"]
    lines += [f"| `{name}` | {text} |" for name, text in GROUPINGS.items()]
    lines.append(
        "\n[Choosing a measure](choose.md) explains which measure is suitable for which use; [concepts](concepts.md#four-groupings) has a picture of the groupings.\n\n## Coefficients\n"
    )
    lines.append("| name | what it is | formula | groupings |\n| --- | --- | --- | --- |")
    for c in COEFFICIENTS.values():
        where = "all" if set(c.groupings) == set(GROUPINGS) else ", ".join(c.groupings)
        lines.append(
            f"| `{c.name}` | **{c.title}.** {c.definition} | {c.formula.replace('|', chr(92) + '|')} | {where} |"
        )
    lines.append("\nOther names: " + ", ".join(f"`{a}` = `{b}`" for a, b in ALIASES.items()) + ".\n")
    lines.append(TAIL)
    return "\n".join(lines)


TAIL = """## Ties

Human ratings on a short scale and judges with a 1–5 scale have many ties, BERTScore almost none. The normalization of tau-b excludes ties, so a
metric with many ties may look better or worse; acc-eq rewards a tie where the human ratings tie. To compare a continuous metric with a
discrete one, use the calibrated forms: they give each metric its own best ε within which two scores count as tied.

## Measures of shared tasks

`nlgauge analyze shared-task en-de en-es ja-zh --profile wmt24` computes the measures of a shared task for every data set (one per language pair) and their mean, by which the shared task ranks the metrics:

| profile | measures of each language pair | aggregate score |
| --- | --- | --- |
| `wmt24` | `system/spa`, `input/acc-eq-calibrated` | mean over pairs and measures, equal weights (`tasks.WMT24` of mt-metrics-eval) |
| `wmt25` | the same | the same; adopted from WMT24, because the scoring script of its first subtask was not available |

The mean does not show whether metrics differ significantly. To test differences, use `nlgauge analyze compare`. The score of the error-span
subtask of WMT25 is described in [Error spans](spans.md). `global/pdp` (DiIanni and Deutsch 2025, who evaluate it on WMT24 data) belongs to
neither task. Every pair of systems is counted in both orders, so that the value does not depend on the order of the systems.
"""


METRICS = """# Metrics

Written from the code (`python docs/generate.py`); `nlgauge list metrics` shows the same. A metric is named by a spec:
`bleu`, `bleu(order=2, lowercase=True)`, `rouge-l(stem=True)`. Its options are the fields of its class.

The column *needs* lists the data required in addition to the outputs, *better* states whether higher or lower values are better, and *extra* names the extra to
install (`pip install "nlgauge[…]"`). [Below](#comparison-with-other-libraries), the values are compared with those of other libraries.
"""


def metrics() -> str:
    from nlgauge import registry

    facts = [registry.get("metric", name).facts for name in registry.names("metric")]
    lines = [METRICS]
    for family in sorted({f.family for f in facts}):
        lines += [
            f"## {family}\n",
            "| metric | what | needs | better | bounds | year | extra |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for f in sorted((f for f in facts if f.family == family), key=lambda f: f.name):
            needs = ", ".join(sorted(f.needs - {"output"})) or "–"
            bounds = f"{f.bounds[0]:g} to {f.bounds[1]:g}"
            what = f.summary + (f" *{f.weights}*" if f.weights else "")
            extra = ", ".join(filter(None, [f.extra, "papers" if f.name in registry.IN_PAPERS["metric"] else ""]))
            lines.append(
                f"| `{f.name}` | {what} | {needs} | {'lower' if f.lower else 'higher'} | {bounds} | {f.year} | "
                f"{extra or '–'} |"
            )
        lines.append("")
    lines += [*published_names(), "", ""]
    return "\n".join(lines) + (Path(__file__).parent / "metrics_compared.md").read_text(encoding="utf-8")


PUBLISHED_NAMES = """\
## Published names

`nlgauge score FILE -m NAME` also accepts the names of publications. Case, spaces, hyphens, underscores and dots do not matter, and options come on top: `SummaC-ZS(over='min')`.

| name | runs | how it was checked |
| --- | --- | --- |"""
NOT_INCLUDED = """
These names are not included; the error message says what to use.

| name | message |
| --- | --- |"""


def published_names() -> list[str]:
    from nlgauge.metrics.published_names import CONFIGURATIONS, HINTS

    lines = [PUBLISHED_NAMES]
    lines += [f"| {names} | `{spec}` | {checked} |" for names, (spec, checked) in CONFIGURATIONS.items()]
    lines.append(NOT_INCLUDED)
    return lines + [f"| {names} | {text} |" for names, text in HINTS.items() if names != "recommended"]


LEDGER = Path(__file__).parent / "papers" / "ledger.csv"


def write_ledger() -> None:
    """Recompute every table and write its cells."""
    from nlgauge.datasets import mirror_folder
    from nlgauge_papers import Sources, ledger
    from nlgauge_papers.reproduce import reproduce

    (board,) = reproduce(sources=Sources(slow=False, tell=print))
    ledger.write(board.csv_rows, LEDGER, mirror_folder())


def of_papers(function: str, *given: Any) -> str:
    """A page or picture of the papers; what they hold is in docs/paper_pages.py."""
    sys.path.insert(0, str(Path(__file__).parent))
    import paper_pages

    return str(getattr(paper_pages, function)(*given))


DATA = """# Data sets

Published data sets of outputs with human ratings. This page is written from the code (`python docs/generate.py`). No data are part of NLGauge.

* `nlgauge data list` shows all data sets and which are on this machine; `nlgauge data show NAME` shows everything about one.
* `nlgauge data get NAME` downloads its files from public repositories at pinned commits, checks their SHA-256, converts them and checks the result. What breaks
  off is resumed. `nlgauge data get all` does so for every set. The license of the origin applies to you; the command shows it with the citation.
* `nlgauge run NAME` takes a data set as if it were a file. The folder is `NLGAUGE_DATA`, or the user's cache folder.

"""


def data() -> str:
    from nlgauge.datasets.catalog import entries

    every = entries()
    lines = [
        DATA + f"{len(every)} data sets; for a name in brackets a person has to download a file.\n",
        "## Not tested\n",
        "The other sets were downloaded from a copy of their origins, converted and loaded. Of these, a file was out of reach:\n",
        *(f"* `{e.name}`: {reason}" for e in every if (reason := _untested(e))),
        "",
    ]
    for task in sorted({e.task for e in every}):
        of_task = [e for e in every if e.task == task]
        lines += [f"## {task}\n", "| set | what | size | papers |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {_named(e)} | {_cell(e.title)} | {_cell(e.shape)} | {_cell(' '.join(e.papers))} |" for e in of_task
        ]
        lines += ["", *(line for e in of_task for line in _facts(e))]
    return "\n".join(lines)


def _untested(e: Entry) -> str:
    """Why the download of a set was not tested; empty where it was."""
    from nlgauge.datasets.origins import parts

    if not e.files:
        return f"no file to download. {e.missing}"
    for f in e.needed:
        if not f.downloadable:
            return f"`{f.path}` needs a person to download it ({f.page or f.where})."
        unseen = [p for pattern in f.parts for p in parts(pattern) if not p.seen]
        if unseen:
            return f"`{unseen[0].path}` of {unseen[0].repository} was absent from the copy; its git hash is checked."
    return ""


def _named(e: Entry) -> str:
    return f"`{e.name}`" if e.loader and all(f.downloadable for f in e.needed) else f"(`{e.name}`)"


def _facts(e: Entry) -> list[str]:
    """What one set holds, in lines."""
    aspects = ", ".join(f"{name} ({scale})" if scale else name for name, scale in e.aspects.items())
    facts = {
        "aspects": aspects,
        "raters": e.raters,
        "missing": e.missing,
        "notes": " ".join(e.notes),
        "download by hand": " ".join(
            f"`{f.path}`: {f.page or f.where}. {f.layout}." for f in e.files if not f.downloadable
        ),
        "license": e.license,
        "cite": e.reference,
    }
    listed = [f"* {name}: {text.replace('<', '&lt;')}" for name, text in facts.items() if text]
    return [f"### {e.name}\n", f"{e.title}.\n", *listed, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") or "–"


ANALYSES = """# Analyses

Every analysis answers one question about a data set and returns a table. `nlgauge analyze NAME FILE` runs it, `nlgauge analyze NAME --help` shows its options, and
`ng.analyze("NAME", data)` is the same in Python. This page is written from the code (`python docs/generate.py`).

"""


def analyses() -> str:
    """Return the page of the analyses: name, summary and own options of each, by group."""
    from nlgauge import registry
    from nlgauge.api.questions import question
    from nlgauge.cli._analyze import heading
    from nlgauge.cli._generate import options_of

    groups: dict[str, list[str]] = {}
    for name in registry.names("analysis"):
        asked = question(name)
        own = [o.flags()[0].partition("/")[0] for o in options_of(asked) if o.panel == "Options" and not o.argument]
        summary = " ".join((asked.__doc__ or "").strip().partition("\n\n")[0].split())
        extra = ' (requires `pip install "nlgauge[papers]"`)' if name in registry.IN_PAPERS["analysis"] else ""
        row = f"| `{name}` | {_cell(summary)}{extra} | {', '.join(f'`{o}`' for o in own) or '–'} |"
        groups.setdefault(heading(name), []).append(row)
    lines = []
    for group in sorted(groups):
        lines += [
            f"## {group}\n",
            "| analysis | what it computes | options |",
            "| --- | --- | --- |",
            *groups[group],
            "",
        ]
    return ANALYSES + "\n".join(lines)


FIGURES = """# Figures

Most tables have a figure: `-o figure.svg` (also `.pdf`, `.png`, `.html`) instead of `-o table.tex` saves it;
`nlgauge list figures` lists the figures and their analyses. In Python:

```python
from nlgauge.report.figures import figure_of
from nlgauge.report.save import save

save(figure_of(table), "figure.pdf", width=700)  # a plotly figure; change it before as you like
save(figure_of(table), "slide.png", scale=2, theme="dark")  # light, dark, or clear (no background)
```

SVG, PDF and PNG need `pip install "nlgauge[figures]"` and a Chrome or Chromium (Debian: `apt-get install chromium`); HTML needs nothing.
Colors are those of Okabe and Ito, which color-blind readers can distinguish; symbols, dashes or labels carry the same information.

Below are the figures of the five papers, each drawn from real data by the code below it (`python docs/pictures.py`). `sources` is
`nlgauge_papers.Sources(slow=False)`: rows that run a model are left out. `words` are the word-based metrics of novikova2017.

"""


def figures() -> str:
    sys.path.insert(0, str(Path(__file__).parent))
    from pictures import FIGURES as drawn

    lines = [FIGURES + "| paper | figure | what | function in `nlgauge.report.figures` |", "| --- | --- | --- | --- |"]
    for d in drawn:
        where = f"[{d.title}](#{d.paper}-{d.title.lower().replace(' ', '-')})"
        lines.append(f"| {d.paper} | {where} | {d.what} | `{d.function}` |")
    lines += [
        "| deng2021 | Figure 7 | accuracy of the alignment against correlation; its data are not published "
        "| `alignment.accuracy_curves` |"
    ]
    for d in drawn:
        lines += [
            f"\n## {d.paper} {d.title}\n",
            f"{d.what[0].upper()}{d.what[1:]}." + (f" {d.note}" if d.note else ""),
            "",
            f"![{d.what}](images/figures/{d.image.name})",
            "",
            "```python",
            d.code.strip(),
            "```",
        ]
        if d.shell:
            lines += ["", "```", f"$ {d.shell}", "```"]
    return "\n".join(lines) + "\n"


MARKS = ("<!-- written by docs/generate.py -->\n", "<!-- end -->\n")


def formats() -> str:
    """The page as it stands, with the table of readers between the marks written anew."""
    from nlgauge.report.listing import format_rows

    before, after = ((Path(__file__).parent / "formats.md").read_text(encoding="utf-8").split(mark) for mark in MARKS)
    lines = [
        "| format | files | human ratings | metrics and judges | tested with files of |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in format_rows():
        name = "[table](#plain-tables)" if row["format"] == "table" else f"[{row['format']}](#{row['format']})"
        name = "[tidy](#tidy-nlgauges-own-format)" if row["format"] == "tidy" else name
        lines.append(
            f"| {name} | " + " | ".join(_cell(str(row[k])) for k in ("files", "human", "scores", "tested_with")) + " |"
        )
    return f"{before[0]}{MARKS[0]}\n" + "\n".join(lines) + f"\n\n{MARKS[1]}{after[1]}"


_RECORDED: list[Any] = []


def recorded() -> list[Any]:
    """(command, JSON) of every verb; run once."""
    sys.path.insert(0, str(Path(__file__).parent))
    import schema

    if not _RECORDED:
        _RECORDED.extend(schema.recorded())
    return _RECORDED


def llms() -> str:
    sys.path.insert(0, str(Path(__file__).parent))
    import llms_text

    return llms_text.llms()


def output_schema() -> str:
    found = recorded()
    import schema

    return schema.written(schema.schema_of(found))


def agents() -> str:
    """The page as it stands, with the table of verbs between the marks written anew."""
    found = recorded()
    import schema

    before, after = ((Path(__file__).parent / "agents.md").read_text(encoding="utf-8").split(mark) for mark in MARKS)
    lines = ["| verb | tables |", "| --- | --- |"]
    lines += [
        f"| `{verb}` | {', '.join(f'`{k}`' for k in kinds)} |" for verb, kinds in schema.verbs_and_tables(found).items()
    ]
    return f"{before[0]}{MARKS[0]}\n" + "\n".join(lines) + f"\n\n{MARKS[1]}{after[1]}"


GUIDE = "../src/nlgauge/guide"
PAGES = {
    "measures.md": measures,
    "metrics.md": metrics,
    "data.md": data,
    "figures.md": figures,
    "analyses.md": analyses,
    "formats.md": formats,
    "papers.md": partial(of_papers, "overview"),
    **{
        f"papers/{p}.md": partial(of_papers, "page", p)
        for p in ("nimah2023", "deng2021", "gao2025", "colombo2023", "novikova2017")
    },
    "papers/inventory.md": partial(of_papers, "inventory"),
    "../README.md": partial(of_papers, "readme"),
    "images/scoreboard.svg": partial(of_papers, "picture"),
    "images/scoreboard-phone.svg": partial(of_papers, "picture", 360),
    "agents.md": agents,
    f"{GUIDE}/output.schema.json": output_schema,
    f"{GUIDE}/llms.txt": llms,  # after the pages that it tells of
}

if __name__ == "__main__":
    if sys.argv[1:] == ["--ledger"]:
        write_ledger()
    for page, write in PAGES.items():
        (Path(__file__).parent / page).write_text(write(), encoding="utf-8")
