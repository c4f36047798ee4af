"""Tables with human ratings as researchers published them: each is read without a flag, and its metrics are compared.

The list is also for tests of provenance: which of them are answered with a stated assumption is decided by the data.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import nlgauge as ng

# File in NLGAUGE_DATA -> aspects that people rated in it (some of them, where there are many).
TABLES = {
    "bagel_sfhotel_sfrest/emnlp_data_medians.csv": {"informativeness", "naturalness", "quality"},
    "bagel_sfhotel_sfrest/unieval_sfhot_predictions.jsonl": {"informativeness", "naturalness", "overall"},
    "checklist/unieval_topical_chat.csv.gz": {"understandability", "naturalness", "coherence", "overall"},
    "hanna/hanna_scores_long.parquet": {"Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"},
    "metric_score_tables/DIALOG_pc.csv.gz": {"engaging", "natural", "overall", "understandable"},
    "metric_score_tables/FLICKR.csv.gz": {"overall"},
    "metric_score_tables/TAC_08.csv.gz": {"pyr", "resp"},
    "mlqe_pe/mlqe_da_test_ro-en.jsonl.gz": {"mean"},
    "openmeva/openmeva_roc.jsonl": {"human"},
    "qags/unieval_qags_xsum_predictions.jsonl": {"consistency"},
    "realsumm/realsumm_outputs_human_metrics.jsonl": {"litepyramid_recall"},
    "summeval/SUM_EVAL.RankingNLPSystems.csv": {"coherence", "consistency", "fluency", "relevance"},
    "usr_dialogue/usr_persona_chat.jsonl": {"Understandable", "Natural", "Engaging", "Overall"},
    "usr_dialogue/usr_topical_chat.jsonl": {"Understandable", "Natural", "Engaging", "Overall"},
    "wmt23_metrics/wmt23_en-de_segment.parquet": {"mqm", "da-sqm"},
    "yelp_style_transfer/yelp_style_transfer.jsonl": {"content_preservation", "style_transfer_intensity"},
}
# Ratings without metrics.
RATED_ONLY = {
    "newsroom/newsroom_outputs_ratings.jsonl": {"Informativeness", "Relevance", "Fluency", "Coherence"},
    "rankme/stp1_likert.csv": {"informativeness", "naturalness", "quality"},
    "summeval/summeval_12systems_individual_annotations.jsonl": {"coherence", "consistency", "fluency", "relevance"},
    "webnlg2020/webnlg2020_en.jsonl": {"Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure"},
    "wmt_mqm/mqm_ted_ende.tsv.gz": {"mqm"},
}


def test_there_are_at_least_fifteen() -> None:
    assert len(TABLES) >= 15


@pytest.mark.parametrize("name", TABLES)
def test_a_published_table_is_answered_without_a_flag(real_data: Path, name: str) -> None:
    data = ng.load(real_data / name)
    assert TABLES[name] <= set(data.aspects)
    aspect = min(TABLES[name])
    rows = ng.correlate(data, aspect, measures=["global/spearman"]).rows
    assert {row["metric"].removesuffix(" ↓") for row in rows} == set(data.metrics)
    assert not all(math.isnan(row["value"]) for row in rows)


@pytest.mark.parametrize("name", RATED_ONLY)
def test_published_ratings_are_read_without_a_flag(real_data: Path, name: str) -> None:
    data = ng.load(real_data / name)
    assert RATED_ONLY[name] <= set(data.aspects)
    assert data.ratings.height >= len(data)
