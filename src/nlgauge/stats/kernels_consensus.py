"""Kernels of the consensus rankings: counting votes, and the best order by subsets or by moving one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def count_votes(scores: Any, wins: Any, ties: Any) -> None:
    """For every metric and input (K × N × M): wins[a, b] += a above b; ties likewise. Missing scores cast no vote."""
    k, n, m = scores.shape
    column = np.empty(n)
    for i in range(k):
        for u in range(m):
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


@njit(cache=True, nogil=True)
def best_by_subsets(wins: Any) -> Any:
    """The order with the fewest votes against it, exactly: the best order of every subset from those one smaller."""
    n = len(wins)
    cost = np.full(1 << n, np.int64(1) << 62, np.int64)
    last = np.zeros(1 << n, np.int8)
    cost[0] = 0
    for subset in range(1, 1 << n):
        for b in range(n):
            if subset >> b & 1:
                against = cost[subset ^ (1 << b)]
                for a in range(n):
                    if a != b and subset >> a & 1:
                        against += wins[b, a]
                if against < cost[subset]:
                    cost[subset] = against
                    last[subset] = b
    order = np.empty(n, np.int64)
    subset = (1 << n) - 1
    for place in range(n - 1, -1, -1):
        order[place] = last[subset]
        subset ^= 1 << order[place]
    return order


@njit(cache=True, nogil=True)
def improve(wins: Any, order: Any) -> None:
    """Move one at a time to where the fewest votes are against, until no move helps."""
    n = len(order)
    moved = True
    while moved:
        moved = False
        for start in range(n):
            who = order[start]
            best, where, change = np.int64(0), start, np.int64(0)
            for place in range(start - 1, -1, -1):  # upward: `who` passes order[place]
                change += wins[order[place], who] - wins[who, order[place]]
                if change < best:
                    best, where = change, place
            change = np.int64(0)
            for place in range(start + 1, n):
                change += wins[who, order[place]] - wins[order[place], who]
                if change < best:
                    best, where = change, place
            if where != start:
                moved = True
                step = 1 if where > start else -1
                for place in range(start, where, step):
                    order[place] = order[place + step]
                order[where] = who
