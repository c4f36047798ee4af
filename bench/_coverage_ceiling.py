"""Does the human ceiling say what the true score reaches, and does its interval hold it?

    python -m bench._coverage_ceiling          a few minutes

Ratings are made as people make them: a true score of every output (system + input + the rest, after Algorithm 1 of
paper gao2025), each rater's own noise, cut to a scale. The truth that is wanted: the measure of the expected ratings
with the mean rating. Beside it: square root of Spearman and Brown's reliability, as it was computed before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from nlgauge.stats.agreement.ceiling import ceilings, split_half
from nlgauge.stats.agreement.rater_units import mean_of_raters
from nlgauge.stats.correlation.measure import TWELVE, Measure, evaluate


@dataclass(frozen=True)
class World:
    """How ratings come about. `levels` 0: no scale. `severity`, `favour`: SD of a rater's mean and of his liking for a
    system. `missing`: share of ratings that were not given."""

    systems: int = 12
    inputs: int = 100
    raters: int = 3
    levels: int = 5
    noise: float = 1.0
    between: float = 0.5
    severity: float = 0.0
    favour: float = 0.0
    missing: float = 0.0

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Expected ratings (systems × inputs) and ratings (raters × systems × inputs)."""
        n, m, r = self.systems, self.inputs, self.raters
        true = rng.normal(0, self.between, (n, 1)) + rng.normal(0, 0.5, (1, m)) + rng.normal(0, 1, (n, m))
        own = rng.normal(0, self.severity, (r, 1, 1)) + rng.normal(0, self.favour, (r, n, 1))
        felt = true + own + rng.normal(0, self.noise, (r, n, m))
        if self.levels:
            cuts = np.linspace(-1.2, 1.2, self.levels - 1) * felt.std()
            noise = np.sqrt(self.noise**2 + self.severity**2 + self.favour**2)
            felt = (felt[..., None] > cuts).sum(axis=-1).astype(float)
            true = ndtr((true[..., None] - cuts) / noise).sum(axis=-1)
        felt[rng.random(felt.shape) < self.missing] = np.nan
        return true, felt

    @property
    def persons(self) -> bool:
        return self.severity > 0 or self.favour > 0


GRID = (
    World(5, 60),
    World(8, 50),
    World(12, 100),
    World(16, 100),
    World(30, 100),
    World(1, 200),
    World(8, 20, raters=2),
    World(12, 100, levels=0),
    World(12, 40, levels=3),
    World(12, 40, levels=2, raters=5),
    World(12, 100, noise=2.0),
    World(12, 100, between=0.1),
    World(12, 60, missing=0.3),
    World(12, 60, raters=5, severity=0.7, favour=0.3),
)


def simulate(
    world: World, runs: int = 200, measures: Sequence[Measure] = TWELVE, draws: int = 400, seed: int = 0
) -> list[dict[str, object]]:
    """One row per measure: what the true score reaches on average, what the ceiling says, how far off (RMSE), how often
    its interval holds the truth, and what Spearman and Brown say."""
    found, true, held, old = [], [], [], []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        expected, ratings = world.draw(rng)
        said = ceilings(ratings, measures, rng, draws=draws, persons=world.persons)
        reached = evaluate(expected[None], mean_of_raters(ratings), measures).value[0]
        near = 1e-9
        held.append(
            np.where(np.isnan(said.ceiling), np.nan, (said.low - near <= reached) & (reached <= said.high + near))
        )
        found.append(said.ceiling)
        true.append(reached)
        if run < 40:
            old.append(_spearman_brown(ratings, measures, rng))
    rows = []
    for j, measure in enumerate(measures):
        known = np.isfinite(np.array(found)[:, j]) & np.isfinite(np.array(true)[:, j])
        if not known.any():
            continue
        said, reached = np.array(found)[known, j], np.array(true)[known, j]
        before = [o[j] for o in old if np.isfinite(o[j])]
        rows.append(
            {
                "systems": world.systems,
                "inputs": world.inputs,
                "raters": world.raters,
                "levels": world.levels,
                "measure": str(measure),
                "true": float(reached.mean()),
                "ceiling": float(said.mean()),
                "rmse": float(np.sqrt(((said - reached) ** 2).mean())),
                "coverage": float(np.array(held)[known, j].mean()),
                "said": float(known.mean()),
                "Spearman-Brown": float(np.mean(before)) if before else float("nan"),
            }
        )
    return rows


def _spearman_brown(ratings: np.ndarray, measures: Sequence[Measure], rng: np.random.Generator) -> list[float]:
    halves = split_half(ratings, measures, rng, splits=10)
    factor = halves.raters / halves.half_raters
    return [
        float(np.sqrt(factor * r / (1 + (factor - 1) * r))) if r > 0 and m.coefficient != "kendall" else float("nan")
        for m, r in zip(measures, halves.half, strict=True)
    ]


def main() -> None:
    for world in GRID:
        print(f"\n{world}")
        print(f"{'':18}{'true':>8}{'ceiling':>9}{'RMSE':>7}{'coverage':>10}{'old':>8}")
        for row in simulate(world, runs=200 if world.systems * world.inputs < 2000 else 100):
            print(
                f"{row['measure']:18}{row['true']:8.3f}{row['ceiling']:9.3f}{row['rmse']:7.3f}{row['coverage']:10.3f}"
                f"{row['Spearman-Brown']:8.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
