"""Metrics made of several others, for one aspect each: consistency and relevance of a summary, and what of the source
matters. bench/metric_choice.py chose their parts; docs/metric_choice.md shows what they reach.
"""
