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
    options: dict[str, Any] | None = None,
    mirror: Path | None = None,
    store: Path | None = None,
    tell: Callable[[str], None] = print,
) -> Sequence[Table]:
    """Recompute the five papers: each published cell next to ours, with a verdict.

    A cell is equal when ours rounds to what the paper prints, within tolerance, equal once a slip of the paper is
    repeated (both values are shown), or differs (the reason follows in words); where there is no value, the verdict
    says whether it needs weights or a file that others publish, or was never published. A difference is a result, not
    an error: the exit code is 0.

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

    $ nlgauge reproduce gao2025 5 -o table5.csv

    $ nlgauge reproduce deng2021 choice --options task=consistency   (a further study, with an option)
    """
    if paper is None and not all:
        return [overview(mirror)]
    if table is not None and all:
        raise NlgaugeError("all takes no table: name a paper, or nothing.")
    sources = Sources(mirror, store, tell=tell, slow=slow)
    return recompute(paper, table, sources, only_differs=only_differs, options=options or {})
