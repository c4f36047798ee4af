"""Pairwise comparisons (votes, A/B tests, pairwise judges): strengths of systems, tiers, and agreement of judges."""
