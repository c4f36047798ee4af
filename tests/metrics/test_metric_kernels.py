"""The compiled loops against plain Python, which is their specification."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.kernels.lepor import fragments
from nlgauge.kernels.long_overlaps import long_overlaps
from nlgauge.kernels.ngrams import counts_in, rank
from nlgauge.kernels.overlaps import LONG, overlaps
from nlgauge.kernels.rouge import skip_bigrams, union_lcs, weighted_lcs
from nlgauge.kernels.sequences import alignments
from nlgauge.metrics.overlap.cider import Cider, CiderD
from nlgauge.text.ngrams import Ngrams

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


def laid_out(samples: list[tuple[Text, list[Text]]]) -> tuple[list[Text], tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The texts in a row, and which of them are outputs, references, and where each sample's references begin."""
    texts, output, reference, start = [], [], [], [0]
    for out, refs in samples:
        output.append(len(texts))
        reference += range(len(texts) + 1, len(texts) + 1 + len(refs))
        texts += [out, *refs]
        start.append(len(reference))
    return texts, (np.array(output), np.array(reference, np.int64), np.array(start))


def check_overlaps(
    samples: list[tuple[Text, list[Text]]], by_pair: np.ndarray, by_sample: np.ndarray, order: int
) -> None:
    place = 0
    for s, (out, refs) in enumerate(samples):
        for n in range(1, order + 1):
            highest: Counter[tuple[int, ...]] = Counter()
            for p, ref in enumerate(refs):
                assert by_pair[place + p, n - 1] == (grams(out, n) & grams(ref, n)).total()
                highest |= grams(ref, n)
            assert by_sample[s, n - 1] == (grams(out, n) & highest).total()
        place += len(refs)


blocks = st.lists(st.integers(0, 2), min_size=55, max_size=200)  # outputs of one to four blocks of bits
wide = st.lists(st.tuples(st.one_of(few, blocks), st.lists(st.one_of(few, blocks), max_size=3)), min_size=1, max_size=3)


@pytest.mark.parametrize("order", [1, 2, 4, 6])
@given(samples=st.one_of(groups, wide))
def test_overlaps_are_clipped_counts_against_each_and_against_the_highest(
    order: int, samples: list[tuple[Text, list[Text]]]
) -> None:
    texts, where = laid_out(samples)
    check_overlaps(samples, *overlaps(*arrays(texts), *where, 4, order), order)


@pytest.mark.parametrize("shift", [0, 1 << 17], ids=["small ids", "large ids"])
@given(samples=groups)
def test_overlaps_of_long_texts_are_the_same_counts(shift: int, samples: list[tuple[Text, list[Text]]]) -> None:
    texts, where = laid_out(samples)
    found = np.zeros((len(where[1]), 4), np.int32), np.zeros((len(samples), 4), np.int32)
    long_overlaps(*arrays([[t + shift for t in text] for text in texts]), *where, 0, *found)
    check_overlaps(samples, *found, 4)


def test_outputs_of_any_length_stand_side_by_side() -> None:
    rng = np.random.default_rng(0)
    sizes = (1, 63, 64, 65, 130, LONG, LONG + 1, 3000)
    samples = [(rng.integers(0, 300, n).tolist(), [rng.integers(0, 300, n).tolist() for _ in range(2)]) for n in sizes]
    texts, where = laid_out(samples)
    check_overlaps(samples, *overlaps(*arrays(texts), *where, 300, 4), 4)
    check_overlaps(
        samples[:3], *overlaps(*arrays(texts), *(w[: [3, 6, 4][i]] for i, w in enumerate(where)), 300, 40), 40
    )


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
def test_bit_parallel_alignments_equal_the_table(edit: bool, plain: object, a: Text, others: list[Text]) -> None:
    found = alignments(*arrays([a, *others]), np.zeros(len(others), np.int64), np.arange(1, len(others) + 1), 41, edit)
    assert found.tolist() == [plain(a, b) for b in others]  # type: ignore[operator]


@pytest.mark.parametrize(("edit", "plain"), [(False, lcs), (True, edits)], ids=["lcs", "edit distance"])
@given(pairs=st.lists(st.tuples(st.one_of(few, many), st.one_of(few, many)), min_size=3, max_size=20))
def test_pairs_side_by_side_do_not_touch_each_other(edit: bool, plain: object, pairs: list[tuple[Text, Text]]) -> None:
    texts = [text for pair in pairs for text in pair]
    found = alignments(*arrays(texts), np.arange(0, len(texts), 2), np.arange(1, len(texts), 2), 41, edit)
    assert found.tolist() == [plain(a, b) for a, b in pairs]  # type: ignore[operator]


@pytest.mark.parametrize("kinds", [3, 40, 3000])
def test_pairs_of_any_length_stand_side_by_side(kinds: int) -> None:
    """Pairs of one size, pairs of all sizes, one that no other is like, and equal ends."""
    rng = np.random.default_rng(kinds)
    sizes = [70] * 17 + [1, 2, 63, 64, 65, 127, 128, 129, 300, 2000]
    texts = [rng.integers(0, kinds, max(0, n + rng.integers(-3, 4))).tolist() for n in sizes for _ in range(2)]
    texts[1] = texts[0][:30] + texts[1][30:60] + texts[0][30:]
    where = np.arange(0, len(texts), 2), np.arange(1, len(texts), 2)
    for edit, plain in ((False, lcs), (True, edits)):
        found = alignments(*arrays(texts), *where, kinds, edit)
        assert found.tolist() == [plain(texts[a], texts[a + 1]) for a in where[0]]


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
    texts, where = laid_out(samples)
    outs, others, start = (w.tolist() for w in where)
    offsets, numbers, counts, _ = rank(*arrays(texts), np.arange(len(texts)), 2, 4)
    together = counts_in(offsets, numbers, counts, 2, *where, 0)
    highest = counts_in(offsets, numbers, counts, 2, *where, 1)
    place = 0
    for s, t in enumerate(outs):
        for k in range(2):
            for e in range(offsets[t * 2 + k], offsets[t * 2 + k + 1]):
                seen = [0]
                for o in others[start[s] : start[s + 1]]:
                    a, b = offsets[o * 2 + k], offsets[o * 2 + k + 1]
                    seen += counts[a:b][numbers[a:b] == numbers[e]].tolist()
                assert (together[place], highest[place]) == (sum(seen), max(seen))
                place += 1


def listed(texts: list[Text], order: int, kinds: int) -> Ngrams:
    places = np.arange(len(texts))
    return Ngrams(order, *rank(*arrays(texts), places, order, kinds), places)


def test_a_document_counts_once_and_each_occurrence_counts() -> None:
    found = listed([[0, 0, 1], [0, 2], [1, 1]], 1, 3)
    assert found.documents(np.array([0, 1, 2]), np.array([0, 2, 3])).tolist() == [1, 2, 1]
    assert found.documents(np.array([0, 1, 2]), np.array([0, 1, 2, 3])).tolist() == [2, 2, 1]
    assert found.occurrences(np.array([0, 1, 2])).tolist() == [3, 3, 1]


@pytest.mark.parametrize("clipped", [False, True])
@given(samples=groups)
def test_cosines_are_those_of_weighted_counts(clipped: bool, samples: list[tuple[Text, list[Text]]]) -> None:
    texts, (output, reference, start) = laid_out(samples)
    found = listed(texts, 4, 4)
    weight = np.linspace(1, 2, len(found.parent)) ** 2
    outputs = np.repeat(output, np.diff(start))
    values = (CiderD() if clipped else Cider())._cosines(found, weight, outputs, reference)
    for p, (o, r) in enumerate(zip(outputs.tolist(), reference.tolist(), strict=True)):
        want = 0.0
        for n in range(4):
            spans = [slice(*found.offsets[t * 4 + n : t * 4 + n + 2]) for t in (o, r)]
            a, b = (dict(zip(found.grams[at].tolist(), found.counts[at].tolist(), strict=True)) for at in spans)
            norms = [sum(c**2 * weight[g] for g, c in x.items()) ** 0.5 for x in (a, b)]
            dot = sum((min(a[g], c) if clipped else a[g]) * c * weight[g] for g, c in b.items() if g in a)
            want += dot / (norms[0] * norms[1]) / 4 if all(norms) else 0.0
        assert values[p] == pytest.approx(want)


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
    found, _ = overlaps(ids, begin, length, one, other, np.array([0, 1]), 5000, 2)
    assert found[0, 0] == (grams(texts[0], 1) & grams(texts[1], 1)).total()
    common = alignments(ids, begin, length, one, other, 5000, False)[0]
    distance = alignments(ids, begin, length, one, other, 5000, True)[0]
    assert n - common <= distance <= 2 * (n - common)
