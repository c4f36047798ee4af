"""The command `reproduce`: the five papers recomputed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nlgauge import NlgaugeError, Table
from nlgauge_papers import Sources
from nlgauge_papers.reproduce import overview
from nlgauge_papers.reproduce import reproduce as recompute


def reproduce(
    paper: str | None = None,
    table: str | None = None,
    *,
    all: bool = False,
    only_differs: bool = False,
    slow: bool = True,
    weights: bool = False,
    models: Path | None = None,
    options: dict[str, Any] | None = None,
    mirror: Path | None = None,
    store: Path | None = None,
    tell: Callable[[str], None] = print,
) -> Sequence[Table]:
    """Recompute the five papers: each published cell compared with ours, with a verdict.

    A cell matches when our value rounds to what the paper prints. It may also be within tolerance, match after
    reproducing an error in the paper (both values are shown), or differ (with the reason). Where there is no value,
    the cell needs a download or weights, or was never published. A difference is a result, not an error: the exit
    code is 0. A CSV file gets one row per printed cell: paper, table, key, printed, ours, verdict, evidence, source.

    Parameters
    ----------
    paper : str, optional
        nimah2023, deng2021, gao2025, colombo2023, novikova2017, or a short name (checklist, ctc, measures, ceiling,
        novikova); without it, what can be recomputed, and its state.
    table : str, optional
        One table of that paper: 9, D.1, …; or a further study.
    all : bool, default False
        All studies of all papers: the scoreboard.
    only_differs : bool, default False
        Show only the cells that differ.
    slow : bool, default True
        Also what runs a model or takes minutes.
    weights : bool, default False
        Also run the models of the papers, where they are: in the folder of `models`, in the cache or on the hub.
    models : path, optional
        Folder of models by name (roberta-large, D-cnndm, …); implies `weights`.
    options : mapping, optional
        Options of a further study: task=consistency.
    mirror : path, optional
        Folder of the published sets (else NLGAUGE_DATA, else the cache).
    store : path, optional
        File that keeps scores of models (else NLGAUGE_STORE, else the cache).
    tell : callable
        Called with remarks while it runs.

    Examples
    --------
    $ nlgauge reproduce   (what can be recomputed, and its state)

    $ nlgauge reproduce novikova2017 9   (Table 9, cell by cell)

    $ nlgauge reproduce novikova --only-differs   (all its tables)

    $ nlgauge reproduce --all --no-slow   (the scoreboard, without models)

    $ nlgauge reproduce deng2021 --weights -o cells.csv   (with the paper's models, one row per printed cell)

    $ nlgauge reproduce deng2021 choice --options task=consistency   (a further study, with an option)
    """
    if paper is None and not all:
        return [overview(mirror)]
    if table is not None and all:
        raise NlgaugeError("all takes no table: name a paper, or nothing.")
    sources = Sources(mirror, store, tell=tell, slow=slow, weights=weights, models=models)
    return recompute(paper, table, sources, only_differs=only_differs, options=options or {})
