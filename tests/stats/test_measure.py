from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from nlgauge.errors import DataError, NameUnknown
from nlgauge.stats.correlation.measure import TWELVE, Estimate, Measure, all_measures, evaluate, group_values


@pytest.mark.parametrize("measure", all_measures(), ids=str)
def test_a_name_comes_back_from_its_measure(measure):
    assert Measure.parse(str(measure)) == measure


def test_the_twelve_are_in_the_order_of_the_papers_tables():
    assert [str(m) for m in TWELVE[:4]] == ["system/pearson", "system/spearman", "system/kendall", "input/pearson"]
    assert len(set(TWELVE)) == 12


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("input/tau-b", "input/kendall"),
        ("item/acc23", "item/acc-eq"),
        (" Global/Pearson ", "global/pearson"),
        ("system/tau_c", "system/tau-c"),
    ],
)
def test_other_spellings_are_understood(text, name):
    assert str(Measure.parse(text)) == name


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("summary/kendall", "'summary' may mean 'input'"),
        ("segment/kendall", "'segment' may mean 'input' (grouped by segment) or 'global'"),
        ("sample/pearson", "'sample' may mean 'global' in some papers"),
        ("dataset/pearson", "'dataset' may mean 'global'"),
        ("doc/pearson", "'doc' may mean 'input'"),
        ("system-level/pearson", "'system-level' may mean 'system'"),
        ("sytem/pearson", "Did you mean 'system'"),
        ("input/kendal", "Did you mean 'kendall'?"),
        ("kendall", "write grouping/coefficient"),
        ("input/spa", "'system/spa'"),
        ("global/top-1", "'input/top-1' or 'item/top-1'"),
        ("input/pdp", "'global/pdp'"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line_that_helps(text, part):
    with pytest.raises(NameUnknown) as error:
        Measure.parse(text)
    assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_a_refused_grouping_is_told_what_the_four_names_mean():
    with pytest.raises(NameUnknown, match=r"global \(.*input \(.*item \(.*system \("):
        Measure("summary", "kendall")


def test_a_definition_can_be_pasted_into_a_paper():
    assert Measure.parse("input/kendall").definition == (
        "Kendall's tau-b over the systems of each input, averaged over inputs "
        '(also called segment level or summary level; mt-metrics-eval average_by="item").'
    )
    assert len({m.definition for m in all_measures()}) == len(all_measures())


Z = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0], [3.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ("measure", "x", "z", "reason"),
    [
        ("input/kendall", Z[:1], Z[:1], "needs at least 2 systems, found 1"),
        ("system/kendall", Z[:1], Z[:1], "needs at least 2 systems, found 1"),
        ("item/pearson", Z[:, :1], Z[:, :1], "needs at least 2 inputs, found 1"),
        ("system/pearson", Z[:2], Z[:2], "only 2 systems: a correlation of two points is always ±1"),
        ("global/pearson", Z[:1, :2], Z[:1, :2], "only 2 outputs: a correlation of two points is always ±1"),
        ("system/spa", Z[:2], Z[:2], "only 2 systems: at least two pairs are needed"),
        ("global/pearson", Z[:1, :1], Z[:1, :1], "needs at least 3 outputs, found 1"),
        ("global/pearson", Z * np.nan, Z, "no output has both a metric score and a human score"),
        ("global/pearson", Z * 0, Z, "the metric gives all outputs the same score"),
        ("system/kendall", Z, Z * 0, "all systems have the same human rating"),
        ("input/spearman", Z, Z * 0, "in every input all outputs have the same human rating"),
        ("item/spearman", Z * 0, Z * 0, "in every system all outputs have the same score and the same human rating"),
        (
            "input/kendall",
            np.array([[1.0, 5.0, 1.0], [1.0, 6.0, np.nan]]),
            np.array([[1.0, 2.0, 1.0], [2.0, 2.0, 1.0]]),
            "no input is left: in 1 fewer than 2 outputs have both scores, "
            "in 1 the metric gives all outputs the same score, in 1 all outputs have the same human rating",
        ),
        ("input/tau-13", Z * 0, Z, "in every input the metric gives all outputs the same score"),
        (
            "system/spa",
            np.where(np.eye(3), Z, np.nan),
            Z,
            "1 − mean |p_h − p_m| over system pairs is undefined on these scores",
        ),
    ],
)
def test_where_there_is_no_number_there_is_a_reason(measure, x, z, reason):
    estimate = Measure.parse(measure)(x, z)
    assert math.isnan(estimate.value)
    assert (estimate.reason, estimate.n, estimate.groups) == (reason, 0, 0)


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_pairwise_difference_pearson_is_the_correlation_of_all_differences(gaps):
    rng = np.random.default_rng(4)
    z = rng.normal(size=(7, 30)).round(1) + rng.normal(size=30) * 5  # inputs differ far more than systems
    x = z * 0.5 + rng.normal(size=z.shape) + rng.normal(size=30) * 9
    x[rng.random(x.shape) < gaps] = np.nan
    z[rng.random(z.shape) < gaps] = np.nan
    plain = [
        (x[i, s] - x[j, s], z[i, s] - z[j, s])
        for s in range(30)
        for i in range(7)
        for j in range(7)
        if i != j and np.isfinite([x[i, s], x[j, s], z[i, s], z[j, s]]).all()
    ]
    found = Measure.parse("global/pdp")(x, z)
    assert found.value == pytest.approx(np.corrcoef(np.array(plain).T)[0, 1], abs=1e-12)
    assert found.n == np.isfinite(x * z).sum()
    shifted = Measure.parse("global/pdp")(x * 3 + rng.normal(size=30) * 50, z)  # what is added to an input is nothing
    assert shifted.value == pytest.approx(found.value, abs=1e-9)


def test_scores_that_do_not_differ_within_an_input_have_no_differences():
    x = np.tile([0.1, 0.7, 0.3], (4, 1))
    assert Measure.parse("global/pdp")(x, np.arange(12.0).reshape(4, 3)).reason == (
        "r(xᵢ − xⱼ, zᵢ − zⱼ) over all pairs i ≠ j of each input is undefined on these scores"
    )


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (1, 2), (2, 1), (2, 2), (1, 5), (5, 1), (3, 3)])
@pytest.mark.parametrize("fill", ["numbers", "constant", "missing", "infinite"])
def test_no_shape_and_no_content_raises_or_stays_silent(shape, fill):
    rng = np.random.default_rng(0)
    z = rng.normal(size=shape)
    x = {"numbers": rng.normal(size=shape), "constant": z * 0, "missing": z * np.nan, "infinite": z * np.inf}[fill]
    found = evaluate(np.stack([x, z]), z, all_measures())
    for k in range(2):
        for j, measure in enumerate(all_measures()):
            estimate = found.at(k, j)
            assert math.isnan(estimate.value) == (estimate.reason is not None), (k, measure, estimate)
            assert estimate.groups + estimate.dropped == group_values(z[None], z, measure).shape[1]
    assert evaluate(np.empty((0, *shape)), z, TWELVE).value.shape == (0, 12)


def test_one_system_has_global_and_item_measures_and_they_are_equal():
    x, z = np.random.default_rng(0).normal(size=(2, 1, 20))
    for name in ("pearson", "spearman", "kendall"):
        assert Measure("item", name)(x, z).value == Measure("global", name)(x, z).value


def test_two_systems_have_an_input_measure_of_plus_and_minus_ones():
    x = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])
    z = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    assert Measure.parse("input/pearson")(x, z) == Estimate(0.0, 4, 2, 1, None)


def test_system_means_use_the_cells_that_both_sides_have():
    x = np.array([[1.0, np.nan, 9.0], [2.0, 2.0, 2.0], [3.0, 3.0, np.inf]])
    z = np.array([[1.0, 50.0, np.nan], [2.0, 2.0, 2.0], [3.0, 4.0, -50.0]])
    estimate = Measure.parse("system/pearson")(x, z)
    expected = np.corrcoef([1.0, 2.0, 3.0], [1.0, 2.0, 3.5])[0, 1]
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    assert estimate.n == 1 + 3 + 2


def test_equal_system_means_stay_tied():
    z = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.3, 0.3, 0.3]])
    assert z[0].sum() != z[1].sum()
    x = np.array([[1.0, 1, 1], [2.0, 2, 2], [3.0, 3, 3]])
    assert Measure.parse("system/kendall")(x, z).value == pytest.approx(2 / math.sqrt(3 * 2))


def test_extreme_scores_give_the_same_measures():
    rng = np.random.default_rng(1)
    x, z = rng.uniform(0.1, 1, size=(1, 6, 50)), rng.uniform(-1, 1, size=(6, 50))
    plain, extreme = (evaluate(x, z, TWELVE), evaluate(x * 1e308, z * 1e-300, TWELVE))  # sums of x would overflow
    np.testing.assert_allclose(extreme.value, plain.value, atol=1e-12, rtol=0)


def test_many_measures_at_once_give_the_same_as_one_at_a_time():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(4, 7, 11)), rng.integers(0, 3, (7, 11)).astype(float)
    x[rng.random(x.shape) < 0.1] = np.nan
    together = evaluate(x, z, all_measures())
    for j, measure in enumerate(all_measures()):
        for k in range(4):
            assert together.at(k, j) == measure(x[k], z), measure


def test_the_value_is_the_mean_of_the_group_values():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 5, 9)), rng.integers(0, 2, (5, 9)).astype(float)
    for measure in all_measures():
        by_group = group_values(x, z, measure)
        np.testing.assert_allclose(np.nanmean(by_group, axis=1), evaluate(x, z, [measure]).value[:, 0], atol=1e-14)


def test_arrays_that_do_not_fit_are_refused_with_their_sizes():
    with pytest.raises(DataError, match=r"\(1, 2, 3\) and \(3, 2\)"):
        evaluate(np.zeros((1, 2, 3)), np.zeros((3, 2)), TWELVE)


def test_measures_can_be_named_without_loading_kernels():
    code = (
        "import sys; from nlgauge.stats.correlation.measure import TWELVE; sys.exit('nlgauge.kernels.panel' "
        "in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
