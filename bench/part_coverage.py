"""Coverage of the intervals of distributions, steps and rubrics: 2,000 simulated data sets per cell.

    python bench/part_coverage.py > part_coverage.md

Parts of one output share a difficulty. Figures: the difference of a judge from one more annotator (Jensen-Shannon,
five annotators), same first failed part, recall on failed parts, difference of the shares of passed parts, difference
and correlation of rubric totals.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from nlgauge.analyses.verdicts.rubric import correlation_interval
from nlgauge.stats.agreement.classes import class_share
from nlgauge.stats.agreement.distributions import clustered_mean, face_others
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.estimation.rubric_totals import rubric_totals

SETS = 2000
FIGURES = ("distribution", "first_failure", "part_recall", "share_difference", "total_difference", "total_correlation")
CELLS = [(outputs, parts, right) for outputs in (20, 50, 200) for parts in (3, 8) for right in (0.6, 0.75, 0.9)]
POINTS = np.array([5.0, 3, 4, -2, 1, 6, -3, 2])


def draw(rng: np.random.Generator, outputs: int, parts: int, right: float) -> Iterator[tuple[str, Figure]]:
    """The figures of one data set."""
    quality = rng.beta(3, 1, outputs)[:, None]
    skill = rng.beta(8 * right, 8 * (1 - right), outputs)[:, None]
    human = rng.random((outputs, parts)) < quality
    judge = np.where(rng.random((outputs, parts)) < skill, human, ~human)
    first = [np.where(~v.all(axis=1), (~v).argmax(axis=1), parts) for v in (human, judge)]
    unit = np.repeat(np.arange(outputs), parts)
    truth = rng.integers(0, 3, outputs)
    said = np.where(rng.random((6, outputs)) < skill[:, 0], truth, rng.integers(0, 3, (6, outputs))).astype(float)
    faced = face_others(said[:5], said[5], 3, "jensen_shannon")
    yield "distribution", clustered_mean(faced.judge - faced.annotator, faced.outputs, prior=faced.spread)
    yield "first_failure", class_share((first[0] == first[1]) * 1.0, np.ones(outputs))
    failed = (~human).sum(axis=1) * 1.0
    yield "part_recall", class_share(((~human) & (~judge)).sum(axis=1) * 1.0, failed)
    yield "share_difference", clustered_mean(judge.mean(axis=1) - human.mean(axis=1))
    totals = [rubric_totals(v.ravel() * 1.0, np.tile(POINTS[:parts], outputs), unit) for v in (human, judge)]
    yield "total_difference", clustered_mean(totals[1] - totals[0])
    yield "total_correlation", correlation_interval(*totals, np.arange(outputs))


def main() -> None:
    print("| outputs | parts | right |", " | ".join(FIGURES), "|")
    print("| --- " * (3 + len(FIGURES)) + "|")
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    for seed, (outputs, parts, right) in enumerate(CELLS):
        rng = np.random.default_rng(seed)
        truth = {name: figure.value for name, figure in draw(rng, 100_000, parts, right)}
        inside = {name: [0, 0] for name in FIGURES}
        for _ in range(sets):
            for name, figure in draw(rng, outputs, parts, right):
                if np.isfinite(figure.low):
                    inside[name][0] += figure.low <= truth[name] <= figure.high
                    inside[name][1] += 1
        shown = [f"{hit / n:.3f}" if n >= sets // 2 else "–" for hit, n in inside.values()]
        print(f"| {outputs} | {parts} | {right} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
