"""Equal rows, tallies of resamples and ordinal disagreement against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.kernels.kinds import ordinal, tally
from nlgauge.stats.agreement.alpha import distinct_rows
from nlgauge.stats.resampling.draws import _count_picks


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rows=st.integers(0, 60),
    columns=st.integers(1, 4),
    values=st.sampled_from([1, 3, 10**6]),
)
def test_distinct_rows_are_the_first_of_each_kind_and_their_number(seed, rows, columns, values):
    table = np.random.default_rng(seed).integers(0, values, (rows, columns)).astype(np.float64)
    first, times, kinds = distinct_rows(table.view(np.uint64))
    seen: dict[tuple[float, ...], list[int]] = {}
    for i, row in enumerate(table):
        seen.setdefault(tuple(row), []).append(i)
    assert list(first) == [places[0] for places in seen.values()]
    assert list(times) == [len(places) for places in seen.values()]
    assert [list(np.flatnonzero(kinds == k)) for k in range(len(seen))] == list(seen.values())


def plain_tally(words: np.ndarray, members: list[int], size: int, rows: int, kinds: int) -> tuple[int, np.ndarray]:
    """Halves of words in their order; a half whose product with the number of members has a small remainder is left
    out.
    """
    halves = iter([half for word in words for half in (int(word) & 0xFFFFFFFF, int(word) >> 32)])
    counts = np.zeros((rows, kinds))
    for row in range(rows):
        drawn = []
        for half in halves:
            if half * len(members) % 2**32 >= 2**32 % len(members):
                drawn.append(members[half * len(members) >> 32])
            if len(drawn) == size:
                break
        if len(drawn) < size:
            return row, counts
        counts[row] = np.bincount(drawn, minlength=kinds)
    return rows, counts


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), kinds=st.integers(1, 6), size=st.integers(1, 20), words=st.integers(0, 60))
def test_a_tally_equals_its_plain_twin_also_where_the_words_do_not_suffice(seed, kinds, size, words):
    rng = np.random.default_rng(seed)
    members = np.sort(rng.integers(0, kinds, rng.integers(1, 9)))
    bits = rng.integers(0, 1 << 64, words, dtype=np.uint64)
    counts = np.full((5, kinds), np.nan)
    done = tally(bits, members, size, counts)
    found, plain = plain_tally(bits, list(members), size, 5, kinds)
    assert done == found
    assert (counts[:done] == plain[:done]).all()


def test_numbers_that_would_favour_a_member_are_left_out():
    members = np.arange(3)
    bits = np.array([0, (1 << 32) + 7], np.uint64)  # halves 0, 0, 7, 1: 2**32 is 1 more than a multiple of 3
    counts = np.empty((2, 3))
    assert tally(bits, members, 1, counts) == 2
    assert (counts == [[1, 0, 0], [1, 0, 0]]).all()
    assert tally(bits, members, 3, counts) == 0


@pytest.mark.parametrize(("draws", "size", "n"), [(0, 3, 4), (5, 0, 2), (7, 20, 9)])
def test_picks_are_counted_as_bincount_counts_them(draws, size, n):
    picks = np.random.default_rng(0).integers(0, n, (draws, size))
    plain = np.array([np.bincount(row, minlength=n) for row in picks], np.float64).reshape(draws, n)
    assert np.array_equal(_count_picks(picks, n), plain)


@pytest.mark.parametrize("seed", range(20))
def test_ordinal_sums_equal_those_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    sizes = np.sort(rng.integers(2, 5, 6))
    start = np.concatenate(([0], np.cumsum(sizes)))
    code = rng.integers(0, 4, start[-1])
    counts = rng.integers(0, 3, (3, 6)).astype(np.float64)
    counts[:, 0] = 1
    observed, expected = ordinal(counts, start, code, 4)
    for row in range(3):
        units = [code[start[k] : start[k + 1]] for k in range(6) for _ in range(int(counts[row, k]))]
        pool = np.concatenate(units)
        rank = np.array([(pool < v).sum() + (pool == v).sum() / 2 for v in range(4)])
        apart = [((rank[u][:, None] - rank[u]) ** 2).sum() / (len(u) - 1) for u in units]
        assert observed[row] == pytest.approx(sum(apart), rel=1e-12)
        every = ((rank[pool][:, None] - rank[pool]) ** 2).sum() / (len(pool) - 1)
        assert expected[row] == pytest.approx(every, rel=1e-12)
