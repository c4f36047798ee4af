"""Consensus rankings: counting votes, and the best order by subsets or by moving one at a time."""

from __future__ import annotations

try:
    import cython
except ImportError:  # not compiled, and no Cython at hand
    from nlgauge.kernels import _plain as cython

from nlgauge.kernels._room import array, empty, full, kernel, zeros

Int = cython.typedef(cython.Py_ssize_t)
Votes = cython.typedef(cython.longlong[:, ::1])


@kernel
def count_votes(scores: cython.const[cython.double][:, :, ::1], wins: Votes, ties: Votes):
    """For every metric and input (K × N × M): wins[a, b] += a above b; ties likewise. Missing scores cast no vote."""
    cython.declare(i=Int, u=Int, a=Int, b=Int)
    n: Int = scores.shape[1]
    column: cython.double[::1] = empty(n, "d")
    with cython.nogil:
        for i in range(scores.shape[0]):
            for u in range(scores.shape[2]):
                for a in range(n):
                    column[a] = scores[i, a, u]
                for a in range(n):
                    for b in range(a + 1, n):
                        wins[a, b] += column[a] > column[b]
                        wins[b, a] += column[b] > column[a]
                        ties[a, b] += column[a] == column[b]
        for a in range(n):
            for b in range(a):
                ties[a, b] = ties[b, a]


@kernel
def best_by_subsets(wins: cython.const[cython.longlong][:, ::1]):
    """The order with the fewest votes against it, exactly: the best order of every subset from those one smaller."""
    cython.declare(subset=Int, a=Int, b=Int)
    n: Int = wins.shape[0]
    subsets: Int = _bit(n)
    cost: cython.longlong[::1] = full(subsets, 1 << 62, "q")
    last: cython.schar[::1] = zeros(subsets, "b")
    order: cython.longlong[::1] = empty(n, "q")
    with cython.nogil:
        cost[0] = 0
        for subset in range(1, subsets):
            for b in range(n):
                if subset >> b & 1:
                    against: cython.longlong = cost[subset - _bit(b)]
                    for a in range(n):
                        if a != b and subset >> a & 1:
                            against += wins[b, a]
                    if against < cost[subset]:
                        cost[subset] = against
                        last[subset] = b
        subset = subsets - 1
        for a in range(n - 1, -1, -1):
            order[a] = last[subset]
            subset -= _bit(last[subset])
    return array(order)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bit(b: Int) -> Int:
    one: Int = 1
    return one << b


@kernel
def improve(wins: cython.const[cython.longlong][:, ::1], order: cython.longlong[::1]):
    """Move one at a time to where the fewest votes are against, until no move helps."""
    cython.declare(start=Int, place=Int)
    n: Int = len(order)
    moved: cython.bint = True
    with cython.nogil:
        while moved:
            moved = False
            for start in range(n):
                who: Int = order[start]
                best: cython.longlong = 0
                where: Int = start
                change: cython.longlong = 0
                for place in range(start - 1, -1, -1):  # upward: `who` passes order[place]
                    change += wins[order[place], who] - wins[who, order[place]]
                    if change < best:
                        best = change
                        where = place
                change = 0
                for place in range(start + 1, n):
                    change += wins[who, order[place]] - wins[order[place], who]
                    if change < best:
                        best = change
                        where = place
                if where != start:
                    moved = True
                    for place in range(start, where):
                        order[place] = order[place + 1]
                    for place in range(start, where, -1):
                        order[place] = order[place - 1]
                    order[where] = who
