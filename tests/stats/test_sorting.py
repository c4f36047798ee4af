from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nlgauge.kernels.ordered import merge_sort, radix_sort


@given(arrays(float, st.integers(1, 200), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_radix_order_equals_numpys_stable_order(v):
    room, keys = np.zeros((2, len(v)), np.int32), np.empty((2, len(v)), np.uint64)
    order = room[0]
    order[:] = np.arange(len(v))
    args = (room, keys, keys.view(np.float64), np.empty((8, 256), np.int32))
    radix_sort(memoryview(v[None]), 0, len(v), *map(memoryview, args))
    assert order.tolist() == np.argsort(v, kind="stable").tolist()
    in_order = v[order]
    assert ((keys[0, 1:] == keys[0, :-1]) == (in_order[1:] == in_order[:-1])).all()


@given(arrays(np.int32, st.integers(0, 150), elements=st.integers(-20, 20)))
def test_merge_sort_sorts_and_counts_inversions(v):
    inversions = sum(int(v[i] > v[j]) for j in range(len(v)) for i in range(j))
    around = np.zeros((2, len(v) + 2), np.int32)  # what stands before and behind is left alone
    around[0, [0, -1]] = 9, -9
    around[0, 1:-1] = v
    assert merge_sort(memoryview(around), 1, len(v)) == inversions
    assert around[0].tolist() == [9, *sorted(v.tolist()), -9]
