from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nlgauge.stats.correlation.coefficients import COEFFICIENTS, coefficient, ratio
from nlgauge.stats.correlation.groups import GROUPINGS
from nlgauge.stats.correlation.measure import Measure, all_measures, evaluate

# what each pair adds above and below the line, by what metric and people say about it
RULES = {
    "tau-a": {"C": (1, 1), "D": (-1, 1), "Th": (0, 1), "Tm": (0, 1), "Thm": (0, 1)},
    "tau-10": {"C": (1, 1), "D": (-1, 1), "Th": (0, 0), "Tm": (-1, 1), "Thm": (0, 0)},
    "tau-13": {"C": (1, 1), "D": (-1, 1), "Th": (0, 0), "Tm": (0, 0), "Thm": (0, 0)},
    "tau-14": {"C": (1, 1), "D": (-1, 1), "Th": (0, 0), "Tm": (0, 1), "Thm": (0, 0)},
    "tau-23": {"C": (1, 1), "D": (-1, 1), "Th": (-1, 1), "Tm": (-1, 1), "Thm": (1, 1)},
    "acc-eq": {"C": (1, 1), "D": (0, 1), "Th": (0, 1), "Tm": (0, 1), "Thm": (1, 1)},
    "pairwise-accuracy": {"C": (1, 1), "D": (0, 1), "Th": (0, 0), "Tm": (0.5, 1), "Thm": (0, 0)},
}


def kind(x, z, i, j):
    if x[i] == x[j]:
        return "Thm" if z[i] == z[j] else "Tm"
    if z[i] == z[j]:
        return "Th"
    return "C" if (x[i] < x[j]) == (z[i] < z[j]) else "D"


def direct(name, x, z):
    pairs = [RULES[name][kind(x, z, i, j)] for i, j in combinations(range(len(x)), 2)]
    below = sum(b for _, b in pairs)
    return sum(a for a, _ in pairs) / below if below else math.nan


TABLES = arrays(float, st.tuples(st.integers(2, 7), st.integers(1, 5)), elements=st.integers(0, 3).map(float))


@pytest.mark.parametrize("name", RULES)
@given(data=st.data())
def test_pair_coefficients_equal_a_direct_count_of_pairs(name, data):
    x = data.draw(TABLES)
    z = data.draw(arrays(float, x.shape, elements=st.integers(0, 3).map(float)))
    expected = [direct(name, x[:, j], z[:, j]) for j in range(x.shape[1])]
    kept = [v for v in expected if not math.isnan(v)]
    estimate = Measure("input", name)(x, z)
    assert (estimate.groups, estimate.dropped) == (len(kept), len(expected) - len(kept))
    assert estimate.value == pytest.approx(np.mean(kept) if kept else math.nan, abs=1e-12, nan_ok=True)


def test_a_constant_group_counts_for_accuracy_with_ties_but_not_for_tau_b():
    x = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    z = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
    assert Measure("input", "acc-eq")(x, z).groups == 2
    assert Measure("input", "acc-eq")(x, z).value == 1.0
    assert Measure("input", "kendall")(x, z).dropped == 1


@pytest.mark.parametrize("grouping", GROUPINGS)
@pytest.mark.parametrize("level", [0.0, 7.0, 0.1, -1 / 3])
def test_a_constant_has_pairwise_accuracy_one_half_in_every_grouping(grouping, level):
    x, z = random_panel()
    constant = np.full_like(x, level)
    constant[1, 2, 3] = constant[2, :, 4] = np.nan
    estimate = evaluate(constant, z, [Measure(grouping, "pairwise-accuracy")])
    assert estimate.value.tolist() == [[0.5]] * 3
    assert evaluate(-x, z, [Measure(grouping, "pairwise-accuracy")]).value == pytest.approx(
        1 - evaluate(x, z, [Measure(grouping, "pairwise-accuracy")]).value
    )


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_pairwise_accuracy_is_undefined_only_where_people_order_nothing(grouping):
    x, z = random_panel()
    assert np.isnan(evaluate(x, np.ones_like(z), [Measure(grouping, "pairwise-accuracy")]).value).all()
    halved = (1 + evaluate(x, z, [Measure(grouping, "tau-14")]).value) / 2
    assert evaluate(x, z, [Measure(grouping, "pairwise-accuracy")]).value == pytest.approx(halved)


def test_top_1_is_the_share_of_the_metrics_best_that_people_find_best():
    z = np.array([[3.0, 3.0, 1.0, np.nan], [3.0, 1.0, 2.0, 1.0], [1.0, 2.0, 3.0, 1.0]])
    x = np.array([[9.0, 9.0, 9.0, 9.0], [1.0, 9.0, 9.0, np.nan], [1.0, 1.0, 1.0, 5.0]])
    measure = Measure.parse("input/top-1")
    estimate = measure(x, z)
    # hit; one of two tied bests; neither of two; last input has one output with both scores
    assert (estimate.value, estimate.groups, estimate.dropped) == (pytest.approx((1 + 0.5 + 0) / 3), 3, 1)
    assert Measure.parse("item/top-1")(x.T, z.T).value == estimate.value


def random_panel(seed=0, shape=(6, 9)):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 4, shape).astype(float)
    return z + rng.normal(size=(3, *shape)), z


@pytest.mark.parametrize("measure", all_measures(), ids=str)
def test_every_measure_is_blind_to_the_order_of_systems_and_inputs(measure):
    x, z = random_panel()
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(z.shape[0]), rng.permutation(z.shape[1])
    shuffled = evaluate(x[:, rows][:, :, columns], z[rows][:, columns], [measure]).value
    # swaps are drawn per input, so soft pairwise accuracy moves within its Monte Carlo noise
    tolerance = 0.05 if measure.coefficient == "spa" else 1e-12
    np.testing.assert_allclose(shuffled, evaluate(x, z, [measure]).value, atol=tolerance, rtol=0)


@pytest.mark.parametrize("measure", all_measures(), ids=str)
def test_every_measure_is_highest_for_people_themselves(measure):
    x, z = random_panel()
    best = measure(z, z).value
    assert best >= evaluate(x, z, [measure]).value.max()
    assert best == pytest.approx(1.0, abs=0.35 if measure.coefficient in ("tau-a", "tau-c") else 1e-12)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_every_coefficient_says_what_it_is(name):
    facts = COEFFICIENTS[name]
    assert facts.definition.endswith(".")
    assert facts.label
    assert facts.formula
    assert set(facts.groupings) <= set(GROUPINGS)


def test_a_new_coefficient_is_one_decorated_function():
    @coefficient("ties", label="ties", title="Share of ties", needs="counts", definition="-.", formula="T/all")
    def ties(s):
        return ratio(s.tied_human + s.tied_metric + s.tied_both, s.n * (s.n - 1) // 2)

    try:
        x = np.array([[1.0], [1.0], [2.0]])
        assert Measure.parse("input/ties")(x, x).value == pytest.approx(1 / 3)
    finally:
        del COEFFICIENTS["ties"]
