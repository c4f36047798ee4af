"""Position bias of a judge compared with that of annotators, from pairwise comparisons."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.analyses.pairwise._rankings import SideRanking, rankings
from nlgauge.analyses.pairwise._sides import sides_of
from nlgauge.data.choice import Choice
from nlgauge.data.comparisons import judged_aspects
from nlgauge.errors import NeedsMissing
from nlgauge.stats.estimation.judge_bias import FEWEST
from nlgauge.table import Row


def position_rows(choice: Choice) -> tuple[list[Row], list[str]]:
    """Return a row per judge and aspect, and notes; no rows without comparisons by a model."""
    data = choice.data
    if data.comparisons.is_empty() or not data.models:
        return [], []
    rows: list[Row] = []
    notes: list[str] = []
    for aspect in [a for a in judged_aspects(data) if not choice.aspects or a in choice.aspects]:
        try:
            ranked = rankings(sides_of(choice, aspect), "davidson", "first", "sandwich", 0)
        except NeedsMissing as error:
            notes.append(f"position bias is not tested: {error}")
            continue
        sides = {r.side: r for r in reversed(ranked)}  # the largest group of systems of each
        people = sides.pop(HUMAN, None)
        for name, ranking in sides.items():
            (column,) = judge_columns([name], data.aspects)
            rows.append(_row(column.judge, name, aspect, ranking, people))
        if people is None or not people.made.position:
            notes.append("the position bias of annotators is unknown: that of the judge is compared with no bias.")
    return rows, notes


def _row(judge: str, name: str, aspect: str, ranking: SideRanking, people: SideRanking | None) -> Row:
    from scipy.special import stdtr, stdtrit

    missing = float("nan")
    row: Row = {
        "metric": name,
        "judge_name": judge,
        "aspect": aspect,
        "measure": "position",
        "unit": "log-odds",
        "judge": missing,
        "judge_se": missing,
        "human": missing,
        "human_se": missing,
        "value": missing,
        "low": missing,
        "high": missing,
        "p": missing,
        "n": len(ranking.ballots),
        "inputs": ranking.made.units,
        "reason": None,
    }
    if not ranking.made.position:
        return {**row, "reason": "pairs were shown in one order only"}
    if ranking.made.units < FEWEST or ranking.made.penalized:
        return {
            **row,
            "reason": f"requires comparisons on at least {FEWEST} inputs with wins on both sides; found "
            f"{ranking.made.units} inputs",
        }
    effect, influence = _effect(ranking)
    row |= {"judge": effect, "judge_se": float(np.sqrt((influence**2).sum()))}
    units = ranking.made.units
    if people is not None and people.made.position and people.made.units >= FEWEST and not people.made.penalized:
        human_effect, other = _effect(people)
        row |= {"human": human_effect, "human_se": float(np.sqrt((other**2).sum()))}
        size = max(len(influence), len(other))
        influence = np.pad(influence, (0, size - len(influence))) - np.pad(other, (0, size - len(other)))
        effect, units = effect - human_effect, min(units, people.made.units)
    error = float(np.sqrt((influence**2).sum() * units / (units - 1)))
    half = float(stdtrit(units - 1, 0.975)) * error
    return {
        **row,
        "value": effect,
        "low": effect - half,
        "high": effect + half,
        "p": float(2 * stdtr(units - 1, -abs(effect) / error)),
    }


def _effect(side: SideRanking) -> tuple[float, np.ndarray]:
    """Return the log-odds of the first position, and the influence of each unit on it."""
    return float(side.made.effects[0]), side.made.influence[:, len(side.systems)]
