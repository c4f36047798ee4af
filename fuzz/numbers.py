"""Targets: the compiled kernels beside their plain twins, every light metric on any text, every measure on any panel."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.contract import Target, check, refused, text_of
from nlgauge import registry
from nlgauge.engines import Local, using
from nlgauge.kernels.lepor import fragments
from nlgauge.kernels.ngrams import rank
from nlgauge.kernels.overlaps import overlaps
from nlgauge.kernels.rouge import skip_bigrams, weighted_lcs
from nlgauge.kernels.sequences import alignments
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.correlation.measure import TWELVE, Measure, all_measures, evaluate
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.tests.permutation import permutation_test
from nlgauge.text.tokens import tokens

TESTS = Path(__file__).resolve().parent.parent / "tests"
SIDES = b"\xfe"  # between two texts; a byte that UTF-8 never uses
ONE, OTHER = np.array([0]), np.array([1])
TEXTS = [
    "The hotel is near the park.\xfeA hotel stands near the park.",
    "a b c a b\xfea b d\xfec a b",
    "\xfe",
    "x\xfex x x x",
    "第一句话。第二句话。\xfe第一句话。",
    "🙂 🙂🙂 e\u0301te\u0301\xfe\u202eabc \u2028",
    "1,000.5 don't U.S. re-do\xfe1 000.5 do n't",
]


@cache
def twins(folder: str, module: str) -> Any:
    """The plain Python that the tests hold the kernels to."""
    sys.path.insert(0, str(TESTS / folder))
    return __import__(module)


def targets() -> Iterator[Target]:
    numbers = [
        bytes(range(20)),
        bytes([0, 1, 2, 0, 1, 2, 254, 0, 1, 2, 2, 1]),
        bytes(70) + SIDES + bytes(65),
        bytes([1, 2] * 60),
    ]
    yield Target("kernel-sequences", sequences, numbers, 30)
    yield Target("kernel-ngrams", ngrams, numbers, 30)
    yield Target("kernel-rouge", rouge, numbers, 30)
    yield Target("kernel-pairs", pairs, numbers, 30)
    yield Target("kernel-kinds", kinds, numbers, 10)
    yield Target("kernel-draws", draws, [bytes([3, 4]) + bytes(range(60)), bytes([8, 8]) + bytes([250, 1, 2] * 30)], 4)
    yield Target(
        "measures", measures, [bytes([3, 4]) + bytes(range(60)), bytes([2, 2]) + bytes(9), bytes(range(200, 255))], 8
    )
    texts = [t.encode().replace("\xfe".encode(), SIDES) for t in TEXTS]
    yield Target("kernel-tokens", split, texts, 10)
    yield Target("metrics", metrics, texts, 4)


def sides(data: bytes) -> list[list[int]]:
    """Two texts of small numbers, so that much is equal."""
    left, _, right = data[:200].partition(SIDES)
    return [[b % 5 for b in left], [b % 5 for b in right]]


def sequences(data: bytes) -> None:
    twin, (a, b) = twins("metrics", "test_metric_kernels"), sides(data)
    for edit, plain in ((False, twin.lcs), (True, twin.edits)):
        for x, y in ((a, b), (b, a)):
            found = alignments(*twin.arrays([x, y]), ONE, OTHER, 5, edit)[0]
            check(found == plain(x, y), f"alignment {found}, its twin {plain(x, y)}")
        # As many pairs as stand side by side, cut from the two.
        texts = [part for k in range(9) for part in (a[k : len(a) - k], b[: len(b) - 3 * k])]
        found = alignments(*twin.arrays(texts), np.arange(0, 18, 2), np.arange(1, 18, 2), 5, edit)
        check(
            found.tolist() == [plain(x, y) for x, y in zip(texts[::2], texts[1::2], strict=True)],
            "alignments side by side differ from their twins",
        )


def ngrams(data: bytes) -> None:
    twin, (a, b) = twins("metrics", "test_metric_kernels"), sides(data)
    laid, where = twin.laid_out([(a, [b, a[::-1]]), (b, [])])
    twin.check_overlaps([(a, [b, a[::-1]]), (b, [])], *overlaps(*twin.arrays(laid), *where, 5, 4), 4)
    offsets, _, counts, _ = rank(*twin.arrays([a, b]), np.arange(2), 3, 5)
    for t, text in enumerate((a, b)):
        for k in range(3):
            found = counts[offsets[t * 3 + k] : offsets[t * 3 + k + 1]]
            check(sorted(found.tolist()) == sorted(twin.grams(text, k + 1).values()), "n-grams are not counted right")


def rouge(data: bytes) -> None:
    twin, (a, b) = twins("metrics", "test_metric_kernels"), sides(data[:80])
    given = twin.arrays([a, b])
    found = weighted_lcs(*given, ONE, OTHER, 1.2)[0]
    check(abs(found - twin.wlcs(b, a, 1.2)) < 1e-6 * max(1.0, found), "weighted LCS differs from its twin")
    words, squares = fragments(*given, ONE, OTHER, 5)
    check((words[0], squares[0]) == twin.greedy(a, b), "fragments differ from their twin")
    check(0 <= skip_bigrams(*given, ONE, OTHER, 4)[0] <= 4 * min(len(a), len(b)), "more skip-bigrams than there are")


def floats(data: bytes) -> Any:
    """Small whole numbers with ties, and what breaks arithmetic."""
    odd = {250: np.nan, 251: np.inf, 252: -np.inf, 253: 1e308, 254: 5e-324, 255: -1e-300}
    return np.array([odd.get(b, float(b % 16)) for b in data])


def pairs(data: bytes) -> None:
    from nlgauge.stats.correlation.panel_kernels import group_stats

    twin = twins("stats", "test_kernels")
    half = len(data[:240]) // 2
    x, z = floats(data[:half]), floats(data[half : 2 * half])
    found = group_stats(x[None, None], z[None, None])
    there = np.isfinite(x) & np.isfinite(z)
    expected = twin.twin_counts(x[there], z[there])
    check({c: int(getattr(found, c)[0, 0]) for c in twin.COUNTS} == expected, "pairs are not counted right")


def kinds(data: bytes) -> None:
    """Alpha of up to four raters against its definition pair by pair."""
    raters = 2 + sum(data) % 3
    table = np.array([np.nan if b > 240 else b % 7 for b in data[:30]], np.float64)
    table = table[: len(table) // raters * raters].reshape(raters, -1)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        found = refused(lambda level=level: alpha(table, level, rng=np.random.default_rng(0), draws=9))
        if found is None or found.reason:
            continue
        plain = twins("stats", "test_alpha")._plain_alpha(table, level)
        check(abs(found.value - plain) < 1e-9, f"alpha {found.value}, its twin {plain}")
        check(not found.low > found.high, f"an interval from {found.low} to {found.high}")


def draws(data: bytes) -> None:
    """Permutation test and bootstrap: every draw of every measure has a value from -1 to 1, or none."""
    systems, inputs = (2 + b % 8 for b in (data + b"\0\0")[:2])
    x1, x2, z = np.resize(floats(data[2:] or b"\0"), (3, systems, inputs))
    test = refused(lambda: permutation_test(x1, x2, z, TWELVE, draws=9))
    with using(Local(threads=1)):
        many = refused(lambda: bootstrap(np.stack([x1, x2]), z, TWELVE, draws=9))
    for found, most in ((test, 2), (many, 1)):
        there = np.empty(0) if found is None else found.samples[~np.isnan(found.samples)]
        check((np.abs(there) <= most + 1e-9).all(), f"a draw of {there}")


def split(data: bytes) -> None:
    """Tokens are what Python's own splitting finds, whatever else was encoded before."""
    texts = [text_of(part) for part in data[:2000].split(SIDES)]
    batch = Batch.from_columns(texts)
    plain = {"none": [t.split() for t in texts], "rouge": [re.findall("[a-z0-9]+", t.lower()) for t in texts]}
    for name in ("none", "rouge", "13a", "chrf"):
        found = tokens(batch, name, batch.output)
        words = found.words()
        for k, t in enumerate(batch.output.tolist()):
            mine = [words[i] for i in found.ids[found.start[t] : found.start[t] + found.length[t]]]
            if name in plain:
                check(mine == plain[name][k], f"{name}: {mine[:20]}")
            elif name == "chrf":
                check("".join(mine) == "".join(texts[k].split()), f"{name}: {mine[:20]}")


def measures(data: bytes) -> None:
    systems, inputs = (b % 9 for b in (data + b"\0\0")[:2])
    values = np.resize(floats(data[2:] or b"\0"), (3, systems, inputs))
    found = evaluate(values[:2], values[2], all_measures())
    for (k, j), value in np.ndenumerate(found.value):
        check(
            np.isnan(value) == (found.reason[k, j] is not None), f"{found.measures[j]}: no value and no reason, or both"
        )
        check(np.isnan(value) or -1 - 1e-9 <= value <= 1 + 1e-9, f"{found.measures[j]} is {value}")
    check(len(found.measures) == len(set(map(Measure.parse, map(str, found.measures)))), "two measures of one name")


@cache
def light() -> list[Any]:
    """Metrics that need neither an extra nor weights, each run once: compiling is no part of a case's time."""
    known = [registry.get("metric", name) for name in registry.names("metric")]
    found = [metric_from_spec(m.facts.name) for m in known if not m.facts.extra and not m.facts.weights]
    for metric in found:
        refused(lambda m=metric: m.score(batch_of("a b", ["a b c"], "b")))
    return found


def batch_of(output: str, references: list[str], source: str) -> Batch:
    return Batch.from_columns(
        [output, source],
        source=[source, output],
        context=[source] * 2,
        references=[references, []],
        control=["positive"] * 2,
        system=["S", "T"],
        input=[0, 0],
    )


def metrics(data: bytes) -> None:
    """The byte sums choose six of the light metrics: all of them would take most of a second."""
    texts = [text_of(part) for part in data[:4000].split(SIDES)]
    batch = batch_of(texts[0], texts[1:3] or [""], texts[-1])
    known, first = light(), sum(data)
    for k in range(6):
        metric = known[(first + 7 * k) % len(known)]
        found = refused(lambda m=metric: m.score(batch))
        if found is None:
            continue
        low, high = metric.facts.bounds
        missing = np.isnan(found.values)
        there = found.values[~missing]
        check(
            set(np.flatnonzero(missing).tolist()) == set(found.reasons),
            f"{metric}: a value is missing without a reason",
        )
        check(np.isfinite(there).all(), f"{metric} is infinite")
        check(
            (there >= low - 1e-9).all() and (there <= high + 1e-9).all(),
            f"{metric} is {there}, outside {low} to {high}",
        )
