"""Public functions as methods of a Dataset: `data.correlate()` is `nlgauge.correlate(data)`."""

from __future__ import annotations

import importlib
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import nlgauge
    from nlgauge.data.dataset import Dataset
    from nlgauge.table import Table
    from nlgauge.types import Names


class AsksQuestions:
    """Functions of `nlgauge` whose first parameter is the data, as methods."""

    def analyze(self, name: str, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
        """Run an analysis by name; see `nlgauge.analyze`."""
        import nlgauge

        return nlgauge.analyze(name, self, aspect, metrics, **options)

    if TYPE_CHECKING:  # the names of METHODS, for type checkers and editors
        agreement: nlgauge.Question
        compare: nlgauge.Question
        correlate: nlgauge.Question
        delegate: nlgauge.Question
        estimate: nlgauge.Question
        rank: nlgauge.Question
        verdicts: nlgauge.Question
        gate = nlgauge.gate
        judge = nlgauge.judge
        label = nlgauge.label
        plan = nlgauge.plan
        report = nlgauge.report
        score = nlgauge.score

        def save(self, path: str | Path) -> list[str]: ...
        def split(
            self, test: float = 0.45, *, by: str | None = None, out: str | Path | None = None
        ) -> tuple[Dataset, Dataset]: ...


# Method -> the function that it calls with the data; its package is above this one, or imports it.
METHODS = {
    name: f"nlgauge:{name}"
    for name in "agreement compare correlate delegate estimate gate judge label plan rank report score verdicts".split()
} | {"save": "nlgauge.data.export:export", "split": "nlgauge.data.export:split_data"}


class _Question:
    """A function as a method, looked up when it is used."""

    def __init__(self, target: str) -> None:
        self.module, self.name = target.split(":")

    def __get__(self, data: AsksQuestions | None, owner: type) -> Any:
        function = getattr(importlib.import_module(self.module), self.name)
        function = getattr(function, self.name, function)  # `nlgauge.report` is a package that can be called
        return function if data is None else MethodType(function, data)


for method, target in METHODS.items():
    setattr(AsksQuestions, method, _Question(target))
