"""Kernels let go of the interpreter, so several run at once: each must own its room. Metrics:
tests/metrics/test_workers.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from nlgauge.engines import Local, using
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.correlation.measure import TWELVE, all_measures, evaluate
from nlgauge.stats.correlation.panel_kernels import group_stats
from nlgauge.stats.correlation.tie_calibration import calibrate
from nlgauge.stats.design.stability import ranking_consistency
from nlgauge.stats.resampling.bootstrap import bootstrap
from nlgauge.stats.tests.permutation import permutation_pairs

ROUNDS = [2, pytest.param(50, marks=pytest.mark.long)]
RNG = np.random.default_rng(4)
Z = np.round(RNG.normal(size=(6, 40)), 1)
X = Z + RNG.normal(size=(4, 6, 40))
X[1] = np.round(X[1])
X[2, 1, 3] = np.nan
BIG = RNG.normal(size=(2, 1, 1, 5000))
TEXTS = [" ".join(RNG.choice(list("abcdefgh"), size)) + "." for size in (3, 70, 150, 12, 40)]
WORDS = ("bleu", "chrf", "ter", "nist", "cider-d", "lepor", "rouge-l", "rouge-lsum", "rouge-w", "rouge-s", "sari",
         "levenshtein",
         "coverage", "distinct-2", "meteor(synonyms=False)", "meteor(preset='nltk', synonyms=False)")  # fmt: skip


def words() -> list[Any]:
    batch = Batch.from_columns(TEXTS, references=[[t[::-1], t[3:]] for t in TEXTS], source=TEXTS[::-1])
    return [metric_from_spec(spec).score(batch).values for spec in WORDS]


# Everything that has a kernel, and the arrays of what it found.
WORK: dict[str, Callable[[], Any]] = {
    "small groups": lambda: group_stats(X, Z[None]),
    "one big group": lambda: group_stats(BIG[0], np.round(BIG[1], 1)),
    "all measures": lambda: evaluate(X, Z, all_measures()).value,
    "tie calibration": lambda: calibrate(X, Z[None]).epsilon,
    "alpha": lambda: [
        (a.value, a.low, a.high)
        for a in (alpha(Z[:3], "ordinal", rng=np.random.default_rng(1), bootstrap=of) for of in ("units", "pairs"))
    ],
    "metrics": words,
}
THREADED: dict[str, Callable[[], Any]] = {
    "bootstrap": lambda: bootstrap(X, Z, TWELVE, draws=300).samples,
    "permutation": lambda: permutation_pairs(X, Z, TWELVE, draws=300).p,
    "consistency": lambda: ranking_consistency(X, Z, TWELVE, trials=60).trials,
}


@pytest.fixture(autouse=True)
def hasty() -> Iterator[None]:
    """Threads change places as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def bits(found: Any) -> bytes:
    return b"".join(
        np.ascontiguousarray(part).tobytes() for part in (found if isinstance(found, (tuple, list)) else [found])
    )


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("threads", [2, 8])
def test_every_kernel_gives_its_bits_whatever_runs_beside_it(threads: int, rounds: int) -> None:
    alone = {name: bits(work()) for name, work in WORK.items()}
    for _ in range(rounds):
        with ThreadPoolExecutor(threads) as pool:
            names = [*WORK] * 3
            found = pool.map(lambda name: bits(WORK[name]()), names)
            for name, one in zip(names, found, strict=True):
                assert one == alone[name], name


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", THREADED)
def test_the_number_of_threads_changes_no_bit_of_a_resampled_result(name: str, rounds: int) -> None:
    with using(Local(threads=1)):
        alone = bits(THREADED[name]())
    for _ in range(rounds):
        for threads in (1, 2, 8):
            with using(Local(threads)):
                assert bits(THREADED[name]()) == alone, threads
