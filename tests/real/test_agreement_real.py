"""Agreement of the raters of published sets, against the figures their authors stored."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.alttest import alt_test
from nlgauge.stats.agreement.icc import icc
from nlgauge.stats.agreement.mace import mace

pytestmark = pytest.mark.real

ASPECTS = ("coherence", "consistency", "fluency", "relevance")


@pytest.fixture(scope="module")
def summeval(real_data) -> dict[str, dict[str, np.ndarray]]:
    """raters × units of the 12 systems with individual annotations, experts and crowd."""
    lines = (real_data / "summeval" / "summeval_12systems_individual_annotations.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    return {
        who: {a: np.array([[r[a] for r in row[f"{who}_annotations"]] for row in rows], float).T for a in ASPECTS}
        for who in ("expert", "turker")
    }


def test_hanna_icc1_and_icc1k_equal_the_authors_notebook_to_six_digits(real_data, golden):
    figures = json.loads((golden / "published_figures.json").read_text())
    published = {f["what"]: f["value"] for f in figures if f["dataset"] == "hanna"}
    frame = pl.read_parquet(real_data / "hanna" / "hanna_scores_long.parquet")
    single, average = [], []
    for criterion in ("RE", "CH", "EM", "SU", "EG", "CX"):
        columns = [f"Human {k} {criterion}" for k in (1, 2, 3)]
        found = icc(frame.select(columns).to_numpy().T, persons=False)
        assert found.units == 1056
        single.append(found["ICC(1)"].value)
        average.append(found["ICC(k)"].value)
    assert single == pytest.approx(published["ICC1 RE,CH,EM,SU,EG,CX"], abs=1e-6)
    assert average == pytest.approx(published["ICC1k RE,CH,EM,SU,EG,CX"], abs=1e-6)


@pytest.mark.parametrize(
    ("who", "published"), [("expert", (0.576, 0.899, 0.738, 0.493)), ("turker", (0.453, 0.436, 0.444, 0.435))]
)
def test_summeval_alpha_interval_of_12_systems_is_recomputed(summeval, who, published):
    found = [alpha(summeval[who][aspect]).value for aspect in ASPECTS]
    assert found == pytest.approx(published, abs=0.0005)


def test_summeval_alpha_lies_inside_its_own_interval(summeval):
    for aspect in ASPECTS:
        found = alpha(summeval["expert"][aspect], "ordinal", rng=np.random.default_rng(0), draws=300)
        assert found.low < found.value < found.high


def test_one_summeval_expert_may_stand_in_for_the_others_but_no_turker_may(summeval):
    experts = summeval["expert"]["consistency"]
    assert alt_test(experts[:2], experts[2], epsilon=0.2).passed
    crowd = summeval["turker"]["consistency"]
    assert all(alt_test(experts, one, epsilon=0.2).winning_rate == 0.0 for one in crowd)


def test_mace_follows_unanimous_experts_and_mostly_their_median(summeval):
    experts = summeval["expert"]["fluency"]
    found = mace(experts, np.random.default_rng(0), restarts=5)
    unanimous = (experts == experts[0]).all(axis=0)
    assert (found.consensus == experts[0])[unanimous].all()
    assert (found.consensus == np.median(experts, axis=0)).mean() > 0.9
    assert found.competence.min() > 0.7


def test_a_uniform_label_prior_takes_skewed_agreement_of_experts_for_habit(summeval):
    """Why the default is not the paper's: three experts with alpha .74 come out as guessers."""
    experts = summeval["expert"]["fluency"]
    uniform = mace(experts, np.random.default_rng(0), restarts=5, label_prior="uniform")
    assert uniform.competence.max() < 0.05
    assert uniform.log_likelihood < mace(experts, np.random.default_rng(0), restarts=5).log_likelihood


def test_mace_sides_with_the_larger_group_that_agrees_with_itself_even_against_experts(summeval):
    """Five crowd raters who agree outvote three experts who agree: competence is consensus, not expertise."""
    both = np.concatenate([summeval["expert"]["consistency"], summeval["turker"]["consistency"]])
    found = mace(both, np.random.default_rng(0), restarts=5)
    assert found.competence[:3].max() < 0.05
    assert found.competence[3:].min() > 0.5
