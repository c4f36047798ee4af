"""Metrics that run a trained language model, classifier or question answering model."""
