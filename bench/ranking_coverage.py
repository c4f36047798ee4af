"""Do intervals of strengths hold, and how often is a statement about tiers wrong? Writes docs/rank_coverage.md.

    python -m bench.ranking_coverage                                   all cells that out/ranking.json does not hold yet
    python -m bench.ranking_coverage --write docs/rank_coverage.md     and the page

Seeds are fixed; cells are kept as they end. tests/test_rank_coverage.py runs a small version with binomial bands.
"""

from __future__ import annotations

import functools
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import binomtest

from bench._cells import cells_or_page, fingerprint
from bench._trust_page import table
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.pairwise import _rankings as ranking
from nlgauge.analyses.pairwise._sides import SidesVotes
from nlgauge.analyses.pairwise.rank_sides import DIFFERS, OPPOSITE, pair_rows
from nlgauge.stats.ranking import annotators as by_annotator
from nlgauge.stats.ranking import bradley_terry, simultaneous_tests
from nlgauge.stats.ranking.ballots import Ballots, TieModel
from nlgauge.stats.ranking.bradley_terry import fit

Row = dict[str, Any]
KEPT = Path("out/ranking.json")
PLACE, TIED, SPREAD = 0.3, 0.5, 0.7  # advantage of the first place, ties, standard deviation of a system on an input
PER_INPUT = 5  # choices on one input, where inputs are clusters
SIZES = [(2, 40), (4, 60), (4, 200), (8, 1000), (20, 2000)]  # systems, choices
CLUSTERED = [(4, 200), (8, 1000)]
PREFERENCES = (0.0, 0.25, 0.5)  # standard deviation of an annotator's preference for a system, in log-odds
ANNOTATORS, VOTES = (4, 6, 10, 30), (200, 400, 1000)
AHEAD = {"strong": 4.0, "perfect": 20.0, "two perfect": 20.0}
NO_END = [
    ("perfect", 2, 15, False), ("perfect", 4, 30, False), ("perfect", 4, 60, False), ("perfect", 8, 120, False),
    ("perfect", 4, 200, True), ("two perfect", 4, 60, False), ("equal", 4, 15, False), ("equal", 8, 40, False),
]  # shape, systems, choices, clustered  # fmt: skip
ranking.deviations = functools.partial(ranking.deviations, draws=4000)  # 20,000 in use, which takes longer


def strengths(shape: str, systems: int) -> np.ndarray:
    """spaced: evenly from .8 to -.8, the second and third equal; strong: one wins nearly all; perfect: all; two perfect:
    two that lose to each other only, and are equal; equal."""
    if shape == "equal":
        return np.zeros(systems)
    if shape in AHEAD:
        theta = np.zeros(systems)
        theta[: 1 + shape.startswith("two")] = AHEAD[shape]
        return np.asarray(theta - theta.mean())
    theta = np.linspace(0.8, -0.8, systems)
    if systems > 2:
        theta[1:3] = theta[1:3].mean()
    return np.asarray(theta - theta.mean())


def drawn(
    theta: np.ndarray,
    n: int,
    inputs: int,
    rng: np.random.Generator,
    spread: float = 0.0,
    ties: TieModel = "davidson",
    judge: np.ndarray | None = None,
    effect: float = 0.0,
    annotators: np.ndarray | None = None,
    preference: float | np.ndarray = 0.0,
) -> list[Ballots]:
    """Choices of people, and of a judge with strengths of its own on the same pairs of outputs.

    `annotators` are the shares of the choices that each annotator casts; `preference` is the standard deviation of what
    a system is worth to one of them, beyond its strength.
    """
    size = len(theta)
    unit = rng.integers(0, inputs, n)
    a = rng.integers(0, size, n)
    b = (a + rng.integers(1, size, n)) % size
    shift = rng.normal(0, spread, (inputs, size)) if spread else np.zeros((inputs, size))
    style = rng.normal(size=(n, 1)) if effect else None
    who = None if annotators is None else rng.choice(len(annotators), n, p=annotators)
    found = []
    for own in (theta, judge) if judge is not None else (theta,):
        eta = own[a] - own[b] + shift[unit, a] - shift[unit, b] + PLACE
        eta = eta if style is None else eta + effect * style[:, 0]
        if who is not None and own is theta:
            worth = rng.normal(size=(int(who.max()) + 1, size)) * preference
            eta = eta + worth[who, a] - worth[who, b]
        if ties == "rao-kupper":
            won, lost = 1 / (1 + np.exp(TIED - eta)), 1 / (1 + np.exp(TIED + eta))
            p = np.stack([won, lost, 1 - won - lost], axis=1)
        else:
            p = np.stack([np.exp(eta / 2), np.exp(-eta / 2), np.full(n, 0.0 if ties == "drop" else TIED)], axis=1)
            p /= p.sum(axis=1, keepdims=True)
        outcome = (rng.random(n)[:, None] > p.cumsum(axis=1)[:, :2]).sum(axis=1)
        found.append(Ballots(a, b, outcome, unit, style, who if own is theta else None))
    return found


@functools.cache
def truth(shape: str, systems: int, spread: float, ties: TieModel) -> tuple[np.ndarray, np.ndarray]:
    """Strengths, and chances to beat an average other, that unlimited inputs would show."""
    theta, rng = strengths(shape, systems), np.random.default_rng(1)
    (many,) = drawn(theta, 200_000, 200_000, rng, spread, ties)
    made = fit(many, systems, ties, position=True)
    if spread or ties == "half":  # the model is not that of the choices
        equal = [np.isclose(theta, t) for t in theta]
        theta = np.array([made.theta[same].mean() for same in equal])
    exact = replace(made, theta=theta)
    zeros = np.zeros(systems)
    whole = ranking.SideRanking(HUMAN, 1, list(range(systems)), many, exact, made.covariance, zeros, zeros, None, [])
    return theta, whole.chances()[0]


def ranked(sides: dict[str, Ballots], systems: int, ties: TieModel, interval: Any, seed: int) -> list[Any]:
    found = SidesVotes([f"s{k}" for k in range(systems)], sides, "q", "input", [], [])
    return ranking.rankings(found, ties, "first", interval, seed)


def coverage(
    shape: str,
    systems: int,
    n: int,
    clustered: bool,
    trials: int,
    interval: str = "sandwich",
    ties: TieModel = "davidson",
) -> Row:
    """Coverage of the intervals, share of data sets with any wrong statement, share of true differences found."""
    spread, inputs = (SPREAD, n // PER_INPUT) if clustered else (0.0, n)
    theta, chance = truth(shape, systems, spread, ties)
    gaps = theta[:, None] - theta
    name = f"{shape} {systems} {n} {clustered} {interval} {ties}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    held, chances, wrong, found, penalized, refused, tiers = [], [], 0, [], 0, 0, 0
    for seed in range(trials):
        (votes,) = drawn(strengths(shape, systems), n, inputs, rng, spread, ties)
        made = ranked({HUMAN: votes}, systems, ties, interval, seed)
        if len(made) != 1 or len(made[0].systems) < systems or made[0].tests is None:
            refused += 1
            continue
        one = made[0]
        given = np.isfinite(one.low)
        mean = theta[given].mean() if one.made.penalized and given.any() else 0.0
        held += ((one.low <= theta - mean) & (theta - mean <= one.high))[given].tolist()
        _, low, high = one.chances()
        given = np.isfinite(low)
        chances += ((low <= chance) & (chance <= high))[given].tolist()
        better, tier = one.tests.better, one.tests.tiers()
        wrong += bool((better & (gaps <= 1e-9)).any())
        tiers += bool(((tier[:, None] < tier) & (gaps <= 1e-9)).any())
        if (gaps > 1e-9).any():
            found.append(float(better[gaps > 1e-9].mean()))
        penalized += one.made.penalized
    return {
        "shape": shape,
        "systems": systems,
        "choices": n,
        "clustered": clustered,
        "interval": interval,
        "ties": ties,
        "data sets": trials,
        "strength": float(np.mean(held)),
        "chance": float(np.mean(chances)),
        "wrong": wrong / trials,
        "wrong tier": tiers / trials,
        "found": float(np.mean(found)) if found else None,
        "penalized": penalized / trials,
        "refused": refused / trials,
    }


def sides(kind: str, n: int, clustered: bool, trials: int) -> Row:
    """A judge with people's strengths, or with the first and last of five swapped: how often is a difference said?"""
    theta = strengths("spaced", 5)
    judge = theta.copy() if kind == "same" else theta[[4, 1, 2, 3, 0]]
    spread, inputs = (SPREAD, n // PER_INPUT) if clustered else (0.0, n)
    rng = np.random.default_rng(zlib.crc32(f"sides {kind} {n} {clustered}".encode()))
    any_said = opposite = pair = 0
    for seed in range(trials):
        people, model = drawn(theta, n, inputs, rng, spread, judge=judge)
        found = SidesVotes([f"s{k}" for k in range(5)], {HUMAN: people, "judge": model}, "q", "input", [], [])
        one, two = ranking.rankings(found, "davidson", "first", "sandwich", seed)
        rows = pair_rows(found, one, two, seed)
        verdicts = {frozenset((r["system"], r["other"])): r["verdict"] for r in rows}
        any_said += any(v in (OPPOSITE, DIFFERS) for v in verdicts.values())
        opposite += OPPOSITE in verdicts.values()
        pair += verdicts.get(frozenset(("s0", "s4"))) == OPPOSITE
    return {
        "judge": kind,
        "choices": n,
        "clustered": clustered,
        "data sets": trials,
        "any": any_said / trials,
        "opposite": opposite / trials,
        "pair": pair / trials,
    }


def by_annotators(
    kind: str,
    systems: int,
    n: int,
    annotators: int,
    preference: float,
    trials: int,
    clustered: bool = False,
    fewest: int = ranking.FEWEST_ANNOTATORS,
) -> Row:
    """Errors by input alone and by input and annotator, on the same data: false claims about other annotators.

    `kind`: equal systems, whose annotators cast equally many votes; uneven: the k-th casts 1/k as many as the first;
    one: annotators differ about one system only; spaced systems, of which true differences are to be found.
    `fewest` annotators are taken to stand for others.
    """
    theta = strengths("spaced" if kind == "spaced" else "equal", systems)
    shares = 1 / np.arange(1, annotators + 1) if kind == "uneven" else np.ones(annotators)
    worth = np.where(np.arange(systems) == 0, preference, 0.0) if kind == "one" else np.full(systems, preference)
    spread, inputs = (SPREAD, n // PER_INPUT) if clustered else (0.0, n)
    gaps = theta[:, None] - theta
    name = f"annotators {kind} {systems} {n} {annotators} {preference} {clustered}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    false = {"inputs": 0, "both": 0}
    detected: dict[str, list[float]] = {"inputs": [], "both": []}
    covered, limited = [], 0
    for seed in range(trials):
        (votes,) = drawn(theta, n, inputs, rng, spread, annotators=shares / shares.sum(), preference=worth)
        for errors in false:
            known = votes if errors == "both" else replace(votes, annotator=None)
            with patch.object(ranking, "FEWEST_ANNOTATORS", fewest):
                (one,) = ranked({HUMAN: known}, systems, "davidson", "sandwich", seed)
            if errors == "both" and not one.made.annotators:
                limited += 1
                continue
            false[errors] += bool((one.tests.better & (gaps <= 1e-9)).any())
            if (gaps > 1e-9).any():
                detected[errors].append(float(one.tests.better[gaps > 1e-9].mean()))
            elif errors == "both":
                covered += ((one.low <= 0) & (one.high >= 0)).tolist()
    return {
        "kind": kind,
        "systems": systems,
        "choices": n,
        "annotators": annotators,
        "preference": preference,
        "clustered": clustered,
        "data sets": trials,
        "limited": limited / trials,
        "strength": float(np.mean(covered)) if covered else None,
        **{f"wrong {errors}": count / trials for errors, count in false.items()},
        **{f"found {errors}": float(np.mean(x)) if x else None for errors, x in detected.items()},
    }


def effects(n: int, trials: int) -> Row:
    """Coverage of the advantage of the first place and of a style effect of .4, five systems."""
    rng = np.random.default_rng(n)
    held = np.zeros(2)
    for _ in range(trials):
        (votes,) = drawn(strengths("spaced", 5), n, n, rng, effect=0.4)
        found = SidesVotes([f"s{k}" for k in range(5)], {HUMAN: votes}, "q", "input", ["length"], [])
        (one,) = ranking.rankings(found, "davidson", "style", "sandwich", 0)
        half = one.factor * np.sqrt(np.diag(one.covariance)[5:7])
        held += np.abs(one.made.effects - [PLACE, 0.4]) <= half
    return {"choices": n, "data sets": trials, "place": held[0] / trials, "style": held[1] / trials}


def cells() -> Iterator[tuple[str, Callable[[], Row]]]:
    for clustered in (False, True):
        for systems, n in SIZES:
            if clustered and (systems, n) not in CLUSTERED:
                continue
            for shape in ("spaced", "equal", "strong"):
                if shape == "strong" and (systems, n) not in ((4, 60), (8, 1000)):
                    continue
                trials = 200 if systems > 8 else 500
                arguments = (shape, systems, n, clustered, trials)
                yield f"sandwich {shape} {systems} {n} {clustered}", functools.partial(coverage, *arguments)
    for shape, systems, n, clustered in NO_END:
        yield (
            f"perfect {shape} {systems} {n} {clustered}",
            functools.partial(coverage, shape, systems, n, clustered, 500),
        )
    models: list[TieModel] = ["rao-kupper", "half", "drop"]
    for ties in models:
        for systems, n in ((4, 60), (4, 200)):
            arguments = ("spaced", systems, n, False, 500, "sandwich", ties)
            yield f"ties {ties} {systems} {n}", functools.partial(coverage, *arguments)
    for n in (200, 1000):
        for clustered in (False, True):
            for kind in ("same", "swapped"):
                yield f"sides {kind} {n} {clustered}", functools.partial(sides, kind, n, clustered, 400)
    for annotators, preference, n in product(ANNOTATORS, PREFERENCES, VOTES):
        arguments = ("equal", 5, n, annotators, preference, 1000)
        yield f"annotators equal {annotators} {preference} {n}", functools.partial(by_annotators, *arguments)
    harder = [
        ("equal", 2, 1000, 4),
        ("equal", 3, 1000, 4),
        ("equal", 5, 4000, 4),
        ("equal", 5, 4000, 6),
        ("equal", 10, 4000, 10),
        ("uneven", 5, 1000, 10),
        ("uneven", 5, 1000, 30),
        ("one", 5, 1000, 6),
    ]
    for kind, systems, n, annotators in harder:
        arguments = (kind, systems, n, annotators, 0.8, 500)
        yield f"annotators {kind} {systems} {n} {annotators}", functools.partial(by_annotators, *arguments)
    crossed = functools.partial(by_annotators, "equal", 5, 1000, 6, 0.5, 500, clustered=True)
    yield "annotators clustered", crossed
    for annotators, preference, n in product((3, *ANNOTATORS), PREFERENCES, (400, 1000)):
        spaced = functools.partial(by_annotators, "spaced", 5, n, annotators, preference, 200, fewest=3)
        yield f"annotators spaced {annotators} {preference} {n}", spaced
    for n in (100, 300, 1000):
        yield f"effects {n}", functools.partial(effects, n, 500)
    for systems, n, clustered in ((4, 200, False), (4, 200, True), (8, 1000, False), (4, 60, False)):
        arguments = ("spaced", systems, n, clustered, 200, "bootstrap")
        yield f"bootstrap {systems} {n} {clustered}", functools.partial(coverage, *arguments)


def compute(only: str = "") -> dict[str, Row]:
    """All cells, from the file where they are known."""
    kept: dict[str, Row] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    KEPT.parent.mkdir(exist_ok=True)
    made_by = fingerprint(
        by_annotator, bradley_terry, simultaneous_tests, ranking, coverage, sides, effects, by_annotators
    )
    for name, work in cells():
        if (kept.get(name, {}).get("code") != made_by) and name.startswith(only):
            kept[name] = {**work(), "code": made_by}
            KEPT.write_text(json.dumps(kept))
            print(name, kept[name], flush=True)
    return kept


PAGE = f"""# Simulation: coverage of Bradley–Terry strengths

Written by `python -m bench.ranking_coverage --write docs/rank_coverage.md` (seeds fixed; do not edit); a small version runs in the tests.
The statistics are defined in [pairwise comparisons](rank.md). This simulation measures the coverage of their 95% confidence intervals.

Choices are drawn from systems whose strengths are known, with ties, an advantage of {PLACE} of the first place and, where *clustered*, {PER_INPUT} choices
an input with effects of the input on each system (standard deviation {SPREAD}); *spaced*: strengths evenly from .8 to -.8, two of them equal; *equal*: all
equal; *strong*: one that beats the others in nearly all choices, so that some data sets have no finite estimate (*penalized*). *Strength*, *win chance*:
share of 95 % intervals that hold the truth, wanted .93 to .97. *Wrong*: share of data sets with **any** wrong statement "this system is clearly stronger than that
one" among all pairs, and therefore the most often that a tier or a place can be wrong; wanted: at most .05 (where all pairs differ it counts reversals only).
*Found*: share of the pairs that differ in truth and are told apart. Chance: 500 data sets show a rate of .05 as .032 to .070, 200 as .025 to .085.
"""


def page(kept: dict[str, Row]) -> str:
    def part(start: str) -> list[Row]:
        return [row for name, row in kept.items() if name.startswith(start)]

    def line(row: Row, *more: Any) -> list[Any]:
        return [
            row["shape"],
            row["systems"],
            row["choices"],
            "yes" if row["clustered"] else "no",
            *more,
            row["strength"],
            row["chance"],
            row["wrong"],
            row["wrong tier"],
            "" if row["found"] is None else row["found"],
            row["penalized"],
            row["refused"],
            row["data sets"],
        ]

    heads = ["systems are", "systems", "choices", "clustered", "strength", "win chance", "wrong", "wrong tier", "found",
             "penalized", "not ranked", "data sets"]  # fmt: skip
    lines = [PAGE, "## Sandwich intervals (the default)", "", *table(heads, [line(r) for r in part("sandwich")])]
    lines += [
        "## A system that won every comparison",
        "",
        "*perfect*: one system never loses; *two perfect*: two equal systems lose only to each other; *equal*: "
        "few votes, so that some system wins or loses all comparisons by chance. Pairs that include a system "
        "without a finite strength are tested by a score test; *found* refers to all truly different pairs. The "
        "other strengths have mean 0; with the penalized fit, their intervals tend to be too wide. *Not ranked*: "
        "votes on fewer than 10 inputs.",
        "",
        *table(heads, [line(r) for r in part("perfect")]),
    ]
    lines += ["## Bootstrap over inputs", "", *table(heads, [line(r) for r in part("bootstrap")])]
    with_ties = [*heads[:4], "ties", *heads[4:]]
    lines += [
        "## Other models of ties",
        "",
        "Votes are simulated from the fitted model (for `half`, from Davidson's model).",
        "",
    ]
    lines += table(with_ties, [line(r, r["ties"]) for r in part("ties")])
    lines += [
        "## Human and judge comparisons",
        "",
        "Five spaced systems, people and judge on the same pairs of outputs. *same*: the judge has people's strengths, so that whatever is said is wrong; "
        "*swapped*: the first and the last change places.",
        "",
        *table(
            [
                "judge",
                "choices",
                "clustered",
                "any difference said",
                "opposite order said",
                "the swapped pair found",
                "data sets",
            ],
            [
                [
                    r["judge"],
                    r["choices"],
                    "yes" if r["clustered"] else "no",
                    r["any"],
                    r["opposite"],
                    r["pair"],
                    r["data sets"],
                ]
                for r in part("sides")
            ],
        ),
        *_annotator_lines(part("annotators")),
        "## Position and style",
        "",
        "Coverage of the position bias and of an effect of 0.4 of a covariate, five systems.",
        "",
        *table(
            ["choices", "first place", "style", "data sets"],
            [[r["choices"], r["place"], r["style"], r["data sets"]] for r in part("effects")],
        ),
    ]
    return "\n".join(lines)


def _annotator_lines(rows: list[Row]) -> list[str]:
    """The section on annotators: false claims in the grid, in harder cases, and what is found."""

    def rate(row: Row, errors: str) -> str:
        count, trials = round(row[f"wrong {errors}"] * row["data sets"]), row["data sets"]
        band = binomtest(count, trials).proportion_ci(method="exact")
        return f"{count / trials:.3f} [{band.low:.3f}, {band.high:.3f}]"

    kinds = {"equal": "all", "uneven": "all; uneven votes", "one": "one of them"}
    false = [row for row in rows if row["kind"] in kinds]
    grid = [row for row in false if row["data sets"] == 1000]
    heads = ["systems", "votes", "annotators", "preference SD", "clustered by input", "by input and annotator"]
    return [
        "## Annotators with individual preferences",
        "",
        "Annotators cast equal numbers of votes on average. For each annotator, the strength of a system deviates "
        "by a normal random number (*preference SD*, in log-odds). Cells show the family-wise error rate with "
        "respect to other annotators, with its exact 95% CI: *clustered by input*, as if annotator IDs were "
        "unknown, and *by input and annotator*, on the same data. It should be at most 0.05. *Strength*: coverage "
        "of 95% CIs of strengths with both.",
        "",
        "Five equal systems, one vote per input:",
        "",
        *table(
            [*heads[1:], "strength", "data sets"],
            [
                [
                    r["choices"],
                    r["annotators"],
                    f"{r['preference']:.2f}",
                    rate(r, "inputs"),
                    rate(r, "both"),
                    r["strength"],
                    r["data sets"],
                ]
                for r in grid
            ],
        ),
        "Harder cases. *Annotators differ about*: all systems or one of them; *uneven votes*: the k-th annotator casts 1/k as "
        f"many as the first; *inputs*: where *shared*, {PER_INPUT} votes per input with effects of the input "
        f"(standard deviation {SPREAD}).",
        "",
        *table(
            [*heads[:4], "differ about", "inputs", *heads[4:], "strength", "data sets"],
            [
                [
                    r["systems"],
                    r["choices"],
                    r["annotators"],
                    f"{r['preference']:.2f}",
                    kinds[r["kind"]],
                    "shared" if r["clustered"] else "one per vote",
                    rate(r, "inputs"),
                    rate(r, "both"),
                    r["strength"],
                    r["data sets"],
                ]
                for r in false
                if r not in grid
            ],
        ),
        "What it costs: five *spaced* systems; *found* is the share of the pairs that differ and are significantly different. "
        "Three annotators find next to nothing for other annotators, so with fewer than "
        f"{ranking.FEWEST_ANNOTATORS} the results are for these annotators only (here they are clustered "
        "all the same).",
        "",
        *table(
            [*heads[1:4], "false, by input", "false, both", "found, by input", "found, both", "data sets"],
            [
                [
                    r["choices"],
                    r["annotators"],
                    f"{r['preference']:.2f}",
                    rate(r, "inputs"),
                    rate(r, "both"),
                    r["found inputs"],
                    r["found both"],
                    r["data sets"],
                ]
                for r in rows
                if r["kind"] == "spaced"
            ],
        ),
    ]


def main() -> None:
    cells_or_page("ranking_coverage", __doc__ or "", KEPT, compute, page)


if __name__ == "__main__":
    main()
