"""Paper 003 on the score tables that its authors released, and its questions on other data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nlgauge import registry
from nlgauge.analyses.complementarity import complementarity, matrix
from nlgauge.analyses.consensus import consensus
from nlgauge.analyses.portfolio import metric_portfolio
from nlgauge.analyses.predictability import predictability
from nlgauge.analyses.progress import progress_over_years
from nlgauge.data.catalogue import load_set
from nlgauge.stats.rankings import BLOCKS, block_values
from nlgauge.studies import Sources
from nlgauge.studies._compare import compare

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def sources(real_data: Path) -> Sources:
    return Sources(mirror=real_data)


def test_the_three_block_means_of_finding_1_come_out_as_printed(sources: Sources) -> None:
    table = compare(registry.get("study", "003/fig2"), sources)
    means = {row["block"]: row for row in table if row["quantity"] == "mean"}
    assert len(means) == 3
    for row in means.values():
        assert row["verdict"] == "equal", row
    assert [round(means[b]["ours"], 3) for b in BLOCKS] == [0.163, 0.203, 0.352]


def test_tau_b_and_plain_inversions_do_not_give_the_printed_means(sources: Sources) -> None:
    """So the study says which rule it used, and that this is a guess."""
    notes = compare(registry.get("study", "003/fig2"), sources).notes
    assert any(note.startswith("tau-b: human–human .237") for note in notes)
    assert any(note.startswith("inversions: human–human .075") for note in notes)
    assert any("guess" in note for note in notes)


def test_finding_1_holds_on_every_set_at_hand(sources: Sources) -> None:
    assert {row["verdict"] for row in compare(registry.get("study", "003/claims"), sources)} == {"equal"}


def test_the_missing_set_is_said(sources: Sources) -> None:
    rows = {row["what"]: row for row in compare(registry.get("study", "003/data"), sources)}
    assert rows["tasks"]["verdict"] == "equal"
    assert "TAC11" in rows["datasets"]["reason"]
    assert rows["scores in thousands"]["ours"] == pytest.approx(240.636)


def test_people_predict_people_better_than_metrics_do_on_summeval(sources: Sources) -> None:
    rows = predictability(sources("summeval-table"), model="ridge").rows
    value = {(r["aspect"], r["predicted from"]): r["value"] for r in rows}
    for aspect in ("coherence", "consistency", "fluency", "relevance"):
        assert value[aspect, "human"] > value[aspect, "automatic"]


def test_on_tac08_boosted_trees_fall_behind_the_best_single_metric(sources: Sources) -> None:
    """A part of the ceiling of Fig. 3 is the learner's."""
    rows = predictability(sources("tac08"), aspects=["pyr"], keep_people=True).rows
    value = {r["predicted from"]: r["value"] for r in rows}
    assert value["automatic"] == pytest.approx(0.425, abs=0.02)
    assert value["best metric"] == pytest.approx(0.509, abs=0.001)


def test_progress_over_years_knows_every_metric_of_the_tables(sources: Sources) -> None:
    for name in ("summeval-table", "realsumm-table", "mlqe-table"):
        table = progress_over_years(sources(name), model="ridge")
        assert not any("no release year" in note for note in table.notes)
    years = list(
        dict.fromkeys(row["year"] for row in progress_over_years(sources("summeval-table"), model="ridge"))
    )
    assert years == [2002, 2004, 2006, 2015, 2017, 2019]


def test_kemeny_is_proved_on_the_62_systems_of_tac08(sources: Sources) -> None:
    notes = consensus(sources("tac08")).notes
    assert sum("the fewest possible (proved)" in note for note in notes) == 2


def test_on_wmt23_the_two_human_campaigns_are_further_apart_than_the_metrics(real_data: Path) -> None:
    """The opposite of Finding 1, on data that its paper did not use."""
    data = load_set("wmt23-zh-en", mirror=real_data, domain="news")
    _, human, distances = matrix(complementarity(data))
    found = block_values(np.array(distances), np.array(human))
    assert found[BLOCKS[0]].mean() == pytest.approx(0.465, abs=0.001)
    assert found[BLOCKS[1]].mean() == pytest.approx(0.354, abs=0.001)
    assert found[BLOCKS[2]].mean() == pytest.approx(0.428, abs=0.001)


def test_three_metrics_beat_the_best_single_one_on_relevance_in_hanna(real_data: Path) -> None:
    data = load_set("hanna", mirror=real_data)
    rows = metric_portfolio(data, aspects=["Relevance"], most=3).rows
    assert rows[2]["value"] > rows[0]["value"]
