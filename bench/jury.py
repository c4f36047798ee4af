"""How often is a panel of judges wrongly called better than the best judge, and how often rightly? Do the intervals of
the correlation of errors hold? The tables of docs/jury.md: `python -m bench.coverage --write docs/jury.md`.

Judges of pass and fail err with known rates; judges with numbers are people's rating and noise. Where no panel is
better than the best single judge, whatever is called better is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench._trust_page import table
from nlgauge.analyses.judges._jury_rows import JuryRows
from nlgauge.analyses.judges.jury import BETTER, _choose_panel, _compare_single, _votes
from nlgauge.stats.agreement.jury import errors_alike

SIZES, TRIALS = (60, 200), 150
EQUAL = 0.49 / 0.58  # accuracy of one judge that equals the majority of it and two of .7
COPIES = "one judge, two that repeat it with noise"
# accuracies; share of rows on which right or wrong is everybody's
VERDICTS = {
    "one judge as good as any panel": ((EQUAL, 0.7, 0.7), 0.0),
    "the same and two coins": ((EQUAL, 0.7, 0.7, 0.5, 0.5), 0.0),
    "one good judge, four poor": ((0.9, 0.6, 0.6, 0.6, 0.6), 0.0),
    "five that err alone": ((0.8,) * 5, 0.0),
    "five that err half together": ((0.8,) * 5, 0.5),
}
# variances of the noise; share of the noise that is everybody's
SCORES = {
    COPIES: ((0.5, 0.1, 0.3), 0.0),
    "one judge as good as any mean": ((0.5, 2.5352, 2.5352), 0.0),  # weights gain: only the chosen panel is held to it
    "five that err alone": ((1.0,) * 5, 0.0),
    "five that err half together": ((1.0,) * 5, 0.5),
}
NONE = ("one judge as good as any panel", "the same and two coins", COPIES)
GAINS = dict.fromkeys(NONE, "none") | {
    "one good judge, four poor": "below 0",
    "one judge as good as any mean": "none; with weights above 0",
}
WORLDS = [*VERDICTS, *SCORES]


def rows_of(kind: str, world: str, n: int, rng: np.random.Generator) -> JuryRows:
    """Rows of one system, every input a row."""
    if kind == "verdicts":
        right, shared = VERDICTS[world]
        labels = (rng.random(n) < 0.5).astype(float)
        own = rng.random((len(right), n)) < np.array(right)[:, None]
        correct = np.where(rng.random(n) < shared, rng.random(n) < np.mean(right), own)
        scores = np.where(correct, labels, 1 - labels)
    else:
        noise, shared = SCORES[world]
        labels = rng.normal(size=n)
        each = np.sqrt(shared) * rng.normal(size=n) + np.sqrt(1 - shared) * rng.normal(size=(len(noise), n))
        scores = np.sqrt(np.array(noise))[:, None] * each + labels
        if world == COPIES:
            scores[1:] += scores[0] - labels
    at = (np.zeros(n, np.int64), np.arange(n))
    measure = "kappa" if kind == "verdicts" else "global/pearson"
    names = [f"judge {k}" for k in range(len(scores))]
    return JuryRows(names, labels, scores, np.arange(n), at, (1, n), kind == "verdicts", measure, False)


def called_better(rows: JuryRows, seed: int, level: float = 0.95) -> tuple[bool, bool]:
    """Whether the chosen panel, and whether any panel, is called better."""
    everyone = list(range(len(rows.judges)))
    votes = _votes(rows, seed, [])
    _, _, held_out = _choose_panel(rows, [1.0] * len(everyone), None, 5, seed)
    joint = 1 - (1 - level) / (len(votes) + 1)
    said = [
        _compare_single(rows, scores, everyone, joint)["verdict"] == BETTER for scores in [*votes.values(), held_out]
    ]
    return said[-1], any(said)


def cell(kind: str, world: str, n: int, trials: int) -> list[object]:
    found = np.zeros(2)
    for trial in range(trials):
        rng = np.random.default_rng([n, WORLDS.index(world), kind == "scores", trial])
        found += called_better(rows_of(kind, world, n, rng), trial)
    return [kind, world, n, GAINS.get(world, "above 0"), *(found / trials).tolist()]


def true_correlation(kind: str, world: str) -> float:
    """Mean correlation of errors, from a million rows."""
    rows = rows_of(kind, world, 1_000_000, np.random.default_rng(7))
    if kind == "scores":
        found = np.corrcoef(rows.scores - rows.labels)
    else:
        found = np.mean([np.corrcoef(rows.scores[:, rows.labels == k]) for k in (0, 1)], axis=0)
    return float(found[np.triu_indices(len(found), 1)].mean())


def coverage(kind: str, world: str, n: int, trials: int) -> list[object]:
    truth, hits, width = true_correlation(kind, world), 0, 0.0
    for trial in range(trials):
        rows = rows_of(kind, world, n, np.random.default_rng([n, 5, kind == "scores", trial]))
        _, low, high = errors_alike(rows.labels, rows.scores, rows.clusters).mean
        hits += low <= truth <= high
        width += high - low
    return [kind, world, n, truth, hits / trials, width / trials]


def cells() -> dict[str, Callable[[], Any]]:
    """Name of each cell → what computes its line."""
    worlds = [
        (kind, world, n)
        for kind, known in (("verdicts", VERDICTS), ("scores", SCORES))
        for world in known
        for n in SIZES
    ]
    return {
        f"called/{kind}/{world}/{n}": lambda at=(kind, world, n): cell(*at, TRIALS) for kind, world, n in worlds
    } | {
        f"held/{kind}/{world}/{n}": lambda at=(kind, world, n): coverage(*at, 2 * TRIALS)
        for kind, world, n in worlds
        if world.startswith("five")
    }


def tables(kept: dict[str, Any]) -> dict[str, list[str]]:
    """Name of the place in docs/jury.md → lines."""
    heads = ["", "judges", "labels", "true gain", "chosen panel called better", "any panel called better"]
    cover = ["", "judges", "labels", "mean error correlation", "coverage of 95 %", "mean width"]
    return {
        name: table(head, [row for cell, row in kept.items() if cell.startswith(f"{name}/")])
        for name, head in (("called", heads), ("held", cover))
    }
