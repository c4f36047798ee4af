"""Published sets of human judgments: what they hold, where they come from, how to download and to load them."""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
