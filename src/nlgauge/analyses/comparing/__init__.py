"""Comparisons of metrics, systems, parts of the data and runs."""
