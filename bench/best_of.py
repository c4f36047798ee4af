"""Does the interval of the best of k prompts hold its true value? The table of docs/tuning.md:
`python -m bench.coverage --write docs/tuning.md`.

k prompts judge the same rows; their errors are alike as far as a common difficulty of the rows makes them. The best one is
chosen by its figure on these rows, and its interval is compared with its own true value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtri

from bench._trust_page import table
from nlgauge.stats.agreement.verdict_changes import VALUES
from nlgauge.stats.resampling.best_of import best_verdicts

# Share of rows that each prompt judges as people do.
WORLDS = {
    "all equal": lambda k: np.full(k, 0.8),
    "from .6 to .85": lambda k: np.linspace(0.6, 0.85, k),
    "one far ahead": lambda k: np.r_[0.88, np.full(k - 1, 0.7)],
}
ALIKE = {"much": 0.8, "little": 0.3}  # of what makes a row hard, how much is common to all prompts
PASS = 0.6  # share of rows that people pass


def true_value(right: float, figure: str) -> float:
    cells = np.array([(1 - PASS) * right, (1 - PASS) * (1 - right), PASS * (1 - right), PASS * right])
    return float(VALUES[figure](cells))


def rates(k: int, n: int, world: str, alike: str, figure: str = "kappa", trials: int = 1000) -> dict[str, float]:
    """How often the honest interval and the plain one hold the chosen prompt's true value, and by how much it looks better."""
    right, common = WORLDS[world](k), ALIKE[alike]
    rng = np.random.default_rng([k, n, list(WORLDS).index(world), list(ALIKE).index(alike), figure == "kappa"])
    held, plain, above, width, own_width, done = 0, 0, 0.0, 0.0, 0.0, 0
    for _ in range(trials):
        people = rng.random(n) < PASS
        hard = np.sqrt(common) * rng.standard_normal(n) + np.sqrt(1 - common) * rng.standard_normal((k, n))
        found = best_verdicts(people, np.where(hard < ndtri(right)[:, None], people, ~people), figure)
        best, own = found.chosen.best, found.own
        if own.reason:
            continue
        truth = true_value(float(right[best]), figure)
        done += 1
        held += found.honest.low <= truth <= found.honest.high
        plain += own.low <= truth <= own.high
        above += own.value - truth
        width += found.honest.value - found.honest.low
        own_width += own.value - own.low
    return {"honest": held / done, "plain": plain / done, "above": above / done, "longer": width / own_width}


def line(k: int, n: int, world: str, alike: str) -> list[object]:
    r = rates(k, n, world, alike)
    return [k, n, world, alike, r["plain"], r["honest"], r["above"], r["longer"]]


def cells() -> dict[str, Callable[[], Any]]:
    """Name of each cell → what computes its line."""
    return {
        f"{world}/{n}/{k}/{alike}": lambda w=world, n=n, k=k, a=alike: line(k, n, w, a)
        for world in WORLDS
        for n in (60, 150, 500)
        for k in (2, 5, 10, 20)
        for alike in ALIKE
    }


def tables(kept: dict[str, Any]) -> dict[str, list[str]]:
    """Name of the place in docs/tuning.md → lines."""
    heads = [
        "prompts",
        "labels",
        "prompts are",
        "errors alike",
        "plain interval holds",
        "honest interval holds",
        "looks better by (kappa)",
        "lower half longer by",
    ]
    return {"best of": table(heads, list(kept.values()))}
