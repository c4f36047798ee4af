"""Verbs that answer: which metric or judge to trust, for what, how sure."""
