"""Panels of judges compared with the best single judge, and the best panel within a budget (cross-validated)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, reference, signature
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

BETTER, WORSE, OPEN = "better", "worse", "inconclusive"
LEVELS = 10  # scores with at most so many distinct values are labels for Dawid-Skene and MACE
SINGLE, CHOSEN = "single", "chosen"


@analysis(
    "jury",
    question="Is a panel of judges better than the best single judge, and which panel fits a budget?",
    also=("jury-errors", "complementarity"),
)
def jury(
    panel: Panel,
    *,
    cost: str | Sequence[str] | Mapping[str, float] | None = None,
    budget: float | None = None,
    size: int = 5,
    measure: str | None = None,
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    prices: str | Path | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Compare panels of judges with the best single judge, and choose the best panel within a budget.

    Parameters
    ----------
    cost : str, sequence of str or mapping, optional
        Cost of each judge, as 'gpt-4o=2.5,llama=0.3'. Default: taken from columns with cost, tokens or time, or from
        the cache; otherwise 1 for each judge.
    budget : float, optional
        Maximum total cost of a panel.
    size : int, default 5
        Maximum number of judges in a panel.
    measure : str, optional
        Measure of verdicts, such as kappa, or of scores, such as input/kendall; by default kappa if annotators and
        judges give pass or fail.
    prices : path, optional
        TOML file with prices per model, for costs from tokens.

    Returns
    -------
    Table
        One row per judge, per aggregation of all judges (majority or mean, Dawid–Skene, MACE, weighted), and for the
        chosen panel: value with its interval, cost, difference from the best single judge, and verdict (better, worse,
        inconclusive).

    Notes
    -----
    The panel is chosen by cross-validation: it is evaluated on folds of inputs that were not used to choose it.
    `better` means significantly better than every single judge on the same outputs, by intervals that are simultaneous
    over all aggregations (docs/jury.md).

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
    rows = jury_rows(panel, measure, human_pass_from, judge_pass_from)
    notes = [*rows.notes]
    costs = _costs(panel, rows.judges, cost, prices, notes)
    lines = [{**row, "aspect": panel.aspect} for row in _compare_panels(rows, costs, budget, size, level, seed, notes)]
    return Table(
        title=Title(
            panel.name, f"panels of judges compared with {reference(panel, 'labels')}, {panel.aspect}, {rows.measure}"
        ),
        rows=lines,
        shown=["vote", "judges", "cost", "value", "difference", "best_judge", "verdict"],
        heads={"difference": "difference", "best_judge": "from the best judge", "judges": "judge or panel"},
        cells={
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
            "difference": lambda r: (
                interval(r["difference"], r["difference_low"], r["difference_high"], 2)
                if r.get("difference") is not None
                else ""
            ),
            "best_judge": lambda r: r.get("best_judge") or "",
            "verdict": lambda r: r.get("verdict") or "",
            "judges": lambda r: r["judges"] if r["vote"] in (SINGLE, CHOSEN) else "all",
            "cost": lambda r: number(r["cost"], 2).removesuffix(".00"),
        },
        answers=_answers(lines, rows, budget),
        definitions={
            "vote": "majority of verdicts or mean of standardized scores; dawid-skene, mace: weights estimated without "
            "labels; weighted: regression on the labels of the other folds; chosen: the panel of at most "
            f"{size} judges, by majority or mean, that is best on the other folds",
            "verdict": f"{BETTER}: significantly better than every single judge; {WORSE}: significantly worse than the "
            f"nearest one; else {OPEN}",
        },
        method=f"{rows.size_text(panel)}; {level:.0%} confidence intervals, simultaneous for the differences; {FOLDS} "
        "folds of inputs. A panel that is not better than the best judge is called better in at most about 2.5% of "
        "data "
        "sets (simulated with one system: docs/jury.md).",
        notes=[*notes, *human_note(panel), *flipped_note(panel)],
        facts={"costs": dict(zip(rows.judges, costs, strict=True)), "of": "verdicts" if rows.verdict else "scores"},
        signature=signature(panel, measure=rows.measure, size=size, budget=budget, folds=FOLDS, seed=seed),
    )


def _compare_panels(
    rows: JuryRows, costs: list[float], budget: float | None, size: int, level: float, seed: int, notes: list[str]
) -> list[Row]:
    """Return a row per judge, per aggregation of all judges and of the chosen panel, each with its intervals."""
    votes = _votes(rows, seed, notes)
    sets, chosen, held_out = _choose_panel(rows, costs, budget, size, seed)
    joint = 1 - (1 - level) / max(len(votes) + (chosen is not None), 1)
    everyone = list(range(len(rows.judges)))
    lines = [_row(rows, [j], SINGLE, rows.scores[j], costs, level) for j in everyone]
    for name, scores in votes.items():
        row = _row(rows, everyone, name, scores, costs, level)
        lines.append({**row, **_compare_single(rows, scores, everyone, joint)})
    if chosen is not None:
        row = _row(rows, np.flatnonzero(sets[chosen.jury]).tolist(), CHOSEN, held_out, costs, level)
        row["in_folds"] = int((sets[chosen.in_folds] == sets[chosen.jury]).all(axis=1).sum())
        affordable = [j for j, c in enumerate(costs) if budget is None or c <= budget]
        lines.append({**row, **_compare_single(rows, held_out, affordable or everyone, joint)})
    elif budget is not None:
        notes.append(f"no panel of {'three' if rows.verdict else 'two'} or more judges fits the budget of {budget:g}.")
    return lines


def _votes(rows: JuryRows, seed: int, notes: list[str]) -> dict[str, Array]:
    """Return the votes of all judges by each method of aggregation."""
    votes = {"majority" if rows.verdict else "mean": _panel_votes(rows, np.ones((1, len(rows.judges)), bool))[0]}
    if rows.verdict and len(rows.judges) % 2 == 0:
        notes.append("majority of an even number of judges: a tie counts as fail.")
    if rows.verdict or len(np.unique(rows.scores)) <= LEVELS:
        error_rates = dawid_skene(rows.scores)
        competence = mace(rows.scores, np.random.default_rng(seed), restarts=3)
        models = (("dawid-skene", error_rates), ("mace", competence))
        votes |= {name: model.posterior @ error_rates.labels for name, model in models}
    if not rows.verdict and len(rows.labels) >= LABELS_PER_JUDGE * len(rows.judges):
        votes["weighted"] = cross_fitted(rows.labels, rows.scores.T, rows.clusters)
    return votes


def _panel_votes(rows: JuryRows, sets: np.ndarray) -> Array:
    """Return the vote of every panel on every output, panels × outputs.

    The majority (a tie counts as fail), or the mean of standardized scores, scaled to a standard deviation of 1.
    """
    if rows.verdict:
        return np.asarray(sets @ rows.scores > sets.sum(axis=1, keepdims=True) / 2, np.float64)
    scores = rows.scores - rows.scores.mean(axis=1, keepdims=True)
    votes = sets @ (scores / scores.std(axis=1, keepdims=True))
    return np.asarray(votes / np.maximum(votes.std(axis=1, keepdims=True), 1e-12))


def _choose_panel(
    rows: JuryRows, costs: list[float], budget: float | None, size: int, seed: int
) -> tuple[np.ndarray, Chosen | None, Array]:
    """Return all panels, the chosen one, and for every output the vote of the panel chosen on the other folds."""
    sizes = [k for k in range(2, min(size, len(rows.judges)) + 1) if not rows.verdict or k % 2]
    sets = juries(costs, budget, sizes)
    if not len(sets):
        return sets, None, np.zeros(0)
    votes = _panel_votes(rows, sets)
    preference = sets @ np.asarray(costs) + 1e-6 * sets.sum(axis=1)
    chosen = choose(rows.values(votes), int(rows.clusters.max()) + 1, preference, np.random.default_rng([seed, 1]))
    without = chosen.in_folds[chosen.fold[rows.clusters]]
    return sets, chosen, votes[without, np.arange(votes.shape[1])]


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
        **figure.columns,
        "n": len(rows.labels),
    }


def _compare_single(rows: JuryRows, scores: Array, judges: list[int], level: float) -> Row:
    """Compare a panel with all single judges: the difference from the nearest one, and the verdict over all of them."""
    gaps: list[tuple[int, Figure]] = [(j, rows.change(rows.scores[j], scores, level)) for j in judges]
    j, least = min(gaps, key=lambda pair: np.nan_to_num(pair[1].value, nan=np.inf))
    lows = np.array([gap.low for _, gap in gaps])
    verdict = BETTER if np.all(lows > 0) else WORSE if least.high < 0 else OPEN
    return {
        "difference": least.value,
        "difference_low": least.low,
        "difference_high": least.high,
        "best_judge": rows.judges[j],
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
    """Return the cost of each judge on these outputs: as declared, from columns or the cache, or 1 each."""
    if cost is not None:
        declared = _parsed(cost)
        if unknown := [name for name in declared if name not in panel.names]:
            raise NameUnknown(
                f"{option('cost')}: judge '{unknown[0]}' not found; the data have {', '.join(panel.names)}."
            )
        if missing := [name for name in judges if name not in declared]:
            raise NeedsMissing(
                f"the cost of {', '.join(missing)} is missing: add {option('cost', {missing[0]: 1})}.",
                code="missing_cost",
            )
        return [declared[name] for name in judges]
    recorded: list[dict[str, Any]] = []
    if panel.data is not None:
        paid = load_prices(prices) if prices is not None else None
        recorded = [known_costs(panel.data, name, paid, notes) for name in judges]
    for unit, keys in (("money", ("cost",)), ("tokens", ("tokens_in", "tokens_out")), ("seconds", ("seconds",))):
        if recorded and all(key in each for each in recorded for key in keys):
            notes.append(f"cost: {unit} of all outputs.")
            return [float(sum(each[key] for key in keys)) for each in recorded]
    example = option("cost", {"judge": 0.2, "other": 1})
    notes.append(f"costs are unknown: each judge costs 1 (declare them, as in {example}).")
    return [1.0] * len(judges)


def _parsed(cost: str | Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    if isinstance(cost, Mapping):
        return {str(name): float(value) for name, value in cost.items()}
    words = [w for each in ([cost] if isinstance(cost, str) else cost) for w in each.split(",") if w.strip()]
    costs = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        try:
            costs[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals or costs[name.strip()] < 0:
            raise NameUnknown(
                f"{option('cost')}: expected JUDGE=COST with a cost of 0 or more, as in gpt-4o=2.5; got "
                f"'{word.strip()}'."
            )
    return costs


def _answers(lines: list[Row], rows: JuryRows, budget: float | None) -> list[str]:
    """Return a sentence per verdict and nearest single judge, with the differences of all panels."""
    by_verdict: dict[tuple[str, str], list[str]] = {}
    for row in lines:
        if row["vote"] == SINGLE:
            continue
        panels = by_verdict.setdefault((row["verdict"], row["best_judge"]), [])
        who = f"by {row['vote']}" if panels else f"all {row['size']} judges by {row['vote']}"
        if row["vote"] == CHOSEN:
            within = "" if budget is None else f" within {budget:g}"
            who = f"the best panel{within} ({row['judges']})"
        panels.append(f"{who} {interval(row['difference'], row['difference_low'], row['difference_high'], 2)}")
    sentences = {
        BETTER: "Significantly better than every single judge ({measure}, difference from {judge}): {panels}.",
        WORSE: "Significantly worse than {judge} alone ({measure}, difference): {panels}.",
        OPEN: "Not significantly better than {judge} alone ({measure}, difference): {panels}.",
    }
    return [
        sentences[verdict].format(measure=rows.measure, judge=judge, panels=", ".join(panels))
        for (verdict, judge), panels in by_verdict.items()
    ]
