"""Means of systems that differ by rounding only are made equal, draw by draw, by the rule of `stats.ties.snap`."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import INFINITY
    from cython.cimports.nlgauge.kernels.shared import NEAR, STRIP
else:
    from math import inf as INFINITY

    from nlgauge.kernels.shared import NEAR, STRIP

Int = cython.typedef(cython.Py_ssize_t)
Reals = cython.typedef(cython.const[cython.double][::1])
Bools = cython.typedef(cython.const[cython.uchar][::1])
Lanes = cython.typedef(cython.double[:, ::1])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nearly_tied(x: Lanes, near: Lanes) -> cython.bint:
    """Is there a draw in which two means differ by rounding only?"""
    cython.declare(i=Int, k=Int, t=Int)
    found: Int = 0
    for i in range(x.shape[0]):
        for k in range(i):
            for t in range(STRIP):
                d = abs(x[i, t] - x[k, t])
                close = near[i, t] if near[i, t] > near[k, t] else near[k, t]
                found += (1.0 if d > 0.0 else 0.0) * (1.0 if d <= close else 0.0) > 0.0
    return found != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def uneven(x: Reals, valid: Bools, systems: Int) -> cython.bint:
    """Are scores of one system of very different size, so that rounding depends on which of them are drawn?"""
    cython.declare(i=Int, cell=Int)
    inputs: Int = len(x) // max(systems, 1)
    for i in range(systems):
        low: cython.double = INFINITY
        high: cython.double = 0.0
        for cell in range(i * inputs, (i + 1) * inputs):
            if valid[cell] and x[cell] != 0.0:
                low = min(low, abs(x[cell]))
                high = max(high, abs(x[cell]))
        if low < 0.01 * high:
            return True
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def rounding(x: Reals, valid: Bools, drawn: Lanes, near: Lanes) -> cython.void:
    """`near` of the scores that are drawn, for one strip; `drawn` says how often each input is."""
    cython.declare(i=Int, j=Int, t=Int)
    inputs: Int = drawn.shape[0]
    for i in range(near.shape[0]):
        for t in range(STRIP):
            near[i, t] = 0.0
        for j in range(inputs):
            if valid[i * inputs + j]:
                own: cython.double = NEAR * abs(x[i * inputs + j])
                for t in range(STRIP):
                    if drawn[j, t] > 0.0:
                        near[i, t] = max(near[i, t], own)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def snap(x: Lanes, near: Lanes, weight: Lanes, order: cython.longlong[::1], down: cython.double[::1]) -> cython.void:
    """Make means equal that differ by rounding only, draw by draw; `near` are the tolerances."""
    cython.declare(i=Int, k=Int, t=Int)
    n: Int = x.shape[0]
    for i in range(n):
        order[i] = i
    for t in range(STRIP):
        for i in range(1, n):  # the order of the draw before is a good beginning
            at: Int = order[i]
            k = i
            while k > 0 and x[order[k - 1], t] > x[at, t]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = at
        down[n] = INFINITY
        for k in range(n - 1, -1, -1):
            at = order[k]
            down[k] = min(down[k + 1], x[at, t] - near[at, t]) if weight[at, t] > 0.0 else down[k + 1]
        up: cython.double = -INFINITY
        value: cython.double = -INFINITY
        first: cython.double = 0.0
        for k in range(n):
            at = order[k]
            if weight[at, t] > 0.0:
                own: cython.double = x[at, t]
                if not (up >= own or down[k] <= value):
                    first = own
                up = max(up, own + near[at, t])
                value = own
                x[at, t] = first
