"""How often does `nlgauge analyze drift` raise a false alarm, at one look and over 500, and what does it see? The tables of
docs/drift.md: `python -m bench.coverage --write docs/drift.md`.

A judge gives whole points from 1 to 5: quality with noise, rounded. A second run judges outputs of which some are the
same (anchors). Looks: each day brings anchors of its own, or the same anchors are judged again every day.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtr

from bench._trust_page import table
from nlgauge.analyses.judges.drift import FOUND, INCONCLUSIVE, drift
from nlgauge.data.dataset import Dataset
from nlgauge.stats.tests.betting import log_capital

SIZES = (100, 300, 1000)
TRIALS, RUNS, LOOKS, ANCHORS, ALPHA = 300, 1000, 500, 20, 0.05
Floats = NDArray[np.float64]
RANDOM = "drawn at random"
ANCHOR_CHOICES = (RANDOM, "lowest scores", "highest scores", "lowest human ratings")
# What happens between the runs: shift of the judge, of the data, factor on the judge's spread, noise of the judge.
CHANGES = {
    "nothing": (0.0, 0.0, 1.0, 0.5), "nothing, consistent judge": (0.0, 0.0, 1.0, 0.15),
    "judge +.2": (0.2, 0.0, 1.0, 0.5), "data +.3": (0.0, 0.3, 1.0, 0.5), "spread × .7": (0.0, 0.0, 0.7, 0.5),
    "judge −.2, data +.3": (-0.2, 0.3, 1.0, 0.5),
}  # fmt: skip


def given(quality: Floats, noise: float, rng: np.random.Generator, shift: float = 0.0, factor: float = 1.0) -> Floats:
    return np.clip(np.round(3 + factor * quality + shift + rng.normal(0, noise, quality.shape)), 1, 5)


def two_runs(
    n: int, change: tuple[float, float, float, float], rng: np.random.Generator, anchors: str = RANDOM
) -> list[Dataset]:
    """n old and n new outputs of two systems; a quarter of the inputs stands in both, chosen as `anchors` says."""
    judge, data, factor, noise = change
    inputs, same = n // 2, n // 8
    old = rng.normal(0, 0.8, (inputs, 2)) + rng.normal(0, 0.4, (inputs, 1))
    new = rng.normal(data, 0.8, (inputs, 2)) + rng.normal(0, 0.4, (inputs, 1))
    scores, rated = given(old, noise, rng), given(old, 0.6, rng)
    if anchors != RANDOM:
        key = {"lowest scores": scores, "highest scores": -scores, "lowest human ratings": rated}[anchors]
        order = np.argsort(key.mean(axis=1), kind="stable")
        old, scores, rated = old[order], scores[order], rated[order]
    new[:same] = old[:same]
    names = [np.arange(inputs), np.concatenate([np.arange(same), np.arange(same, inputs) + inputs])]
    made = []
    runs = (scores, rated), (given(new, noise, rng, judge, factor), given(new, 0.6, rng))
    for name, ids, (scores, rated) in zip(("old", "new"), names, runs, strict=True):
        keys = {"system": np.tile(["a", "b"], inputs), "input": np.repeat(ids, 2).astype(str)}
        ratings = pl.DataFrame(
            {**keys, "aspect": ["good"] * n, "rater": [None] * n, "value": rated.ravel()}, schema=Dataset.RATINGS
        )
        scored = pl.DataFrame({**keys, "judge": scores.ravel()})
        made.append(Dataset.of(name, pl.DataFrame(keys), ratings=ratings, scores=scored))
    return made


def one_look(n: int, change: tuple[float, float, float, float], seed: int, anchors: str = RANDOM) -> dict[str, float]:
    """Measure → share of pairs of runs in which a change was found; `any` of them; in which nothing is concluded."""
    counts: dict[str, float] = {"any": 0, INCONCLUSIVE: 0}
    for trial in range(TRIALS):
        rows = drift(two_runs(n, change, np.random.default_rng([seed, n, trial]), anchors))
        counts[INCONCLUSIVE] += rows.facts["verdict"] == INCONCLUSIVE
        found = {row["measure"] for row in rows if row["verdict"] == FOUND}
        counts["any"] += bool(found)
        for name in found:
            counts[name] = counts.get(name, 0) + 1
    return {name: count / TRIALS for name, count in counts.items()}


def looks_until(fresh: bool, shift: float, begins: int, noise: float, seed: int) -> dict[str, list[float]]:
    """First look at which each way of looking alarms (LOOKS + 1: never), in RUNS series of looks.

    pooled: all anchors so far, half of the level; this: this look's anchors, the other half spent over looks; drift:
    either, as `nlgauge analyze drift --looks`; daily: a test of this look's anchors at 5% every day; fixed: one test of as many
    anchors at the last look, at 5%.
    """
    never = LOOKS + 1
    first: dict[str, list[float]] = {"pooled": [], "this": [], "drift": [], "daily": [], "fixed": []}
    t = np.arange(1, LOOKS + 1)
    for run in range(RUNS):
        rng = np.random.default_rng([seed, run])
        quality = rng.normal(0, 0.9, (LOOKS if fresh else 1, ANCHORS if fresh else 4 * ANCHORS))
        before = given(quality, noise, rng)
        moved = np.where(t >= begins, shift, 0.0)[:, None]
        after = given(np.broadcast_to(quality, (LOOKS, quality.shape[1])), noise, rng, moved)  # type: ignore[arg-type]
        apart = after - before
        n = apart.shape[1]
        with np.errstate(invalid="ignore", divide="ignore"):
            tested = np.abs(apart.mean(axis=1)) / (apart.std(axis=1, ddof=1) / np.sqrt(n))
        p = np.where(apart.any(axis=1), 2 * stdtr(n - 1, -np.nan_to_num(tested, nan=0.0, posinf=1e9)), 1.0)
        units = apart if fresh else apart[:1]
        capital = log_capital(units.ravel() / 8 + 0.5, 0.5, ALPHA / 2)[:, 0].reshape(-1, n)[:, -1]
        capital = capital if fresh else np.full(LOOKS, capital[0])
        alarms = {
            "pooled": capital >= np.log(2 / ALPHA),
            "this": p < ALPHA / 2 / (t * (t + 1)),
            "daily": p < ALPHA,
            "fixed": np.where(t == LOOKS, p < ALPHA, False),
        }
        alarms["drift"] = alarms["pooled"] | alarms["this"]
        for name, at in alarms.items():
            first[name].append(float(np.argmax(at) + 1) if at.any() else never)
    return first


SERIES = {
    "own anchors, nothing": (True, 0.0, 1, 0.5), "own anchors, nothing, consistent judge": (True, 0.0, 1, 0.15),
    "same anchors, nothing": (False, 0.0, 1, 0.5), "same anchors, nothing, consistent judge": (False, 0.0, 1, 0.15),
    "own anchors, +.1 from the first look": (True, 0.1, 1, 0.5), "own anchors, +.2 from the first look": (True, 0.2, 1, 0.5),
    "own anchors, +.5 from look 101": (True, 0.5, 101, 0.5), "own anchors, +1 from look 101": (True, 1.0, 101, 0.5),
    "same anchors, +.5 from look 101": (False, 0.5, 101, 0.5), "same anchors, +1 from look 101": (False, 1.0, 101, 0.5),
}  # fmt: skip


def cells() -> dict[str, Callable[[], Any]]:
    """Name of each cell → what computes it."""
    work: dict[str, Callable[[], Any]] = {
        f"looks/{name}": lambda k=k, s=series: looks_until(*s, seed=k)
        for k, (name, series) in enumerate(SERIES.items())
    }
    for k, (name, change) in enumerate(CHANGES.items()):
        work |= {f"one/{name}/{n}": lambda n=n, c=change, k=k: one_look(n, c, 50 + k) for n in SIZES}
    for name, choice, n in selected_cells():
        k = ANCHOR_CHOICES.index(choice)
        work[f"selected/{name}/{choice}/{n}"] = lambda n=n, name=name, a=choice, k=k: one_look(
            n, CHANGES[name], 70 + k, a
        )
    return work


def selected_cells() -> list[tuple[str, str, int]]:
    """Change between the runs, choice of the anchors, outputs per run."""
    return [(name, choice, n) for name in ("nothing", "judge +.2") for choice in ANCHOR_CHOICES for n in SIZES[1:]]


def tables(kept: dict[str, Any]) -> dict[str, list[str]]:
    """Name of the place in docs/drift.md → lines: one look; false alarms over looks; how soon a shift is found."""
    checks = ("judge_shift", "data_shift", "spread", "agreement")
    one = [
        [name, n, *(float(kept[f"one/{name}/{n}"].get(c, 0.0)) for c in checks), float(kept[f"one/{name}/{n}"]["any"])]
        for name in CHANGES
        for n in SIZES
    ]
    kinds = ("judge_shift", "any", INCONCLUSIVE)
    selected = [
        [name, choice, n, *(float(kept[f"selected/{name}/{choice}/{n}"].get(kind, 0.0)) for kind in kinds)]
        for name, choice, n in selected_cells()
    ]
    false, seen = [], []
    for name, (_, shift, begins, _) in SERIES.items():
        first = {k: np.array(v) for k, v in kept[f"looks/{name}"].items()}
        if not shift:
            false.append([name, *(float((first[k] <= LOOKS).mean()) for k in ("drift", "daily"))])
            continue
        after = first["drift"] - begins + 1
        early = float((first["drift"] < begins).mean())
        seen.append(
            [
                name,
                *(float(((after >= 1) & (after <= k)).mean()) for k in (1, 5, 20, 100)),
                early,
                str(int(np.median(after))) if np.median(first["drift"]) <= LOOKS else "–",
                float((first["fixed"] <= LOOKS).mean()),
            ]
        )
    heads = ["between the runs", "outputs per run", "judge's shift", "data's shift", "spread", "agreement", "any"]
    soon = [
        "shift",
        "found at once",
        "within 5 looks",
        "within 20",
        "within 100",
        "alarm before it",
        "median looks",
        "one test at 5% of one look",
    ]
    daily = ["500 looks", "`drift --looks`: any alarm", "a test at 5% every day: any alarm"]
    chosen = ["between the runs", "anchors", "outputs per run", "judge's shift found", "any found", "not concluded"]
    return {
        "drift once": table(heads, one),
        "drift selected": table(chosen, selected),
        "drift looks": table(daily, false),
        "drift found": table(soon, seen),
    }
