"""Delete-one intervals and tests: equal to a plain twin, honest about what is too little, the same in any order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.correlation.measure import TWELVE, Measure, evaluate
from nlgauge.stats.resampling.contrasts import difference_tests
from nlgauge.stats.resampling.jackknife import (
    INPUTS,
    SYSTEMS,
    LeaveOneOut,
    input_groups,
    intervals,
    output_sets,
    student_p,
)
from nlgauge.stats.resampling.rank_intervals import kendall_interval, perfect, spearman_interval

MEASURES = [str(m) for m in TWELVE]
DELETED = [str(m) for m in TWELVE if str(m) not in ("system/spearman", "system/kendall")]


def panel(
    seed: int, systems: int = 9, inputs: int = 24, metrics: int = 2, gaps: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, (systems, 1)) + rng.normal(0, 0.7, inputs) + rng.normal(0, 1, (systems, inputs))
    z = np.clip(np.round(3 + truth), 1, 5)
    x = np.stack([truth + rng.normal(0, 1 + k, truth.shape) for k in range(metrics)])
    x[rng.random(x.shape) < gaps] = np.nan
    return x, z


def variance(values: list[float]) -> float:
    n = len(values)
    return (n - 1) / n * sum((v - sum(values) / n) ** 2 for v in values)


def by_hand(x: np.ndarray, z: np.ndarray, measure: str) -> tuple[float, float]:
    """The interval of one metric, deleting rows and columns of the arrays themselves."""
    m = Measure.parse(measure)

    def of(a: np.ndarray, b: np.ndarray) -> float:
        return float(np.arctanh(evaluate(a[None], b, [m]).value[0, 0]))

    n, inputs = z.shape
    without_system = variance([of(np.delete(x, i, 0), np.delete(z, i, 0)) for i in range(n)]) * n / (n - 0.5)
    without_input = variance([of(np.delete(x, j, 1), np.delete(z, j, 1)) for j in range(inputs)])
    sets = output_sets(z)
    without_set = variance([of(x, np.where(sets == s, np.nan, z)) for s in range(sets.max() + 1)])
    own = max(without_input - without_set, 0.0)
    total = max(without_system + own, without_input)
    free = (without_system + own) ** 2 / (without_system**2 / (n - 1) + own**2 / (inputs - 1))
    half = stats.t.ppf(0.975, np.clip(free, n - 1, inputs - 1)) * np.sqrt(total)
    return float(np.tanh(of(x, z) - half)), float(np.tanh(of(x, z) + half))


@pytest.mark.parametrize("measure", DELETED)
def test_intervals_equal_deleting_rows_and_columns_by_hand(measure: str) -> None:
    x, z = panel(1)
    found = intervals(x, z, [measure])
    for k in range(2):
        assert (found.low[k, 0], found.high[k, 0]) == pytest.approx(by_hand(x[k], z, measure), abs=1e-9)


def test_rank_correlations_of_middling_size_between_means_have_bonett_and_wrights_interval() -> None:
    half = stats.t.ppf(0.975, 10) * np.sqrt(0.437 / 8)
    assert kendall_interval(0.3, 12) == pytest.approx(tuple(np.tanh(np.arctanh(0.3) + side) for side in (-half, half)))
    half = stats.t.ppf(0.975, 10) * np.sqrt((1 + 0.4**2 / 2) / 9)
    low, high = spearman_interval(0.4, 0.3, 12)
    assert (low, high) == pytest.approx(tuple(np.tanh(np.arctanh(0.4) + side) for side in (-half, half)), abs=0.06)


@pytest.mark.parametrize("systems", [8, 12, 20])
@pytest.mark.parametrize("tau", [0.0, 0.6, 0.9])
def test_the_interval_of_tau_holds_for_normal_scores_also_near_one(systems: int, tau: float) -> None:
    rng, rho, trials = np.random.default_rng(7), np.sin(np.pi / 2 * tau), 600
    held = 0
    for _ in range(trials):
        x = rng.standard_normal(systems)
        found = stats.kendalltau(x, rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(systems)).statistic
        low, high = kendall_interval(float(found), systems)
        held += low <= tau <= high
    assert stats.binomtest(held, trials, 0.95, "less").pvalue > 0.001, held / trials


def test_a_turned_metric_has_the_turned_interval() -> None:
    for tau in (0.2, 0.85, 1.0):
        low, high = kendall_interval(tau, 10)
        assert kendall_interval(-tau, 10) == pytest.approx((-high, -low))


def test_one_system_and_few_systems_speak_of_inputs_only() -> None:
    for systems in (1, SYSTEMS - 1):
        x, z = panel(3, systems=systems, inputs=40)
        found = intervals(x, z, ["global/pearson"])
        assert found.over == "inputs"
        left = [
            float(np.arctanh(np.corrcoef(np.delete(x[0], j, 1).ravel(), np.delete(z, j, 1).ravel())[0, 1]))
            for j in range(40)
        ]
        half = stats.t.ppf(0.975, 39) * np.sqrt(variance(left))
        centre = np.arctanh(np.corrcoef(x[0].ravel(), z.ravel())[0, 1])
        assert found.low[0, 0] == pytest.approx(np.tanh(centre - half))


@pytest.mark.parametrize(("systems", "inputs"), [(2, 2), (3, 3), (8, INPUTS - 1), (1, INPUTS - 1)])
def test_too_few_data_give_no_interval_and_no_p_but_what_would_be_needed(systems: int, inputs: int) -> None:
    x, z = panel(4, systems, inputs)
    found = intervals(x, z, MEASURES)
    kept = [j for j, m in enumerate(MEASURES) if not (systems >= SYSTEMS and m.startswith("system/"))]
    assert np.isnan(found.low[:, kept]).all() and np.isnan(found.high[:, kept]).all()
    assert all("at least 10 inputs" in found.reason[k, j] for k in range(2) for j in kept)
    assert np.isnan(difference_tests(x, z, MEASURES).p[:, kept]).all()


def test_asking_for_other_systems_with_too_few_is_refused_with_the_number_needed() -> None:
    x, z = panel(5, systems=4, inputs=30)
    found = intervals(x, z, ["input/kendall"], over="both")
    assert "needs at least 6 systems; here are 4" in found.reason[0, 0]


def test_perfect_agreement_is_not_an_interval_of_one_point() -> None:
    z = np.arange(8.0)[:, None] + np.zeros((8, 20))
    found = intervals((z * 2 + 1)[None], z, ["input/kendall", "system/kendall", "global/pearson"])
    assert found.value[0] == pytest.approx([1.0, 1.0, 1.0])
    assert (found.low < 0.9).all() and (found.high == 1.0).all()
    assert found.low[0, 0] == pytest.approx(perfect(8, 0.95))
    turned = intervals(-z[None], z, ["input/kendall"])
    assert (turned.low[0, 0], turned.high[0, 0]) == (-1.0, pytest.approx(-perfect(8, 0.95)))


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_neither_rows_nor_columns_nor_their_order_nor_units_matter(gaps: float) -> None:
    x, z = panel(6, metrics=3, gaps=gaps)
    rng = np.random.default_rng(0)
    rows, cols = rng.permutation(z.shape[0]), rng.permutation(z.shape[1])
    a, b = (intervals(x, z, MEASURES), intervals(5 * x[:, rows][:, :, cols] - 3, 2 * z[rows][:, cols] + 1, MEASURES))
    assert np.allclose(a.low, b.low, atol=1e-10) and np.allclose(a.high, b.high, atol=1e-10)
    keep = [m for m in MEASURES if not m.startswith("system/")]
    p, q = (difference_tests(*t, keep).p for t in ((x, z), (5 * x[:, rows][:, :, cols] - 3, z[rows][:, cols])))
    assert np.allclose(p, q, atol=1e-10)


def test_a_metric_does_not_change_what_is_said_of_another() -> None:
    x, z = panel(7, metrics=3, gaps=0.1)
    alone, together = intervals(x[:1], z, MEASURES), intervals(x, z, MEASURES)
    assert np.allclose(alone.low[0], together.low[0], atol=1e-12)
    pair = difference_tests(x[:2], z, MEASURES[3:]).p[0]
    assert np.allclose(pair, difference_tests(x, z, MEASURES[3:]).p[0], atol=1e-12)


def test_equal_metrics_have_p_one_and_clusters_are_left_out_whole() -> None:
    x, z = panel(8)
    assert difference_tests(np.stack([x[0], x[0]]), z, ["input/kendall"]).p[0, 0] == 1.0
    clusters = np.repeat(np.arange(6), 4)
    assert input_groups(x, z, clusters).tolist() == clusters.tolist()
    whole = intervals(x, z, ["item/pearson"], clusters=clusters)
    assert not np.allclose(whole.low, intervals(x, z, ["item/pearson"]).low)


def test_very_many_inputs_are_left_out_in_groups_of_even_size() -> None:
    x, z = panel(9, systems=6, inputs=1000)
    sizes = np.bincount(input_groups(x, z))
    assert len(sizes) == 250 and set(sizes.tolist()) == {4}
    low, high = (getattr(intervals(x, z, ["item/pearson"]), end)[0, 0] for end in ("low", "high"))
    assert 0 < high - low < 0.5


def test_sets_of_outputs_take_one_system_of_every_input() -> None:
    _, z = panel(10, systems=9, inputs=50)
    sets = output_sets(z)
    assert all(sorted(sets[:, j].tolist()) == list(range(9)) for j in range(50))
    assert all(np.bincount(sets[i], minlength=9).max() < 20 for i in range(9))


def test_few_documents_are_too_few_however_many_inputs_they_have() -> None:
    x, z = panel(11, systems=8, inputs=40)
    five = np.repeat(np.arange(5), 8)
    found = intervals(x, z, ["input/kendall"], clusters=five)
    assert "at least 10 documents or conversations; here are 5" in found.reason[0, 0]
    assert np.isnan(difference_tests(x, z, ["input/kendall"], clusters=five).p).all()


def test_inputs_of_one_document_that_fare_alike_widen_the_interval() -> None:
    """Twenty documents of ten copies each carry what twenty inputs carry."""
    x, z = panel(12, systems=8, inputs=20)
    many = np.repeat(x, 10, axis=2), np.repeat(z, 10, axis=1)
    documents = np.repeat(np.arange(20), 10)
    alone, whole = (intervals(*many, ["item/pearson"], clusters=c, over="inputs") for c in (None, documents))
    single = intervals(x, z, ["item/pearson"], over="inputs")
    assert whole.high[0, 0] - whole.low[0, 0] == pytest.approx(single.high[0, 0] - single.low[0, 0])
    assert alone.high[0, 0] - alone.low[0, 0] < 0.5 * (whole.high[0, 0] - whole.low[0, 0])


def difference(value: float, moves: np.ndarray, outputs: float) -> LeaveOneOut:
    """A difference whose jackknife variance over systems is 1, and over sets of outputs `outputs`."""

    def around(deviations: np.ndarray, size: float) -> np.ndarray:
        n = len(deviations)
        scaled = deviations - deviations.mean()
        return value + scaled * np.sqrt(size * n / (n - 1) / (scaled**2).sum())

    even = np.tile([-1.0, 1.0], 20)
    return LeaveOneOut(
        np.array([value]), around(moves, 1.0)[None], around(even, 1e-6)[None], around(even[: len(moves)], outputs)[None]
    )


EVEN, SKEWED = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]), np.array([-5.0, 1.0, 1.0, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("moves", [EVEN, SKEWED, -SKEWED])
@pytest.mark.parametrize("outputs", [1e-6, 0.5, 3.0])
def test_a_larger_difference_never_has_a_larger_p_value(moves: np.ndarray, outputs: float) -> None:
    for sign in (-1, 1):
        p = [student_p(difference(sign * v, moves, outputs), of_differences=True)[0] for v in np.linspace(0.0, 8, 400)]
        assert (np.diff(p) <= 1e-12).all()


def test_the_variance_of_single_outputs_lowers_p_values_near_the_level_but_not_very_small_ones() -> None:
    def p(value: float, outputs: float) -> float:
        return float(student_p(difference(value, EVEN, outputs), of_differences=True)[0])

    assert p(2.0, 1.0) < 0.06
    assert p(2.0, 1e-6) == pytest.approx(2 * stats.t.sf(2 / np.sqrt(0.87), 5), rel=0.001)
    assert p(10.0, 1.0) == pytest.approx(p(10.0, 1e-6), rel=0.01)


def test_p_values_of_differences_equal_the_steps_by_hand() -> None:
    """Six systems; large values have large errors, so a negative difference counts less and a positive one no more."""
    n, third = 6, 25 * 5.0 / 30 / np.sqrt(30) * (6 / 5) ** 1.5 * 24 / 25 * 5 / 4
    for value in (-2.5, 2.5):
        size = abs(value) / np.sqrt(4 / 6) * np.sqrt(4 / 6 / 0.87)
        if value < 0:
            a = -third * 2.5
            size = abs(size + a * size**2 / 3 + a**2 * size**3 / 27 + a / 6)
        size *= 1 + 2 * (stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975) - 1) * (0.5 / 1.5) / (1 + (size / 3) ** 8)
        p = student_p(difference(value, SKEWED, 0.5), of_differences=True)[0]
        assert p == pytest.approx(2 * stats.t.sf(size, n - 1), rel=1e-6)
