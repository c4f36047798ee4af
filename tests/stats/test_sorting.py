from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nlgauge.stats.sorting import merge_sort, radix_sort


@given(arrays(float, st.integers(1, 200), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_radix_order_equals_numpys_stable_order(v):
    order, keys = np.arange(len(v), dtype=np.int32), np.empty((2, len(v)), np.uint64)
    radix_sort(v, order, keys, np.empty(len(v), np.int32))
    assert order.tolist() == np.argsort(v, kind="stable").tolist()
    in_order = v[order]
    assert ((keys[0, 1:] == keys[0, :-1]) == (in_order[1:] == in_order[:-1])).all()


@given(arrays(np.int32, st.integers(0, 150), elements=st.integers(-20, 20)))
def test_merge_sort_sorts_and_counts_inversions(v):
    inversions = sum(int(v[i] > v[j]) for j in range(len(v)) for i in range(j))
    ours = v.copy()
    assert merge_sort(ours, np.empty(len(v), np.int32)) == inversions
    assert ours.tolist() == sorted(v.tolist())
