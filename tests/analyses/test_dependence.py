"""Hints that systems or inputs may not be independent."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.analyses.agreement.dependence import dependence_hints
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load

NAMES = ("BART", "MV_BART", "gpt-4", "gpt-4o", "zeta", "PGN")
PLAIN = ("A", "B", "C", "D", "E", "F")


def made(names: tuple[str, ...] = PLAIN, size: int = 4, shared: str = "ratings", seed: int = 3) -> Dataset:
    """80 inputs in documents of `size`, which share half of the variance of the ratings or of the metric's errors, or
    on which the metric is good or bad.
    """
    rng = np.random.default_rng(seed)

    def noise() -> np.ndarray:
        return rng.normal(size=(len(names), 80))

    def documents() -> np.ndarray:
        return np.repeat(rng.normal(size=(len(names), 80 // size)), size, axis=1)

    ability = np.linspace(-2, 2, len(names))[:, None]
    human = (documents() if shared == "ratings" else noise()) + noise() + ability
    weight = np.repeat(rng.choice([0.1, 4.0], 80 // size), size)
    error = documents() + noise() if shared == "scores" else noise()
    metric = human + error * (weight if shared == "agreement" else 1.0)
    rows = [
        {"system": name, "input": f"x{j}", "quality": human[i, j], "m": metric[i, j], "topic": f"t{j // size}"}
        for j in range(80)
        for i, name in enumerate(names)
    ]
    return load(rows, name="made", human=["quality"], metrics=["m"])


def test_both_hints_name_the_option_whatever_the_order_of_the_panel() -> None:
    panel = made(NAMES).panel()
    family, inputs = dependence_hints(panel)
    assert family == (
        "Some system names look related (BART and MV_BART; gpt-4 and gpt-4o): variants of one model are not "
        "independent, so confidence intervals may be too narrow. If they are variants, declare their family with "
        "family='(bart|gpt)'."
    )
    assert inputs.startswith("Adjacent inputs have correlated ratings (lag-1 correlation 0.")
    assert inputs.endswith(
        ", p < .001): if they come from one document or conversation, declare its column with cluster=; otherwise "
        "confidence intervals may be too narrow."
    )
    canonical = panel.canonical()
    assert canonical.inputs != panel.inputs
    assert dependence_hints(canonical) == [family, inputs]


def test_a_proposed_pattern_makes_the_groups_that_are_listed() -> None:
    data = made(NAMES)
    pattern = dependence_hints(data.panel())[0].split("'")[1]
    assert data.with_family(pattern).panel().families == ("bart", "bart", "gpt", "gpt", "zeta", "PGN")
    # 'bart' is also part of the name of an unrelated system, so no pattern is proposed
    hint = dependence_hints(made(("BART", "S_BART", "bartleby", "Q", "R", "S")).panel())[0]
    assert hint.endswith("declare their family with family=.")


def test_what_is_named_is_not_hinted_at() -> None:
    data = made(NAMES)
    assert len(dependence_hints(data.clustered("topic").panel())) == 1
    assert len(dependence_hints(data.with_family("(bart|gpt)").panel())) == 1
    assert dependence_hints(data.clustered("topic").with_family("(bart|gpt)").panel()) == []


@pytest.mark.parametrize(
    ("shared", "what"), [("scores", "metric scores"), ("agreement", "agreement between metrics and ratings")]
)
def test_documents_are_found_by_the_metrics_where_the_ratings_are_independent(shared: str, what: str) -> None:
    (hint,) = dependence_hints(made(shared=shared).panel())
    assert hint.startswith(f"Adjacent inputs have correlated {what} (lag-1 correlation 0.")


def test_independent_inputs_and_few_inputs_give_no_hint() -> None:
    assert dependence_hints(made(size=1).panel()) == []
    few = made()
    few = few.where(few.samples.filter(few.samples["input"].is_in([f"x{j}" for j in range(16)])))
    assert dependence_hints(few.panel()) == []


def test_missing_ratings_and_one_system_are_no_obstacle() -> None:
    data = made()
    one = data.where(data.samples.filter(data.samples["system"] == "A"))
    assert len(dependence_hints(one.panel())) == 1
    ratings = data.ratings.filter(np.random.default_rng(4).random(data.ratings.height) < 0.5)
    thinned = Dataset.of("thinned", data.samples, ratings=ratings, scores=data.scores)
    assert len(dependence_hints(thinned.panel())) == 1


@pytest.mark.parametrize(("family", "hinted"), [(3, True), (1, False)])
def test_adjacent_systems_with_the_same_errors_are_noticed_even_in_a_file_sorted_by_quality(
    family: int, hinted: bool
) -> None:
    rng = np.random.default_rng(5)
    quality = np.repeat(np.sort(rng.normal(size=24 // family)), family)
    rows = [
        {"system": name, "input": f"x{j}", "quality": q + noise, "a": q + e + rng.normal(), "b": q - e + rng.normal()}
        for name, q, e in zip(
            "ABCDEFGHIJKLMNOPQRSTUVWX", quality, np.repeat(rng.normal(size=24 // family), family), strict=True
        )
        for j, noise in enumerate(rng.normal(size=30))
    ]
    data = load(rows, name="made", human=["quality"], metrics=["a", "b"])
    assert ["family=" in hint for hint in dependence_hints(data.panel())] == [True] * hinted
