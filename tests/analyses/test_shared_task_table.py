"""The measures of the WMT tasks and their mean, against plain twins of what mt-metrics-eval computes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError


def language_pair(
    name: str, seed: int, metrics: tuple[str, ...] = ("one", "two", "three"), systems: int = 5
) -> Dataset:
    rng = np.random.default_rng(seed)
    keys = [(f"s{i}", str(j)) for i in range(systems) for j in range(12)]
    people = rng.integers(0, 5, len(keys)).astype(float)
    samples = pl.DataFrame(keys, schema=["system", "input"], orient="row")
    ratings = samples.with_columns(aspect=pl.lit("mqm"), rater=pl.lit(None, pl.String), value=pl.Series(people))
    scores = samples.with_columns(pl.Series(m, people + rng.normal(0, 1 + k, len(keys))) for k, m in enumerate(metrics))
    return Dataset.of(name, samples, ratings=ratings, scores=scores)


def tables(data: Dataset, metric: str) -> tuple[np.ndarray, np.ndarray]:
    panel = data.panel("mqm", canonical=True)  # SPA draws inputs in this order
    return panel.metrics[metric], panel.human


def acc_eq(x: np.ndarray, z: np.ndarray) -> float:
    """Of every ε that any pair of any input has: the mean over inputs of the share of pairs judged alike; the best."""
    best = 0.0
    pairs = list(combinations(range(len(x)), 2))
    for epsilon in {0.0, *(abs(x[i, s] - x[j, s]) for s in range(x.shape[1]) for i, j in pairs)}:
        shares = []
        for s in range(x.shape[1]):
            alike = 0
            for i, j in pairs:
                metric = 0 if abs(x[i, s] - x[j, s]) <= epsilon else np.sign(x[i, s] - x[j, s])
                alike += metric == np.sign(z[i, s] - z[j, s])
            shares.append(alike / len(pairs))
        best = max(best, sum(shares) / len(shares))
    return best


def spa(x: np.ndarray, z: np.ndarray, signs: np.ndarray) -> float:
    """1 less the mean distance of one-sided p-values, by swapping two systems' scores input by input."""

    def p(scores: np.ndarray, i: int, j: int) -> float:
        lead = scores[i] - scores[j]
        return float(np.mean([sum(flip * lead) >= sum(lead) - 1e-9 for flip in signs]))

    return 1 - float(np.mean([abs(p(x, i, j) - p(z, i, j)) for i, j in combinations(range(len(x)), 2)]))


def test_values_and_mean_are_those_of_plain_twins() -> None:
    sets = [language_pair("en-de", 1), language_pair("ja-zh", 2)]
    table = ng.analyze("shared-task", sets, profile="wmt24")
    found = {(r["metric"], r["data"], r["measure"]): r["value"] for r in table}
    signs = np.random.default_rng(np.random.SeedSequence(0)).choice(np.array([-1.0, 1.0]), size=(1000, 12))
    for metric in ("one", "two", "three"):
        values = []
        for data in sets:
            x, z = tables(data, metric)
            assert found[metric, data.name, "input/acc-eq-calibrated"] == pytest.approx(acc_eq(x, z), abs=1e-9)
            assert found[metric, data.name, "system/spa"] == pytest.approx(spa(x, z, signs), abs=1e-9)
            values += [found[metric, data.name, m] for m in ("system/spa", "input/acc-eq-calibrated")]
        assert found[metric, "all", "mean"] == pytest.approx(sum(values) / 4, abs=1e-12)
    means = [r["value"] for r in table if r["measure"] == "mean"]
    assert means == sorted(means, reverse=True)


def test_a_metric_that_misses_a_language_pair_has_no_mean_and_stands_last() -> None:
    sets = [language_pair("en-de", 1), language_pair("ja-zh", 2, ("one", "two"))]
    table = ng.analyze("shared-task", sets)
    last = [r for r in table if r["measure"] == "mean"][-1]
    assert (last["metric"], last["reason"]) == ("three", "2 of 4 values are available")
    assert math.isnan(last["value"])


def test_the_definition_is_printed() -> None:
    text = str(ng.analyze("shared-task", language_pair("en-de", 1), profile="wmt25"))
    assert "subtask 1 (scores)" in text
    assert "each with the same weight" in text
    assert "not a significance test" in " ".join(text.split())
    assert "Soft pairwise accuracy" in text


def test_what_a_task_cannot_be_asked_is_refused_in_one_line() -> None:
    with pytest.raises(NameUnknown, match="profile must be wmt24 or wmt25; got 'wmt99'"):
        ng.analyze("shared-task", language_pair("en-de", 1), profile="wmt99")
    with pytest.raises(NeedsMissing):
        ng.analyze("shared-task", language_pair("en-de", 1, systems=1))
    data = language_pair("en-de", 1)
    two = Dataset.of(
        "two",
        data.samples,
        scores=data.scores,
        ratings=pl.concat([data.ratings, data.ratings.with_columns(aspect=pl.lit("esa"))]),
    )
    with pytest.raises(NlgaugeError, match="Aspects: mqm, esa"):
        ng.analyze("shared-task", two)
    assert len(ng.analyze("shared-task", two, aspect="esa")) == 9
