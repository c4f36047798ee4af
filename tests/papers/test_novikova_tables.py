"""novikova2017's own questions on any data: each against scipy or a count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, frame, noisy_panel, panel_of, two_domains, upside_down
from scipy import stats

from nlgauge.data.load import load
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge_papers.novikova2017.best_metric import best_metric
from nlgauge_papers.novikova2017.quality_bins import quality_bins
from nlgauge_papers.novikova2017.relative_ranking import relative_ranking, signed_rank_p

# --- relative ranking


def test_accuracy_counted_by_hand_with_ties_on_both_sides() -> None:
    human = {"A": [1, 2, 3, 4, 5], "B": [1, 1, 4, 4, 6]}
    metric = {"A": [0.5, 0.9, 0.1, 0.3, 0.3], "B": [0.5, 0.1, 0.2, 0.4, 0.2]}
    rows = [
        {"system": s, "input": str(i), "q": human[s][i], "m": metric[s][i], "minus": -metric[s][i]}
        for s in "AB"
        for i in range(5)
    ]
    table = by(relative_ranking(load(rows, human=["q"], metrics=["m", "minus"], lower=["minus"])), "metric")
    # tie and tie, A and A, B and B are right; a tie that the metric breaks and the last pair are wrong
    assert table["m"]["accuracy"] == table["minus"]["accuracy"] == pytest.approx(60.0)
    assert table["m"]["pairs"] == 5


def test_quantized_scores_tie_where_steps_are_shared() -> None:
    rows = [
        {"system": s, "input": str(i), "q": q, "m": m}
        for i, (pair_q, pair_m) in enumerate([((1, 1), (0.10, 0.12)), ((2, 1), (0.9, 0.2)), ((1, 2), (0.0, 1.0))])
        for s, q, m in zip("AB", pair_q, pair_m, strict=True)
    ]
    [row] = relative_ranking(load(rows, human=["q"], metrics=["m"]), levels=2).rows
    assert (row["accuracy"], row["quantized"]) == pytest.approx((200 / 3, 100.0))


def test_signed_ranks_of_right_and_wrong_pairs_are_scipys_wilcoxon() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = rng.random(300) < 0.5, rng.random((4, 300)) < 0.4
    expected = [
        stats.wilcoxon(ours.astype(float) - t, method="asymptotic", correction=False, zero_method="wilcox").pvalue
        for t in theirs.astype(float)
    ]
    assert signed_rank_p(ours, theirs) == pytest.approx(expected)


def test_a_random_metric_is_not_better_than_random_and_a_good_one_is() -> None:
    data = two_domains(inputs=80)
    rows = by(relative_ranking(data, by="domain", aspects=["quality"], outputs="independent"), "part", "metric")
    assert rows["news", "good"]["significant"] and rows["news", "good"]["better_in"] == 1.0
    shuffled = by(relative_ranking(data, by="domain", aspects=["quality"]), "part", "metric")
    assert shuffled["news", "good"]["significant"] and not shuffled["news", "flat"]["significant"]
    assert shuffled["news", "good"]["accuracy"] == rows["news", "good"]["accuracy"]
    assert not rows["news", "flat"]["significant"]
    tied = np.mean(
        [len(set(g["value"])) == 1 for _, g in frame(data)[frame(data)["domain"] == "news"].groupby("input")]
    )
    assert rows["news", "good"]["random"] == pytest.approx(50 * (1 - tied), abs=1.5)  # random scores never tie


def test_one_system_has_no_pairs() -> None:
    data = two_domains()
    one = data.where(data.samples.filter(data.samples["system"] == "A"))
    with pytest.raises(NeedsMissing, match="one system only"):
        relative_ranking(one)


# --- quality bins


def test_bins_of_1_to_6_are_the_papers_and_each_is_scipys_rho() -> None:
    panel = two_domains(inputs=120).panel("quality")
    rows = by(quality_bins(panel, draws=50), "metric", "bin")
    human, x = panel.human, dict(zip(panel.names, panel.oriented(), strict=True))["back"]
    masks = {"bad": human <= 2, "average": (human > 2) & (human < 5), "good": human >= 5, "average and good": human > 2}
    for name, mask in masks.items():
        row = rows["back", name]
        assert row["n"] == mask.sum()
        assert row["value"] == pytest.approx(stats.spearmanr(x[mask], human[mask]).statistic)


def test_a_metric_that_works_among_bad_outputs_only_is_marked() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(1, 7, (4, 200)).astype(float)
    metric = np.where(human <= 2, human + rng.normal(0, 0.2, human.shape), rng.normal(0, 3, human.shape))
    table = quality_bins(panel_of(human, {"m": metric}), draws=200)
    rows = by(table, "bin")
    assert rows["bad"]["stronger"] and rows["bad"]["p_check"] < 0.01
    shown = {name: table.text(row, "value") for name, row in rows.items()}
    assert "†" in shown["bad"] and "†" not in shown["average and good"]


def test_a_scale_of_two_values_leaves_bins_without_a_value_and_says_why() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(0, 2, (3, 40)).astype(float)
    with pytest.raises(NeedsMissing, match="same human rating"):
        quality_bins(panel_of(human, {"m": rng.normal(size=human.shape)}))


def test_cuts_that_mean_nothing_are_named() -> None:
    panel = noisy_panel()
    with pytest.raises(NlgaugeError, match="two rising numbers"):
        quality_bins(panel, cuts=(5, 2))
    with pytest.raises(NlgaugeError, match="no cuts 'halves'"):
        quality_bins(panel, cuts="halves")  # type: ignore[arg-type]


# --- best metric


def test_the_best_metric_of_each_type_has_the_highest_absolute_rho() -> None:
    panel = upside_down(noisy_panel(noise=(0.3, 1.0, 3.0, 9.0)), "m2")
    rows = by(best_metric(panel, types={"sharp": ["m0", "m1"], "dull": ["m2", "m3"]}), "type")
    assert (rows["sharp"]["metric"], rows["sharp"]["next"]) == ("m0", "m1")
    assert rows["dull"]["metric"] == "m2" and rows["dull"]["value"] > 0  # less is better: turned
    assert rows["sharp"]["clearly_best"]


def test_the_p_to_the_next_is_williams_with_both_metrics_turned_to_rise() -> None:
    from nlgauge.stats.tests.williams import williams_test

    panel = upside_down(noisy_panel(noise=(1.0, 1.1)), "m1")
    row = best_metric(panel, types={"all": ["m0", "m1"]}, outputs="independent").rows[0]
    a, b, h = (v.ravel() for v in (panel.metrics["m0"], -panel.metrics["m1"], panel.human))
    r = [stats.spearmanr(*pair).statistic for pair in ((a, h), (b, h), (a, b))]
    assert row["p_to_next"] == pytest.approx(float(williams_test(r[0], r[1], r[2], h.size)))


def test_the_p_to_the_next_speaks_of_systems_and_inputs_like_these_where_they_are_crossed() -> None:
    from nlgauge.stats.resampling.contrasts import difference_tests

    panel = upside_down(noisy_panel(noise=(1.0, 1.1)), "m1").canonical()
    table = best_metric(panel, types={"all": ["m0", "m1"]})
    found = difference_tests(panel.oriented(), panel.human, ["global/spearman"])
    assert table.rows[0]["p_to_next"] == pytest.approx(float(found.p[0, 0]))
    assert "for systems and inputs like these" in table.method


def test_types_are_guessed_by_name_and_families_can_take_their_place() -> None:
    panel = noisy_panel()
    named = dict(zip(["bleu", "rouge-l", "sys.read.flesch", "BERTScore"], panel.metrics.values(), strict=True))
    panel = panel_of(panel.human, named)
    assert [r["type"] for r in best_metric(panel)] == ["word-based", "grammar-based", "other"]
    assert [r["type"] for r in best_metric(panel, group="family")] == ["BLEU", "ROUGE", "sys.read.flesch", "BERTScore"]
