"""Coefficients, groupings and measures: how strongly scores agree with ratings."""
