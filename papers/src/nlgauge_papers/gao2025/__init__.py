"""Gao et al. 2025, analyzing and evaluating correlation measures in NLG meta-evaluation."""
