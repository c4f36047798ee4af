"""Is a panel of judges better than the best one, and which cheap one? Chosen on one part, held against people on the
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature, turned_note
from nlgauge.analyses.judges._jury_rows import JuryRows, jury_rows
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.metrics.judge.cost import load_prices
from nlgauge.number import interval, number
from nlgauge.options import option
from nlgauge.scoring.costs import known_costs
from nlgauge.stats.agreement.dawid_skene import dawid_skene
from nlgauge.stats.agreement.jury import FOLDS, Chosen, choose, juries
from nlgauge.stats.agreement.mace import mace
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.estimation.several_judges import LABELS_PER_JUDGE, cross_fitted
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

BETTER, WORSE, OPEN = "better", "worse", "cannot tell"
LEVELS = 10  # distinct values up to which Dawid-Skene and MACE take scores as labels
SINGLE, CHOSEN = "single", "chosen"


@analysis(
    "jury",
    question="Is a panel of judges better than the best single judge, and which one is worth its cost?",
    also=("jury-errors", "complementarity"),
)
def jury(
    panel: Panel,
    *,
    cost: str | Sequence[str] | Mapping[str, float] | None = None,
    budget: float | None = None,
    size: int = 5,
    measure: str | None = None,
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    prices: str | Path | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Compare panels of judges with the best single judge, and choose the best panel within a budget.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    cost : str, sequence of str or mapping, optional
        Cost of each judge, as 'gpt-4o=2.5,llama=0.3'; by default from cost, token or time columns and the
        cache, else 1 each.
    budget : float, optional
        Largest total cost of a panel.
    size : int, default 5
        Largest number of judges in a panel.
    measure : str, optional
        Figure of pass and fail, such as kappa, or a measure, such as input/kendall; by default kappa where
        annotators and judges say pass or fail.
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    judge_pass_from : float, optional
        Lowest score of a judge that counts as pass; required where it gave more than two values.
    prices : path, optional
        TOML file with prices per model, for costs from tokens.
    level : float, default 0.95
        Level of the confidence intervals.
    seed : int, default 0
        Seed of the random draws: the same seed gives the same numbers on any machine.

    Returns
    -------
    Table
        One row per judge, per way to count all judges' votes (majority or mean, Dawid–Skene, MACE, weighted),
        and for the chosen panel: value with its interval, cost, difference from the best single judge, and
        verdict (better, worse, cannot tell).

    Notes
    -----
    The panel is chosen without the outputs on which it is then compared with the human labels (five folds of
    inputs). `better` means better than every single judge on the same outputs, by intervals that hold together for
    all votes (docs/jury.md).

    References
    ----------
    Dawid and Skene (1979), Maximum Likelihood Estimation of Observer Error-Rates; Hovy et al. (2013), Learning
    Whom to Trust with MACE.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rng = __import__("random").Random(1)
    >>> rows = [{"id": k, "label": k % 2, **{f"judge_{j}": (k + (rng.random() > 0.8)) % 2 for j in range(5)}}
    ...         for k in range(300)]
    >>> table = ng.analyze("jury", ng.load(rows, human=["label"], metrics=[f"judge_{j}" for j in range(5)]))
    >>> [(row["vote"], row["verdict"]) for row in table if row["size"] > 1]
    [('majority', 'better'), ('dawid-skene', 'better'), ('mace', 'better'), ('chosen', 'better')]

    $ nlgauge analyze jury judged.csv --metrics gpt,llama,qwen --cost gpt=2.5,llama=0.3,qwen=0.2 --budget 1
    """
    rows = jury_rows(panel, measure, people_pass_from, judge_pass_from)
    notes = [*rows.notes]
    costs = _costs(panel, rows.judges, cost, prices, notes)
    lines = [{**row, "aspect": panel.aspect} for row in _compare_panels(rows, costs, budget, size, level, seed, notes)]
    return Table(
        title=Title(panel.name, f"panels of judges beside {panel.rated_by} on {panel.aspect}, {rows.measure}"),
        rows=lines,
        shown=["vote", "judges", "cost", "value", "difference", "beside", "verdict"],
        heads={"difference": "to the best judge", "beside": "who is", "judges": "judge or panel"},
        cells={
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
            "difference": lambda r: (
                interval(r["difference"], r["difference_low"], r["difference_high"], 2)
                if r.get("difference") is not None
                else ""
            ),
            "beside": lambda r: r.get("beside") or "",
            "verdict": lambda r: r.get("verdict") or "",
            "judges": lambda r: r["judges"] if r["vote"] in (SINGLE, CHOSEN) else "all",
            "cost": lambda r: number(r["cost"], 2).removesuffix(".00"),
        },
        answers=_answers(lines, rows, budget),
        definitions={
            "vote": "majority of pass and fail, mean of standardised numbers; dawid-skene, mace: weights found without "
            "labels; weighted: regression on the labels of the other folds; chosen: the panel of at most "
            f"{size}, by majority or mean, that is best on the other folds, which are not those it is tested on",
            "verdict": f"{BETTER}: above every single judge on the same rows, together for all votes; else {OPEN}, "
            f"or {WORSE} than one of them",
        },
        method=f"{rows.size_text(panel)}; {level:.0%} intervals, differences {level:.0%} together; {FOLDS} folds of "
        "whole inputs. A panel that is no better than the best judge is called better in at most about "
        "2.5 % of data sets (simulated with one system: docs/jury.md).",
        notes=[*notes, *people_note(panel), *turned_note(panel)],
        facts={"costs": dict(zip(rows.judges, costs, strict=True)), "of": "verdicts" if rows.verdict else "scores"},
        signature=signature(panel, measure=rows.measure, size=size, budget=budget, folds=FOLDS, seed=seed),
    )


def _compare_panels(
    rows: JuryRows, costs: list[float], budget: float | None, size: int, level: float, seed: int, notes: list[str]
) -> list[Row]:
    """Return a row per judge, per vote of all judges and of the chosen panel, each with its intervals."""
    votes = _votes(rows, seed, notes)
    sets, picked, held_out = _picked(rows, costs, budget, size, seed)
    joint = 1 - (1 - level) / max(len(votes) + (picked is not None), 1)
    everyone = list(range(len(rows.judges)))
    lines = [_row(rows, [j], SINGLE, rows.scores[j], costs, level) for j in everyone]
    for name, scores in votes.items():
        row = _row(rows, everyone, name, scores, costs, level)
        lines.append({**row, **_beside(rows, scores, everyone, joint)})
    if picked is not None:
        row = _row(rows, np.flatnonzero(sets[picked.jury]).tolist(), CHOSEN, held_out, costs, level)
        row["in_folds"] = int((sets[picked.in_folds] == sets[picked.jury]).all(axis=1).sum())
        affordable = [j for j, c in enumerate(costs) if budget is None or c <= budget]
        lines.append({**row, **_beside(rows, held_out, affordable or everyone, joint)})
    elif budget is not None:
        notes.append(f"no panel of {'three' if rows.verdict else 'two'} judges or more fits the budget of {budget:g}.")
    return lines


def _votes(rows: JuryRows, seed: int, notes: list[str]) -> dict[str, Array]:
    """All judges together, by each way to count them."""
    found = {"majority" if rows.verdict else "mean": _counted(rows, np.ones((1, len(rows.judges)), bool))[0]}
    if rows.verdict and len(rows.judges) % 2 == 0:
        notes.append("majority of an even number of judges: a tie is a fail.")
    if rows.verdict or len(np.unique(rows.scores)) <= LEVELS:
        known = dawid_skene(rows.scores)
        able = mace(rows.scores, np.random.default_rng(seed), restarts=3)
        found |= {name: each.posterior @ known.labels for name, each in (("dawid-skene", known), ("mace", able))}
    if not rows.verdict and len(rows.labels) >= LABELS_PER_JUDGE * len(rows.judges):
        found["weighted"] = cross_fitted(rows.labels, rows.scores.T, rows.clusters)
    return found


def _counted(rows: JuryRows, sets: np.ndarray) -> Array:
    """The vote of every jury on every row, juries × rows: the majority (a tie is a fail), or the mean of standardised
    scores with a standard deviation of 1.
    """
    if rows.verdict:
        return np.asarray(sets @ rows.scores > sets.sum(axis=1, keepdims=True) / 2, np.float64)
    scores = rows.scores - rows.scores.mean(axis=1, keepdims=True)
    votes = sets @ (scores / scores.std(axis=1, keepdims=True))
    return np.asarray(votes / np.maximum(votes.std(axis=1, keepdims=True), 1e-12))


def _picked(
    rows: JuryRows, costs: list[float], budget: float | None, size: int, seed: int
) -> tuple[np.ndarray, Chosen | None, Array]:
    """All panels, which one is chosen, and on every row the vote of the one that was chosen without it."""
    sizes = [k for k in range(2, min(size, len(rows.judges)) + 1) if not rows.verdict or k % 2]
    sets = juries(costs, budget, sizes)
    if not len(sets):
        return sets, None, np.zeros(0)
    votes = _counted(rows, sets)
    preference = sets @ np.asarray(costs) + 1e-6 * sets.sum(axis=1)
    picked = choose(rows.values(votes), int(rows.clusters.max()) + 1, preference, np.random.default_rng([seed, 1]))
    mine = picked.in_folds[picked.fold[rows.clusters]]
    return sets, picked, votes[mine, np.arange(votes.shape[1])]


def _row(rows: JuryRows, members: list[int], vote: str, scores: Array, costs: list[float], level: float) -> Row:
    figure = rows.figure(scores, level)
    names = [rows.judges[j] for j in members]
    return {
        "metric": names[0] if vote == SINGLE else f"{vote} of {len(members)}",
        "measure": rows.measure,
        "vote": vote,
        "judges": " + ".join(names),
        "size": len(members),
        "cost": float(sum(costs[j] for j in members)),
        "value": figure.value,
        "low": figure.low,
        "high": figure.high,
        "n": len(rows.labels),
        "reason": figure.reason or None,
    }


def _beside(rows: JuryRows, scores: Array, judges: list[int], level: float) -> Row:
    """The difference to the single judge that comes nearest, and what all of them allow to say."""
    gaps: list[tuple[int, Figure]] = [(j, rows.change(rows.scores[j], scores, level)) for j in judges]
    j, least = min(gaps, key=lambda pair: np.nan_to_num(pair[1].value, nan=np.inf))
    lows = np.array([gap.low for _, gap in gaps])
    verdict = BETTER if np.all(lows > 0) else WORSE if least.high < 0 else OPEN
    return {
        "difference": least.value,
        "difference_low": least.low,
        "difference_high": least.high,
        "beside": rows.judges[j],
        "verdict": verdict,
        **({"reason": least.reason} if least.reason else {}),
    }


def _costs(
    panel: Panel,
    judges: list[str],
    cost: str | Sequence[str] | Mapping[str, float] | None,
    prices: str | Path | None,
    notes: list[str],
) -> list[float]:
    """What one run of each judge over these outputs costs: as given, as columns or the store know it, or 1 each."""
    if cost is not None:
        given = _parsed(cost)
        if unknown := [name for name in given if name not in panel.names]:
            raise NameUnknown(f"cost: no judge '{unknown[0]}'; there are {', '.join(panel.names)}.")
        if missing := [name for name in judges if name not in given]:
            raise NeedsMissing(
                f"cost of {', '.join(missing)} is not given: {option('cost', {missing[0]: 1})}.", code="missing_cost"
            )
        return [given[name] for name in judges]
    known: list[dict[str, Any]] = []
    if panel.data is not None:
        paid = load_prices(prices) if prices is not None else None
        known = [known_costs(panel.data, name, paid, notes) for name in judges]
    for words, keys in (("money", ("cost",)), ("tokens", ("tokens_in", "tokens_out")), ("seconds", ("seconds",))):
        if known and all(key in each for each in known for key in keys):
            notes.append(f"cost: {words} of all outputs.")
            return [float(sum(each[key] for key in keys)) for each in known]
    notes.append(f"costs are not known: each judge counts 1 ({option('cost', {'judge': 0.2, 'other': 1})} says them).")
    return [1.0] * len(judges)


def _parsed(cost: str | Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    if isinstance(cost, Mapping):
        return {str(name): float(value) for name, value in cost.items()}
    words = [w for each in ([cost] if isinstance(cost, str) else cost) for w in each.split(",") if w.strip()]
    found = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or found[name.strip()] < 0:
            raise NameUnknown(f"cost '{word.strip()}': write JUDGE=COST with a number of 0 or more, as in gpt-4o=2.5.")
    return found


def _answers(found: list[Row], rows: JuryRows, budget: float | None) -> list[str]:
    """What the votes of all and the chosen panel allow to say: a line a verdict and single judge beside them."""
    said: dict[tuple[str, str], list[str]] = {}
    for row in found:
        if row["vote"] == SINGLE:
            continue
        mine = said.setdefault((row["verdict"], row["beside"]), [])
        who = f"all {row['size']} judges by {row['vote']}" if not mine else f"by {row['vote']}"
        if row["vote"] == CHOSEN:
            within = "" if budget is None else f" within {budget:g}"
            who = f"the best panel{within} ({row['judges']})"
        mine.append(f"{who} {interval(row['difference'], row['difference_low'], row['difference_high'], 2)}")
    words = {
        BETTER: "Better than every single judge, in {measure} above {beside}: {told}.",
        WORSE: "Worse than {beside} alone: {told}.",
        OPEN: "Not shown to be better than {beside} alone: {told}.",
    }
    return [
        words[verdict].format(measure=rows.measure, beside=beside, told=", ".join(told))
        for (verdict, beside), told in said.items()
    ]
