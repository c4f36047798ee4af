"""Weights: finding, loading and running them once for all metrics. torch and transformers come in inside functions."""
