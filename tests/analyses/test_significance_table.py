"""The pairwise tests: the statistics behind them, direction of every row, corrections, invariances."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, same_rows, upside_down, with_holes, with_metrics
from scipy.stats import false_discovery_control

from nlgauge.analyses.comparing.compare_pairs import compare_pairs
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.resampling.contrasts import contrasts, difference_tests
from nlgauge.stats.tests.permutation import permutation_test
from nlgauge.stats.tests.williams import williams_pairs

MEASURE = "input/pairwise-accuracy"  # the default


def test_each_p_is_that_of_the_permutation_test_of_the_pair() -> None:
    panel = noisy_panel()
    for row in compare_pairs(panel, test="permutation", draws=99, seed=3):
        x1, x2 = panel.metrics[row["better"]], panel.metrics[row["worse"]]
        test = permutation_test(x1, x2, panel.human, [MEASURE], draws=99, seed=3)
        assert row["p"] == pytest.approx(float(test.p[0]))
        assert row["difference"] == pytest.approx(float(test.difference[0]))


def test_williams_rows_equal_the_test_of_the_statistics() -> None:
    panel = noisy_panel()
    rows = by(compare_pairs(panel, test="williams", measure="global/pearson"), "better", "worse")
    found = williams_pairs(panel.stacked(), panel.human, ["global/pearson"])
    for (i, j), p in zip(found.pairs, found.p[:, 0], strict=True):
        pair = (panel.names[i], panel.names[j])
        assert (rows.get(pair) or rows[pair[::-1]])["p"] == pytest.approx(p)


def test_a_clear_difference_is_found_by_every_test() -> None:
    panel = noisy_panel(systems=12, inputs=40)
    for test in ("auto", "permutation", "williams", "bootstrap"):
        row = by(compare_pairs(panel, test=test, draws=200, measure="global/pearson"), "better", "worse")["m0", "m3"]
        assert row["significant"], test


def test_the_order_of_metrics_changes_nothing() -> None:
    panel = noisy_panel()
    assert same_rows(compare_pairs(panel, draws=99), compare_pairs(reordered(panel), draws=99))


def test_turning_a_metric_upside_down_changes_nothing() -> None:
    panel = noisy_panel()
    assert same_rows(compare_pairs(panel, draws=99), compare_pairs(upside_down(panel, "m1"), draws=99))


def test_the_better_metric_of_a_row_is_the_better_one_on_the_outputs_that_both_scored() -> None:
    panel = with_holes(noisy_panel(noise=(1.0, 1.05, 1.1, 1.0, 1.02)), share=0.5)
    for row in compare_pairs(panel, draws=19, measure="global/pearson"):
        both = np.stack([panel.metrics[row["better"]], panel.metrics[row["worse"]]])
        both[:, np.isnan(both).any(axis=0)] = np.nan
        better, worse = evaluate(both, panel.human, [Measure.parse("global/pearson")]).value[:, 0]
        assert better >= worse
        assert row["difference"] == pytest.approx(better - worse)
        assert row["n"] == np.isfinite(both[0]).sum()


def test_a_one_sided_profile_asks_whether_the_better_metric_is_better() -> None:
    panel = noisy_panel(systems=12, inputs=40)
    table = compare_pairs(panel, profile="mt-metrics-eval", draws=99, measure="global/pearson", correction="none")
    row = by(table, "better", "worse")["m0", "m3"]
    assert row["p"] < 0.05
    assert row["difference"] > 0


def test_scores_that_differ_below_rounding_do_not_break_the_kernels() -> None:
    """CIDEr of HANNA: values around 1e-20 beside 10 become equal once standardised."""
    panel = noisy_panel(systems=6, inputs=40)
    tiny = np.where(panel.metrics["m1"] > 1, 10.0, np.arange(240).reshape(6, 40)[::-1] * 1e-20)
    table = compare_pairs(
        with_metrics(panel, {"a": panel.metrics["m0"], "b": tiny}),
        measure="global/kendall",
        test="permutation",
        draws=49,
    )
    snapped = compare_pairs(
        with_metrics(panel, {"a": panel.metrics["m0"], "b": np.where(tiny == 10, 10.0, 0.0)}),
        measure="global/kendall",
        test="permutation",
        draws=49,
    )
    assert table.rows[0]["p"] == snapped.rows[0]["p"]


def test_corrections_are_those_of_scipy_and_holm_by_hand() -> None:
    panel = noisy_panel(noise=(1.0, 1.5, 2.0))
    raw = [r["p"] for r in compare_pairs(panel, draws=199, correction="none")]
    bh = [r["p_corrected"] for r in compare_pairs(panel, draws=199, correction="bh")]
    assert bh == pytest.approx(false_discovery_control(raw).tolist())
    holm = [r["p_corrected"] for r in compare_pairs(panel, draws=199, correction="holm")]
    ordered = sorted(raw)
    by_hand = {p: min(1.0, max((3 - k) * q for k, q in enumerate(ordered[: i + 1]))) for i, p in enumerate(ordered)}
    assert holm == pytest.approx([by_hand[p] for p in raw])


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    panel = noisy_panel()
    first = compare_pairs(panel, test="permutation", draws=99, seed=5)
    assert same_rows(first, compare_pairs(panel, test="permutation", draws=99, seed=5))
    assert not same_rows(first, compare_pairs(panel, test="permutation", draws=99, seed=7))


def test_the_default_test_draws_nothing_and_asks_about_systems_and_inputs_like_these() -> None:
    panel = noisy_panel()
    table = compare_pairs(panel, seed=5)
    assert same_rows(table, compare_pairs(panel, seed=6))
    assert table.method.startswith("Test for systems and inputs like these")
    found = difference_tests(panel.oriented(), panel.human, [MEASURE])
    rows = by(table, "better", "worse")
    for (i, j), p in zip(found.pairs, found.p[:, 0], strict=True):
        pair = (panel.names[i], panel.names[j])
        assert (rows.get(pair) or rows[pair[::-1]])["p"] == pytest.approx(p)


def test_the_default_correction_is_simultaneous_and_that_of_a_named_test_is_holm() -> None:
    panel = noisy_panel(noise=(1.0, 1.5, 2.0, 2.2))
    table = compare_pairs(panel)
    place = [panel.names.index(n) for n in ("m0", "m1", "m2", "m3")]
    together = contrasts(panel.canonical().oriented()[place], panel.canonical().human, MEASURE)
    for row in table:
        i, j = int(row["better"][1]), int(row["worse"][1])
        assert row["p_corrected"] == pytest.approx(together.pairs.p[i, j])
        assert row["p_corrected"] >= row["p"]
        assert row["significant"] == (row["p_corrected"] < 0.05)
    assert "simultaneous (max-t" in table.method
    holm = compare_pairs(panel, correction="holm")
    assert [r["p"] for r in holm] == [r["p"] for r in table]
    assert [r["p_corrected"] for r in holm] != [r["p_corrected"] for r in table]
    named = compare_pairs(panel, test="williams", measure="global/pearson")
    assert same_rows(named, compare_pairs(panel, test="williams", measure="global/pearson", correction="holm"))
    with pytest.raises(NameUnknown, match="correction=simultaneous requires test=auto"):
        compare_pairs(panel, test="williams", measure="global/pearson", correction="simultaneous")


def test_naming_what_is_swapped_or_a_profile_asks_for_the_permutation_test() -> None:
    panel = noisy_panel()
    for asked in ({"how": "both"}, {"profile": "nlpstats"}):
        assert compare_pairs(panel, draws=19, **asked).method.startswith("Permutation test")


def test_few_systems_are_spoken_of_as_these_and_few_inputs_not_at_all() -> None:
    panel = noisy_panel(systems=4, inputs=30)
    table = compare_pairs(panel)
    assert "these systems and inputs like these" in table.method
    assert "With fewer than 6 systems, results do not generalize to other systems." in table.notes
    few = compare_pairs(noisy_panel(systems=8, inputs=6))
    assert all(np.isnan(r["p"]) and not r["significant"] for r in few)
    assert any("needs at least 10 inputs; here are 6" in note for note in few.notes)


def test_an_undefined_metric_stands_last_without_a_p() -> None:
    panel = noisy_panel()
    flat = with_metrics(panel, {**panel.metrics, "flat": np.ones_like(panel.human)})
    table = compare_pairs(flat, measure="input/kendall")
    assert all(np.isnan(r["p"]) and not r["significant"] for r in table if r["worse"] == "flat")
    assert not any(r["better"] == "flat" for r in table)
    assert any("4 pairs could not be tested" in note for note in table.notes)


def test_under_pairwise_accuracy_a_constant_is_tested_as_chance() -> None:
    panel = noisy_panel(systems=12, inputs=40)
    flat = with_metrics(panel, {**panel.metrics, "flat": np.ones_like(panel.human)})
    rows = by(compare_pairs(flat), "better", "worse")
    values = evaluate(panel.stacked(), panel.human, [Measure.parse(MEASURE)]).value[:, 0]
    for name, value in zip(panel.names[:3], values, strict=False):
        assert rows[name, "flat"]["difference"] == pytest.approx(value - 0.5)
        assert rows[name, "flat"]["significant"]


def test_mistakes_are_named() -> None:
    panel = noisy_panel()
    with pytest.raises(NeedsMissing, match="at least two"):
        compare_pairs(with_metrics(panel, {"m0": panel.metrics["m0"]}))
    with pytest.raises(NameUnknown, match="correction must be simultaneous"):
        compare_pairs(panel, correction="bonferoni")  # type: ignore[arg-type]
    with pytest.raises(NameUnknown, match="test must be auto"):
        compare_pairs(panel, test="t")  # type: ignore[arg-type]
    with pytest.raises(NameUnknown, match="profile"):
        compare_pairs(panel, profile="nlpstat")
    with pytest.raises(NeedsMissing, match="input/pairwise-accuracy"):
        compare_pairs(panel_of(np.ones((3, 4)), {"a": np.ones((3, 4)), "b": np.ones((3, 4))}))


def test_too_few_draws_for_the_number_of_pairs_are_said_with_what_would_do() -> None:
    from nlgauge import example

    panel = example().panel()
    pairs = len(panel.names) * (len(panel.names) - 1) // 2
    few = panel.analyze("compare-pairs", measure="input/kendall", test="permutation", draws=19)
    assert any("too few draws" in note and f"draws={int(pairs / 0.05) + 1}" in note for note in few.notes)
    enough = panel.analyze("compare-pairs", measure="input/kendall", test="permutation", draws=int(pairs / 0.05) + 1)
    assert not any("too few draws" in note for note in enough.notes)
