"""deng2021 and gao2025 recomputed on the published data: what was measured when the studies were written, and what
their reasons claim.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Row, Table
from nlgauge_papers import Sources, all_studies, ledger
from nlgauge_papers.compare import DIFFERS, EQUAL, SLIP, WITHIN, compare, count, published
from nlgauge_papers.deng2021.dialogue import BASELINES, TRUTH
from nlgauge_papers.inventory import studies

REPO = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.real
# Cells without those that run a model.
COUNTS = {
    "deng2021/D.1": "138 cells: 25 matches, 26 within tolerance, 27 differs, 24 needs weights, 24 needs a download, 12 left out",
    "deng2021/D.2": "138 cells: 16 matches, 22 within tolerance, 4 differs, 36 needs weights, 36 needs a download, 24 left out",
    "deng2021/D.3": "138 cells: 26 matches, 32 within tolerance, 32 differs, 18 needs weights, 24 needs a download, 6 left out",
    "deng2021/D.4": "62 cells: 38 needs weights, 18 needs a download, 6 left out",
    "deng2021/E.1": "108 cells: 33 matches, 7 within tolerance, 20 matches after reproducing an error in the paper, 30 needs weights, 18 left out",
    "deng2021/F.1": "100 cells: 20 matches, 14 matches after reproducing an error in the paper, 56 needs weights, 10 left out",
    "deng2021/F.2": "100 cells: 26 matches, 8 matches after reproducing an error in the paper, 56 needs weights, 10 left out",
    "deng2021/F.3": "100 cells: 46 matches, 3 within tolerance, 1 matches after reproducing an error in the paper, 40 needs weights, 10 left out",
    "deng2021/F.4": "100 cells: 46 matches, 3 within tolerance, 1 matches after reproducing an error in the paper, 40 needs weights, 10 left out",
    "deng2021/F.6": "112 cells: 51 matches, 4 within tolerance, 1 differs, 40 needs weights, 16 left out",
    "gao2025/1": "24 cells: 20 matches, 3 differs, 1 needs a download",
    "gao2025/5": "120 cells: 116 matches, 4 needs a download",
    "gao2025/6": "252 cells: 45 fewer sets, 207 needs a download",
}


@pytest.fixture(scope="module")
def sources(real_data: Path) -> Sources:
    return Sources(real_data, slow=False)


@cache
def compared(sources: Sources, name: str) -> Table:
    """Each study once, for its own table and for the scoreboard."""
    return compare(all_studies()[name], sources)


def rows(sources: Sources, name: str) -> list[Row]:
    return compared(sources, name).rows


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_as_many_cells_agree_as_when_it_was_measured(sources: Sources, name: str) -> None:
    assert count(rows(sources, name)) == COUNTS[name]
    assert len(rows(sources, name)) == len(published(all_studies()[name])[1])


@pytest.mark.slow
def test_what_differs_or_is_absent_says_why(sources: Sources) -> None:
    for name in COUNTS:
        off = [r for r in rows(sources, name) if r["verdict"] not in (EQUAL, WITHIN)]
        assert [r for r in off if not r["reason"]] == []


@pytest.mark.slow
def test_all_metrics_of_one_released_score_table_are_judged_alike(sources: Sources) -> None:
    """S3, BERTScore and MoverScore of D.1 and D.3 are columns of one release; 22 of the 24 cells of the last two
    differ.
    """
    found = [
        r
        for t in ("D.1", "D.3")
        for r in rows(sources, f"deng2021/{t}")
        if r["metric"] in ("BERTScore-f", "MoverScore")
    ]
    judged = [r["verdict"] for r in found]
    assert len(judged) == 24
    assert judged.count(DIFFERS) == 22
    assert not set(judged) - {EQUAL, WITHIN, DIFFERS}


def test_usr_comes_out_of_its_authors_published_scores(sources: Sources) -> None:
    """Of 48 cells of Topical-Chat only one differs."""
    found = [
        (t, r)
        for t in ("F.3", "F.4", "F.6")
        for r in rows(sources, f"deng2021/{t}")
        if r["metric"].startswith("USR")
        and r.get("data", "TopicalChat") == "TopicalChat"
        and r["verdict"] in (EQUAL, WITHIN, DIFFERS)
    ]
    assert len(found) == 48
    assert [(t, r["metric"], r["aspect"]) for t, r in found if r["verdict"] != EQUAL] == [("F.6", "USR", "Natural")]


def test_f1_of_characters_gives_every_cell_of_f1(sources: Sources) -> None:
    """Systems of Persona-Chat are printed with Overall's values, and three rank correlations split ties by rounding."""
    tables = ("F.1", "F.2", "F.3", "F.4", "F.6")
    found = [r["verdict"] for t in tables for r in rows(sources, f"deng2021/{t}") if r["metric"] == "F-1"]
    assert len(found) == 24
    assert set(found) == {EQUAL, SLIP}
    assert found.count(SLIP) == 6  # three of Overall, three of ties


@pytest.mark.slow
@pytest.mark.parametrize("table", ["D.1", "D.2", "D.3"])
def test_bleu_and_chrf_of_summeval_are_equal_in_all_six_correlations(sources: Sources, table: str) -> None:
    found = [r for r in rows(sources, f"deng2021/{table}") if r["metric"] in ("BLEU", "ChrF")]
    assert [r["verdict"] for r in found] == ["matches"] * 12


@pytest.mark.slow
def test_rouge_of_summeval_is_the_model_average_of_rouge_155(sources: Sources) -> None:
    """All 27 correlations over outputs within .004, with 1 and with 11 references; the best or mean reference is .01
    to .03 off.
    """
    off = [
        abs(r["difference"])
        for table in ("D.1", "D.2", "D.3")
        for r in rows(sources, f"deng2021/{table}")
        if r["metric"].startswith("ROUGE") and r["level"] == "sample"
    ]
    assert len(off) == 27
    assert max(off) < 0.004


def test_response_length_reaches_the_papers_correlations(sources: Sources) -> None:
    printed = {"F.1": 0.391, "F.3": 0.4079}
    for table, value in printed.items():
        first = next(r for r in rows(sources, f"deng2021/{table}") if r["metric"] == "Word Length")
        assert first["ours"] == pytest.approx(value, abs=5e-5)


def test_the_system_level_of_persona_chat_is_printed_for_overall(sources: Sources) -> None:
    """The reason given in F.1 and F.2: both tables print the correlation with Overall."""
    data = sources("usr-persona")
    batch = Batch.of(data)
    cells = {c.key: c.value for c in published(all_studies()["deng2021/F.1"])[1]}
    for metric in ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L"):
        scores = metric_from_spec(BASELINES[metric]).score(batch).values
        panel = data.with_scores({"m": scores.tolist()}).panel("Overall", metrics=["m"], keep_human=True)
        used = [i for i, s in enumerate(panel.systems) if s != TRUTH]
        found = evaluate(panel.stacked()[:, used], panel.human[used], [Measure.parse("system/pearson")]).value[0, 0]
        assert found == pytest.approx(cells[metric, "system", "pearson"], abs=6e-5)


@pytest.mark.parametrize("column", ["BLEU", "METEOR", "EmbedAvg", "GreedyMatch", "VectorExtrema", "WMD"])
def test_splitting_a_tie_by_rounding_gives_the_papers_rank_correlations_on_yelp(sources: Sources, column: str) -> None:
    """The reason given in E.1: two systems have the same mean rating, plain floating-point means differ in the last
    bit.
    """
    panel = sources("yelp").panel("content preservation", metrics=[f"content.unmasked.{column}"], keep_human=True)
    x, z = panel.stacked()[0].mean(axis=1), panel.human.mean(axis=1)
    pair = [panel.systems.index(s) for s in ("CAAE_rho_0_1", "ARAE_lambda_1")]
    assert 0 < abs(z[pair[0]] - z[pair[1]]) < 1e-12
    cells = {c.key: c.value for c in published(all_studies()["deng2021/E.1"])[1]}
    sign = -1 if column == "WMD" else 1
    for name, coefficient in (("spearman", spearmanr), ("kendall", kendalltau)):
        assert sign * coefficient(x, z)[0] == pytest.approx(cells[column, "system", name], abs=6e-5)


def test_two_claims_of_gao2025_fail_on_its_own_williams_table_and_the_rest_hold(sources: Sources) -> None:
    from nlgauge_papers.gao2025.claims import ClaimCounts, _by_measure, _system_worst

    found = ClaimCounts()
    for table, kind in (("2", "DP"), ("3", "RC"), ("7", "DP")):
        cells = [(c.key, c.value) for c in published(all_studies()[f"gao2025/{table}"])[1]]
        found.orders(kind, table, _by_measure(cells))
        worst = _system_worst(cells, low=kind == "DP")
        assert (worst > 15) == (table != "7")
    assert {key[1] for key in found.reasons} == {"7"}
    assert np.sum([*found.values.values()]) == 24  # of 27 statements


@pytest.mark.slow
def test_the_scoreboard_of_the_papers_pages_is_what_is_computed(sources: Sources) -> None:
    held = ledger.read(REPO / "docs/papers/ledger.csv")
    now = [row for s in studies() if not s.further for row in compared(sources, s.name).csv_rows]
    assert [(r["paper"], r["table"], r["key"], r["verdict"]) for r in held] == [
        (r["paper"], r["table"], r["key"], r["verdict"]) for r in now
    ]
