"""Papers 001 and 002 recomputed on the published data: what was measured when the studies were written, and what their reasons claim."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from nlgauge import registry
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.stats.measure import Measure, evaluate
from nlgauge.studies import Sources
from nlgauge.studies._compare import compare, published
from nlgauge.studies.ctc_dialogue import BASELINES, TRUTH

pytestmark = pytest.mark.real
# Cells without those that run a model: equal, within tolerance, differs, not judged, not computable.
COUNTS = {
    "001/D.1": (20, 28, 6, 12, 72),
    "001/D.2": (12, 17, 13, 0, 96),
    "001/D.3": (20, 25, 9, 12, 72),
    "001/D.4": (0, 0, 0, 0, 62),
    "001/E.1": (33, 12, 15, 0, 48),
    "001/F.1": (16, 0, 18, 0, 66),
    "001/F.2": (22, 1, 11, 0, 66),
    "001/F.3": (27, 0, 7, 0, 66),
    "001/F.4": (27, 3, 4, 0, 66),
    "001/F.6": (24, 6, 10, 0, 72),
    "002/1": (20, 0, 3, 0, 1),
    "002/5": (116, 0, 0, 0, 4),
    "002/6": (0, 0, 0, 45, 207),
}
VERDICTS = ("equal", "within tolerance", "differs", "not judged", "not computable")


@pytest.fixture(scope="module")
def sources(real_data: Path) -> Sources:
    return Sources(real_data, slow=False)


@cache
def rows(sources: Sources, name: str):  # type: ignore[no-untyped-def]
    return compare(registry.get("study", name), sources).rows


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_as_many_cells_agree_as_when_it_was_measured(sources: Sources, name: str) -> None:
    found = Counter(r["verdict"] for r in rows(sources, name))
    assert tuple(found[v] for v in VERDICTS) == COUNTS[name]
    assert sum(COUNTS[name]) == len(published(registry.get("study", name))[1])


@pytest.mark.slow
def test_what_differs_or_is_absent_says_why(sources: Sources) -> None:
    for name in COUNTS:
        assert [r for r in rows(sources, name) if r["verdict"] in VERDICTS[2:] and not r["reason"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("table", ["D.1", "D.2", "D.3"])
def test_bleu_and_chrf_of_summeval_are_equal_in_all_six_correlations(sources: Sources, table: str) -> None:
    found = [r for r in rows(sources, f"001/{table}") if r["metric"] in ("BLEU", "ChrF")]
    assert [r["verdict"] for r in found] == ["equal"] * 12


@pytest.mark.slow
def test_rouge_of_summeval_is_the_model_average_of_rouge_155(sources: Sources) -> None:
    """All 27 correlations over outputs within .004, with 1 and with 11 references; the best or mean reference is .01 to .03 off."""
    off = [
        abs(r["difference"])
        for table in ("D.1", "D.2", "D.3")
        for r in rows(sources, f"001/{table}")
        if r["metric"].startswith("ROUGE") and r["level"] == "sample"
    ]
    assert len(off) == 27
    assert max(off) < 0.004


def test_response_length_reaches_the_papers_correlations(sources: Sources) -> None:
    printed = {"F.1": 0.391, "F.3": 0.4079}
    for table, value in printed.items():
        first = next(r for r in rows(sources, f"001/{table}") if r["metric"] == "Word Length")
        assert first["ours"] == pytest.approx(value, abs=5e-5)


def test_the_system_level_of_persona_chat_is_printed_for_overall(sources: Sources) -> None:
    """The reason given in F.1 and F.2: both tables print the correlation with Overall."""
    data = sources("usr-persona")
    batch = Batch.of(data)
    cells = {c.key: c.value for c in published(registry.get("study", "001/F.1"))[1]}
    for metric in ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L"):
        scores = metric_from_spec(BASELINES[metric]).score(batch).values
        panel = data.with_scores({"m": scores.tolist()}).panel("Overall", metrics=["m"], keep_people=True)
        used = [i for i, s in enumerate(panel.systems) if s != TRUTH]
        found = evaluate(
            panel.stacked()[:, used], panel.human[used], [Measure.parse("system/pearson")]
        ).value[0, 0]
        assert found == pytest.approx(cells[metric, "system", "pearson"], abs=6e-5)


@pytest.mark.parametrize(
    "column", ["BLEU", "METEOR", "EmbedAvg", "GreedyMatch", "VectorExtrema", "WMD"]
)  # fmt: skip
def test_splitting_a_tie_by_rounding_gives_the_papers_rank_correlations_on_yelp(
    sources: Sources, column: str
) -> None:
    """The reason given in E.1: two systems have the same mean rating, plain floating-point means differ in the last bit."""
    panel = sources("yelp").panel(
        "content preservation", metrics=[f"content.unmasked.{column}"], keep_people=True
    )
    x, z = panel.stacked()[0].mean(axis=1), panel.human.mean(axis=1)
    pair = [panel.systems.index(s) for s in ("CAAE_rho_0_1", "ARAE_lambda_1")]
    assert 0 < abs(z[pair[0]] - z[pair[1]]) < 1e-12
    cells = {c.key: c.value for c in published(registry.get("study", "001/E.1"))[1]}
    sign = -1 if column == "WMD" else 1
    for name, coefficient in (("spearman", spearmanr), ("kendall", kendalltau)):
        assert sign * coefficient(x, z)[0] == pytest.approx(cells[column, "system", name], abs=6e-5)


def test_two_claims_of_paper_002_fail_on_its_own_williams_table_and_the_rest_hold(sources: Sources) -> None:
    from nlgauge.studies.measures_claims import Found, _by_measure, _system_worst

    found = Found()
    for table, kind in (("2", "DP"), ("3", "RC"), ("7", "DP")):
        cells = [(c.key, c.value) for c in published(registry.get("study", f"002/{table}"))[1]]
        found.orders(kind, table, _by_measure(cells))
        worst = _system_worst(cells, low=kind == "DP")
        assert (worst > 15) == (table != "7")
    assert {key[1] for key in found.reasons} == {"7"}
    assert np.sum([*found.values.values()]) == 24  # of 27 statements
