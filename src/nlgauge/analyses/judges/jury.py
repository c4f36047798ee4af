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
from nlgauge.number import interval, number
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


@analysis("jury", question="Is a panel of judges better than the best single judge, and which one is worth its cost?")
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
    """Every judge, all of them by several votes, and the best panel of at most `size` within `budget`.

    The panel is chosen without the rows that it is then held against people on (five folds of inputs). `better` is said
    where it beats every single judge on the same rows, by intervals that hold together for all votes.
    """
    rows = jury_rows(panel, measure, people_pass_from, judge_pass_from)
    notes = [*rows.notes]
    costs = _costs(panel, rows.judges, cost, prices, notes)
    votes = _votes(rows, seed, notes)
    found = [_row(rows, [j], SINGLE, rows.scores[j], costs, level) for j in range(len(rows.judges))]
    affordable = [j for j, c in enumerate(costs) if budget is None or c <= budget]
    sets, picked, held_out = _picked(rows, costs, budget, size, seed)
    tested = len(votes) + (picked is not None)
    joint = 1 - (1 - level) / max(tested, 1)
    everyone = list(range(len(rows.judges)))
    for name, scores in votes.items():
        row = _row(rows, everyone, name, scores, costs, level)
        found.append({**row, **_beside(rows, scores, everyone, joint)})
    if picked is not None:
        members = np.flatnonzero(sets[picked.jury]).tolist()
        row = _row(rows, members, CHOSEN, held_out, costs, level)
        row["in_folds"] = int((sets[picked.in_folds] == sets[picked.jury]).all(axis=1).sum())
        found.append({**row, **_beside(rows, held_out, affordable or everyone, joint)})
    elif budget is not None:
        notes.append(f"no panel of {'three' if rows.verdict else 'two'} judges or more fits the budget of {budget:g}.")
    found = [{**row, "aspect": panel.aspect} for row in found]
    return Table(
        title=Title(panel.name, f"panels of judges beside {panel.rated_by} on {panel.aspect}, {rows.measure}"),
        rows=found,
        shown=["vote", "judges", "cost", "value", "difference", "beside", "verdict"],
        heads={"difference": "to the best judge", "beside": "who is", "judges": "judge or panel"},
        cells={
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
            "difference": lambda r: interval(r["difference"], r["difference_low"], r["difference_high"], 2)
            if r.get("difference") is not None else "",
            "beside": lambda r: r.get("beside") or "", "verdict": lambda r: r.get("verdict") or "",
            "judges": lambda r: r["judges"] if r["vote"] in (SINGLE, CHOSEN) else "all",
            "cost": lambda r: number(r["cost"], 2).removesuffix(".00"),
        },
        answers=_answers(found, rows, budget),
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
    )  # fmt: skip


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
        "metric": names[0] if vote == SINGLE else f"{vote} of {len(members)}", "measure": rows.measure,
        "vote": vote, "judges": " + ".join(names), "size": len(members), "cost": float(sum(costs[j] for j in members)),
        "value": figure.value, "low": figure.low, "high": figure.high, "n": len(rows.labels),
        "reason": figure.reason or None,
    }  # fmt: skip


def _beside(rows: JuryRows, scores: Array, judges: list[int], level: float) -> Row:
    """The difference to the single judge that comes nearest, and what all of them allow to say."""
    gaps: list[tuple[int, Figure]] = [(j, rows.change(rows.scores[j], scores, level)) for j in judges]
    j, least = min(gaps, key=lambda pair: np.nan_to_num(pair[1].value, nan=np.inf))
    lows = np.array([gap.low for _, gap in gaps])
    verdict = BETTER if np.all(lows > 0) else WORSE if least.high < 0 else OPEN
    return {
        "difference": least.value, "difference_low": least.low, "difference_high": least.high,
        "beside": rows.judges[j], "verdict": verdict,
        **({"reason": least.reason} if least.reason else {}),
    }  # fmt: skip


def _costs(
    panel: Panel, judges: list[str], cost: str | Sequence[str] | Mapping[str, float] | None, prices: str | Path | None,
    notes: list[str],
) -> list[float]:  # fmt: skip
    """What one run of each judge over these outputs costs: as given, as columns or the store know it, or 1 each."""
    if cost is not None:
        given = _parsed(cost)
        if unknown := [name for name in given if name not in panel.names]:
            raise NameUnknown(f"cost: no judge '{unknown[0]}'; there are {', '.join(panel.names)}.")
        if missing := [name for name in judges if name not in given]:
            raise NeedsMissing(
                f"cost of {', '.join(missing)} is not given: --cost {missing[0]}=1.", code="missing_cost"
            )
        return [given[name] for name in judges]
    known: list[dict[str, Any]] = []
    if panel.data is not None:
        from nlgauge.metrics.judge.cost import load_prices
        from nlgauge.scoring.costs import known_costs

        paid = load_prices(prices) if prices is not None else None
        known = [known_costs(panel.data, name, paid, notes) for name in judges]
    for words, keys in (("money", ("cost",)), ("tokens", ("tokens_in", "tokens_out")), ("seconds", ("seconds",))):
        if known and all(key in each for each in known for key in keys):
            notes.append(f"cost: {words} of all outputs.")
            return [float(sum(each[key] for key in keys)) for each in known]
    notes.append("costs are not known: each judge counts 1 (--cost judge=0.2,other=1 says them).")
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
