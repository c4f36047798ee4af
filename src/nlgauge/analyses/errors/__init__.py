"""Errors of metrics: disagreements with human ratings, perturbation sensitivity, word scores."""
