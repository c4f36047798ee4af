"""Analyses: one question of the papers each, a pure function from Panel (or Dataset) to Table, one file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nlgauge.registry import register
from nlgauge.table import Table


@dataclass(frozen=True)
class Analysis:
    """A question with its function. `takes` says what it needs: a panel (one aspect) or the whole data set."""

    name: str
    question: str
    paper: str
    takes: Literal["panel", "dataset"]
    function: Callable[..., Table]

    def __call__(self, data: Any, **options: Any) -> Table:
        return self.function(data, **options)


def analysis(
    name: str, *, question: str, paper: str = "", takes: Literal["panel", "dataset"] = "panel"
) -> Callable[[Callable[..., Table]], Callable[..., Table]]:
    """Register a function as an analysis; the function itself stays what it was."""

    def keep(function: Callable[..., Table]) -> Callable[..., Table]:
        register("analysis", name)(Analysis(name, question, paper, takes, function))
        return function

    return keep
