"""Combined metrics for one aspect each: consistency, relevance and salience of a summary.

bench/metric_choice.py chose their parts; docs/metric_choice.md reports their agreement with human ratings.
"""
