"""Verdicts of people on QAGS-XSUM (three yes/no answers a sentence) beside UniEval: figures of the file itself and
scikit-learn's.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.analyses.verdicts.slices import slices
from nlgauge.data.panel import Panel

pytestmark = pytest.mark.real
skm = pytest.importorskip("sklearn.metrics")
ASPECT = "consistency (worker)"


@pytest.fixture(scope="module")
def told(real_data) -> tuple[np.ndarray, np.ndarray, list[list[bool]]]:
    """Majority verdict, UniEval's score and the single answers, read without NLGauge."""
    lines = (real_data / "qags" / "mturk_xsum.jsonl").read_text().splitlines()
    answers = [
        [r["response"] == "yes" for r in json.loads(line)["summary_sentences"][0]["responses"]] for line in lines
    ]
    lines = (real_data / "qags" / "unieval_qags_xsum_predictions.jsonl").read_text().splitlines()
    score = np.array([json.loads(line)["unieval_consistency"] for line in lines])
    return np.array([np.mean(a) > 0.5 for a in answers]), score, answers


@pytest.fixture(scope="module")
def data(real_data, told) -> ng.Dataset:
    found = ng.load(real_data / "qags" / "mturk_xsum.jsonl")
    return found.with_scores({"unieval": told[1].tolist()})


@pytest.fixture(scope="module")
def panel(data) -> Panel:
    return data.panel(ASPECT)


def values(table) -> dict[str, float]:
    return {row["measure"]: row["value"] for row in table.rows}


def test_verdicts_equal_scikit_learn_on_the_file(panel, told) -> None:
    passed, score, answers = told
    found = values(panel.analyze("verdicts", judge_pass_from=0.5))
    assert found["fail_recall"] == pytest.approx(skm.recall_score(~passed, score < 0.5), abs=1e-12)
    assert found["kappa"] == pytest.approx(skm.cohen_kappa_score(passed, score >= 0.5), abs=1e-12)
    assert found["human_pass_rate"] == pytest.approx(0.4854, abs=5e-5)  # the mean that the readers verified
    pairs = [a == b for each in answers for k, a in enumerate(each) for b in each[k + 1 :]]
    assert found["human_agreement"] == pytest.approx(np.mean(pairs), abs=1e-12)


def test_areas_and_brier_equal_scikit_learn_on_the_file(panel, told) -> None:
    passed, score, _ = told
    areas = values(panel.analyze("threshold"))
    assert areas["roc_area"] == pytest.approx(skm.roc_auc_score(passed, score), abs=1e-12)
    assert areas["average_precision"] == pytest.approx(skm.average_precision_score(~passed, -score), abs=1e-12)
    assert values(panel.analyze("calibration"))["brier"] == pytest.approx(
        skm.brier_score_loss(passed, score), abs=1e-12
    )


def test_the_map_makes_scores_better_probabilities_on_rows_that_did_not_make_it(panel) -> None:
    found = values(panel.analyze("calibration"))
    assert found["ece_mapped"] < found["ece"]
    assert found["brier_mapped"] < found["brier"]


def test_slices_cover_all_rows_of_every_column(data) -> None:
    rows = slices(data, aspect=ASPECT, judge_pass_from=0.5).rows
    for column in {row["column"] for row in rows}:
        assert sum(row["n"] for row in rows if row["column"] == column) == 239
