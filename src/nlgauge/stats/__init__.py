"""Arrays in, numbers out: coefficients, groupings, resampling, tests, agreement. Knows nothing of files or texts.

Scores are metrics × systems × inputs, ratings systems × inputs, NaN where there is none. The names of this package
are public and documented; each is imported when it is first used.
"""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
