"""What every metric that needs no extra must keep to, whoever wrote it: a new one is tested here without a word."""

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.metrics import Batch, metric_from_spec, take

QUICK = [
    name
    for name in registry.names("metric")
    if not (facts := registry.get("metric", name).facts).extra and not facts.weights
]
OUTPUTS = [
    "The hotel is near the park.",
    "hotel near park",
    "",
    "   ",
    "...",
    "שלום עולם לכולם",
    "🙂 🙂🙂",
    "a\x00b c",
    "e\u0301te\u0301 \u202eabc",
    "第一句话。第二句话。",
    "x",
    "The hotel is near the park. " * 40,
    "\u2028\ufeff\u200b",
]
SOURCE, REFERENCES = ("inform(near=park,type=hotel)", ["The hotel is near the park.", "A hotel stands near it."])


@pytest.fixture(scope="module")
def odd() -> Batch:
    n = len(OUTPUTS)
    return Batch.from_columns(
        OUTPUTS,
        source=[SOURCE] * n,
        context=["It is about hotels."] * n,
        references=[REFERENCES] * n,
        control=["positive"] * n,
        system=["S"] * n,
        input=list(range(n)),
    )


@pytest.mark.parametrize("name", QUICK)
def test_odd_texts_give_values_within_the_bounds_or_a_reason(name: str, odd: Batch) -> None:
    metric = metric_from_spec(name)
    scores = metric.score(odd)
    assert scores.values.shape == (len(odd),)
    low, high = metric.facts.bounds
    missing = np.isnan(scores.values)
    assert set(np.flatnonzero(missing).tolist()) == set(scores.reasons)
    there = scores.values[~missing]
    assert np.isfinite(there).all()
    assert (there >= low - 1e-9).all()
    assert (there <= high + 1e-9).all()


@pytest.mark.parametrize("name", QUICK)
def test_a_value_does_not_depend_on_the_order_or_company_of_samples_unless_the_metric_says_so(
    name: str, odd: Batch
) -> None:
    metric = metric_from_spec(name)
    if metric.facts.corpus:
        pytest.skip("depends on the whole run by definition")
    whole = metric.score(odd).values
    rows = np.random.default_rng(0).permutation(len(odd))[:7]
    assert np.array_equal(metric.score(take(odd, rows)).values, whole[rows], equal_nan=True)


@pytest.mark.parametrize("name", QUICK)
def test_spec_and_metric_are_the_same_thing(name: str) -> None:
    metric = metric_from_spec(name)
    assert str(metric) == name
    assert metric_from_spec(str(metric)) == metric
    assert metric.facts.summary.endswith((".", ")"))
