"""Metrics of the output alone or compared with its source: length, readability, grammar, copying, diversity."""
