"""Questions as methods of a Dataset: `data.correlate()` is `nlgauge.correlate(data)`."""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import nlgauge
    from nlgauge.table import Table
    from nlgauge.types import Names


class AsksQuestions:
    """Functions of `nlgauge` whose first parameter is the data, as methods."""

    def analyse(self, name: str, aspect: Names = None, metrics: Names = None, **options: Any) -> Table:
        """Any analysis of `nlgauge list analyses`; see `nlgauge.analyse`."""
        import nlgauge

        return nlgauge.analyse(name, self, aspect, metrics, **options)

    if TYPE_CHECKING:  # the names of METHODS, for type checkers and editors
        agreement = nlgauge.agreement
        bias = nlgauge.bias
        compare = nlgauge.compare
        correlate = nlgauge.correlate
        estimate = nlgauge.estimate
        export = nlgauge.export
        gate = nlgauge.gate
        judge = nlgauge.judge
        jury = nlgauge.jury
        next = nlgauge.next_to_label
        rank = nlgauge.rank
        report = nlgauge.report
        score = nlgauge.score
        stability = nlgauge.stability
        verdicts = nlgauge.verdicts


METHODS = {
    name: name
    for name in (
        "agreement bias compare correlate estimate export gate judge jury rank report score stability verdicts".split()
    )
} | {"next": "next_to_label"}


class _Question:
    """A function of `nlgauge` as a method, looked up when it is used: its room stands above this one."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, data: AsksQuestions | None, owner: type) -> Any:
        import nlgauge

        found = getattr(nlgauge, self.name)
        function = getattr(found, self.name, found)  # `nlgauge.report` is a package that can be called
        return function if data is None else MethodType(function, data)


for method, function in METHODS.items():
    setattr(AsksQuestions, method, _Question(function))
