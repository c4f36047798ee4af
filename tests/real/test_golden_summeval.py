"""Values of mt-metrics-eval on SummEval, one of the published sets."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nlgauge.stats.correlation.measure import Measure, evaluate

pytestmark = pytest.mark.real

# their name of the statistic, ours
NAMES = {
    "tau-b": "kendall",
    "tau-c": "tau-c",
    "tau-23": "tau-23",
    "tau-acc23": "acc-eq",
    "acc23-calibrated": "acc-eq-calibrated",
    "tau23-calibrated": "tau-23-calibrated",
    "pearson": "pearson",
    "spearman": "spearman",
    "pairwise-accuracy": "acc-eq",  # no two SummEval systems have the same mean
}


@pytest.fixture(scope="module")
def reference(golden):
    return json.loads((golden / "mt_metrics_eval_summeval.json").read_text())


@pytest.fixture(scope="module")
def table(reference, real_data):
    lines = (real_data / "summeval" / "summeval_outputs_human_metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    inputs = sorted({row["doc_id"] for row in rows})
    place = {(row["system"], row["doc_id"]): row for row in rows}

    def column(kind: str, name: str) -> np.ndarray:
        return np.array([[place[s, i][kind][name] for i in inputs] for s in reference["systems"]], float)

    return column


def ours(table, aspect: str, metric: str, measure: str) -> float:
    scores = table("metrics", metric)[None]
    return evaluate(scores, table("human_mean", aspect), [Measure.parse(measure)]).at(0, 0).value


def first_of(theirs, *, pairs: bool) -> float:
    """A number, [agreeing pairs, all pairs], or [value, ε]: several ε can be equally good, the value counts."""
    if pairs:
        return theirs[0] / theirs[1]
    return theirs[0] if isinstance(theirs, list) else theirs


def test_every_value_of_mt_metrics_eval_comes_out(reference, table):
    differ, compared = [], 0
    for entry in reference["values"]:
        for key, theirs in entry.items():
            grouping, slash, statistic = key.partition("/")
            if not slash:
                continue
            expected = first_of(theirs, pairs=statistic == "pairwise-accuracy")
            value = ours(table, entry["aspect"], entry["metric"], f"{grouping}/{NAMES[statistic]}")
            compared += 1
            if not abs(value - expected) <= 1e-9:
                differ.append((entry["aspect"], entry["metric"], key, expected, value))
    assert compared == 8 * 27
    assert not differ


def test_soft_pairwise_accuracy_agrees_within_the_noise_of_1000_draws(reference, table):
    for entry in reference["values"]:
        value = ours(table, entry["aspect"], entry["metric"], "system/spa")
        assert value == pytest.approx(entry["spa"], abs=0.01), entry["metric"]
