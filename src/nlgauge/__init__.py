"""NLGauge: which automatic metric or LLM judge can I trust to evaluate generated text, for what, and how sure can I be?

>>> import nlgauge as ng
>>> table = ng.correlate("scores.csv", "coherence")       # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from nlgauge.analyses.design.simulated_data import simulated as simulate
    from nlgauge.api.choices import rank
    from nlgauge.api.gate import gate
    from nlgauge.api.guarding import bias, drift, jury
    from nlgauge.api.guide import docs
    from nlgauge.api.installation import doctor
    from nlgauge.api.labelling import next_to_label
    from nlgauge.api.questions import agreement, analyse, compare, correlate, estimate, select, stability, verdicts
    from nlgauge.api.scores import align, judge, score
    from nlgauge.api.tuning import split
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.example import example
    from nlgauge.data.export import export
    from nlgauge.data.panel import Panel
    from nlgauge.datasets import load_set
    from nlgauge.datasets.load import check, load
    from nlgauge.datasets.published_sets import get_set
    from nlgauge.datasets.published_sets import sets_table as published_sets
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import Metric
    from nlgauge.metrics.alignment.training import AlignerPlan, train_aligner
    from nlgauge.metrics.judge.client import Asking
    from nlgauge.metrics.judge.cost import Price
    from nlgauge.metrics.judge.judge import Judge
    from nlgauge.report import Report, report
    from nlgauge.report.changes import compare_results as diff
    from nlgauge.report.explorer import explore
    from nlgauge.report.figures import plot
    from nlgauge.report.listing import available
    from nlgauge.scoring.aggregate import aggregate
    from nlgauge.scoring.judge_data import JudgedData
    from nlgauge.scoring.store import Store
    from nlgauge.scoring.stream import stream
    from nlgauge.session import Selection
    from nlgauge.stats.correlation.measure import Estimate, Measure
    from nlgauge.stats.design.simulate import SimulationParams
    from nlgauge.table import Table

# Where each name lives; loaded on first use, so that `import nlgauge` costs next to nothing.
_HOME = {
    "AlignerPlan": "nlgauge.metrics.alignment.training",
    "Asking": "nlgauge.metrics.judge.client",
    "Dataset": "nlgauge.data.dataset",
    "Estimate": "nlgauge.stats.correlation.measure",
    "Judge": "nlgauge.metrics.judge.judge",
    "JudgedData": "nlgauge.scoring.judge_data",
    "Measure": "nlgauge.stats.correlation.measure",
    "Metric": "nlgauge.metrics",
    "NlgaugeError": "nlgauge.errors",
    "Panel": "nlgauge.data.panel",
    "Price": "nlgauge.metrics.judge.cost",
    "Report": "nlgauge.report",
    "Selection": "nlgauge.session",
    "SimulationParams": "nlgauge.stats.design.simulate",
    "Store": "nlgauge.scoring.store",
    "Table": "nlgauge.table",
    "aggregate": "nlgauge.scoring.aggregate",
    "agreement": "nlgauge.api.questions",
    "align": "nlgauge.api.scores",
    "analyse": "nlgauge.api.questions",
    "available": "nlgauge.report.listing",
    "bias": "nlgauge.api.guarding",
    "check": "nlgauge.datasets.load",
    "compare": "nlgauge.api.questions",
    "correlate": "nlgauge.api.questions",
    "diff": "nlgauge.report.changes:compare_results",
    "docs": "nlgauge.api.guide",
    "doctor": "nlgauge.api.installation",
    "drift": "nlgauge.api.guarding",
    "estimate": "nlgauge.api.questions",
    "example": "nlgauge.data.example",
    "explore": "nlgauge.report.explorer",
    "export": "nlgauge.data.export",
    "gate": "nlgauge.api.gate",
    "get_set": "nlgauge.datasets.published_sets",
    "judge": "nlgauge.api.scores",
    "jury": "nlgauge.api.guarding",
    "load": "nlgauge.datasets.load",
    "load_set": "nlgauge.datasets",
    "next_to_label": "nlgauge.api.labelling",
    "plot": "nlgauge.report.figures",
    "published_sets": "nlgauge.datasets.published_sets:sets_table",
    "rank": "nlgauge.api.choices",
    "score": "nlgauge.api.scores",
    "select": "nlgauge.api.questions",
    "simulate": "nlgauge.analyses.design.simulated_data:simulated",
    "split": "nlgauge.api.tuning",
    "stability": "nlgauge.api.questions",
    "stream": "nlgauge.scoring.stream",
    "train_aligner": "nlgauge.metrics.alignment.training",
    "verdicts": "nlgauge.api.questions",
}

__all__ = [
    "AlignerPlan", "Asking", "Dataset", "Estimate", "Judge", "JudgedData", "Measure", "Metric",
    "NlgaugeError", "Panel", "Price", "Report", "Selection", "SimulationParams", "Store", "Table",
    "aggregate", "agreement", "align", "analyse", "available", "bias", "check", "compare", "correlate", "diff",
    "docs", "doctor", "drift", "estimate", "example", "explore", "export", "gate", "get_set", "judge",
    "jury", "load", "load_set", "next_to_label", "plot", "published_sets", "rank", "report",
    "score", "select", "simulate", "split", "stability", "stream", "train_aligner",
    "verdicts",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name == "report":  # the package, which can be called
        return importlib.import_module("nlgauge.report")
    if name not in _HOME:
        raise AttributeError(f"module 'nlgauge' has no attribute '{name}'")
    module, _, other = _HOME[name].partition(":")
    return getattr(importlib.import_module(module), other or name)


def __dir__() -> list[str]:
    """What people use: a list that completes to nothing else."""
    return sorted([*__all__, "__version__"])
