"""A judge's preference for the first place beside people's, from choices between two outputs."""

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
    """One row a judge and aspect; none where no model chose."""
    data = choice.data
    if data.comparisons.is_empty() or not data.models:
        return [], []
    rows: list[Row] = []
    notes: list[str] = []
    for aspect in [a for a in judged_aspects(data) if not choice.aspects or a in choice.aspects]:
        try:
            ranked = rankings(sides_of(choice, aspect), "davidson", "first", "sandwich", 0)
        except NeedsMissing as error:
            notes.append(f"first place not checked: {error}")
            continue
        sides = {r.side: r for r in reversed(ranked)}  # the largest group of systems of each
        people = sides.pop(HUMAN, None)
        for name, mine in sides.items():
            (column,) = judge_columns([name], data.aspects)
            rows.append(_row(column.judge, name, aspect, mine, people))
        if people is None or not people.made.position:
            notes.append(
                "first place: people's own preference for it is not known here, the judge is held against none."
            )
    return rows, notes


def _row(judge: str, name: str, aspect: str, mine: SideRanking, people: SideRanking | None) -> Row:
    from scipy.special import stdtr, stdtrit

    nothing = float("nan")
    row: Row = {
        "metric": name,
        "judge_name": judge,
        "aspect": aspect,
        "measure": "position",
        "unit": "log-odds",
        "judge": nothing,
        "judge_se": nothing,
        "people": nothing,
        "people_se": nothing,
        "value": nothing,
        "low": nothing,
        "high": nothing,
        "p": nothing,
        "n": len(mine.ballots),
        "inputs": mine.made.units,
        "reason": None,
    }
    if not mine.made.position:
        return {**row, "reason": "pairs were shown in one order only"}
    if mine.made.units < FEWEST or mine.made.penalized:
        return {**row, "reason": f"choices on {mine.made.units} inputs; {FEWEST} are needed, with wins on both sides"}
    effect, influence = _effect(mine)
    row |= {"judge": effect, "judge_se": float(np.sqrt((influence**2).sum()))}
    units = mine.made.units
    if people is not None and people.made.position and people.made.units >= FEWEST and not people.made.penalized:
        theirs, other = _effect(people)
        row |= {"people": theirs, "people_se": float(np.sqrt((other**2).sum()))}
        size = max(len(influence), len(other))
        influence = np.pad(influence, (0, size - len(influence))) - np.pad(other, (0, size - len(other)))
        effect, units = effect - theirs, min(units, people.made.units)
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
    """Log-odds of the first place, and what each unit adds to its error."""
    return float(side.made.effects[0]), side.made.influence[:, len(side.systems)]
