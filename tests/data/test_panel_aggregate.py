"""How ratings of an output become one: mean, median, or MACE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown, NeedsMissing


def rows(raters: dict[str, Any], systems: int = 4, inputs: int = 15) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    out = []
    for s in range(systems):
        for i in range(inputs):
            truth = int(rng.integers(1, 6))
            out += [
                {
                    "system": f"s{s}",
                    "input": f"i{i}",
                    "annotator": name,
                    "quality": give(truth, rng),
                    "truth": float(truth),
                }
                for name, give in raters.items()
            ]
    return out


def honest(truth: int, rng: np.random.Generator) -> int:
    return truth


def spammer(truth: int, rng: np.random.Generator) -> int:
    return 5


def of(raters: dict[str, Any], **sizes: int) -> Dataset:
    return load(rows(raters, **sizes), human=["quality"], metrics=["truth"], rater="annotator")


def dice(truth: int, rng: np.random.Generator) -> int:
    return int(rng.integers(1, 6))


def test_mace_hears_two_honest_raters_and_not_two_who_throw_dice() -> None:
    data = of({"ann": honest, "bob": honest, "x": dice, "y": dice})
    truth = data.panel().metrics["truth"]
    mace = data.panel(aggregate="mace").human
    assert (mace == truth).all()
    assert not (data.panel(aggregate="median").human == truth).all()
    assert set(np.unique(mace)) <= {1.0, 2.0, 3.0, 4.0, 5.0}


def test_mean_and_median_are_numpys() -> None:
    data = of({"ann": honest, "x": spammer, "y": spammer})
    cube = data.panel().raters["quality"]
    np.testing.assert_allclose(data.panel().human, cube.mean(axis=0))
    np.testing.assert_allclose(data.panel(aggregate="median").human, np.median(cube, axis=0))


def test_the_seed_decides() -> None:
    data = of({"ann": honest, "bob": honest, "x": spammer})
    a, b = (data.panel(aggregate="mace", seed=3).human for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_what_mace_cannot_take_is_named() -> None:
    fine = of({"ann": lambda t, rng: t + rng.random(), "bob": lambda t, rng: t + rng.random()})
    with pytest.raises(NeedsMissing, match="at most 20; the ratings have 120 distinct values"):
        fine.panel(aggregate="mace")
    lone = load(
        [{"system": "a", "input": i, "quality": i % 3, "m": i} for i in range(9)], human=["quality"], metrics=["m"]
    )
    with pytest.raises(NeedsMissing, match="at least two annotators with IDs"):
        lone.panel(aggregate="mace")
    with pytest.raises(NameUnknown, match="no aggregate 'mode'"):
        lone.panel(aggregate="mode")


def test_the_signature_says_what_was_done() -> None:
    data = of({"ann": honest, "bob": honest, "x": spammer})
    assert "aggregate:mace" in data.panel(aggregate="mace").correlate(measures=["global/pearson"]).signature
    assert "aggregate" not in data.panel().correlate(measures=["global/pearson"]).signature
