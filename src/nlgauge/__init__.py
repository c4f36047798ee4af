"""NLGauge: which automatic metric or LLM judge can I trust to evaluate generated text, for what, and how sure can I be?

>>> import nlgauge as ng
>>> table = ng.load("scores.csv").panel("coherence").correlate()       # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.example import example
    from nlgauge.data.panel import Panel
    from nlgauge.errors import NlgaugeError
    from nlgauge.papers.catalogue import load_set
    from nlgauge.papers.catalogue.load import check, load
    from nlgauge.scoring.aggregate import aggregate
    from nlgauge.scoring.score import score
    from nlgauge.stats.correlation.measure import Estimate, Measure
    from nlgauge.table import Table

# Loaded on first use, so that `import nlgauge` costs next to nothing.
_HOME = {
    "Dataset": "nlgauge.data.dataset",
    "Estimate": "nlgauge.stats.correlation.measure",
    "Measure": "nlgauge.stats.correlation.measure",
    "NlgaugeError": "nlgauge.errors",
    "Panel": "nlgauge.data.panel",
    "Table": "nlgauge.table",
    "aggregate": "nlgauge.scoring.aggregate",
    "check": "nlgauge.papers.catalogue.load",
    "example": "nlgauge.data.example",
    "load": "nlgauge.papers.catalogue.load",
    "load_set": "nlgauge.papers.catalogue",
    "score": "nlgauge.scoring.score",
}

__all__ = [
    "Dataset", "Estimate", "Measure", "NlgaugeError", "Panel", "Table", "aggregate", "check", "example", "load", "load_set", "score",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'nlgauge' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
