"""Kolmogorov-Smirnov distances of many draws: how often a permuted distance is at least the observed one.

A draw gives the count of each output in the first and in the second sample. The outputs are sorted once for each
metric; sixteen draws are processed together, one SIMD lane each. Counts are integers, so there is no rounding error.
"""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import empty, kernel, zeros

if cython.compiled:
    from cython.cimports.nlgauge.kernels.shared import LANES
else:
    from nlgauge.kernels.shared import LANES

Int = cython.typedef(cython.Py_ssize_t)
Places = cython.typedef(cython.const[cython.longlong][::1])
Swaps = cython.typedef(cython.const[cython.uchar][:, ::1])
Counts = cython.typedef(cython.short[:, :, ::1])  # outputs × (first sample, second sample) × LANES
Cube = cython.typedef(cython.const[cython.short][:, :, ::1])


@kernel
def fill_shuffled(
    low: Cube,
    high: Cube,
    rows: cython.const[cython.longlong][:, ::1],
    cols: cython.const[cython.longlong][:, ::1],
    first: Int,
    lanes: Int,
    drawn: Counts,
):
    """Fill the table `drawn` with the counts of raters × systems × inputs, shuffled by the draws from `first` on."""
    cython.declare(r=Int, i=Int, j=Int, t=Int)
    cell: Int = 0
    with cython.nogil:
        for r in range(low.shape[0]):
            for i in range(low.shape[1]):
                for j in range(low.shape[2]):
                    for t in range(lanes):
                        drawn[cell, 0, t] = low[r, rows[first + t, i], cols[first + t, j]]
                        drawn[cell, 1, t] = high[r, rows[first + t, i], cols[first + t, j]]
                    cell += 1


@kernel
def fill_swapped(low: Cube, high: Cube, swap: Swaps, first: Int, lanes: Int, drawn: Counts):
    """Fill the table `drawn` with the counts of raters × systems × inputs; the two samples are exchanged on the inputs
    where `swap` (draws × inputs), from the draw `first` on, is not 0.
    """
    cython.declare(r=Int, i=Int, j=Int, t=Int, own=cython.uchar)
    cell: Int = 0
    with cython.nogil:
        for r in range(low.shape[0]):
            for i in range(low.shape[1]):
                for j in range(low.shape[2]):
                    for t in range(lanes):
                        own = swap[first + t, j]
                        drawn[cell, 0, t] = high[r, i, j] if own else low[r, i, j]
                        drawn[cell, 1, t] = low[r, i, j] if own else high[r, i, j]
                    cell += 1


@kernel
def count_distances(
    order: Places,
    last: cython.const[cython.uchar][::1],
    start: Places,
    drawn: Counts,
    lanes: Int,
    least: cython.const[cython.double][::1],
    counts: cython.longlong[:, ::1],
):
    """Add to counts[0] in how many of the draws each metric's distance is at least `least`, and to counts[1] in how
    many it has one: both samples are not empty.

    Metric k has the outputs order[start[k]:start[k + 1]], from low to high scores; `last` marks the last one of a run
    of equal scores, where both distribution functions are complete.
    """
    cython.declare(k=Int, e=Int, t=Int, cell=Int)
    below: cython.int[:, ::1] = zeros((2, LANES), "i")
    every: cython.int[:, ::1] = zeros((2, LANES), "i")  # of all outputs: the sizes of a metric that has them all
    share: cython.double[:, ::1] = empty((2, LANES), "d")
    gap: cython.double[::1] = empty(LANES, "d")
    with cython.nogil:
        for cell in range(drawn.shape[0]):
            for t in range(LANES):
                every[0, t] += drawn[cell, 0, t]
            for t in range(LANES):
                every[1, t] += drawn[cell, 1, t]
        for k in range(len(start) - 1):
            for t in range(LANES):
                below[0, t] = every[0, t]
                below[1, t] = every[1, t]
                gap[t] = 0.0
            if start[k + 1] - start[k] < drawn.shape[0]:
                for t in range(LANES):
                    below[0, t] = 0
                    below[1, t] = 0
                for e in range(start[k], start[k + 1]):
                    cell = order[e]
                    for t in range(LANES):
                        below[0, t] += drawn[cell, 0, t]
                    for t in range(LANES):
                        below[1, t] += drawn[cell, 1, t]
            for t in range(LANES):
                own: cython.double = below[0, t]
                other: cython.double = below[1, t]
                share[0, t] = 1.0 / own if own > 0.0 else 0.0
                share[1, t] = 1.0 / other if other > 0.0 else 0.0
                below[0, t] = 0
                below[1, t] = 0
            for e in range(start[k], start[k + 1]):
                cell = order[e]
                for t in range(LANES):
                    below[0, t] += drawn[cell, 0, t]
                for t in range(LANES):
                    below[1, t] += drawn[cell, 1, t]
                if last[e]:
                    for t in range(LANES):
                        own = below[0, t]
                        other = below[1, t]
                        value = own * share[0, t] - other * share[1, t]
                        value = value if value > 0.0 else -value
                        gap[t] = value if value > gap[t] else gap[t]
            for t in range(lanes):
                if share[0, t] > 0.0 and share[1, t] > 0.0:
                    counts[1, k] += 1
                    counts[0, k] += gap[t] >= least[k]
