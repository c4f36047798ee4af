"""Scoring: run a plan of metrics on all outputs, in parallel; aggregate the values per sample."""

from nlgauge.scoring.aggregate import aggregate
from nlgauge.scoring.plan import plan
from nlgauge.scoring.score import Scored, run, score

__all__ = ["Scored", "aggregate", "plan", "run", "score"]
