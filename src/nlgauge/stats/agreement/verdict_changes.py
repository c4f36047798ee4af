"""How far did a figure of pass and fail change between two judges, or two versions of one, on the same labelled rows?

People, old and new verdict make eight cells. The change gets its delete-one standard error and Student's t, with as
many degrees of freedom as the rarer rows below the figure allow; for the error a half is added to each cell, so that
few rows, or none, on which the two differ do not look like certainty. How often the interval holds: docs/gate.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from nlgauge.stats.agreement.proportion import clustering
from nlgauge.stats.agreement.two_by_two import (
    SHARES,
    Figure,
    balanced_accuracy,
    f1_of_jaccard,
    kappa,
    lacking,
    mcc,
    rests_on,
)
from nlgauge.types import Array

ADDED = 0.5  # rows added to each cell
FEWEST = 10  # rows below a share of which a change gets an interval: with fewer, .06 of data sets passed at the limit
VALUES: dict[str, Callable[[Array], Array]] = {
    **{name: share.value for name, share in SHARES.items()},
    "fail_f1": lambda c: f1_of_jaccard(SHARES["fail_jaccard"].value(c)),
    "pass_f1": lambda c: f1_of_jaccard(SHARES["pass_jaccard"].value(c)),
    "balanced_accuracy": balanced_accuracy, "kappa": kappa, "mcc": mcc,
}  # fmt: skip
# Cell of people, old and new verdict (4 people + 2 old + new) → cell of people and one of the two.
OLD = np.array([[2 * (c >> 2) + (c >> 1 & 1) == k for k in range(4)] for c in range(8)], float)
NEW = np.array([[2 * (c >> 2) + (c & 1) == k for k in range(4)] for c in range(8)], float)


def eight_cells(people: ArrayLike, old: ArrayLike, new: ArrayLike, clusters: Sequence[object] | None = None) -> Array:
    """Counts, clusters × 8 (one line where every row stands alone). True is pass."""
    z, x, y = (np.asarray(a, bool).astype(np.int64) for a in (people, old, new))
    cell = 4 * z + 2 * x + y
    if clusters is None:
        return np.bincount(cell, minlength=8).astype(np.float64)[None]
    names, code = np.unique(np.asarray(clusters), return_inverse=True)
    return np.bincount(8 * code.reshape(-1) + cell, minlength=8 * len(names)).reshape(-1, 8).astype(np.float64)


def change_of(counts: Array, figure: str, *, clustered: bool = False, level: float = 0.95) -> Figure:
    """New less old value of a figure, from counts clusters × 8.

    >>> counts = eight_cells([0] * 20 + [1] * 20, [0] * 18 + [1] * 22, [0] * 12 + [1] * 28)
    >>> found = change_of(counts, "fail_recall")
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (-0.3, -0.51, -0.09)
    """
    from scipy.special import stdtrit

    of = VALUES[figure]

    def difference(cells: Array) -> Array:
        return np.asarray(of(cells @ NEW) - of(cells @ OLD))

    total = counts.sum(axis=0)
    n = int(total.sum())
    value = float(difference(total)) if n else np.nan
    shares, sides = rests_on(figure), (counts @ OLD, counts @ NEW)
    reason = next(filter(None, (lacking(side, shares, clustered=clustered, fewest=FEWEST) for side in sides)), "")
    if reason or not np.isfinite(value):
        return Figure(value, n=n, reason=reason or "not defined in one of the two runs")
    more = total + ADDED
    left = difference(more - np.eye(8) * np.minimum(more, 1.0))
    mean = (more * left).sum() / more.sum()
    variance = (more.sum() - 1) / more.sum() * (more * (left - mean) ** 2).sum()
    if clustered:  # Student's t of few clusters is part of the effect
        variance *= clustering(counts, difference, lambda c: np.asarray(c.sum(axis=-1)), level).effect
    free = min(float(share.below(side.sum(axis=0))) for share in shares for side in sides) - 1
    half = float(stdtrit(free, (1 + level) / 2)) * float(np.sqrt(variance))
    return Figure(value, value - half, value + half, n=n)
