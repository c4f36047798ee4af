"""Complementarity of metrics: distances of rankings, joint prediction of human ratings (Colombo et al. 2023)."""
