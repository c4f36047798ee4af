"""Draws of rows to label: probabilities that are kept, and estimates that stay right."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.stats.design.label_sampling import (
    ClusterSampler,
    allocation,
    combined_probability,
    coordinated_draw,
    explained,
    inclusion,
    learned_spread,
    neighbor_order,
    proportional_draw,
    random_draw,
    with_floor,
)
from nlgauge.stats.estimation.means import PartlyLabeled, mean_estimate

ROWS, N = 40, 12
SIZE = with_floor(np.random.default_rng(5).gamma(1.0, 1.0, ROWS))
SYSTEM, UNIT = np.repeat(np.arange(4), 10), np.tile(np.arange(10), 4)
PLACES = neighbor_order(np.random.default_rng(6).normal(size=(ROWS, 3)))
DESIGNS = {
    "random": lambda rng: random_draw(ROWS, N, rng),
    "proportional": lambda rng: proportional_draw(SIZE, N, rng),
    "along an order": lambda rng: proportional_draw(SIZE, N, rng, PLACES),
    "coordinated": lambda rng: coordinated_draw(SYSTEM, UNIT, inclusion(SIZE, N), rng),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_rows_are_drawn_as_often_as_their_probability_says(design):
    rng, draws = np.random.default_rng(1), 1500
    drawn = np.zeros(ROWS)
    for _ in range(draws):
        found = DESIGNS[design](rng)
        assert len(set(found.rows.tolist())) == len(found.rows)
        assert design == "coordinated" or len(found.rows) == N
        drawn[found.rows] += 1
    sure = 4.5 * np.sqrt(found.probability * (1 - found.probability) / draws)
    assert (np.abs(drawn / draws - found.probability) <= sure + 1e-12).all()


def test_systems_with_the_same_probability_get_the_same_inputs():
    found = coordinated_draw(SYSTEM, UNIT, np.full(ROWS, 0.3), np.random.default_rng(2))
    inputs = [sorted(UNIT[found.rows[SYSTEM[found.rows] == s]]) for s in range(4)]
    assert all(i == inputs[0] for i in inputs)


def test_a_second_draw_aimed_by_the_labels_of_the_first_leaves_the_mean_unbiased():
    rng = np.random.default_rng(3)
    y = rng.gamma(1.0, 1.0, 60)
    score = y + rng.normal(size=60)
    errors = []
    for _ in range(1500):
        first = random_draw(60, 16, rng)
        labels = np.full(60, np.nan)
        labels[first.rows] = y[first.rows]
        rest = np.setdiff1d(np.arange(60), first.rows)
        aimed = learned_spread(score, labels)[rest] * (1 + 5 * (score[rest] > labels[first.rows].max()))
        second = proportional_draw(with_floor(aimed), 16, rng)
        rows = np.concatenate([first.rows, rest[second.rows]])
        each = np.concatenate([first.probability[first.rows], second.probability[second.rows]])
        weight = 1 / combined_probability(each, np.repeat([1, 2], 16))
        errors.append((weight * y[rows]).sum() / 60 - y.mean())
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(len(errors))


def test_one_random_draw_in_two_parts_weighs_nearly_as_one():
    each = combined_probability(np.repeat([20 / 1000, 40 / 980], [20, 40]), np.repeat([1, 2], [20, 40]))
    assert each == pytest.approx(60 / 1000, rel=0.05)
    assert (1 / each).sum() == pytest.approx(1000)


def test_allocation_follows_spread_and_never_exceeds_a_stratum():
    counts = allocation(np.array([100, 100, 3]), np.array([1.0, 3.0, 9.0]), 43)
    assert counts.sum() == 43
    assert counts[2] == 3 and counts[1] == pytest.approx(30, abs=1)


def test_few_labels_in_each_stratum_share_one_weight_and_the_interval_holds():
    rng, rows, draws = np.random.default_rng(4), 480, 600
    group = np.repeat(np.arange(12), 40)
    level = rng.normal(size=12)[group]
    y = level + rng.normal(size=(draws, rows))
    score = y - level + rng.normal(size=(draws, rows))
    labels = np.full((draws, rows), np.nan)
    for d in range(draws):
        chosen = np.concatenate([rng.permutation(np.flatnonzero(group == g))[:5] for g in range(12)])
        labels[d, chosen] = y[d, chosen]
    found = mean_estimate(PartlyLabeled(labels, score, strata=group))
    alone = mean_estimate(PartlyLabeled(labels, strata=group), "labels")
    truth = level.mean()  # the groups are these; their rows are new in every repetition
    assert np.mean((found.low <= truth) & (truth <= found.high)) > 0.93
    assert found.se.mean() < 0.85 * alone.se.mean()


@pytest.mark.parametrize(("share", "groups"), [(0.0, 0), (0.3, 0), (0.3, 4), (0.7, 2)])
def test_the_share_explained_is_unbiased_enough_and_its_interval_holds(share, groups):
    rng, held, values = np.random.default_rng(8), 0, []
    for _ in range(300):
        x, strata = rng.normal(size=60), rng.integers(0, max(groups, 1), 60)
        y = np.sqrt(share) * x + np.sqrt(1 - share) * rng.normal(size=60)
        value, low, high = explained(x, y, strata if groups else None)
        held += low <= share <= high
        values.append(value)
    assert held / 300 > 0.85  # the interval takes scores as given; here they are drawn anew
    assert np.mean(values) == pytest.approx(share, abs=0.03)


def test_the_share_explained_is_that_of_statsmodels_and_needs_labels():
    import statsmodels.api as sm

    rng = np.random.default_rng(9)
    x, strata = rng.normal(size=50), rng.integers(0, 3, 50)
    y = x + strata + rng.normal(size=50)
    design = sm.add_constant(np.column_stack([x, strata == 1, strata == 2]).astype(float))
    assert explained(x, y, strata)[0] == pytest.approx(sm.OLS(y, design).fit().rsquared_adj)
    labels = np.where(np.arange(50) < 5, y, np.nan)
    assert np.isnan(explained(x, labels, strata)).all()
    assert np.isnan(explained(x, np.ones(50))).all()


def test_a_layout_labels_rows_at_random_or_whole_clusters_and_repeats_a_small_file():
    sizes, codes = np.array([1, 3, 6]), np.array([0, 1, 2])
    rng = np.random.default_rng(1)
    for whole in (False, True):
        layout = ClusterSampler(sizes, codes, whole).layout(10, rng)
        assert sorted(np.bincount(layout)) == [1, 3, 6]
        assert (np.count_nonzero(np.diff(layout)) == 2) == whole
        repeated = ClusterSampler(sizes, codes, whole).layout(25, rng)
        assert len(repeated) == 25 and not set(repeated[:10]) & set(repeated[10:])
        first = [ClusterSampler(sizes, codes, whole).layout(4, rng) for _ in range(2000)]
        assert all(set(each) == set(range(each.max() + 1)) for each in first)
        together = np.mean([each[0] == each[1] for each in first])
        assert together == pytest.approx(2 / 3 if whole else (3 * 2 + 6 * 5) / (10 * 9), abs=0.045)


@pytest.mark.parametrize("per_cluster", [2, 10])
@pytest.mark.parametrize("similarity", [0.0, 0.3, 0.8])
def test_rows_of_a_simulated_cluster_are_as_similar_as_in_the_data(similarity, per_cluster):
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(400), per_cluster)
    values = np.sqrt(similarity) * rng.normal(size=400)[codes] + np.sqrt(1 - similarity) * rng.normal(size=len(codes))
    sampler = ClusterSampler(np.full(400, per_cluster), codes, whole=True)
    clusters = sampler.layout(len(codes), rng)
    drawn = values[sampler.draw(clusters, sampler.affinity(values), 20, rng)]
    assert drawn.var() == pytest.approx(values.var(), rel=0.1)
    pairs = np.argsort(clusters, kind="stable").reshape(-1, per_cluster)[:, :2]
    correlation = np.corrcoef(drawn[:, pairs].reshape(-1, 2).T)[0, 1]
    assert correlation == pytest.approx(similarity, abs=0.1)


def test_few_pairs_of_labels_are_taken_as_similar():
    rng = np.random.default_rng(3)
    alone = ClusterSampler(np.full(50, 10), np.arange(50), whole=False)
    assert alone.affinity(rng.normal(size=50)) == pytest.approx(np.sqrt(0.5))
    assert alone.affinity(np.ones(50)) == 0


def test_a_draw_stays_in_one_cluster_or_takes_all_rows():
    rng = np.random.default_rng(4)
    codes = np.array([2, 0, 1, 0, 2, 2])
    sampler = ClusterSampler(np.full(3, 4), codes, whole=True)
    clusters = np.repeat(np.arange(3), 4)
    inside = codes[sampler.draw(clusters, 1.0, 1000, rng)].reshape(1000, 3, 4)
    assert (inside == inside[:, :, :1]).all()
    for affinity in (0.0, 1.0, np.linspace(0, 1, 12)):
        shares = np.bincount(sampler.draw(clusters, affinity, 3000, rng).reshape(-1)) / 36000
        assert shares == pytest.approx(np.full(6, 1 / 6), abs=0.02)
