"""Metrics that compare vectors of words or texts."""
