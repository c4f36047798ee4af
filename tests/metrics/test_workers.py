"""Metrics share their views of the texts (tokens, stems, WordNet, vectors): many workers must find what one finds."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, Metric, metric_from_spec, take
from nlgauge.scoring import score_batch as scoring_batch
from nlgauge.scoring.score_batch import pieces, score_batch
from nlgauge.text.tokens import tokens

WORKERS = 8
SAMPLES = 32
# Everything that runs without a model of its own; the parser is a program of its own, and slow to start.
NAMES = [
    name
    for name in registry.names("metric")
    if registry.get("metric", name).facts.extra not in ("neural", "judges") and name not in ("prs", "s3")
]
SPECS = [*NAMES, "meteor(preset='nltk')", "meteor(synonyms=False)", "rouge-1(stem=True)", "bleu(tokenize='coco')"]


def texts(seed: int, n: int = SAMPLES) -> list[str]:
    """Sentences of few words, half of them met in no other: the vocabulary grows with every part."""
    rng = np.random.default_rng(seed)
    known = "the cat sat on a big mat near houses running dogs were happy and red cars drive".split()
    made = [f"{a}{b}ing" for a in ("bl", "cr", "dr", "fl", "gl", "pl") for b in ("ank", "ist", "oom", "unt", "ell")]
    return [" ".join([*rng.choice(known, 5), *rng.choice(made, 3), f"w{seed}x{k}", "."]).capitalize() for k in range(n)]


def fresh() -> Batch:
    """A batch whose shared views are still to be made."""
    n = SAMPLES
    return Batch.from_columns(
        texts(1),
        source=texts(2),
        context=texts(3),
        references=[list(r) for r in zip(texts(4), texts(5), strict=True)],
        control=["positive"] * n,
        system=["A", "B"] * (n // 2),
        input=list(range(n)),
    )


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Parts of four samples, and threads that change places as often as Python lets them."""
    monkeypatch.setattr(scoring_batch, "SMALLEST", 1)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def able() -> list[Metric]:
    found = []
    for metric in map(metric_from_spec, SPECS):
        try:
            getattr(metric, "ready", lambda: None)()
            metric.score(fresh())
        except NeedsMissing:
            continue
        found.append(metric)
    return found


@pytest.mark.parametrize("rounds", [3, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize("workers", [2, WORKERS])
def test_every_run_with_several_workers_gives_the_scores_of_one(hasty: None, workers: int, rounds: int) -> None:
    metrics = able()
    assert len(metrics) >= 40
    alone = score_batch(fresh(), metrics, workers=1, engine=lambda m, b: m.score(b), stats=True)
    for _ in range(rounds):
        together = score_batch(fresh(), metrics, workers=workers, engine=lambda m, b: m.score(b), stats=True)
        for name, one in alone.items():
            many = together[name]
            assert many.reasons == one.reasons, name
            assert np.array_equal(many.values, one.values, equal_nan=True), name
            assert (many.stats is None) == (one.stats is None), name
            if one.stats is not None and many.stats is not None:
                assert np.array_equal(many.stats, one.stats), name


def test_metrics_with_weights_may_be_asked_by_eight_threads_too(hasty: None) -> None:
    heavy = [m for m in able() if m.facts.weights]
    assert heavy
    alone = {str(m): m.score(fresh()).values for m in heavy}
    for metric in heavy * 5:
        batch = fresh()
        parts = [take(batch, rows) for rows in pieces(SAMPLES, WORKERS)]
        with ThreadPoolExecutor(WORKERS) as pool:
            found = [scores.values for scores in pool.map(metric.score, parts)]
        assert np.array_equal(np.concatenate(found), alone[str(metric)], equal_nan=True), metric


def test_tokens_that_were_given_out_do_not_change_when_others_ask_for_more() -> None:
    batch = Batch.from_columns(["the cats sat", "new words here, indeed"])
    for stem in (None, "porter"):
        first = tokens(batch, "13a", np.array([0]), stem=stem)
        before = first.ids.tolist(), first.start.tolist(), first.length.tolist(), first.words()
        tokens(batch, "13a", np.array([1]), stem=stem)
        assert (first.ids.tolist(), first.start.tolist(), first.length.tolist(), first.words()) == before
        assert len(first.words()) == max(before[0]) + 1
