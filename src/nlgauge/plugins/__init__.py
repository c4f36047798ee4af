"""Write an analysis, a figure or a reader: the decorators, what the functions are given, and what they give back.

Metrics have `nlgauge.metrics`, computations on arrays `nlgauge.stats`. An analysis may stand next to its figure in one
file of a user, and both raise the same errors and build the same tables, so what they need is one namespace here and
not spread over the rooms in which it lives.
"""

from nlgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
