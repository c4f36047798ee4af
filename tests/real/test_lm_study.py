"""The study of language-model metrics on published dialogues, with the metric that needs no torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlgauge.datasets import load_set
from nlgauge.scoring.store import Store
from nlgauge_papers.deng2021.language_model_tables import ours, printed, released, wide
from nlgauge_papers.deng2021.language_models import fields, scored

SPECS = ["length", "perplexity(lm='trigram')"]


def test_correlations_of_the_study_are_those_of_scipy_over_outputs_and_systems(real_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pocketsphinx")
    from scipy.stats import kendalltau, pearsonr, spearmanr

    data = load_set("usr-persona", real_data)
    store = Store(tmp_path / "s.sqlite")
    columns = scored(data, "usr-persona", SPECS, store, 0, lambda line: None)
    rows = ours(data, "usr-persona", columns, draws=50, seed=0)
    assert len(rows) == 2 * 6
    row = next(r for r in rows if r["metric"] == SPECS[1] and r["aspect"] == "Natural")
    panel = data.with_scores({"x": columns[SPECS[1]].tolist()}).panel("Natural", metrics=["x"], keep_human=True)
    table, human = panel.stacked()[0], panel.human
    x, z = table.ravel(), human.ravel()
    assert row["outputs"] == 300
    assert row["global/pearson"] == pytest.approx(pearsonr(x, z)[0])
    assert row["global/spearman"] == pytest.approx(spearmanr(x, z)[0])
    assert row["global/kendall"] == pytest.approx(kendalltau(x, z)[0])
    assert row["system/pearson"] == pytest.approx(pearsonr(table.mean(1), human.mean(1))[0])
    assert row["global/pearson low"] < row["global/pearson"] < row["global/pearson high"]
    assert any(line.startswith("| `length` | 300 |") and line.count("|") == 9 for line in wide(rows))
    # What is not in the store is not computed when the study is only to be shown.
    shown = scored(data, "usr-persona", [*SPECS, "perplexity"], store, 0, lambda line: None, compute=False)
    assert np.array_equal(shown["length"], columns["length"])
    assert np.isnan(shown["perplexity"]).all()


def test_printed_and_released_figures_stand_beside_ours(real_data: Path) -> None:
    rows = {(r["metric"], r["aspect"]): r for r in printed("usr-topical")}
    assert rows["FED-Interesting (DialoGPT)", "Engaging"]["global/pearson"] == -0.0004
    assert rows["USR (RoBERTa, fine-tuned)", "Overall"]["global/pearson"] == 0.4192
    assert rows["USR (RoBERTa, fine-tuned)", "UsesKnowledge"]["system/pearson"] == 0.9469
    assert {m for m, _ in {(r["metric"], r["aspect"]): r for r in printed("summeval")}} == {
        "SummaQA-prob (BERT-large)",
        "SummaQA-f (BERT-large)",
        "BLANC (BERT-base)",
        "FactCC-prob (BERT-base)",
    }
    data = load_set("usr-topical", real_data)
    found = {r["metric"] for r in released(data, "usr-topical", draws=2, seed=0)}
    assert "Perplexity (GPT-2)" in found
    assert "UniEval (T5-large)" in found


def test_in_dialogue_the_history_is_the_source_and_the_fact_the_context(real_data: Path) -> None:
    data = load_set("usr-topical", real_data)
    batch = fields(data)
    assert batch.text(int(batch.source[7])) == data.samples["source"][7]
    assert batch.text(int(batch.context[7])) == data.samples["context"][7]
