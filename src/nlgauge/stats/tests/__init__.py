"""Significance tests for correlations, differences of metrics, means, proportions and samples."""
