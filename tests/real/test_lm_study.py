"""The study of language-model metrics on published dialogues, with the metric that needs no torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlgauge.data.catalogue import load_set
from nlgauge.scoring.store import Store
from nlgauge.studies.lm import fields, rows_of, scored, wide
from nlgauge.table import Table


def test_correlations_of_the_study_are_those_of_scipy_over_all_outputs(
    real_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pocketsphinx")
    from scipy.stats import pearsonr, spearmanr

    data = load_set("usr-persona", real_data)
    specs = ["length", "perplexity(lm='trigram')"]
    with_scores = scored(data, "usr-persona", specs, Store(tmp_path / "s.sqlite"), 0, lambda line: None)
    rows = rows_of(with_scores, "usr-persona", specs, draws=50, seed=0)
    assert len(rows) == 2 * 6
    row = next(r for r in rows if r["metric"] == specs[1] and r["aspect"] == "Natural")
    panel = with_scores.panel("Natural", metrics=[specs[1]], keep_people=True)
    x, z = panel.stacked()[0].ravel(), panel.human.ravel()
    assert row["outputs"] == 300
    assert row["pearson"] == pytest.approx(pearsonr(x, z)[0])
    assert row["spearman"] == pytest.approx(spearmanr(x, z)[0])
    assert row["pearson low"] < row["pearson"] < row["pearson high"]
    lines = wide(Table("t", rows))
    assert any(line.startswith("| `length` |") and line.count("|") == 8 for line in lines)


def test_in_dialogue_the_history_is_the_source_and_the_fact_the_context(real_data: Path) -> None:
    data = load_set("usr-topical", real_data)
    batch = fields(data, "usr-topical")
    assert batch.text(int(batch.source[7])) == data.samples["context"][7]
    assert batch.text(int(batch.context[7])) == data.samples["fact"][7]
