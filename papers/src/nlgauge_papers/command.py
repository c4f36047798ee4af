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
    """Recompute the results of the five papers and compare each published number with ours.

    A cell of a published table matches if our value, rounded as in the paper, equals the printed one. Otherwise it is
    within tolerance, matches after reproducing an error in the paper (both values are shown), or differs (with the
    reason). A cell without a value needs a download or model weights, or its data were never published. Differences
    are results, not errors, so the exit code is 0. A CSV output file has one row per cell with the columns paper,
    table, key, printed, ours, verdict, evidence and source.

    Parameters
    ----------
    paper : str, optional
        Paper: nimah2023, deng2021, gao2025, colombo2023, novikova2017, or a short name (checklist, ctc, measures,
        ceiling, novikova). Default: list what can be recomputed.
    table : str, optional
        One table of the paper, such as 9 or D.1, or an additional study.
    all : bool, default False
        Recompute all tables of all papers, and show a summary.
    only_differs : bool, default False
        Show only the cells that differ.
    slow : bool, default True
        Include studies that run a model or take minutes.
    weights : bool, default False
        Also run the models of the papers, from the folder `models`, the cache or the Hugging Face hub.
    models : path, optional
        Folder with models by name (roberta-large, D-cnndm, …). Implies `weights`.
    options : mapping, optional
        Options of an additional study, such as task=consistency.
    mirror : path, optional
        Folder with the published data sets. Default: NLGAUGE_DATA, or the cache.
    store : path, optional
        Cache file of model scores. Default: NLGAUGE_STORE, or a file in the cache folder.
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
