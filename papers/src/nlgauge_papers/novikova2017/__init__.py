"""Novikova et al. 2017, Why we need new evaluation metrics for NLG."""
