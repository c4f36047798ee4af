"""LLM judges: what is asked, of which model, at which price, and how a reply is read."""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
