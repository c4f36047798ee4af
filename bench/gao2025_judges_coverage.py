"""How often the intervals of `reproduce gao2025 judge-measures` hold the truth, on made judges.

    python bench/gao2025_judges_coverage.py [--worlds 200]

Judges of known skill rate made outputs (8 systems × 40 documents, 6 judges, five-point scales); the truth of a
difference in DP or RC is its mean over all worlds. Documents differ between worlds; the judges' skills are drawn anew
for the intervals over scorers and stay for those over documents.
"""

from __future__ import annotations

import argparse

import numpy as np

from nlgauge_papers.gao2025.judge_families import Family
from nlgauge_papers.gao2025.judge_measures import SURE, stability_of_family, statement_rows, without_documents

SYSTEMS, INPUTS, JUDGES, DRAWS = 8, 40, 6, 50


def world(seed: int, redrawn: bool) -> Family:
    """One data set; `redrawn`: with other judges than the one before."""
    fixed, rng = np.random.default_rng(7), np.random.default_rng([seed, 1])
    skills = (rng if redrawn else fixed).uniform(0.2, 1.5, size=JUDGES)
    effect = fixed.normal(size=(SYSTEMS, 1))  # the same systems everywhere
    human = effect + rng.normal(size=(SYSTEMS, INPUTS))
    rated = skills[:, None, None] * human + rng.normal(size=(JUDGES, SYSTEMS, INPUTS))
    steps = np.clip(np.round(3 + rated), 1, 5)
    return Family("made", tuple(map(str, range(JUDGES))), {"a": (steps, human)})


def command() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--worlds", type=int, default=200)
    worlds = parser.parse_args().worlds
    for redrawn, ends in ((False, ("low", "high")), (True, ("low_scorers", "high_scorers"))):
        rows = []
        for seed in range(worlds):
            family = world(seed, redrawn)
            whole = stability_of_family(family, DRAWS)
            rows.append(statement_rows(family, whole, [] if redrawn else without_documents(family, DRAWS)))
        value, low, high = (np.array([[r[name] for r in one] for one in rows]) for name in ("value", *ends))
        truth = value.mean(axis=0)
        missed = (truth < low) | (truth > high)
        told = np.isfinite(low).all()
        print(
            f"{'other scorers' if redrawn else 'other documents'}: {worlds} worlds, intervals at {SURE:.2%} each: "
            f"{missed.mean():.2%} of {missed.size} miss; some statement of a world missed in {missed.any(axis=1).mean():.1%} "
            f"(promised at most 5 %){'' if told else '; some intervals undefined'}"
        )


if __name__ == "__main__":
    command()
