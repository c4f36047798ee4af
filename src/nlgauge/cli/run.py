"""From a file of scores and ratings to a report: the answers on screen, one HTML page, results for machines."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.table import Table

FileOrExample = Annotated[
    str, typer.Argument(help="As for meta; without it the built-in example.", metavar="[FILE]")
]
Page = Annotated[
    Path | None, typer.Option("-o", "--out", help="The report, an .html file.", rich_help_panel=o.OUT)
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="Fewer draws (200 instead of 1000) and no extras.", rich_help_panel=o.CHOICE
    ),
]
Gate = Annotated[
    str,
    typer.Option(
        "--gate",
        help="Measure that ranks the metrics and that `nlgauge diff` compares.",
        rich_help_panel=o.CHOICE,
    ),
]
Prices = Annotated[
    Path | None,
    typer.Option(
        "--prices", help="JSON with prices of a million tokens, as for judge: what judges cost.", rich_help_panel=o.CHOICE
    ),
]  # fmt: skip


@with_data
def command(
    pick: Selection,
    file: FileOrExample = "example",
    measure: o.Measures = None,
    gate: Gate = "input/kendall",
    out: Page = None,
    format: o.Format = "table",
    quick: Quick = False,
    prices: Prices = None,
) -> list[Table] | None:
    """From a file of scores and ratings to a report: the answers on screen, one HTML page, results for machines.

    [bold]Examples[/bold]

      nlgauge run                      (the built-in example)

      nlgauge run scores.csv           (writes scores.report.html and scores.report.results.json)

      nlgauge run scores.csv --aspect coherence --quick -o coherence.html
    """
    lines, tables, path = make(pick, file, measure, gate, out, quick, prices)
    if format == "table":
        o.say(lines)
    else:
        o.show(tables, format)
    o.tell([f"report: {path}"])
    return None


def make(
    pick: Selection,
    file: str,
    measure: list[str] | None,
    gate: str,
    out: Path | None,
    quick: bool,
    prices: Path | None = None,
) -> tuple[list[str], list[Table], Path]:
    """Answer every section, write the page and the results; the short answers, the tables and where the page is."""
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics.judge.cost import load_prices
    from nlgauge.report.page import Views, write_page
    from nlgauge.report.results import results_of, write_results
    from nlgauge.report.sections import Run, answer_all
    from nlgauge.report.summary import session
    from nlgauge.stats.correlation.measure import Measure

    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise NlgaugeError(f"-o {out}: the report is one .html file; use `nlgauge meta -o` for {out.suffix}.")
    chosen = Measure.parse(gate)
    if chosen.grouping != "input":
        raise NlgaugeError(f"--gate {gate}: use an input/… measure, which has a value per input to compare.")
    for aspect in pick.aspects or pick.data.aspects[:1] or (None,):
        pick.data.aspect(aspect)  # a wrong or missing one is said before anything is computed
    run = Run(pick, quick, o.listed(measure), str(chosen), load_prices(prices) if prices else None)
    views = Views()
    answered = answer_all(run, views.draw)
    stem = "example" if file == "example" else Path(file).name.split(".")[0]
    short = session(run, answered)
    path = write_page(
        out or Path(f"{stem}.report.html"), pick.data.name, answered, sys.argv[1:], short, views
    )
    write_results(path.with_suffix(".results.json"), results_of(run, answered, sys.argv[1:]))
    return short, [t for a in answered for t in a.tables], path
