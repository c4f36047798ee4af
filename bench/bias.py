"""Does `nlgauge analyze bias` find planted defects, and how often does a clean judge raise an alarm? The tables of docs/bias.md:
`python -m bench.coverage --write docs/bias.md`.

Outputs of two systems for each input, two aspects, texts with a length and perhaps a list, choices between the two
outputs in a random order. People have a taste for length and lists of their own; what they agree on is quality, and
each rating is quality with noise, rounded to 1 to 5. A clean judge gives b · quality with noise of its own; a defect
adds one thing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from bench._trust_page import table
from nlgauge.analyses.judges.bias import FOUND, bias
from nlgauge.data.dataset import Dataset

ASPECTS = ("helpful", "clear")
SIZES = (100, 300, 1000)
TRIALS = {"clean": 400, "defect": 200}


@dataclass(frozen=True)
class BiasWorld:
    """A judge and the people beside it; defects are 0 in a clean one."""

    raters: int = 2
    noise: float = 0.6  # of the judge
    rater_noise: float = 0.7
    taste: float = 0.2  # of people for a doubling of length
    slope: float = 1.0  # points of the judge for a point of quality
    rounded: bool = True
    length: float = 0.0
    lists: float = 0.0
    family: float = 0.0
    leniency: float = 0.0
    halo: float = 0.0
    position: float = 0.0


CLEAN = {
    "two raters": BiasWorld(),
    "accurate judge": BiasWorld(noise=0.2),
    "noisy judge": BiasWorld(noise=1.2),
    "annotators prefer length": BiasWorld(taste=0.5),
    "noisy annotators": BiasWorld(rater_noise=1.2, raters=3),
    "one rating an output": BiasWorld(raters=1),
    "scores with decimals": BiasWorld(rounded=False),
}
DEFECTS = {
    "length": replace(BiasWorld(), length=0.3),
    "lists": replace(BiasWorld(), lists=0.6),
    "family": replace(BiasWorld(), family=0.5),
    "leniency": replace(BiasWorld(), leniency=0.4),
    "spread": replace(BiasWorld(), slope=0.4, noise=0.2),
    "halo": replace(BiasWorld(), halo=0.6),
    "position": replace(BiasWorld(), position=0.8),
}
PLANTED = {
    "length": "+.3 points per doubling", "lists": "+.6 points for a list", "family": "+.5 points for its family",
    "leniency": "+.4 points", "spread": ".4 points for each point of quality", "halo": "an error of SD .6 on both aspects",
    "position": "log-odds .8 for the first place",
}  # fmt: skip


def drawn(world: BiasWorld, n: int, rng: np.random.Generator) -> Dataset:
    """A data set of n outputs."""
    inputs = n // 2
    given = np.repeat(np.arange(inputs), 2)
    system = np.tile([0, 1], inputs)
    doublings = rng.normal(0, 1, n) + 0.3 * system
    lists = rng.random(n) < 0.3
    keys = {"system": np.array(["gpt-3", "llama-2"])[system], "input": given.astype(str)}
    texts = ["- a\n" * bool(b) + "w " * max(1, round(30 * 2**d)) for d, b in zip(doublings, lists, strict=True)]
    scores: dict[str, Any] = {}
    ratings = []
    common = world.halo * rng.normal(0, 1, n)
    shared = rng.normal(0, 0.6, n)  # the aspects of an output go together for people, too
    for aspect in ASPECTS:
        quality = shared + rng.normal(0, 0.5, n) + rng.normal(0, 0.3, inputs)[given]
        quality = quality + world.taste * (doublings - 0.15) + 0.2 * (lists - 0.3) + 0.2 * (system - 0.5)  # mean 0
        judge = world.slope * quality + common + rng.normal(0, world.noise, n) + world.length * (doublings - 0.15)
        judge = 3 + judge + world.lists * (lists - 0.3) + world.family * (0.5 - system) + world.leniency
        scores[f"judge-{aspect}"] = np.clip(np.round(judge) if world.rounded else judge, 1, 5)
        for k in range(world.raters):
            value = np.clip(np.round(3 + quality + rng.normal(0, world.rater_noise, n)), 1, 5)
            ratings.append(pl.DataFrame({**keys, "aspect": [aspect] * n, "rater": [f"r{k}"] * n, "value": value}))
    return Dataset.of(
        "simulated",
        pl.DataFrame({**keys, "output": texts}),
        ratings=pl.concat(ratings),
        scores=pl.DataFrame({**keys, **scores}),
        comparisons=_choices(world, inputs, rng),
        models=["judge"],
        persons=True,
    )


def _choices(world: BiasWorld, inputs: int, rng: np.random.Generator) -> pl.DataFrame:
    """One choice of a person and one of the judge an input, each in an order of its own."""
    better = rng.normal(0.3, 1, inputs)
    parts = []
    for who, place in (("person", 0.0), ("judge", world.position)):
        turned = rng.random(inputs) < 0.5
        gap = np.where(turned, -better, better) + place
        first = rng.random(inputs) < 1 / (1 + np.exp(-gap))
        parts.append(
            pl.DataFrame(
                {
                    "input": np.arange(inputs).astype(str),
                    "first": np.where(turned, "llama-2", "gpt-3"),
                    "second": np.where(turned, "gpt-3", "llama-2"),
                    "aspect": ["helpful"] * inputs,
                    "rater": [who] * inputs,
                    "preferred": np.where(first, "first", "second"),
                }
            )
        )
    return pl.concat(parts)


def alarms(world: BiasWorld, n: int, trials: int, seed: int) -> dict[str, float]:
    """Check → share of data sets in which it was found; `any`, and `tested`: the mean number of checks."""
    counts: dict[str, float] = {"any": 0, "tested": 0}
    for trial in range(trials):
        rows = bias(drawn(world, n, np.random.default_rng([seed, n, trial])), family={"gpt-*": "judge"}).rows
        found = {row["measure"] for row in rows if row["verdict"] == FOUND}
        counts["any"] += bool(found)
        counts["tested"] += sum(row["verdict"] != "cannot tell" for row in rows)
        for name in found:
            counts[name] = counts.get(name, 0) + 1
    return {name: count / trials for name, count in counts.items()}


def cells() -> dict[str, Callable[[], Any]]:
    """Name of each cell → what computes it."""
    return {
        f"{kind}/{name}/{n}": lambda w=world, n=n, kind=kind, k=k: alarms(
            w, n, TRIALS[kind], 100 * (kind == "defect") + k
        )
        for kind, worlds in (("clean", CLEAN), ("defect", DEFECTS))
        for k, (name, world) in enumerate(worlds.items())
        for n in SIZES
    }


def tables(kept: dict[str, Any]) -> dict[str, list[str]]:
    """Name of the place in docs/bias.md → lines."""
    clean = [
        [name, *(kept[f"clean/{name}/{n}"]["any"] for n in SIZES), round(kept[f"clean/{name}/{SIZES[1]}"]["tested"])]
        for name in CLEAN
    ]
    planted = [
        [
            f"{name}: {PLANTED[name]}",
            *(kept[f"defect/{name}/{n}"].get(name, 0.0) for n in SIZES),
            max(v for n in SIZES for k, v in kept[f"defect/{name}/{n}"].items() if k not in (name, "any", "tested")),
        ]
        for name in DEFECTS
    ]
    heads = [f"{n} outputs" for n in SIZES]
    return {
        "bias clean": table(["clean judge", *heads, "checks"], clean),
        "bias planted": table(["planted", *heads, "any other check, at most"], planted),
    }
