"""What all word-overlap metrics have in common: the same text is best, statistics add up, options are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec

FAMILIES = {
    "bleu", "rouge", "chrf", "ter", "nist", "meteor", "cider", "lepor", "overlap", "length", "js", "sari", "diversity",
    "extractive",
}  # fmt: skip
ALL = [n for n in registry.names("metric") if registry.get("metric", n).facts.family in FAMILIES]
COMPARING = [n for n in ALL if "references" in registry.get("metric", n).facts.needs]
VARIANTS = [
    "bleu(order=1)", "bleu(preset='e2e')", "bleu(preset='coco')", "bleu(preset='torchmetrics')",
    "bleu(references='mean')",
    "rouge-1(stem=True)", "rouge-2(part='r')", "rouge-l(preset='coco')", "rouge-l(references='jackknife')",
    "rouge-su(gap=None)",
    "chrf(eps=True)", "ter(references='mean')", "meteor(synonyms=False)", "meteor(preset='nltk', synonyms=False)",
    "levenshtein(unit='char')", "lepor(alpha=1.0)", "sari(preset='original')",
]  # fmt: skip
# NIST rewards rare words: a shorter output may beat the reference. The length ratio is no quality.
NOT_BEST = {"nist", "length-ratio", "sari(preset='original')"}
REFERENCE = "The old hotel near the park has 12 rooms, and it serves breakfast."
OTHERS = [
    "",
    "x",
    "hotel",
    "The old hotel near the park",
    "rooms 12 has park the near hotel old The",
    "breakfast breakfast",
    REFERENCE + " " + REFERENCE,
    "An entirely different sentence about nothing at all, really.",
    REFERENCE.replace("park", "lake"),
]


def metric_or_skip(spec: str) -> Any:
    metric: Any = metric_from_spec(spec)
    try:
        metric.score(batch_of(["a b", "c"]))
    except NeedsMissing as missing:
        pytest.skip(str(missing))
    return metric


def batch_of(outputs: list[str], references: list[str] | None = None) -> Batch:
    n = len(outputs)
    lists = [[REFERENCE]] * n if references is None else [[r] for r in references]
    return Batch.from_columns(outputs, source=["An old hotel has rooms."] * n, references=lists, input=list(range(n)))


@pytest.mark.parametrize("spec", [*COMPARING, *VARIANTS])
def test_the_reference_itself_is_at_least_as_good_as_any_other_text(spec: str) -> None:
    if spec in NOT_BEST:
        pytest.skip("not a claim of this metric")
    metric = metric_or_skip(spec)
    # more references, so that frequencies say something
    references = [REFERENCE] * (len(OTHERS) + 1) + ["Some words of another kind."]
    values = metric.score(batch_of([REFERENCE, *OTHERS, "x"], references)).values[:-1]
    best = np.nanmin(values) if metric.facts.lower else np.nanmax(values)
    assert values[0] == pytest.approx(best, abs=1e-9)
    assert not np.isnan(values).any()


@pytest.mark.parametrize("spec", [*ALL, *VARIANTS])
def test_the_order_of_references_does_not_matter(spec: str) -> None:
    metric = metric_or_skip(spec)
    lists = [[REFERENCE, "A hotel.", "The park has rooms and it is old"], ["x y", "z"]]
    one, other = (
        metric.score(Batch.from_columns(["The hotel has rooms", "x z"], source=["a"] * 2, references=r)).values
        for r in (lists, [r[::-1] for r in lists])
    )
    assert np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("spec", [s for s in [*ALL, *VARIANTS] if metric_from_spec(s).has_stats])
def test_statistics_of_one_sample_give_its_value(spec: str) -> None:
    metric = metric_or_skip(spec)
    batch = batch_of([REFERENCE, *[o for o in OTHERS if len(o.split()) > 4]])
    if spec != "bleu(references='mean')":  # the value of mean statistics is no mean of values
        singly = metric.from_stats(metric.stats(batch))
        assert np.allclose(singly, metric.score(batch).values, rtol=0, atol=1e-9)
    assert metric.stats(batch).shape[0] == len(batch)


@pytest.mark.parametrize("spec", [*ALL, *VARIANTS])
def test_the_signature_tells_every_option(spec: str) -> None:
    metric: Any = metric_from_spec(spec)
    plain: Any = metric_from_spec(spec.partition("(")[0])
    assert metric.signature.rpartition("|version:nlgauge-")[2]
    if spec not in ALL:
        assert metric.signature != plain.signature
    assert " " not in metric.signature.replace("other outputs", "")


@pytest.mark.parametrize("spec", ALL)
def test_many_samples_at_once_score_as_each_alone(spec: str) -> None:
    metric = metric_or_skip(spec)
    if metric.facts.corpus:
        pytest.skip("depends on the whole run by definition")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(REFERENCE.split(), rng.integers(1, 15))) for _ in range(40)]
    together = metric.score(batch_of(texts)).values
    alone = [metric.score(batch_of([t])).values[0] for t in texts]
    assert np.array_equal(together, alone, equal_nan=True)
