"""Metrics that compare words or characters of output and references."""
