"""The compiled loops against plain Python, which is their specification."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.kernels.lepor import fragments
from nlgauge.metrics.kernels.ngrams import counts_in, frequencies, matched_weight, rank, similarities
from nlgauge.metrics.kernels.overlaps import PLACES, overlaps
from nlgauge.metrics.kernels.rouge import skip_bigrams, union_lcs, weighted_lcs
from nlgauge.metrics.kernels.sequences import alignments

Text = list[int]
few = st.lists(st.integers(0, 3), max_size=12)
many = st.lists(st.integers(0, 40), max_size=150)
groups = st.lists(st.tuples(few, st.lists(few, max_size=3)), min_size=1, max_size=6)


def arrays(texts: list[Text]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids = np.array([t for text in texts for t in text], np.int32)
    length = np.array([len(t) for t in texts], np.int64)
    return ids, np.cumsum(length) - length, length


def grams(text: Text, n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(text[i : i + n]) for i in range(len(text) - n + 1))


@pytest.mark.parametrize("shift", [0, PLACES - 2], ids=["small ids", "ids beyond the direct table"])
@given(samples=groups)
def test_overlaps_are_clipped_counts_against_each_and_against_the_highest(
    shift: int, samples: list[tuple[Text, list[Text]]]
) -> None:
    texts = [[t + shift for t in text] for out, refs in samples for text in (out, *refs)]
    output, reference, start, number = [], [], [0], 0
    for _, refs in samples:
        output.append(number)
        reference += range(number + 1, number + 1 + len(refs))
        number += 1 + len(refs)
        start.append(len(reference))
    by_pair, by_sample = overlaps(
        *arrays(texts), np.array(output), np.array(reference, np.int64), np.array(start), 4
    )
    for s, (out, refs) in enumerate(samples):
        for n in range(1, 5):
            highest: Counter[tuple[int, ...]] = Counter()
            for p, ref in enumerate(refs):
                assert by_pair[start[s] + p, n - 1] == (grams(out, n) & grams(ref, n)).total()
                highest |= grams(ref, n)
            assert by_sample[s, n - 1] == (grams(out, n) & highest).total()


def test_overlaps_of_long_texts_use_the_hash_table_and_are_exact() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 300, 3000).tolist(), rng.integers(0, 300, 3000).tolist()
    found, _ = overlaps(*arrays([a, b]), np.array([0]), np.array([1]), np.array([0, 1]), 4)
    assert found[0].tolist() == [(grams(a, n) & grams(b, n)).total() for n in range(1, 5)]


def lcs(a: Text, b: Text) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for j, y in enumerate(b):
            new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
        row = new
    return row[-1]


def edits(a: Text, b: Text) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        new = [i + 1]
        for j, y in enumerate(b):
            new.append(min(row[j] + (x != y), row[j + 1] + 1, new[j] + 1))
        row = new
    return row[-1]


@pytest.mark.parametrize(("edit", "plain"), [(False, lcs), (True, edits)], ids=["lcs", "edit distance"])
@given(a=st.one_of(few, many), others=st.lists(st.one_of(few, many), min_size=1, max_size=3))
def test_bit_parallel_alignments_equal_the_table(
    edit: bool, plain: object, a: Text, others: list[Text]
) -> None:
    found = alignments(
        *arrays([a, *others]), np.zeros(len(others), np.int64), np.arange(1, len(others) + 1), 41, edit
    )
    assert found.tolist() == [plain(a, b) for b in others]  # type: ignore[operator]


def test_a_word_border_is_no_border_for_carries() -> None:
    for n in (63, 64, 65, 127, 128, 129, 200):
        a, b = [0] * n, [0] * (n - 1) + [1]
        found = [alignments(*arrays([a, b]), np.array([0]), np.array([1]), 2, e)[0] for e in (False, True)]
        assert found == [n - 1, 1]


def wlcs(x: Text, y: Text, power: float) -> float:
    """Lin (2004), figure 1."""
    c = np.zeros((len(x) + 1, len(y) + 1))
    w = np.zeros((len(x) + 1, len(y) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            if x[i - 1] == y[j - 1]:
                k = w[i - 1, j - 1]
                c[i, j] = c[i - 1, j - 1] + (k + 1) ** power - k**power
                w[i, j] = k + 1
            else:
                c[i, j] = max(c[i - 1, j], c[i, j - 1])
    return float(c[-1, -1])


@given(few, few, st.sampled_from([1.0, 1.2, 2.0]))
def test_weighted_lcs_is_lins_table(output: Text, reference: Text, power: float) -> None:
    found = weighted_lcs(*arrays([output, reference]), np.array([0]), np.array([1]), power)
    assert found[0] == pytest.approx(wlcs(reference, output, power))


@given(few, few, st.integers(1, 12))
def test_skip_bigrams_are_clipped_pairs_in_order(output: Text, reference: Text, reach: int) -> None:
    def pairs(t: Text) -> Counter[tuple[int, int]]:
        return Counter((t[i], t[j]) for i in range(len(t)) for j in range(i + 1, min(len(t), i + reach + 1)))

    found = skip_bigrams(*arrays([output, reference]), np.array([0]), np.array([1]), reach)
    assert found[0] == (pairs(output) & pairs(reference)).total()


def test_the_union_of_lcs_is_lins_example() -> None:
    """Lin (2004), 3.2: w1 w2 w3 w4 w5 against w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5: the union has 4 words."""
    reference, output = [1, 2, 3, 4, 5], [1, 2, 6, 7, 8, 1, 3, 8, 9, 5]
    lines = np.array([0] * 5 + [1] * 5 + [0] * 5, np.int32)
    ids, begin, length = arrays([output, reference])
    assert union_lcs(ids, lines, begin, length, np.array([0]), np.array([1]), 10)[0] == 4


@given(st.lists(st.lists(st.integers(0, 2), max_size=30), min_size=2, max_size=6), st.integers(1, 5))
def test_ranked_ngrams_have_one_number_each_and_know_their_beginning(texts: list[Text], order: int) -> None:
    ids, begin, length = arrays(texts)
    offsets, numbers, counts, parent = rank(ids, begin, length, np.arange(len(texts)), order, 3)

    def numbered(t: int, k: int) -> Counter[int]:
        a, b = offsets[t * order + k], offsets[t * order + k + 1]
        assert numbers[a:b].tolist() == sorted(set(numbers[a:b].tolist()))
        return Counter(dict(zip(numbers[a:b].tolist(), counts[a:b].tolist(), strict=True)))

    for k in range(order):
        for t, one in enumerate(texts):
            for u, other in enumerate(texts):
                shared = (grams(one, k + 1) & grams(other, k + 1)).total()
                assert (numbered(t, k) & numbered(u, k)).total() == shared
            # every n-gram but one that ends the text goes on
            if k > 0:
                longer: Counter[int] = Counter()
                for g, c in numbered(t, k).items():
                    longer[int(parent[g])] += c
                assert longer <= numbered(t, k - 1)
                assert numbered(t, k - 1).total() - longer.total() == (len(one) >= k)
            else:
                assert all(parent[g] == -1 for g in numbered(t, 0))


@given(groups)
def test_counts_in_others_are_sums_and_maxima(samples: list[tuple[Text, list[Text]]]) -> None:
    texts = [text for out, refs in samples for text in (out, *refs)]
    ids, begin, length = arrays(texts)
    ranked = rank(ids, begin, length, np.arange(len(texts)), 2, 4)
    offsets, numbers, counts, parent = ranked
    outs, others, start, number = [], [], [0], 0
    for _, refs in samples:
        outs.append(number)
        others += range(number + 1, number + 1 + len(refs))
        start.append(len(others))
        number += 1 + len(refs)
    where = (np.array(outs), np.array(others, np.int64), np.array(start))
    together = counts_in(offsets, numbers, counts, 2, *where, 0)
    highest = counts_in(offsets, numbers, counts, 2, *where, 1)
    weight = np.arange(1.0, len(parent) + 1)
    matched = matched_weight(offsets, numbers, counts, 2, weight, *where)
    place = 0
    for s, t in enumerate(outs):
        for k in range(2):
            gained = 0.0
            for e in range(offsets[t * 2 + k], offsets[t * 2 + k + 1]):
                seen = [0]
                for o in others[start[s] : start[s + 1]]:
                    a, b = offsets[o * 2 + k], offsets[o * 2 + k + 1]
                    seen += counts[a:b][numbers[a:b] == numbers[e]].tolist()
                assert (together[place], highest[place]) == (sum(seen), max(seen))
                gained += min(counts[e], max(seen)) * weight[numbers[e]]
                place += 1
            assert matched[s, k] == pytest.approx(gained)


def test_document_frequency_counts_a_document_once() -> None:
    ids, begin, length = arrays([[0, 0, 1], [0, 2], [1, 1]])
    offsets, numbers, counts, parent = rank(ids, begin, length, np.arange(3), 1, 3)
    documents, times = frequencies(offsets, numbers, counts, 1, np.array([0, 1, 2]), np.array([0, 2, 3]), 3)
    assert (documents.tolist(), times.tolist(), parent.tolist()) == ([1, 2, 1], [3, 3, 1], [-1, -1, -1])


def test_similarity_of_a_text_with_itself_is_one() -> None:
    ids, begin, length = arrays([[0, 1, 2, 0], [0, 1, 2, 0], [3]])
    offsets, numbers, counts, parent = rank(ids, begin, length, np.arange(3), 4, 4)
    for clipped in (False, True):
        found = similarities(
            offsets, numbers, counts, 4, np.ones(len(parent)), np.array([0, 0]), np.array([1, 2]), clipped
        )
        assert found == pytest.approx([1.0, 0.0])


def greedy(a: Text, b: Text) -> tuple[int, int]:
    """Grusky et al. (2018), figure 2."""
    words = squares = i = 0
    while i < len(a):
        best = j = 0
        while j < len(b):
            size = 0
            while i + size < len(a) and j + size < len(b) and a[i + size] == b[j + size]:
                size += 1
            best = max(best, size)
            j += max(size, 1)
        words += best
        squares += best**2
        i += max(best, 1)
    return words, squares


@given(few, st.lists(st.integers(0, 3), max_size=40))
def test_fragments_are_gruskys(output: Text, source: Text) -> None:
    words, squares = fragments(*arrays([output, source]), np.array([0]), np.array([1]), 4)
    assert (words[0], squares[0]) == greedy(output, source)


@pytest.mark.slow
def test_texts_of_100_000_tokens_are_no_problem() -> None:
    rng = np.random.default_rng(1)
    n = 100_000
    texts = [rng.integers(0, 5000, n).tolist() for _ in range(2)]
    ids, begin, length = arrays(texts)
    one, other = np.array([0]), np.array([1])
    found, _ = overlaps(ids, begin, length, one, other, np.array([0, 1]), 2)
    assert found[0, 0] == (grams(texts[0], 1) & grams(texts[1], 1)).total()
    common = alignments(ids, begin, length, one, other, 5000, False)[0]
    distance = alignments(ids, begin, length, one, other, 5000, True)[0]
    assert n - common <= distance <= 2 * (n - common)
