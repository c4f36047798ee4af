"""BLEU and CIDEr-D against pycocoevalcap on the same tokens, and the defects that set us apart."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_texts import WORDS, real_samples

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.text.treebank import without_punctuation

pytest.importorskip("pycocoevalcap.bleu.bleu")
Samples = list[tuple[str, list[str]]]
tokenised = st.lists(st.sampled_from([w for w in WORDS if w.split()]), max_size=12).map(" ".join)
samples = st.lists(
    st.tuples(tokenised, st.lists(tokenised.filter(bool), min_size=1, max_size=3)), min_size=2, max_size=8
)


def coco(scorer: Any, given_samples: Samples) -> tuple[Any, Any]:
    references = {i: r for i, (_, r) in enumerate(given_samples)}
    with contextlib.redirect_stdout(io.StringIO()):
        return scorer.compute_score(references, {i: [o] for i, (o, _) in enumerate(given_samples)})


def batch_of(given_samples: Samples) -> Batch:
    return Batch.from_columns([o for o, _ in given_samples], references=[r for _, r in given_samples])


@given(samples, st.integers(1, 4))
def test_bleu_by_the_coco_rules_equals_pycocoevalcap(given_samples: Samples, order: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu

    whole, singly = coco(Bleu(4), given_samples)
    metric: Any = metric_from_spec(f"bleu(preset='coco', order={order}, tokenize='none', lowercase=False)")
    batch = batch_of(given_samples)
    assert np.allclose(metric.score(batch).values, 100 * np.array(singly[order - 1]), rtol=1e-9, atol=1e-9)
    total = metric.from_stats(metric.stats(batch).sum(axis=0))[0]
    assert total == pytest.approx(100 * whole[order - 1], abs=1e-9)


@given(samples)
def test_cider_d_equals_pycocoevalcap(given_samples: Samples) -> None:
    from pycocoevalcap.cider.cider import Cider

    _, singly = coco(Cider(), given_samples)
    ours = metric_from_spec("cider-d(tokenize='none', lowercase=False)").score(batch_of(given_samples)).values
    assert np.allclose(ours, singly, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_bleu_and_cider_d_on_published_texts_equal_pycocoevalcap(real_data: Path) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider

    found = real_samples(real_data, 120)
    tokenised_by_us = [
        (without_punctuation(o.lower()), [without_punctuation(r.lower()) for r in refs]) for o, refs in found
    ]
    batch = batch_of(found)
    ours = metric_from_spec("cider-d").score(batch).values
    assert np.allclose(ours, coco(Cider(), tokenised_by_us)[1], rtol=0, atol=1e-9)
    ours = metric_from_spec("bleu(preset='coco')").score(batch).values
    assert np.allclose(ours, 100 * np.array(coco(Bleu(4), tokenised_by_us)[1][3]), rtol=0, atol=1e-9)


def test_one_document_alone_is_refused_where_pycocoevalcap_gives_zero() -> None:
    from pycocoevalcap.cider.cider import Cider

    alone: Samples = [("a b c d e", ["a b c d e"])]
    assert coco(Cider(), alone)[0] == 0.0
    scores = metric_from_spec("cider-d").score(batch_of(alone))
    assert np.isnan(scores.values[0])
    assert "two inputs" in scores.reasons[0]


def test_several_systems_on_the_same_inputs_score_as_each_alone() -> None:
    """pycocoevalcap sees one system; more systems must not make n-grams seem more frequent."""
    references = [["a b c d", "a b x"], ["c d e f"], ["a c e g h"]]
    first, second = ["a b c", "c d f e", "a c"], ["b c d", "e f", "a c e g h"]
    alone = metric_from_spec("cider-d").score(Batch.from_columns(first, references=references)).values
    both = Batch.from_columns(
        first + second, references=references * 2, system=["A"] * 3 + ["B"] * 3, input=[0, 1, 2, 0, 1, 2]
    )
    assert np.allclose(metric_from_spec("cider-d").score(both).values[:3], alone, rtol=0, atol=1e-12)
