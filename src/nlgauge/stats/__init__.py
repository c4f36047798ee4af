"""Statistics on arrays: correlation and agreement coefficients, resampling, significance tests and estimation.

Scores have the shape metrics × systems × inputs, ratings systems × inputs, with NaN where a value is missing. The names
of this package are public and documented; each is imported when it is first used.
"""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
