"""Parameters of published sets against Table 5 of gao2025: mean, SD of system means, ties."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nlgauge.stats.design.simulate import fit_scores

pytestmark = pytest.mark.real


# (mean, SD of system means, distinct values, tie ratio) of the human scores, as printed.
SUMMEVAL = {
    "coherence": (0.60, 0.15, 13, 0.10),
    "consistency": (0.92, 0.14, 12, 0.67),
    "fluency": (0.92, 0.09, 13, 0.53),
    "relevance": (0.69, 0.09, 13, 0.13),
}
HANNA = {
    "Coherence": (0.54, 0.13, 13, 0.13),
    "Complexity": (0.36, 0.14, 13, 0.12),
    "Empathy": (0.32, 0.09, 12, 0.13),
    "Engagement": (0.42, 0.13, 13, 0.12),
    "Relevance": (0.41, 0.14, 13, 0.10),
    "Surprise": (0.28, 0.10, 12, 0.15),
}
USR = {
    "persona": {
        "Engaging": (0.38, 0.07, 7, 0.24),
        "MaintainsContext": (0.37, 0.09, 7, 0.31),
        "Natural": (0.44, 0.04, 7, 0.48),
        "Overall": (0.69, 0.19, 12, 0.11),
        "Understandable": (-0.01, 0.01, 4, 0.84),
        "UsesKnowledge": (-0.14, 0.09, 4, 0.38),
    },
    "topical": {
        "Engaging": (0.28, 0.13, 7, 0.15),
        "MaintainsContext": (0.31, 0.12, 7, 0.17),
        "Natural": (0.32, 0.11, 7, 0.17),
        "Overall": (0.54, 0.27, 13, 0.08),
        "Understandable": (-0.08, 0.06, 4, 0.33),
        "UsesKnowledge": (-0.11, 0.06, 4, 0.33),
    },
}
WMT23 = (0.84, 0.05, 239, 0.11)
MANS_ROC = (0.38, 0.15, 21, 0.06)
WEBNLG = {
    "Correctness": (0.88, 0.07, 268, 0.03),
    "DataCoverage": (0.90, 0.06, 246, 0.04),
    "Fluency": (0.83, 0.06, 282, 0.01),
    "Relevance": (0.91, 0.05, 226, 0.05),
    "TextStructure": (0.87, 0.05, 247, 0.02),
}


def _table(rows: list[dict[str, Any]], system: str, unit: str, value: Callable[[dict[str, Any]], float]) -> np.ndarray:
    """systems × inputs, scaled (x − 1) / 4 as the paper does for all of these sets."""
    systems = {name: i for i, name in enumerate(dict.fromkeys(row[system] for row in rows))}
    inputs = {name: i for i, name in enumerate(dict.fromkeys(row[unit] for row in rows))}
    table = np.full((len(systems), len(inputs)), np.nan)
    for row in rows:
        table[systems[row[system]], inputs[row[unit]]] = (value(row) - 1.0) / 4.0
    return table


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _check(table: np.ndarray, published: tuple[float, float, int, float]) -> None:
    found = fit_scores(table)
    assert found.unique == published[2]
    ours = (found.mean, found.sigma, found.tie_ratio)
    assert ours == pytest.approx((published[0], published[1], published[3]), abs=0.0051)


@pytest.mark.parametrize("aspect", SUMMEVAL)
def test_table_5_of_summeval_all_16_cells(real_data, aspect):
    rows = _lines(real_data / "summeval" / "summeval_outputs_human_metrics.jsonl")
    table = _table(rows, "system", "doc_id", lambda row: row["human_mean"][aspect])
    assert table.shape == (16, 100)
    _check(table, SUMMEVAL[aspect])


@pytest.mark.parametrize("aspect", HANNA)
def test_table_5_of_hanna_all_24_cells_with_all_11_systems(real_data, aspect):
    rows = pl.read_parquet(real_data / "hanna" / "hanna_scores_long.parquet").to_dicts()
    table = _table(rows, "model", "prompt_idx", lambda row: row[aspect])
    assert table.shape == (11, 96)  # Table 1 of the paper prints 6 × 60; its Table 5 is this
    _check(table, HANNA[aspect])


@pytest.mark.parametrize(("chat", "aspect"), [(chat, aspect) for chat in USR for aspect in USR[chat]])
def test_table_5_of_usr_all_48_cells_with_people_kept(real_data, chat, aspect):
    rows = _lines(real_data / "usr_dialogue" / f"usr_{chat}_chat.jsonl")
    table = _table(rows, "model", "context_id", lambda row: float(np.mean([r[aspect] for r in row["ratings"]])))
    _check(table, USR[chat][aspect])


def test_table_5_of_wmt23_zh_en_news_with_refa_kept(real_data):
    frame = pl.read_parquet(real_data / "wmt23_metrics" / "wmt23_zh-en_segment.parquet")
    with gzip.open(real_data / "wmt23_metrics" / "wmt23_zh-en_inputs.jsonl.gz", "rt", encoding="utf-8") as file:
        news = [row["seg"] for row in map(json.loads, file) if row["doc"][0] == "news"]
    frame = frame.filter(pl.col("seg").is_in(news) & pl.col("human.mqm").is_not_null())
    table = (frame.pivot(on="seg", index="system", values="human.mqm").drop("system").to_numpy() + 25.0) / 25.0
    assert table.shape == (16, 377)  # Table 1 of the paper prints 376
    _check(table, WMT23)


def test_table_5_of_mans_roc_all_4_cells(real_data):
    rows = _lines(real_data / "openmeva" / "openmeva_roc.jsonl")
    _check(_table(rows, "system", "doc_id", lambda row: row["human"]), MANS_ROC)


@pytest.mark.parametrize("aspect", WEBNLG)
def test_table_5_of_webnlg_all_20_cells_without_the_human_reference(real_data, aspect):
    rows = [r for r in _lines(real_data / "webnlg2020" / "webnlg2020_en.jsonl") if "reference" not in r["system"]]
    # This set runs from 0 to 100, so undo the Likert scaling of the helper.
    table = _table(rows, "system", "sample_id", lambda row: 1.0 + 4.0 * row["released_mean"][aspect] / 100.0)
    assert table.shape == (16, 178)
    _check(table, WEBNLG[aspect])
