"""The members of the pair-count family as tables of numbers: each is a ratio of two sums over (C, D, T_h, T_m, T_hm).

tau-b has two different roots below, the others the same one twice.
"""

from __future__ import annotations

import numpy as np

#             C   D  T_h T_m T_hm
_ALL = (1, 1, 1, 1, 1)
_TOLD = (1, 1, 0, 1, 0)
_FORMS = {
    "kendall": ((1, -1, 0, 0, 0), (1, 1, 1, 0, 0), (1, 1, 0, 1, 0)),
    "tau-a": ((1, -1, 0, 0, 0), _ALL, _ALL),
    "tau-10": ((1, -1, 0, -1, 0), _TOLD, _TOLD),
    "tau-13": ((1, -1, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, 0, 0, 0)),
    "tau-14": ((1, -1, 0, 0, 0), _TOLD, _TOLD),
    "tau-23": ((1, -1, -1, -1, 1), _ALL, _ALL),
    "acc-eq": ((1, 0, 0, 0, 1), _ALL, _ALL),
}
FORMS = {name: np.array(form, np.float64) for name, form in _FORMS.items()}
FAST = ("pearson", "spearman", *FORMS)  # what the resampling kernels know; the rest goes through `evaluate`
