"""Effect of scale size and averaging on the measures of real judges (Gao et al. 2025, sections 1 and 4.4).

Intervals resample the documents; those of statements are simultaneous over all statements of a table.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from nlgauge import Table
from nlgauge.plugins import Layout, Row, interval, number
from nlgauge.stats import TWELVE, coarsen, evaluate_weighted, fit_scores
from nlgauge_papers.common import Array
from nlgauge_papers.gao2025.claims import STILL, STILL_WITH_SCALE, UP_AND_DOWN
from nlgauge_papers.gao2025.judge_families import Family, JudgedSet
from nlgauge_papers.gao2025.judges import STYLES
from nlgauge_papers.gao2025.simulation import heads

HOLDS, NOT, UNSURE = "holds", "does not hold", "inconclusive"
MARKS = {HOLDS: "✓", NOT: "✗", UNSURE: "?"}
LEVEL = 0.95  # simultaneous level of all statements of a table, or of one family
STEPS = (2, 3, 5, 10, 20)
WHOLE = "as it is"
PEAK = 10  # steps at which the paper's simulation has Kendall's highest value
DRAWS = 4000
CHOSEN = ("global/pearson", "input/kendall", "system/spearman")
COLUMN = {measure: measure.replace("/", "_") for measure in CHOSEN}
NAMES = [str(m) for m in TWELVE]


def resampled(family: Family, seed: int, draws: int = DRAWS, aspect: str | None = None) -> Array:
    """Compute scorers × measures × (1 + draws) as means over the aspects: first on all documents, then on resampled
    ones.
    """
    results = []
    for name, (x, z) in family.panels.items():
        if aspect in (None, name):
            rng = np.random.default_rng(seed)
            inputs = rng.multinomial(z.shape[1], np.full(z.shape[1], 1 / z.shape[1]), size=draws).astype(np.float64)
            inputs = np.vstack([np.ones(z.shape[1]), inputs])
            results.append(evaluate_weighted(x, z, TWELVE, inputs))
    return np.asarray(np.mean(results, axis=0))


def five_prompts(all_: JudgedSet) -> Family:
    """Return GPT-3.5's five prompts."""
    nine = all_.family("GPT-3.5", all_.released)
    own = [n for style in STYLES for n in nine.scorers if n.startswith("gpt-3.5") and n.endswith(f" {style}")]
    index = [nine.scorers.index(name) for name in own]
    return Family(nine.name, tuple(own), {a: (x[index], z) for a, (x, z) in nine.panels.items()})


def means_of(family: Family, size: int) -> Family:
    """Return the mean of every choice of that many scorers, over those that gave a score."""
    sets = list(combinations(range(len(family.scorers)), size))
    panels = {a: (np.stack([np.nanmean(x[list(s)], axis=0) for s in sets]), z) for a, (x, z) in family.panels.items()}
    return Family(family.name, tuple(f"{size} of {len(family.scorers)}: {s}" for s in sets), panels)


def scale_tables(all_: JudgedSet, seed: int) -> list[Table]:
    """Evaluate the mean of five prompts on increasingly coarse scales, and the paper's statements about it."""
    mean = means_of(five_prompts(all_), len(STYLES))
    versions = {
        **{f"{k} levels": {a: coarsen(x[0], k) for a, (x, _) in mean.panels.items()} for k in STEPS},
        WHOLE: {a: x[0] for a, (x, _) in mean.panels.items()},
    }
    names = list(versions)
    panels = {a: (np.stack([versions[v][a] for v in names]), z) for a, (_, z) in mean.panels.items()}
    result = resampled(Family("scales", tuple(names), panels), seed)
    unique = {v: np.mean([fit_scores(x).unique for x in versions[v].values()]) for v in names}
    ties = {v: np.mean([fit_scores(x).tie_ratio for x in versions[v].values()]) for v in names}
    values: list[Row] = [
        {
            "version": v,
            "measure": m,
            "value": float(result[i, j, 0]),
            "low": _end(result[i, j], 2.5),
            "high": _end(result[i, j], 97.5),
            "unique": float(unique[v]),
            "ties": float(ties[v]),
        }
        for i, v in enumerate(names)
        for j, m in enumerate(NAMES)
    ]
    shown = Table(
        "SummEval, mean of GPT-3.5's five prompts: twelve measures on coarser scales",
        values,
        Layout(
            "version",
            "measure",
            "value",
            heads=heads(TWELVE),
            extra={"unique": lambda rows: f"{rows[0]['unique']:.0f}", "ties": lambda rows: number(rows[0]["ties"])},
        ),
        method=f"scores cut into equal steps between their lowest and highest; means over four aspects; 12 systems × "
        f"100 documents; the rows also have 95% intervals from {DRAWS:,} resamplings of the documents, seed {seed}.",
        kind="judge-scales",
    )
    return [shown, scale_claims(result, names)]


def scale_claims(found: Array, names: list[str]) -> Table:
    """Test the takeaways of section 4.4 as differences between two scales."""
    first, peak, last = names.index(f"{STEPS[0]} levels"), names.index(f"{PEAK} levels"), names.index(WHOLE)
    asked: list[tuple[str, str, int, int]] = []
    for m in NAMES:
        if m in STILL_WITH_SCALE:
            asked.append((m, "hardly moves", last, first))
        elif m in UP_AND_DOWN:
            asked += [(m, "rises", peak, first), (m, "then falls", last, peak)]
        else:
            asked.append((m, "rises", last, first))
    tail = 50 * (1 - LEVEL) / len(asked)
    rows: list[Row] = []
    for m, claim, a, b in asked:
        moved = found[a, NAMES.index(m)] - found[b, NAMES.index(m)]
        low, high = _end(moved, tail), _end(moved, 100 - tail)
        rows.append(
            {
                "measure": m,
                "claim": claim,
                "from": names[b],
                "to": names[a],
                "value": float(moved[0]),
                "low": low,
                "high": high,
                "verdict": moved_verdict(claim, low, high),
            }
        )
    counts = {v: sum(row["verdict"] == v for row in rows) for v in (HOLDS, NOT, UNSURE)}
    return Table(
        "The paper's statements about scale size (section 4.4) on this judge",
        rows,
        shown=["measure", "claim", "from", "to", "text"],
        heads={"text": "difference"},
        cells={"text": lambda row: f"{MARKS[row['verdict']]} {interval(row['value'], row['low'], row['high'])}"},
        method=f"difference between two scales with its interval over documents, at {LEVEL:.0%} for all {len(rows)} "
        f"together. ✓ holds, ✗ does not hold, ? inconclusive; hardly moves: within {STILL}.",
        answers=[
            f"of {len(rows)} statements: holds {counts[HOLDS]}, does not hold {counts[NOT]}, inconclusive "
            f"{counts[UNSURE]}."
        ],
        notes=["human ratings are unchanged (means of three experts); the paper's simulation coarsens both sides"],
        kind="judge-scale-statements",
    )


def moved_verdict(claim: str, low: float, high: float) -> str:
    """Return the verdict on a claim about a change, from the ends of its confidence interval.

    >>> [moved_verdict(claim, 0.01, 0.1) for claim in ("rises", "then falls", "hardly moves")]
    ['holds', 'does not hold', 'inconclusive']
    """
    if claim == "hardly moves":
        return HOLDS if low >= -STILL and high <= STILL else NOT if low > STILL or high < -STILL else UNSURE
    if claim == "then falls":
        low, high = -high, -low
    return HOLDS if low > 0 else NOT if high < 0 else UNSURE


def averaging_table(all_: JudgedSet, seed: int) -> Table:
    """Compare one prompt, means of two to five, and the mean of five on a coarse scale."""
    five = five_prompts(all_)
    versions: dict[str, Family] = {f"{m} of 5 prompts": means_of(five, m) for m in range(1, len(STYLES) + 1)}
    whole = versions[f"{len(STYLES)} of 5 prompts"]
    versions["5 of 5, cut to 5 levels"] = whole.cut(5)
    results = {name: resampled(family, seed).mean(axis=0) for name, family in versions.items()}
    names = list(results)
    tail = 50 * (1 - LEVEL) / (2 * len(NAMES))
    rows: list[Row] = [
        {"version": name, "measure": m, "value": float(results[name][j, 0])}
        for name in names
        for j, m in enumerate(NAMES)
    ]
    answers = []
    for name in (names[-2], names[-1]):
        moved = results[name] - results[names[0]]
        ends = [(_end(moved[j], tail), _end(moved[j], 100 - tail)) for j in range(len(NAMES))]
        up = [m for m, (low, _) in zip(NAMES, ends, strict=True) if low > 0]
        down = [m for m, (_, high) in zip(NAMES, ends, strict=True) if high < 0]
        rows += [
            {
                "version": f"{name}, minus one prompt",
                "measure": m,
                "value": float(moved[j, 0]),
                "low": ends[j][0],
                "high": ends[j][1],
            }
            for j, m in enumerate(NAMES)
        ]
        unsure = [m for m in NAMES if m not in up and m not in down]
        told = {"significantly higher": up, "significantly lower": down, "inconclusive": unsure}
        answers.append(
            f"{name} against one prompt, of 12 measures: "
            + ", ".join(f"{len(found_)} {what}" for what, found_ in told.items())
            + (f" ({', '.join(unsure)})." if unsure else ".")
        )
    return Table(
        "SummEval: what averaging GPT-3.5's prompts does to twelve measures",
        rows,
        Layout("version", "measure", "value", heads=heads(TWELVE)),
        method=f"mean over all choices of so many of five prompts and over four aspects; differences with intervals "
        f"over documents ({DRAWS:,} resamplings) at {LEVEL:.0%} for all {2 * len(NAMES)} together.",
        answers=answers,
        kind="judge-averages",
    )


def agreement_table(all_: JudgedSet, seed: int, aspect: str = "coherence") -> Table:
    """Evaluate each judge on one aspect, and test whether it agrees with the human ratings better than chance."""
    every = len(all_.data.inputs)
    mean = {aspect: means_of(five_prompts(all_), len(STYLES)).panels[aspect]}
    parts = [
        ("released", all_.family("released", {aspect: all_.released[aspect]}), every),
        ("released", Family("mean", ("gpt-3.5-turbo-0301, mean of 5 prompts",), mean), every),
    ]
    for judge in dict.fromkeys(score.judge for score in all_.facts.values()):
        own = {n: v for n, v in all_.added.get(aspect, {}).items() if all_.facts[n].judge == judge}
        if own:
            scored = all_.inputs_of(judge)
            parts.append(("added", all_.family(judge, {aspect: own}, inputs=scored), len(scored)))
    rows: list[Row] = []
    for origin, family, inputs in parts:
        result = resampled(family, seed, draws=1000, aspect=aspect) if family.scorers else np.empty((0, 12, 1))
        for i, name in enumerate(family.scorers):
            x = family.panels[aspect][0][i]
            fit = fit_scores(x)
            rows.append(
                {
                    "judge": name,
                    "origin": origin,
                    "documents": inputs,
                    "unscored": int(np.isnan(x).sum()),
                    "unique": int(fit.unique),
                    "ties": float(fit.tie_ratio),
                    **_ends_of(result[i]),
                }
            )
        rows += [
            {
                "judge": name,
                "origin": origin,
                "documents": inputs,
                "unique": 1,
                "ties": 1.0,
                "reason": "always the same score",
            }
            for name in family.left_out
        ]
    return Table(
        f"SummEval, {aspect}: each judge by itself",
        rows,
        shown=["judge", "documents", "unscored", "unique", "ties", *COLUMN.values()],
        heads={column: measure for measure, column in COLUMN.items()},
        cells={column: _cell(column) for column in COLUMN.values()},
        method="95% intervals from 1,000 resamplings of the documents, one judge at a time; the systems stay; seed "
        f"{seed}.",
        kind="judge-agreement",
    )


def _ends_of(found: Array) -> dict[str, float]:
    out: dict[str, float] = {}
    for m in CHOSEN:
        j = NAMES.index(m)
        name = COLUMN[m]
        out |= {name: float(found[j, 0]), f"{name}_low": _end(found[j], 2.5), f"{name}_high": _end(found[j], 97.5)}
    return out


def _cell(column: str) -> Callable[[Row], str]:
    return lambda row: interval(row.get(column), row.get(f"{column}_low"), row.get(f"{column}_high"), 2)


def _end(drawn: Array, percent: float) -> float:
    """Return a percentile of the resampled values (the first is the value itself)."""
    return float(np.nanpercentile(drawn[1:], percent)) if np.isfinite(drawn[1:]).any() else float("nan")
