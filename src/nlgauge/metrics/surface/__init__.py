"""Metrics that look at the output by itself or against its source: length, readability, grammar, copying, variety."""
