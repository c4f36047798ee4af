"""Choices between two outputs (votes, A/B tests, pairwise judges): how strong each system is, which of them the data
tell apart, and whether a judge ranks them as people do.
"""
