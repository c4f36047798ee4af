"""Analyses: one question of the papers each, a pure function from Panel (or Dataset) to Table, one file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

from nlgauge.registry import register
from nlgauge.table import Table

P = ParamSpec("P")
Progress = Callable[[int, int], None]
Takes = Literal["panel", "dataset", "datasets"]


@dataclass(frozen=True)
class Analysis:
    """A question with its function. `takes` says what it needs: a panel (one aspect), the whole data set, or several."""

    name: str
    question: str
    paper: str
    takes: Takes
    function: Callable[..., Table]

    def __call__(self, data: Any, **options: Any) -> Table:
        return self.function(data, **options)


def analysis(
    name: str, *, question: str, paper: str = "", takes: Takes = "panel"
) -> Callable[[Callable[P, Table]], Callable[P, Table]]:
    """Register a function as an analysis; its Table says which one made it."""

    def keep(function: Callable[P, Table]) -> Callable[P, Table]:
        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> Table:
            table = function(*args, **kwargs)
            table.kind = name
            return table

        register("analysis", name)(Analysis(name, question, paper, takes, named))
        return named

    return keep
