"""ROUGE against rouge_score, and its E2E variant against pycocoevalcap."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_texts import real_samples, samples

from nlgauge.metrics import Batch, metric_from_spec

rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
Samples = list[tuple[str, list[str]]]
NAMES = {
    "rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-3": "rouge3", "rouge-4": "rouge4", "rouge-l": "rougeL",
    "rouge-lsum": "rougeLsum",
}  # fmt: skip
# lines, so that there are several sentences
lines = st.lists(
    st.sampled_from("the cat cats sat running runs\nA \n of 12 Of fly. flies".split(" ")), max_size=16
).map(" ".join)
ascii_samples = st.lists(
    st.tuples(lines, st.lists(lines.filter(lambda t: any(c.isalnum() for c in t)), min_size=1, max_size=3)),
    min_size=1,
    max_size=6,
)


def assert_equal_to_rouge_score(given_samples: Samples, stem: bool) -> None:
    theirs = rouge_scorer.RougeScorer(list(NAMES.values()), use_stemmer=stem)
    wanted = [theirs.score_multi(refs, out) for out, refs in given_samples]
    batch = Batch.from_columns([o for o, _ in given_samples], references=[r for _, r in given_samples])
    for name, key in NAMES.items():
        for place, part in enumerate("prf"):
            scores = metric_from_spec(f"{name}(part='{part}', stem={stem})").score(batch)
            for s, value in enumerate(scores.values):
                if np.isnan(value):  # rouge_score gives 0 for a reference without a token; we refuse it
                    assert (scores.reasons[s], wanted[s][key].fmeasure) == ("empty reference", 0)
                else:
                    assert value == pytest.approx(wanted[s][key][place], abs=1e-12), (name, part, given_samples[s])


@given(ascii_samples, st.booleans())
def test_every_rouge_part_equals_rouge_score(given_samples: Samples, stem: bool) -> None:
    assert_equal_to_rouge_score(given_samples, stem)


@given(samples, st.booleans())
def test_every_rouge_part_equals_rouge_score_on_any_unicode(given_samples: Samples, stem: bool) -> None:
    assert_equal_to_rouge_score(given_samples, stem)


@pytest.mark.slow
def test_rouge_on_published_texts_equals_rouge_score(real_data: Path) -> None:
    found = [
        (o.replace(" . ", " .\n"), [r.replace(". ", ".\n") for r in refs[:3]])
        for o, refs in real_samples(real_data, 60)
    ]
    assert_equal_to_rouge_score(found, True)


@given(ascii_samples)
def test_rouge_l_by_the_coco_rules_equals_pycocoevalcap(given_samples: Samples) -> None:
    theirs = pytest.importorskip("pycocoevalcap.rouge.rouge").Rouge()
    tidy = [(" ".join(o.split()), [" ".join(r.split()) for r in refs]) for o, refs in given_samples]
    batch = Batch.from_columns([o for o, _ in tidy], references=[r for _, r in tidy])
    ours = metric_from_spec("rouge-l(preset='coco', tokenize='none')").score(batch).values
    assert np.allclose(ours, [theirs.calc_score([o], refs) for o, refs in tidy], rtol=0, atol=1e-12)
