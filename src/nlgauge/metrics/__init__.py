"""Metrics: one file per family, one class per metric. No heavy import at module level.

A metric states facts about itself and has one method. It asks the batch for *views* of the texts (tokens, stems,
n-gram ids, sentences …); a view is computed once per distinct text and shared by every metric of the run.
"""

from nlgauge.metrics.base import Facts, Metric, metric, metric_from_spec
from nlgauge.metrics.batch import Scores
from nlgauge.text.batch import Batch, take

__all__ = ["Batch", "Facts", "Metric", "Scores", "metric", "metric_from_spec", "take"]
