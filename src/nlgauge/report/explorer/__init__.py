"""The explorer: a local page that shows the single outputs behind the numbers.

Starlette and uvicorn, because the page needs a few small JSON answers and nothing more: no build step, no session state
on the server, and plotly is already there for the drawing. Panel, Dash and Streamlit bring their own page, tens of
megabytes and a running Python callback per click.
"""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

from nlgauge.api.questions import ChoiceOptions, select
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.report.explorer.app import serve
from nlgauge.report.explorer.label_file import GivenLabels
from nlgauge.report.explorer.points import Explored
from nlgauge.types import Names


@with_shared_parameters
def explore(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    label_file: Path | None = None,
    annotator: str = "",
    port: int = 0,
    browser: bool = True,
    announce: Callable[[str], Any] = print,
    **choice: Unpack[ChoiceOptions],
) -> None:
    """Explore outputs in a local web page: scatter plot, texts, two metrics side by side, labeling, and export.

    The page is served on this machine only (127.0.0.1), and its address contains an access token. Press Ctrl-C to stop
    the server.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        File with scores. Ratings are optional and can be added in the page.
    aspect, metrics : str or sequence of str, optional
        All by default.
    label_file : path, optional
        File to which labels given in the page are written; it can be passed as `labels` later. If it exists, new
        labels are appended, also by several explorers at once. Default: NAME.labels.csv.
    annotator : str, default ''
        Name of the annotator, if there are several. Each annotator sees only their own labels.
    port : int, default 0
        Port on this machine; 0 selects a free port.
    browser : bool, default True
        Open the page in a browser.
    announce : callable
        Called with the address, which carries a token.

    Examples
    --------
    >>> import nlgauge as ng
    >>> ng.explore(ng.example(), port=8765)    # doctest: +SKIP
    http://127.0.0.1:8765/?token=…

    $ nlgauge explore scores.csv

    $ nlgauge explore answers.csv --label-file mine.csv   (then: nlgauge run answers.csv --labels mine.csv)

    $ nlgauge explore summeval --port 8765 --no-browser
    """
    chosen = select(data, aspect, metrics, **choice)
    if not chosen.data.metrics:
        raise NeedsMissing(f"{chosen.data.name}: no scores to explore; name their columns with {option('metrics')}.")
    path = Path(label_file or f"{Path(chosen.data.name).name.split('.')[0]}.labels.csv")
    explored = Explored(chosen.data, chosen.aspects, chosen.metrics, GivenLabels(path, annotator))
    serve(explored, port, announce, webbrowser.open if browser else None)
