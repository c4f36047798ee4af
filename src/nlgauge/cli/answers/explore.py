"""Look at single outputs in a local page: scatter, texts, two metrics side by side, labels, export.

The page is served on this machine only (127.0.0.1); its address carries a token. Ctrl-C ends it.

[bold]Examples[/bold]

  nlgauge explore scores.csv

  nlgauge explore answers.csv --label-file mine.csv   (then: nlgauge run answers.csv --labels mine.csv)

  nlgauge explore summeval --port 8765 --no-browser
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection


@with_data
def command(
    pick: Selection,
    label_file: Annotated[
        Path | None, o.output("--label-file", "Where labels given in the page go (CSV for --labels).")
    ] = None,
    port: Annotated[int, o.output("--port", "Port on this machine; 0 takes a free one.")] = 0,
    browser: Annotated[bool, o.output("--browser/--no-browser", "Open the page in a browser.")] = True,
    format: o.Format = "table",
) -> None:
    from nlgauge.report.explorer import explore

    explore(
        pick,
        label_file=label_file,
        port=port,
        browser=browser,
        tell=lambda address: o.done("explore", [{"address": address}], format, [f"open {address}", "Ctrl-C ends it."]),
    )
