"""Rank representations and distances between rankings (colombo2023, Eq. 1 to 4)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from nlgauge.stats.ranking.rankings import (
    BLOCKS,
    RULES,
    block_values,
    input_representation,
    rank_distances,
    ranks,
    system_representation,
)


def rough(seed: int, shape: tuple[int, int, int] = (5, 7, 12), holes: float = 0.0) -> np.ndarray:
    """Few distinct values, so that there are ties, and constant inputs."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, shape).astype(float)
    scores[1, :, 3] = 2.0
    scores[rng.random(shape) < holes] = np.nan
    return scores


def twin(scores: np.ndarray, i: int, j: int, rule: str) -> float:
    """Pair by pair and input by input, as Eq. 3 says."""
    distances = []
    for u in range(scores.shape[2]):
        both = np.isfinite(scores[i, :, u]) & np.isfinite(scores[j, :, u])
        a, b = scores[i, both, u], scores[j, both, u]
        if rule == "tau-b":
            tau = kendalltau(a, b).statistic if len(a) > 1 else np.nan
            distances.append((1 - tau) / 2)
            continue
        turned = told = pairs = 0
        for s in range(len(a)):
            for t in range(s):
                sign = np.sign(a[s] - a[t]) * np.sign(b[s] - b[t])
                turned, told, pairs = turned + (sign < 0), told + (sign != 0), pairs + 1
        below = pairs if rule == "inversions" else told
        distances.append(turned / below if below else np.nan)
    known = [d for d in distances if not np.isnan(d)]
    return float(np.mean(known)) if known else float("nan")


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("holes", [0.0, 0.25])
@pytest.mark.filterwarnings("ignore")  # scipy warns of constant inputs
def test_distances_are_those_of_scipy_and_of_counting_pairs(rule: str, holes: float) -> None:
    scores = rough(1, holes=holes)
    found = rank_distances(scores, np.zeros(5, bool)).mean[rule]  # type: ignore[index]
    for i in range(5):
        for j in range(5):
            if i != j:
                assert found[i, j] == pytest.approx(twin(scores, i, j, rule), abs=1e-12)
    assert (np.diag(found) == 0).all()


def test_the_same_order_is_0_and_the_opposite_1_under_every_rule() -> None:
    a = np.random.default_rng(0).normal(size=(6, 9))
    found = rank_distances(np.stack([a, np.exp(a), -a]), np.zeros(3, bool))
    for rule in RULES:
        assert found.mean[rule][0, 1:] == pytest.approx([0, 1])


def test_tied_pairs_cost_nothing_half_or_are_not_counted() -> None:
    # Three systems, one input: people tie the first two, the metric turns the last two round.
    people, metric = np.array([1.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    found = rank_distances(np.stack([people, metric])[:, :, None], np.array([True, False])).mean
    assert found["inversions"][0, 1] == pytest.approx(1 / 3)  # one turned of three pairs
    assert found["decided"][0, 1] == pytest.approx(1 / 2)  # one turned of the two that both tell
    assert found["tau-b"][0, 1] == pytest.approx((1 - 0 / np.sqrt(2 * 3)) / 2)


def test_an_input_that_one_side_ties_is_counted_out() -> None:
    found = rank_distances(rough(1), np.zeros(5, bool))
    assert found.inputs["tau-b"][0, 1] == 11
    assert found.inputs["inversions"][0, 1] == 12


def test_blocks_are_means_over_pairs_of_people_and_metrics() -> None:
    human = np.array([True, True, False, False, False])
    found = rank_distances(rough(2), human)
    d = found.mean["tau-b"]
    by_hand = {BLOCKS[0]: [d[0, 1]], BLOCKS[1]: [d[2, 3], d[2, 4], d[3, 4]], BLOCKS[2]: d[:2, 2:].ravel().tolist()}
    for block, values in by_hand.items():
        assert found.blocks["tau-b"][block].value == pytest.approx(np.mean(values))
        assert found.blocks["tau-b"][block].pairs == len(values)
        assert sorted(block_values(d, human)[block]) == pytest.approx(sorted(values))


def test_one_aspect_has_no_block_of_people() -> None:
    assert BLOCKS[0] not in rank_distances(rough(2), np.arange(5) < 1).blocks["tau-b"]


def test_block_intervals_are_as_wide_as_the_bootstrap_over_inputs_says() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(8, 60))
    scores = np.stack([truth + rng.normal(0, 1, truth.shape) for _ in range(4)])
    human = np.array([True, True, False, False])
    block = rank_distances(scores, human).blocks["tau-b"][BLOCKS[2]]
    drawn = [
        rank_distances(scores[:, :, rng.integers(0, 60, 60)], human).blocks["tau-b"][BLOCKS[2]].value
        for _ in range(300)
    ]
    assert block.high - block.low == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.15)


def test_equation_1_sums_ranks_over_inputs_and_equation_2_over_systems() -> None:
    scores = rough(3)
    by_system = np.array([[rankdata(-scores[k, :, u]) for u in range(12)] for k in range(5)]).sum(axis=1)
    by_input = np.array([[rankdata(-scores[k, s]) for s in range(7)] for k in range(5)]).sum(axis=1)
    assert system_representation(scores) == pytest.approx(by_system)
    assert input_representation(scores) == pytest.approx(by_input)


def test_missing_cells_keep_sums_comparable() -> None:
    scores = np.tile(np.arange(4.0)[None, :, None], (1, 1, 10))
    full = system_representation(scores)
    scores[0, 3, 5:] = np.nan  # the best system is missing on half of the inputs
    assert np.argsort(system_representation(scores)[0]).tolist() == np.argsort(full[0]).tolist()
    assert np.isnan(ranks(scores, 1)[0, 3, 7])
