"""The explorer: a local page to look at single outputs behind the numbers.

Starlette and uvicorn, because the page needs a few small JSON answers and nothing more: no build step, no session state
on the server, and plotly is already there for the drawing. Panel, Dash and Streamlit bring their own page, tens of
megabytes and a running Python callback per click.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def explore(
    data: Any, *, label_file: str | Path | None = None, port: int = 0, browser: bool = True,
    tell: Callable[[str], Any] = print,
) -> None:  # fmt: skip
    """Serve the page on this machine (127.0.0.1) until it is stopped.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        With scores; ratings may be missing (and be given in the page).
    label_file : path, optional
        Where labels go that are given in the page, for `load(labels=…)`; NAME.labels.csv by default. One that is there
        already goes on.
    port : int, default 0
        0 takes a free one.
    browser : bool, default True
        Open the page in a browser.
    tell : callable
        Gets the address, which carries a token.

    Examples
    --------
    >>> import nlgauge as ng
    >>> ng.explore(ng.example(), port=8765)    # doctest: +SKIP
    http://127.0.0.1:8765/?token=…
    """
    import webbrowser

    from nlgauge.api.questions import select
    from nlgauge.errors import NeedsMissing
    from nlgauge.report.explorer.app import serve
    from nlgauge.report.explorer.label_file import GivenLabels
    from nlgauge.report.explorer.points import Explored

    chosen = select(data)
    if not chosen.data.metrics:
        raise NeedsMissing(f"{chosen.data.name}: no scores to explore; name their columns with --metric.")
    path = Path(label_file or f"{Path(chosen.data.name).name.split('.')[0]}.labels.csv")
    explored = Explored(chosen.data, chosen.aspects, chosen.metrics, GivenLabels(path))
    serve(explored, port, tell, webbrowser.open if browser else None)
