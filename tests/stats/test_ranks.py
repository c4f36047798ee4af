"""Average ranks equal scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata

from nlgauge.stats.correlation.ranks import average_ranks

VALUES = st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-52, 2.5, -3.0, 1e300, -1e-300, np.inf, -np.inf, np.nan])


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=VALUES),
    st.sampled_from([0, 1, -1, None]),
)
def test_ranks_equal_scipys_with_ties_and_gaps(values: np.ndarray, axis: int | None) -> None:
    expected = rankdata(
        values.ravel() if axis is None else values, axis=None if axis is None else axis, nan_policy="omit"
    )
    assert np.array_equal(average_ranks(values, axis).reshape(np.shape(expected)), expected, equal_nan=True)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_nothing_has_no_ranks(shape: tuple[int, ...]) -> None:
    assert average_ranks(np.empty(shape), axis=-1).shape == shape
