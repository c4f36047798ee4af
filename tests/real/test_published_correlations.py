"""Correlations that the authors of data and metrics published, recomputed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nlgauge as ng

THREE = ["global/pearson", "global/spearman", "global/kendall"]


def published(golden: Path, dataset: str, word: str) -> tuple[list[float], float]:
    figures = json.loads((golden / "published_figures.json").read_text())
    found = next(f for f in figures if f["dataset"] == dataset and word in f["what"])
    return found["value"], found["tol"]


@pytest.mark.parametrize(
    ("file", "aspect", "metric", "dataset", "word"),
    [
        (
            "bagel_sfhotel_sfrest/unieval_sfhot_predictions.jsonl",
            "overall",
            "unieval-overall",
            "bagel_sfhotel_sfrest",
            "sfhot overall",
        ),
        (
            "bagel_sfhotel_sfrest/unieval_sfres_predictions.jsonl",
            "overall",
            "unieval-overall",
            "bagel_sfhotel_sfrest",
            "sfres overall",
        ),
        (
            "usr_dialogue/unieval_topical_chat_predictions.jsonl",
            "overall",
            "unieval-overall",
            "usr_dialogue",
            "topical_chat overall",
        ),
        ("qags/unieval_qags_cnndm_predictions.jsonl", "consistency", "unieval_consistency", "qags", "cnndm"),
        ("qags/unieval_qags_xsum_predictions.jsonl", "consistency", "unieval_consistency", "qags", "xsum"),
    ],
)
def test_unieval_r_rho_tau(
    real_data: Path, golden: Path, file: str, aspect: str, metric: str, dataset: str, word: str
) -> None:
    expected, tolerance = published(golden, dataset, word)
    panel = ng.load(real_data / file).panel(aspect, metrics=[metric], keep_human=True)
    found = [row["value"] for row in panel.correlate(measures=THREE)]
    assert found == pytest.approx(expected, abs=tolerance)


def test_wmt23_english_german_segment_pearson_of_the_12_mt_systems(real_data: Path, golden: Path) -> None:
    expected, tolerance = published(golden, "wmt23_metrics", "en-de seg pearson")
    panel = ng.load(real_data / "wmt23_metrics" / "wmt23_en-de_segment.parquet").panel("mqm")
    assert panel.human_systems == ("refA", "synthetic_ref")
    assert panel.n_systems == 12
    table = panel.correlate(measures=["global/pearson"])
    found = {row["metric"]: row["value"] for row in table}
    names = ["XCOMET-Ensemble-refA", "MetricX-23-refA", "chrF-refA", "BLEU-refA"]
    assert [found[n] for n in names] == pytest.approx(expected, abs=tolerance)


def test_one_system_only_gives_global_and_item_and_says_why_not_the_others(real_data: Path) -> None:
    table = ng.load(real_data / "qags" / "unieval_qags_cnndm_predictions.jsonl").panel().correlate()
    assert {row["measure"].split("/")[0] for row in table} == {"global", "item"}
    assert any("input/pearson" in note and "needs at least 2 systems, found 1" in note for note in table.notes)
    values = {row["measure"]: row["value"] for row in table}
    assert values["item/kendall"] == values["global/kendall"]
