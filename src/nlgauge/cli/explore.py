"""Look at single outputs in a local page: scatter, texts, disagreements of two metrics, export."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import Selection, with_data
from nlgauge.table import Table

NEEDS_FILE = True


@with_data
def command(
    pick: Selection,
    port: Annotated[
        int, typer.Option("--port", help="Port on this machine; 0 takes a free one.", rich_help_panel=o.OUT)
    ] = 0,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page in a browser.", rich_help_panel=o.OUT),
    ] = True,
) -> list[Table] | None:
    """Look at single outputs in a local page: scatter, texts, disagreements of two metrics, export.

    The page is served on this machine only (127.0.0.1); its address carries a token. Ctrl-C ends it.

    [bold]Examples[/bold]

      nlgauge explore scores.csv

      nlgauge explore summeval --port 8765 --no-browser
    """
    import webbrowser

    from nlgauge.errors import NeedsMissing
    from nlgauge.report.explorer.app import serve
    from nlgauge.report.explorer.points import Explored

    if not pick.data.aspects or not pick.data.metrics:
        lacking = "ratings" if not pick.data.aspects else "scores"
        raise NeedsMissing(
            f"{pick.data.name}: no {lacking} to explore; name their columns with --human and --metric."
        )
    serve(
        Explored(pick.data, pick.aspects, pick.metrics),
        port,
        lambda address: o.say([f"open {address}", "Ctrl-C ends it."]),
        webbrowser.open if browser else None,
    )
    return None
