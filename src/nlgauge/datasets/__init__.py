"""Published sets of human judgments: content, origin, download and loading."""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
