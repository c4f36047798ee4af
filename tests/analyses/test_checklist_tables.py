"""The checklist's analyses on small data: scipy for distances, counts and orders by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, upside_down, with_holes
from scipy.stats import ks_2samp
from small_datasets import dataset

from nlgauge.analyses.checklist.aspect_preference import aspect_preference
from nlgauge.analyses.checklist.discrimination import discrimination
from nlgauge.analyses.checklist.inter_aspect import inter_aspect
from nlgauge.analyses.checklist.rater_rows import rated_rows, with_overall
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing

NAN = np.nan


def two_aspects(panel: Panel, seed: int = 0) -> Panel:
    rng = np.random.default_rng(seed)
    cube = np.clip(panel.raters["quality"] + rng.integers(-1, 2, panel.raters["quality"].shape), 1, 5)
    return replace(panel, humans={**panel.humans, "charm": cube.mean(axis=0)}, raters={**panel.raters, "charm": cube})


# --- rater rows ---


def test_there_is_one_row_a_rater_and_output() -> None:
    panel = two_aspects(noisy_panel(systems=4, inputs=5))
    rows = rated_rows(panel)
    assert len(rows.cell) == 3 * 4 * 5
    assert len(rated_rows(panel, "output").cell) == 4 * 5
    row = 7  # the first rater, the eighth cell
    assert rows.human["charm"][row] == panel.raters["charm"][0].ravel()[row]
    assert rows.system[row] == 1


def test_an_output_with_an_average_only_keeps_one_row() -> None:
    cube = np.array([[[1.0, 2.0], [NAN, 4.0]], [[2.0, 2.0], [NAN, 5.0]]])
    panel = panel_of(np.array([[1.5, 2.0], [3.0, 4.5]]), {"m": np.ones((2, 2))}, raters=cube)
    rows = rated_rows(panel)
    assert sorted(rows.human["quality"].tolist()) == [1, 2, 2, 2, 3, 4, 5]


def test_overall_is_the_mean_of_a_raters_aspects() -> None:
    panel = with_overall(two_aspects(noisy_panel()))
    mean = (panel.raters["quality"] + panel.raters["charm"]) / 2
    assert np.allclose(panel.raters["Overall"], mean)
    assert np.allclose(panel.humans["Overall"], mean.mean(axis=0))
    assert with_overall(panel) is panel


# --- levels of quality ---


def test_distances_between_levels_are_scipys_on_rater_rows() -> None:
    panel = two_aspects(noisy_panel())
    found = by(discrimination(panel, draws=19), "metric", "contrast")
    ratings = panel.raters["quality"]
    for contrast, one, two in (
        ("Lo-Hi", ratings < 3, ratings > 3),
        ("Lo-Mod", ratings < 3, ratings == 3),
        ("Hi-Mod", ratings > 3, ratings == 3),
    ):
        scores = np.broadcast_to(panel.metrics["m1"], ratings.shape)
        row = found["m1", contrast]
        assert row["value"] == pytest.approx(ks_2samp(scores[one], scores[two]).statistic)
        assert (row["n_first"], row["n_second"]) == (int(one.sum()), int(two.sum()))
        people = panel.raters["charm"]
        assert found["human: charm", contrast]["value"] == pytest.approx(ks_2samp(people[one], people[two]).statistic)


def test_the_other_raters_stand_beside_the_metrics() -> None:
    panel = noisy_panel()
    ratings = panel.raters["quality"]
    others = (ratings.sum(axis=0) - ratings) / 2
    theirs = ks_2samp(others[ratings < 3], others[ratings > 3]).statistic
    found = by(discrimination(panel, draws=9), "metric", "contrast")
    assert found["human: other raters", "Lo-Hi"]["value"] == pytest.approx(theirs)


def test_means_of_the_raters_can_be_the_unit() -> None:
    panel = noisy_panel()
    low, high = panel.human < 7 / 3, panel.human > 11 / 3
    found = by(discrimination(panel, unit="output", draws=9), "metric", "contrast")
    theirs = ks_2samp(panel.metrics["m0"][low], panel.metrics["m0"][high]).statistic
    assert found["m0", "Lo-Hi"]["value"] == pytest.approx(theirs)


def test_bins_and_counts_are_said() -> None:
    table = discrimination(noisy_panel(), draws=9)
    assert "low < 2.33, high > 3.67 (thirds of 1–5)" in table.method
    assert "the paper's cuts" in discrimination(noisy_panel(), bins="paper", draws=9).method


def test_an_empty_level_has_no_distance_but_a_reason() -> None:
    human = np.array([[0.0, 0, 1, 1], [0, 1, 1, 0]])
    table = discrimination(panel_of(human, {"m": human * 2}), draws=19)
    found = by(table, "metric", "contrast")
    assert found["m", "Lo-Hi"]["value"] == 1
    assert np.isnan(found["m", "Lo-Mod"]["value"])
    assert found["m", "Lo-Mod"]["reason"] == "no moderate rows"
    assert any("not available: Lo-Mod, Hi-Mod (no moderate rows)" in note for note in table.notes)


def test_a_metric_of_which_less_is_better_is_judged_alike() -> None:
    panel = noisy_panel()
    for run in (discrimination, aspect_preference):
        straight, turned = run(panel), run(upside_down(panel, "m1"))
        if run is aspect_preference:
            assert [straight.text(r, "order") for r in straight] == [turned.text(r, "order") for r in turned]
        keys = ("value", "p") if run is discrimination else ("value", "high_minus_low")
        assert [[r[k] for k in keys] for r in straight] == [[r[k] for k in keys] for r in turned]


def test_missing_scores_are_left_out() -> None:
    panel = with_holes(noisy_panel(), share=0.3)
    ratings = panel.raters["quality"]
    scores = np.broadcast_to(panel.metrics["m2"], ratings.shape)
    there = ~np.isnan(scores)
    theirs = ks_2samp(scores[there & (ratings < 3)], scores[there & (ratings > 3)]).statistic
    assert by(discrimination(panel, draws=9), "metric", "contrast")["m2", "Lo-Hi"]["value"] == pytest.approx(theirs)


def test_levels_are_ordered_by_the_mean_score() -> None:
    human = np.array([[1.0, 3, 5, 1], [3, 5, 5, 1]])
    right, wrong = human.copy(), -human
    bent = np.where(human == 3, 9.0, human)
    table = aspect_preference(panel_of(human, {"right": right, "wrong": wrong, "bent": bent}))
    found = by(table, "metric")
    assert found["right"]["value"] == 1.0
    assert table.text(found["right"], "order") == "low < moderate < high"
    assert table.text(found["bent"], "order") == "low < high < moderate"
    assert found["bent"]["value"] == pytest.approx(0.6)
    assert found["wrong"]["high_minus_low"] < 0
    assert [found["bent"][f"mean_{level}"] for level in ("low", "moderate", "high")] == [1, 9, 5]


# --- several aspects ---


def test_aspects_agree_as_counted_by_hand() -> None:
    a = [[1, 5, 3, 5]]
    b = [[1, 1, 3, 5]]
    row = inter_aspect(dataset({"a": a, "b": b}, {})).rows[0]
    assert (row["same_level"], row["opposite"], row["n"]) == (0.75, 0.25, 4)
    assert row["r"] == pytest.approx(np.corrcoef(a[0], b[0])[0, 1])


def test_one_aspect_cannot_disagree_with_itself() -> None:
    with pytest.raises(NeedsMissing, match="at least 2 aspects"):
        inter_aspect(dataset({"a": [[1, 2]]}, {"m": [[1, 2]]}))
