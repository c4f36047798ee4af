"""Analyses: one question of the papers each, a pure function from Panel (or Dataset) to Table, one file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec

from nlgauge.registry import register
from nlgauge.stats.profiles import profile_of
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
    """Register a function as an analysis; its Table says which one made it.

    A panel comes to it in canonical order, so that no draw depends on the order of the file or on names; only a profile
    that repeats another tool's random numbers gets the caller's order, because that tool had it.
    """

    def keep(function: Callable[P, Table]) -> Callable[P, Table]:
        @functools.wraps(function)
        def named(*args: P.args, **kwargs: P.kwargs) -> Table:
            profile: Any = kwargs.get("profile", "nlgauge")
            if takes == "panel" and not profile_of(profile).legacy:
                args = (args[0].canonical(), *args[1:])  # type: ignore[attr-defined,assignment]
            table = function(*args, **kwargs)
            table.kind = name
            return table

        register("analysis", name)(Analysis(name, question, paper, takes, named))
        return named

    return keep
