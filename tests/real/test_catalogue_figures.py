"""Published figures, set by set, from the sets as the catalogue loads them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from catalogue_tools import coefficients, joined, loaded, mean_of
from scipy.stats import pearsonr

from nlgauge.data.dataset import KEY
from nlgauge.datasets import entry, load_set

pytestmark = pytest.mark.real


def test_bagel_sf_has_the_counts_of_table_1_of_novikova2017(real_data: Path) -> None:
    data = loaded(real_data, "bagel-sf")
    found = {(d, s): n for d, s, n in data.samples.group_by("dataset", "system").len().iter_rows()}
    assert found == {
        ("BAGEL", "LOLS"): 202,
        ("BAGEL", "TGEN"): 202,
        ("SFREST", "LOLS"): 581,
        ("SFREST", "RNNLG"): 600,
        ("SFHOTEL", "LOLS"): 398,
        ("SFHOTEL", "RNNLG"): 477,
    }
    assert data.samples["references"].list.len().min() >= 1


def test_bagel_means_and_correlations_of_novikova2017(real_data: Path) -> None:
    bagel = joined(loaded(real_data, "bagel-sf"), "informativeness").filter(pl.col("dataset") == "BAGEL")
    tgen, lols = (bagel.filter(pl.col("system") == s) for s in ("TGEN", "LOLS"))
    assert [tgen["value"].mean(), lols["value"].mean()] == pytest.approx([4.77, 4.91], abs=0.005)
    assert coefficients(tgen, "Bleu_1")[1] == pytest.approx(0.30, abs=0.005)
    assert coefficients(tgen, "sys.wps")[1] == pytest.approx(0.33, abs=0.005)


@pytest.mark.parametrize(
    ("dataset", "aspect", "published"),
    [
        ("SFHOTEL", "naturalness", (0.397428, 0.319813, 0.237635)),
        ("SFHOTEL", "informativeness", (0.357353, 0.249329, 0.191217)),
        ("SFHOTEL", "overall", (0.406425, 0.320721, 0.236024)),
        ("SFREST", "naturalness", (0.367252, 0.333399, 0.247094)),
        ("SFREST", "informativeness", (0.282079, 0.224918, 0.169297)),
        ("SFREST", "overall", (0.370815, 0.291593, 0.214708)),
    ],
)
def test_unieval_on_sf_equals_its_readme(
    real_data: Path, dataset: str, aspect: str, published: tuple[float, ...]
) -> None:
    rated = joined(loaded(real_data, "bagel-sf"), "quality" if aspect == "overall" else aspect)
    assert coefficients(rated.filter(pl.col("dataset") == dataset), f"unieval_{aspect}") == pytest.approx(
        published, abs=1e-6
    )


def test_summeval_has_three_experts_for_twelve_systems(real_data: Path) -> None:
    data = loaded(real_data, "summeval")
    expert = (
        data.ratings.filter(pl.col("aspect") == "coherence")
        .group_by("system")
        .agg(pl.col("rater").drop_nulls().n_unique())
    )
    assert expert["rater"].value_counts().sort("rater").rows() == [(0, 4), (3, 12)]
    assert data.samples["references"].list.len().unique().to_list() == [11]
    assert [mean_of(data, "M22", a) for a in data.aspects[:4]] == pytest.approx([4.18, 4.94, 4.90, 4.25], abs=0.005)


def test_summeval_joins_the_table_of_colombo2023(real_data: Path) -> None:
    ours, table = loaded(real_data, "summeval"), loaded(real_data, "summeval-table")
    for metric in ("ROUGE_1", "BERTScore", "JS_2"):
        assert np.allclose(np.sort(ours.scores[metric].to_numpy()), np.sort(table.scores[metric].to_numpy()), atol=1e-9)


def test_summeval_judges_are_metrics_with_their_gaps_noted(real_data: Path) -> None:
    data = load_set("summeval", real_data, judges=True)
    assert len(data.metrics) == 13 + 9 * 4
    frame = joined(data, "consistency").filter(~pl.col("system").is_in(["M0", "M1", "M2", "M5"]))
    assert coefficients(frame, "gpt-4-0314/rts/consistency")[1] == pytest.approx(0.557, abs=0.002)
    assert any("43512 replies" in note for note in data.notes)
    tokenized = load_set("summeval", real_data, tokenized=True)
    assert tokenized.samples["output"][0] != data.samples["output"][0]


def test_usr_has_three_persons_an_output(real_data: Path) -> None:
    for name in ("usr-persona", "usr-topical", "checklist-usr-pc", "checklist-usr-tc"):
        data = loaded(real_data, name)
        assert data.persons
        assert data.ratings.group_by(*KEY, "aspect").len()["len"].unique().to_list() == [3]


@pytest.mark.parametrize(
    ("name", "aspect", "metric", "published"),
    [
        ("usr-topical", "Overall", "unieval_overall", (0.632796, 0.662583, 0.487272)),
        ("qags-cnndm", "consistency", "unieval_consistency", (0.681681, 0.662255, 0.531636)),
        ("qags-xsum", "consistency", "unieval_consistency", (0.461376, 0.487920, 0.399218)),
    ],
)
def test_unieval_equals_its_readme(
    real_data: Path, name: str, aspect: str, metric: str, published: tuple[float, ...]
) -> None:
    assert coefficients(joined(loaded(real_data, name), aspect), metric) == pytest.approx(published, abs=1e-6)


@pytest.mark.parametrize(("which", "mean"), [("cnndm", 0.7436), ("xsum", 0.4854)])
def test_qags_mean_consistency(real_data: Path, which: str, mean: float) -> None:
    assert joined(loaded(real_data, f"qags-{which}"), "consistency")["value"].mean() == pytest.approx(mean, abs=5e-5)


def test_newsroom_has_1260_rows_of_raters_and_its_means(real_data: Path) -> None:
    data = loaded(real_data, "newsroom")
    assert data.ratings.filter(pl.col("aspect") == "Fluency").height == 1260
    assert [mean_of(data, "lede3", a) for a in data.aspects] == pytest.approx([3.98, 4.13, 4.13, 4.08], abs=0.005)
    assert [mean_of(data, "abstractive", a) for a in data.aspects] == pytest.approx([2.09, 2.35, 2.66, 2.50], abs=0.005)


def test_realsumm_ranks_systems_by_rouge_2_recall_and_keeps_the_votes(real_data: Path) -> None:
    data = loaded(real_data, "realsumm")
    means = joined(data, "litepyramid_recall").group_by("system", "split").agg(pl.col("value", "rouge_2_recall").mean())
    assert coefficients(means.filter(pl.col("split") == "abs"), "rouge_2_recall")[0] == pytest.approx(0.98, abs=0.005)
    votes = joined(data, "SCU recall (vote)").join(joined(data, "litepyramid_recall"), on=KEY)
    assert votes.height == 2400
    assert pearsonr(votes["value"].to_numpy(), votes["value_right"].to_numpy()).statistic > 0.9
    assert not data.samples["output"].str.contains("<t>").any()


def test_hanna_icc1_equals_the_authors_notebook(real_data: Path) -> None:
    data = loaded(real_data, "hanna")
    found = []
    for aspect in ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity"):
        one = (
            data.ratings.filter(pl.col("aspect") == aspect)
            .pivot("rater", index=KEY, values="value")
            .drop(KEY)
            .to_numpy()
        )
        between = 3 * one.mean(axis=1).var(ddof=1)
        within = one.var(axis=1, ddof=1).mean()
        found.append((between - within) / (between + 2 * within))
    assert found == pytest.approx([0.137622, -0.0547567, 0.115955, 0.0512276, 0.180231, 0.278044], abs=1e-6)
    assert data.samples["output"].null_count() == 2


def test_hanna_judges_have_no_minus_one(real_data: Path) -> None:
    data = load_set("hanna", real_data, judges=True)
    judges = data.scores.select(data.metrics[72:])
    assert judges.width == 140
    assert judges.min().min_horizontal().item() >= 0
    hidden = pl.col("Beluga-13B AVG 3").is_not_null() & pl.col("Beluga-13B CH 3").is_null()
    assert judges.filter(hidden).is_empty()
    assert judges["Beluga-13B CH 3"].null_count() > 0


def test_openmeva_chatgpt_as_published(real_data: Path) -> None:
    frame = joined(loaded(real_data, "openmeva"), "overall")
    assert coefficients(frame, "chatgpt") == pytest.approx([0.439, 0.415, 0.342], abs=0.0006)


def test_webnlg_means_equal_the_notebook_to_three_decimals(real_data: Path) -> None:
    data = loaded(real_data, "webnlg2020-en")
    found = [mean_of(data, "Amazon_AI_(Shanghai)", a) for a in data.aspects]
    assert found == pytest.approx([93.531, 94.393, 90.286, 95.196, 92.951], abs=0.0005)


def test_yelp_pooled_correlations(real_data: Path) -> None:
    data = loaded(real_data, "yelp")
    content, intensity = joined(data, "content preservation"), joined(data, "style transfer intensity")
    assert coefficients(content, "content.style_masked.WMD")[0] == pytest.approx(-0.477, abs=0.0006)
    assert coefficients(content, "content.unmasked.METEOR")[0] == pytest.approx(0.476, abs=0.0006)
    assert coefficients(intensity, "intensity_emd.textcnn")[0] == pytest.approx(0.589, abs=0.0006)
    assert joined(data, "naturalness")["system"].n_unique() == 9


@pytest.mark.parametrize(
    ("aspect", "metric", "r"),
    [
        ("coherence", "cohere_met", 0.2403),
        ("consistency", "consist_met", 0.2342),
        ("attribute_relevance", "relev_met", 0.5189),
    ],
)
def test_ctrleval_on_its_own_set(real_data: Path, aspect: str, metric: str, r: float) -> None:
    assert coefficients(joined(loaded(real_data, "ctrleval-topic"), aspect), metric)[0] == pytest.approx(r, abs=5e-5)


def test_the_checklist_copy_of_ctrleval_has_the_same_ratings(real_data: Path) -> None:
    ours = joined(loaded(real_data, "ctrleval-topic"), "coherence").select("output", "value")
    theirs = joined(loaded(real_data, "checklist-ctrleval-topic"), "coherence").select("output", other="value")
    both = ours.join(theirs, on="output")
    assert both.height == 960
    assert (both["value"] - both["other"]).abs().max() < 1e-9


@pytest.mark.parametrize("name", ["checklist-usr-pc", "checklist-usr-tc", "checklist-unieval-tc"])
def test_the_column_called_recall_is_f1(real_data: Path, name: str) -> None:
    p, f, r = (loaded(real_data, name).scores[f"bert_{x}_src"] for x in ("precision", "recall", "f1"))
    assert (2 * p * r / (p + r) - f).abs().max() < 1e-4


def test_the_checklist_tables_have_the_rows_of_table_2(real_data: Path) -> None:
    rows = [
        loaded(real_data, n).ratings.filter(pl.col("aspect") == "Overall").height
        for n in ("checklist-usr-pc", "checklist-usr-tc")
    ]
    assert rows == [900, 1080]
    assert any("perplexity (1)" in note for note in loaded(real_data, "checklist-usr-pc").notes)


def test_rankme_keeps_the_order_in_which_outputs_were_shown(real_data: Path) -> None:
    data = loaded(real_data, "rankme-rank-1")
    assert data.comparisons.height == 300 * 3 * 3
    assert set(data.comparisons["preferred"]) == {"first", "second", "tie"}
    shown = {frozenset((a, b)): 0 for a, b in data.comparisons.select("first", "second").iter_rows()}
    assert len(shown) == 3
    likert = loaded(real_data, "rankme-likert-1")
    assert likert.ratings.filter(pl.col("aspect") == "quality").height == 914
    assert data.samples.select(*KEY, "output").equals(likert.samples.select(*KEY, "output"))


@pytest.mark.parametrize(
    ("pair", "metric", "r"),
    [
        ("en-de", "XCOMET-Ensemble-refA", 0.695),
        ("en-de", "MetricX-23-refA", 0.585),
        ("en-de", "chrF-refA", 0.232),
        ("en-de", "BLEU-refA", 0.192),
        ("zh-en", "XCOMET-Ensemble-refA", 0.650),
        ("zh-en", "BLEU-refA", 0.119),
    ],
)
def test_wmt23_segment_correlations_as_in_the_findings(real_data: Path, pair: str, metric: str, r: float) -> None:
    data = loaded(real_data, f"wmt23-{pair}")
    frame = joined(data, "mqm").filter(~pl.col("system").is_in(list(data.human_systems)))
    assert coefficients(frame, metric)[0] == pytest.approx(r, abs=0.0006)
    assert frame["references"].list.len().unique().to_list() == [1]


@pytest.mark.parametrize(
    ("name", "means"),
    [
        (
            "mqm-newstest2020-en-de",
            {"Human-B.0": 0.75, "Human-A.0": 0.91, "Human-P.0": 1.41, "Tohoku-AIP-NTT.890": 2.02, "OPPO.1535": 2.25},
        ),
        ("mqm-newstest2021-en-de", {"ref-C": 0.51, "VolcTrans-GLAT": 1.04}),
    ],
)
def test_mqm_means_equal_the_readme(real_data: Path, name: str, means: dict[str, float]) -> None:
    data = loaded(real_data, name)
    assert {s: -mean_of(data, s, "mqm") for s in means} == pytest.approx(means, abs=0.005)


@pytest.mark.parametrize("pair", ["ende", "zhen"])
def test_ted_scores_of_raters_are_the_published_averages(real_data: Path, tmp_path: Path, pair: str) -> None:
    name = f"mqm-ted-{pair[:2]}-{pair[2:]}"
    file = entry(name).needed[0].path
    (tmp_path / file).parent.mkdir()
    shutil.copyfile(real_data / file, tmp_path / file)
    by_rater, average = loaded(real_data, name).ratings, load_set(name, tmp_path).ratings
    both = by_rater.join(average, on=KEY)
    assert both.height == by_rater.height == average.height
    assert (both["value"] - both["value_right"]).abs().max() < 1e-6


def test_mlqe_z_means_are_those_of_colombo2023(real_data: Path) -> None:
    ours = joined(loaded(real_data, "mlqe"), "da (z)").select(*KEY, "value", "XBERTScore")
    table = joined(loaded(real_data, "mlqe-table"), "mlqe").select(*KEY, z="value", x="XBERTScore")
    both = ours.join(table, on=KEY)
    assert both.height == 7000
    assert (both["value"] - both["z"]).abs().max() < 1e-6
    assert (both["XBERTScore"] - both["x"]).abs().max() < 1e-6


def test_tac08_system_level_tau(real_data: Path) -> None:
    means = (
        joined(loaded(real_data, "tac08"), "pyr")
        .group_by("system")
        .agg(pl.col("value", "ROUGE_2", "MoverScore").mean())
    )
    assert [coefficients(means, m)[2] for m in ("ROUGE_2", "MoverScore")] == pytest.approx([0.79, 0.80], abs=0.006)


def test_usr_tables_of_colombo2023_are_the_sets_with_texts(real_data: Path) -> None:
    for which, human in (("persona", "M3"), ("topical", "M4")):
        table, ours = loaded(real_data, f"usr-{which}-table"), loaded(real_data, f"usr-{which}")
        mine = ours.scores.filter(pl.col("system") == "New Human Generated").select("input", "BERTScore", "Chrfpp")
        theirs = table.scores.filter(pl.col("system") == human).select("input", other="BERTScore")
        both = mine.join(theirs, on="input")
        assert both.height == 60
        assert (both["BERTScore"] - both["other"]).abs().max() < 1e-6
