"""What holds for all metrics and all measures at once; a new one is held to it without a word.

Beside tests/metrics/test_common.py and test_every_metric.py (fixed texts): any texts, metrics that see the whole run,
and engines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.metrics import Batch, metric_from_spec, take
from nlgauge.scoring.cached_runner import CachedRunner
from nlgauge.scoring.score import run
from nlgauge.scoring.store import Store
from nlgauge.stats.correlation.measure import Measure, all_measures, evaluate

LIGHT = [
    name
    for name in registry.names("metric")
    if not (facts := registry.get("metric", name).facts).extra and not facts.weights
]
COMPARING = [name for name in LIGHT if "references" in registry.get("metric", name).facts.needs]
# NIST rewards rare words, the length ratio is no quality, SARI rewards what differs from the source.
NOT_BEST = {"nist", "length-ratio", "sari"}
WORDS = "the a hotel park near is has rooms 12 old . , it very red and not Inn".split()
sentences = st.lists(st.sampled_from(WORDS), min_size=4, max_size=14).map(" ".join)
samples = st.lists(st.tuples(sentences, sentences), min_size=3, max_size=5)


def batch_of(pairs: list[tuple[str, str]]) -> Batch:
    n = len(pairs)
    return Batch.from_columns(
        [o for o, _ in pairs],
        source=["An old hotel has 12 rooms ."] * n,
        context=["It is about hotels ."] * n,
        references=[[r] for _, r in pairs],
        control=["positive"] * n,
        system=["S"] * n,
        input=list(range(n)),
    )


def ready(name: str) -> Any:
    metric: Any = metric_from_spec(name)
    try:
        metric.score(batch_of([("a b c d", "a b c d")]))
    except NeedsMissing as missing:
        pytest.skip(str(missing))
    return metric


@pytest.mark.parametrize("name", [n for n in LIGHT if n != "random"])  # which is drawn by place
def test_values_lie_within_the_bounds_and_do_not_depend_on_the_order_of_samples(name: str) -> None:
    metric = ready(name)

    @settings(max_examples=8, database=None)
    @given(samples, st.integers(0, 99))
    def holds(pairs: list[tuple[str, str]], seed: int) -> None:
        batch = batch_of(pairs)
        values = metric.score(batch).values
        low, high = metric.facts.bounds
        there = values[~np.isnan(values)]
        assert ((there >= low - 1e-9) & (there <= high + 1e-9)).all()
        order = np.random.default_rng(seed).permutation(len(batch))
        again = metric.score(take(batch, order)).values
        np.testing.assert_allclose(again, values[order], rtol=1e-12, atol=1e-12)

    holds()


@pytest.mark.parametrize("name", [n for n in COMPARING if n not in NOT_BEST])
def test_no_text_beats_the_reference_itself(name: str) -> None:
    metric = ready(name)

    @settings(max_examples=12, database=None)
    @given(sentences, sentences)
    def holds(reference: str, other: str) -> None:
        # a third sample, so that what counts frequencies has something to count
        values = metric.score(
            batch_of([(reference, reference), (other, reference), ("something else", "quite another")])
        ).values
        best, rival = (-values if metric.facts.lower else values)[:2]
        assert np.isnan(rival) or best >= rival - 1e-9

    holds()


def data() -> Dataset:
    rng = np.random.default_rng(0)
    keys = [(f"s{i}", f"i{j}") for i in range(3) for j in range(8)]
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 15))) for _ in keys]
    rows = pl.DataFrame(keys, schema=["system", "input"], orient="row").with_columns(
        output=pl.Series(texts),
        source=pl.lit("An old hotel has 12 rooms ."),
        context=pl.lit("About hotels ."),
        control=pl.lit("positive"),
        references=pl.Series([[" ".join(rng.choice(WORDS, 9)), "The old hotel ."] for _ in keys]),
    )
    return Dataset.of("d", rows)


@pytest.fixture(scope="module")
def plain() -> tuple[list[str], pl.DataFrame]:
    runnable = []
    for name in LIGHT:
        try:
            metric_from_spec(name).score(batch_of([("a b", "a b")]))
            runnable.append(name)
        except NeedsMissing:
            continue
    return runnable, run(data(), runnable, workers=1).data.scores


@pytest.mark.parametrize("engine", ["three workers", "a new store", "a store that knows"])
def test_no_engine_changes_a_value(plain: tuple[list[str], pl.DataFrame], engine: str, tmp_path: Path) -> None:
    names, expected = plain
    chosen: dict[str, Any] = {"workers": 3}
    if "store" in engine:
        chosen = {"workers": 2, "engine": CachedRunner(Store(tmp_path / "s.sqlite"))}
    found = run(data(), names, **chosen).data.scores
    if engine == "a store that knows":
        found = run(data(), names, **chosen).data.scores
    assert found.columns == expected.columns
    assert len(found.columns) > 30
    assert found.equals(expected)


# --- measures ---

MEASURES = all_measures()
ANTISYMMETRIC = {"pearson", "spearman", "kendall", "tau-a", "tau-c", "tau-13", "tau-14"}
BY_RANK = ANTISYMMETRIC - {"pearson"} | {"tau-10", "tau-23", "acc-eq", "top-1"}
panels = st.tuples(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 7), st.sampled_from([2, 4, 50]))


def panel(seed: int, systems: int, inputs: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, levels, (2, systems, inputs)).astype(float)
    x[rng.random(x.shape) < 0.05] = np.nan
    return x, z


def values(x: np.ndarray, z: np.ndarray, measures: list[Measure] | tuple[Measure, ...]) -> np.ndarray:
    return evaluate(x[None], z, measures).value[0]


@settings(max_examples=40, database=None)
@given(panels)
def test_every_measure_lies_between_minus_one_and_one(shape: tuple[int, int, int, int]) -> None:
    found = values(*panel(*shape), MEASURES)
    assert (np.isnan(found) | (np.abs(found) <= 1 + 1e-9)).all()


# tau-c divides by the number of levels of whoever has fewer: a metric with fewer levels than people may pass people
# themselves.
@settings(max_examples=40, database=None)
@given(panels)
def test_no_metric_agrees_with_people_more_than_people_do(shape: tuple[int, int, int, int]) -> None:
    x, z = panel(*shape)
    chosen = [m for m in MEASURES if m.coefficient != "tau-c"]
    z = np.where(np.isnan(x), np.nan, z)  # both on the same cells
    best, found = values(z, z, chosen), values(x, z, chosen)
    for measure, top, value in zip(chosen, best, found, strict=True):
        if measure.grouping in ("global", "system"):  # in a mean over groups x may drop those that z leaves in
            assert np.isnan(value) or np.isnan(top) or value <= top + 1e-9, measure


@settings(max_examples=40, database=None)
@given(panels, st.integers(0, 2**32 - 1))
def test_the_order_of_systems_and_inputs_does_not_matter(shape: tuple[int, int, int, int], seed: int) -> None:
    x, z = panel(*shape)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(x.shape[0]), rng.permutation(x.shape[1])
    chosen = [m for m in MEASURES if m.coefficient != "spa"]  # its p-values come from random draws
    np.testing.assert_allclose(
        values(x[rows][:, columns], z[rows][:, columns], chosen), values(x, z, chosen), atol=1e-9
    )


@settings(max_examples=40, database=None)
@given(panels)
def test_rank_measures_see_only_the_order_of_scores(shape: tuple[int, int, int, int]) -> None:
    x, z = panel(*shape)
    chosen = [m for m in MEASURES if m.coefficient in BY_RANK and m.grouping != "system"]
    expected = values(x, z, chosen)
    for change in (np.exp, lambda v: v**3 - 7, lambda v: -1 / (v + 1)):
        np.testing.assert_allclose(values(change(x), z, chosen), expected, atol=1e-12)
        np.testing.assert_allclose(values(x, change(z), chosen), expected, atol=1e-12)


@settings(max_examples=40, database=None)
@given(panels)
def test_no_measure_sees_unit_and_origin_of_scores(shape: tuple[int, int, int, int]) -> None:
    x, z = panel(*shape)
    np.testing.assert_allclose(values(4 * x + 8, z, MEASURES), values(x, z, MEASURES), atol=1e-9)


@settings(max_examples=40, database=None)
@given(panels)
def test_turning_the_scores_around_turns_the_correlation_around(shape: tuple[int, int, int, int]) -> None:
    x, z = panel(*shape)
    chosen = [m for m in MEASURES if m.coefficient in ANTISYMMETRIC]
    np.testing.assert_allclose(values(-x, z, chosen), -values(x, z, chosen), atol=1e-9)
