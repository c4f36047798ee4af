"""Metrics: one file per family, one class per metric. No heavy import at module level.

A metric declares its properties and has one method. It asks the batch for *views* of the texts (tokens, stems, n-gram
ids, sentences …); a view is computed once per distinct text and shared by all metrics of the run.

The names of this package are those needed to write a metric.
"""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
