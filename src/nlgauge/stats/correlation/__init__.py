"""Correlation coefficients, groupings and measures of agreement between metric scores and human ratings."""
