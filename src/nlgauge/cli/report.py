"""Write the report of a file and nothing else: as `run`, without the answers on screen."""

from __future__ import annotations

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.cli.run import FileOrExample, Gate, Page, Prices, Quick, make
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    file: FileOrExample = "example",
    measure: o.Measures = None,
    gate: Gate = "input/kendall",
    out: Page = None,
    quick: Quick = False,
    prices: Prices = None,
) -> list[Table] | None:
    """Write the report of a file and nothing else: as `run`, without the answers on screen.

    [bold]Examples[/bold]

      nlgauge report scores.csv                    (writes scores.report.html and scores.report.results.json)

      nlgauge report scores.csv --quick -o page.html
    """
    o.tell([f"report: {make(pick, file, measure, gate, out, quick, prices)[2]}"])
    return None
