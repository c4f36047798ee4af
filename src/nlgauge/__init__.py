"""NLGauge: which automatic metric or LLM judge can I trust to evaluate generated text, for what, and how sure can I be?

>>> import nlgauge as ng
>>> table = ng.correlate("scores.csv", "coherence")       # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nlgauge import datasets, judges, metrics, report, stats
    from nlgauge.api.gate import gate
    from nlgauge.api.judging import judge
    from nlgauge.api.labeling import label
    from nlgauge.api.planning import plan
    from nlgauge.api.questions import analyze
    from nlgauge.api.scores import score
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.example import example
    from nlgauge.datasets.load import load
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import Metric
    from nlgauge.report.explorer import explore
    from nlgauge.table import Table
    from nlgauge.types import Names

    class Question(Protocol):
        """An analysis as a function of data; its options are those of the analysis and of the choice of data."""

        def __call__(self, data: Any, aspect: Any = None, metrics: Names = None, **options: Any) -> Table: ...

    agreement: Question
    compare: Question
    correlate: Question
    delegate: Question
    estimate: Question
    rank: Question
    verdicts: Question

# Where each name lives; loaded on first use, so that `import nlgauge` costs next to nothing.
_HOME = {
    "Dataset": "nlgauge.data.dataset",
    "Metric": "nlgauge.metrics",
    "NlgaugeError": "nlgauge.errors",
    "Table": "nlgauge.table",
    "analyze": "nlgauge.api.questions",
    "example": "nlgauge.data.example",
    "explore": "nlgauge.report.explorer",
    "gate": "nlgauge.api.gate",
    "judge": "nlgauge.api.judging",
    "label": "nlgauge.api.labeling",
    "load": "nlgauge.datasets.load",
    "plan": "nlgauge.api.planning",
    "score": "nlgauge.api.scores",
}
# Analyses that are functions of these names.
_QUESTIONS = ("agreement", "compare", "correlate", "delegate", "estimate", "rank", "verdicts")
_MODULES = ("datasets", "judges", "metrics", "report", "stats")  # `report` can be called

__all__ = [
    "Dataset",
    "Metric",
    "NlgaugeError",
    "Table",
    "agreement",
    "analyze",
    "compare",
    "correlate",
    "datasets",
    "delegate",
    "estimate",
    "example",
    "explore",
    "gate",
    "judge",
    "judges",
    "label",
    "load",
    "metrics",
    "plan",
    "rank",
    "report",
    "score",
    "stats",
    "verdicts",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"nlgauge.{name}")
    if name in _QUESTIONS:
        return importlib.import_module("nlgauge.api.questions").question(name)
    if name not in _HOME:
        raise AttributeError(f"module 'nlgauge' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """Return the public names, so that completion offers nothing else."""
    return sorted([*__all__, "__version__"])
