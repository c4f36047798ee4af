"""LLM judges: scales, confusion, order effects (gao2025)."""
