"""Simulated studies for `plan --goal delegate`: how often does a rule decide the wanted share of the outputs?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nlgauge.analyses.verdicts._labeled import human_pass, labeled_scores, requested_judges
from nlgauge.data.panel import Panel
from nlgauge.stats.agreement.selective import both_thresholds, selective_rule
from nlgauge.types import Array, Mask

DELTA = 0.05  # of each kind of verdict: `delegate` with confidence 0.9 and one judge


def decided_share(score: Array, passed: Mask, error: float, clusters: list[int] | None) -> float:
    """Return the share of these labeled outputs that the rules of both verdicts decide."""
    rules = [
        selective_rule(sign * score, wrong, error=error, delta=DELTA, clusters=clusters)
        for sign, wrong in ((1, ~passed), (-1, passed))
    ]
    above, below = both_thresholds(score, passed, rules[0], rules[1])
    decided = np.zeros(len(score), bool)
    if above is not None:
        decided |= score > above
    if below is not None:
        decided |= score < below
    return float(decided.mean())


def delegations(
    panel: Panel,
    sampler_of: Callable[..., Any],
    drawn: Callable[..., Any],
    share: float,
    error: float,
    cut: float | None,
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each judge with what simulates studies of it: 1 where the rule decides at least the wanted share."""
    people = human_pass(panel, cut)
    for name in requested_judges(panel, None):
        rows = labeled_scores(panel, name, people)
        sampler = sampler_of(panel, rows.index[1])
        affinity = sampler.affinity(rows.passed.astype(float)) if sampler else 0.0

        def study(
            n: int,
            rng: np.random.Generator,
            trials: int,
            rows: Any = rows,
            sampler: Any = sampler,
            near: float = affinity,
        ) -> tuple[Array, int | None]:
            places, clusters = drawn(sampler, near, len(rows.passed), n, trials, rng)
            units = None if clusters is None else clusters.tolist()
            # Labels without an error do not show an error rate of 0: the rule of succession turns some verdicts.
            turned = rng.random(places.shape) < 1 / (len(rows.passed) + 2)
            reached = [
                decided_share(rows.score[at], rows.passed[at] ^ turn, error, units) >= share
                for at, turn in zip(places, turned, strict=True)
            ]
            return np.array(reached, float), None if clusters is None else int(clusters.max()) + 1

        yield name, study
