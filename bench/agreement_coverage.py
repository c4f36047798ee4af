"""Coverage of the intervals of inter-annotator agreement over clusters (docs/agreement.md): 500 data sets per cell.

    python bench/agreement_coverage.py > agreement_coverage.md

Trials of one input share a part of their quality and how far the annotators disagree on them. Ratings are from 1 to 5.
The last columns are those of intervals that take outputs as independent.
"""

from __future__ import annotations

import sys

import numpy as np

from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.icc import icc

SETS = 500
LEVELS = ("nominal", "ordinal", "interval", "ratio")
FORMS = ("ICC(1)", "ICC(A,1)", "ICC(C,1)", "ICC(k)")
CELLS = [(inputs, trials, noise) for inputs in (15, 40) for trials in (4, 12) for noise in (0.4, 1.2)]
FIGURES = (*LEVELS, *FORMS, "interval, independent", "ICC(1), independent")


def draw(rng: np.random.Generator, inputs: int, trials: int, noise: float) -> np.ndarray:
    """Ratings of three annotators × (inputs × trials)."""
    quality = rng.normal(3.2, 0.8, inputs)[:, None] + rng.normal(0, 0.5, (inputs, trials))
    spread = noise * rng.lognormal(0, 0.5, inputs)[:, None]
    bias = np.array([-0.2, 0.0, 0.3])[:, None, None]
    ratings = quality + bias + spread * rng.normal(size=(3, inputs, trials))
    return np.clip(np.rint(ratings), 1, 5).reshape(3, -1)


def figures(ratings: np.ndarray, clusters: np.ndarray | None, rng: np.random.Generator) -> dict[str, tuple[float, ...]]:
    """Value and ends of each figure; without clusters the values alone."""
    alphas = {level: alpha(ratings, level, clusters=clusters) for level in LEVELS}
    forms = icc(ratings, clusters=clusters).forms
    made = {**alphas, **{name: forms[name] for name in FORMS}}
    if clusters is not None:
        made["interval, independent"] = alpha(ratings, "interval", rng=rng, draws=200)
        made["ICC(1), independent"] = icc(ratings)["ICC(1)"]
    return {name: (figure.value, figure.low, figure.high) for name, figure in made.items()}


def main() -> None:
    print("| inputs | trials | noise |", " | ".join(FIGURES), "|")
    print("| --- " * (3 + len(FIGURES)) + "|")
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    for seed, (inputs, trials, noise) in enumerate(CELLS):
        rng = np.random.default_rng(seed)
        truth = {name: value for name, (value, *_) in figures(draw(rng, 40_000, trials, noise), None, rng).items()}
        inside = dict.fromkeys(FIGURES, 0)
        clusters = np.repeat(np.arange(inputs), trials)
        for _ in range(sets):
            for name, (_, low, high) in figures(draw(rng, inputs, trials, noise), clusters, rng).items():
                inside[name] += low <= truth[name.partition(",")[0] if "indep" in name else name] <= high
        shown = [f"{hit / sets:.3f}" for hit in inside.values()]
        print(f"| {inputs} | {trials} | {noise} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
