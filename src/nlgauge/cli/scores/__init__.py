"""Verbs that make scores: metrics, judges, aligners, and what is kept of them."""
