"""Coverage of the intervals of docs/classes.md: 2,000 simulated data sets per cell, with parts clustered in outputs.

python bench/class_coverage.py > docs/data/class_coverage.md
"""

from __future__ import annotations

import sys

import numpy as np

from nlgauge.stats.agreement.classes import chance_corrected, class_share, confusion_counts, macro

SETS = 2000
CELLS = [(k, n, parts, right) for k in (3, 8) for n in (20, 50, 200) for parts in (1, 4) for right in (0.35, 0.7, 0.95)]
FIGURES = ("agreement", "kappa", "alpha", "ac1", "macro_recall", "macro_f1", "recall", "precision", "f1")


def draw(rng: np.random.Generator, k: int, outputs: int, parts: int, right: float) -> np.ndarray:
    """Counts by output of one data set: parts of an output share difficulty and, half the time, their class."""
    share = np.linspace(1.0, 0.4, k)
    share /= share.sum()
    skill = np.clip(right, 0.01, 0.99)
    each = rng.beta(skill * 4, (1 - skill) * 4, outputs) if parts > 1 else np.full(outputs, skill)
    of_output = rng.choice(k, outputs, p=share)
    z = np.where(rng.random((outputs, parts)) < 0.5, of_output[:, None], rng.choice(k, (outputs, parts), p=share))
    other = (z + 1 + rng.integers(0, k - 1, z.shape)) % k
    x = np.where(rng.random(z.shape) < each[:, None], z, other)
    unit = np.repeat(np.arange(outputs), parts)
    return confusion_counts(z.ravel(), x.ravel(), k, unit)


def figures(counts: np.ndarray) -> dict[str, tuple[float, float, float]]:
    """Value and ends of each figure."""
    hits = np.diagonal(counts, axis1=1, axis2=2)
    human, judge = counts.sum(axis=2), counts.sum(axis=1)
    found = {
        "agreement": class_share(hits.sum(axis=1), human.sum(axis=1)),
        **{name: chance_corrected(counts, name) for name in ("kappa", "alpha", "ac1")},
        "macro_recall": macro(hits, human),
        "macro_f1": macro(hits, human + judge - hits, f1=True),
        "recall": class_share(hits[:, -1], human[:, -1]),
        "precision": class_share(hits[:, -1], judge[:, -1]),
        "f1": class_share(hits[:, -1], (human + judge - hits)[:, -1], f1=True),
    }
    return {name: (f.value, f.low, f.high) for name, f in found.items()}


def main() -> None:
    print("| classes | outputs | parts | right |", " | ".join(FIGURES), "|")
    print("| --- " * (4 + len(FIGURES)) + "|")
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else SETS
    for seed, (k, outputs, parts, right) in enumerate(CELLS):
        rng = np.random.default_rng(seed)
        big = sum(draw(rng, k, 200_000 // parts, parts, right).sum(axis=0) for _ in range(2))
        truth = {name: value for name, (value, _, _) in figures(big[None]).items()}
        inside = {name: [0, 0] for name in FIGURES}
        for _ in range(sets):
            for name, (_, low, high) in figures(draw(rng, k, outputs, parts, right)).items():
                if np.isfinite(low):
                    inside[name][0] += low <= truth[name] <= high
                    inside[name][1] += 1
        shown = [f"{hit / n:.3f}" if n >= sets // 2 else "–" for hit, n in inside.values()]
        print(f"| {k} | {outputs} | {parts} | {right} |", " | ".join(shown), "|", flush=True)


if __name__ == "__main__":
    main()
