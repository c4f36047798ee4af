"""Inputs of one document or conversation are left out together wherever a column says where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.analyses.agreement.intervals import intervals
from nlgauge.analyses.agreement.uses import uses
from nlgauge.analyses.comparing.compare import compare
from nlgauge.analyses.comparing.compare_pairs import compare_pairs
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load


def made(column: str | None, documents: int = 15) -> Dataset:
    rng = np.random.default_rng(5)
    shared = rng.normal(0, 1, (7, documents))
    rows = []
    for i in range(7):
        for d in range(documents):
            for k in range(4):
                q = shared[i, d] + rng.normal(0, 0.3)
                row = {
                    "system": f"s{i}",
                    "input": f"d{d}-{k}",
                    "quality": q,
                    "a": q + rng.normal(0, 1),
                    "b": q + rng.normal(0, 2),
                }
                rows.append(row | ({column: f"doc {d}"} if column else {}))
    return load(rows, name="made", human=["quality"], metrics=["a", "b"])


@pytest.mark.parametrize("column", ["doc", "Document ID", "conversation_id"])
def test_a_column_of_documents_is_found_and_said(column: str) -> None:
    panel = made(column).panel()
    assert len(set(panel.clusters or ())) == 15
    for analysis in (intervals, compare, compare_pairs, uses):
        assert (
            f"Inputs with the same '{column}' are not independent; the jackknife leaves them out together (15 clusters)."
            in analysis(panel).notes
        ), analysis


def test_without_such_a_column_nothing_changes_and_nothing_is_said() -> None:
    with_, without = made("doc").panel(), made(None).panel()
    assert without.clusters is None
    assert not any("not independent" in note for note in intervals(without).notes)
    rows = [{r["metric"]: r for r in intervals(p, measures=["item/pearson"])} for p in (with_, without)]
    assert all(rows[0][m]["value"] == pytest.approx(rows[1][m]["value"]) for m in "ab")
    assert any(abs(rows[0][m]["low"] - rows[1][m]["low"]) > 1e-6 for m in "ab")


def test_too_few_documents_give_no_interval_and_no_verdict() -> None:
    panel = made("doc", documents=6).panel()
    assert all(np.isnan(r["low"]) for r in intervals(panel, measures=["input/kendall"]))
    rows = [r for r in uses(panel) if r["use"] != "rank systems"]
    assert {r["badge"] for r in rows} == {None}
    assert all("at least 10 documents or conversations; here are 6" in r["reason"] for r in rows)
    assert any(
        "a test needs at least 10 documents or conversations; here are 6" in note for note in compare_pairs(panel).notes
    )


def test_documents_follow_their_inputs_into_the_canonical_order() -> None:
    panel = made("doc").panel()
    turned = panel.canonical()
    before, after = (dict(zip(p.inputs, p.cluster_names, strict=True)) for p in (panel, turned))
    assert turned.inputs != panel.inputs
    assert before == after
