"""Robustness of well-known metrics on published outputs: what must hold by how they are defined, and what is seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nlgauge.analyses.errors.robustness import robustness
from nlgauge.datasets import load_set

pytestmark = pytest.mark.real

METRICS = ["bleu", "chrf", "rouge-1", "rouge-l", "coverage"]
KINDS = ["drop", "swap", "shuffle", "replace", "number", "lower", "upper", "synonym"]


@pytest.fixture(scope="module")
def summeval(real_data: Path) -> dict[tuple[str, str], dict[str, Any]]:
    data = load_set("summeval", real_data)
    table = robustness(data, metrics=METRICS, perturbations=KINDS, sample=100)
    return {(row["perturbation"], row["metric"]): row for row in table}


def test_counts_of_single_words_do_not_see_order_at_all(summeval: Any) -> None:
    for kind in ("swap", "shuffle"):
        assert summeval[kind, "rouge-1"]["ties"] == 1.0
        assert summeval[kind, "coverage"]["ties"] == 1.0
        assert summeval[kind, "rouge-1"]["change"] == 0.0


def test_bleu_and_chrf_see_order_and_missing_words(summeval: Any) -> None:
    for metric in ("bleu", "chrf"):
        for kind in ("drop", "shuffle", "swap", "replace"):
            assert summeval[kind, metric]["falls_low"] > 0.55, (kind, metric)
        assert summeval["drop", metric]["monotone"] > 0.5


def test_metrics_that_read_small_letters_have_no_false_alarms_by_case_and_the_others_have(summeval: Any) -> None:
    for kind in ("lower", "upper"):
        assert summeval[kind, "rouge-1"]["false_alarms"] == summeval[kind, "rouge-l"]["false_alarms"] == 0.0
    assert summeval["upper", "chrf"]["false_alarms"] > 0.8
    assert summeval["upper", "bleu"]["false_alarms"] > 0.7


def test_a_harmless_synonym_alarms_what_counts_words_of_the_source(summeval: Any) -> None:
    assert summeval["synonym", "coverage"]["false_alarms"] > 0.7
    assert summeval["synonym", "coverage"]["not_applicable"] > 0


def test_most_outputs_of_summeval_have_no_capitals_left_to_lose(summeval: Any) -> None:
    assert summeval["lower", "bleu"]["outputs"] < 30 < summeval["upper", "bleu"]["outputs"]


@pytest.mark.parametrize(("name", "source"), [("usr-topical", "context"), ("bagel-sf", "source")])
def test_other_sets_run_with_what_they_have(real_data: Path, name: str, source: str) -> None:
    data = load_set(name, real_data)
    assert source in data.samples.columns
    table = robustness(data, metrics=["rouge-1", "length"], perturbations=["wrong", "copy", "truncate"], sample=40)
    rows = {(row["perturbation"], row["metric"]): row for row in table}
    assert rows["truncate", "length"]["falls"] == 1.0
    assert all(row["outputs"] > 35 for row in table)
    assert rows["wrong", "rouge-1"]["change_high"] < 0
