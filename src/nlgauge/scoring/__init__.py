"""Scoring: a plan of metrics, run on every output, on all cores; values per sample first, aggregates from them."""

from nlgauge.scoring.aggregate import aggregate
from nlgauge.scoring.plan import plan
from nlgauge.scoring.score import Scored, run, score

__all__ = ["Scored", "aggregate", "plan", "run", "score"]
