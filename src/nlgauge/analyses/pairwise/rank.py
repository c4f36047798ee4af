"""Ranking of systems by pairwise comparisons (Bradley–Terry), with confidence intervals, ranks and tiers."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.pairwise._rankings import (
    Adjust,
    Interval,
    SideRanking,
    annotator_notes,
    limit_to_annotators,
    method,
    rankings,
    remarks,
)
from nlgauge.analyses.pairwise._sides import SidesVotes, sides_of
from nlgauge.data.choice import Choice
from nlgauge.number import count, percent, row_interval, some
from nlgauge.stats.ranking.ballots import TieModel
from nlgauge.table import Row, Table, Title

SHOWN = ["side", "group", "system", "rank", "tier", "win_chance", "value", "wins", "ties", "losses"]


@analysis(
    "rank",
    takes="dataset",
    question="How do human votes rank the systems, and which differences are significant?",
    also=("rank-effects", "rank-sides", "wins(source='comparisons', merge=True)"),
)
def rank(
    choice: Choice,
    *,
    aspect: str | None = None,
    ties: TieModel = "davidson",
    adjust: Adjust = "first",
    interval: Interval = "sandwich",
) -> Table:
    """Rank systems by pairwise comparisons (Bradley–Terry), with intervals and tiers.

    Parameters
    ----------
    interval : {'sandwich', 'bootstrap'}, default 'sandwich'
        Method for the intervals: `sandwich` (covariance clustered by input and annotator) or `bootstrap` over inputs.

    Returns
    -------
    Table
        One row per side (human votes, models, and requested metrics) and system: strength (log-odds with mean 0), win
        rate against an average other system, rank with its simultaneous confidence interval, and tier. If a system won
        or lost everything, its strength has no finite estimate, and `reason` says so.

    Notes
    -----
    P(A beats B) = 1 / (1 + exp(θ_B − θ_A)) without ties (Bradley and Terry 1952; Davidson 1970; Rao and Kupper
    1967). Pairs are tested simultaneously (largest |t|).

    Examples
    --------
    >>> import nlgauge as ng
    >>> pairs = [("A", "B", 0.8), ("B", "C", 0.6), ("C", "A", 0.3)]
    >>> votes = [
    ...     {"question": f"{a}{b}{k}", "model_a": a, "model_b": b, "winner": "model_a" if k < 30 * share else "model_b"}
    ...     for a, b, share in pairs for k in range(30)
    ... ]
    >>> [(row["system"], round(row["value"], 2), row["tier"]) for row in ng.rank(votes)]
    [('A', 0.73, 1), ('B', -0.29, 2), ('C', -0.44, 2)]

    $ nlgauge analyze rank votes.jsonl

    $ nlgauge analyze rank arena.jsonl --adjust style

    $ nlgauge analyze rank votes.csv --ties rao-kupper --interval bootstrap -f json
    """
    data, seed = choice.data, choice.seed
    votes = sides_of(choice, aspect, adjust == "style")
    ranked = rankings(votes, ties, adjust, interval, seed)
    hidden = {*(["side"] if len(votes.sides) == 1 else []), *(["group"] if len(ranked) == len(votes.sides) else [])}
    return Table(
        title=Title(data.name, f"ranking of {len(votes.systems)} systems by pairwise comparisons, {votes.aspect}"),
        rows=[row for r in ranked for row in _rows(votes, r)],
        shown=[column for column in SHOWN if column not in hidden],
        heads={"value": "strength", "win_chance": "win rate"},
        cells={
            "value": row_interval,
            "win_chance": _chance,
            "rank": _rank_text,
            "tier": lambda r: "–" if r["tier"] is None else str(r["tier"]),
            "side": lambda r: "human votes" if r["side"] == HUMAN else r["side"],
        },
        method=f"{method(votes, ranked, ties, adjust, interval)} Ranks and tiers: simultaneous tests of all pairs of a "
        "side (max-t), family-wise error rate about 5% at most (simulated in docs/rank_coverage.md).",
        definitions={
            "rank": "rank by strength, with its simultaneous confidence interval",
            "tier": "every system of a tier is significantly stronger than every system of the next tier",
            "win rate": "probability to be preferred to a random other system, ties counting half",
        },
        answers=[
            *_no_human_votes(votes),
            *(words for r in ranked if (words := first_words(votes, r, groups="group" not in hidden))),
            *limit_to_annotators(ranked),
        ],
        notes=[*remarks(votes, ranked, adjust), *annotator_notes(ranked)],
        signature=f"aspect:{votes.aspect}|ties:{ties}|adjust:{adjust}|interval:{interval}|seed:{seed}",
    )


def _rows(votes: SidesVotes, r: SideRanking) -> list[Row]:
    won, tied, lost = r.counts()
    value, low, high = r.chances()
    place = 1 + (r.made.theta[:, None] < r.made.theta).sum(axis=1)
    tests = r.tests
    rows = []
    for i in np.argsort(-r.made.theta, kind="stable"):
        ends = (int(tests.ranks[0][i]), int(tests.ranks[1][i])) if tests else (None, None)
        reason = r.infinite[i] or (None if tests else f"{r.made.units} {votes.unit}s")
        rows.append(
            {
                "side": r.side,
                "system": votes.systems[r.systems[i]],
                "group": r.group,
                "aspect": votes.aspect,
                "measure": "penalized strength" if r.made.penalized else "strength",
                "value": float(r.made.theta[i]),
                "low": float(r.low[i]),
                "high": float(r.high[i]),
                "n": int(won[i] + tied[i] + lost[i]),
                "wins": int(won[i]),
                "ties": int(tied[i]),
                "losses": int(lost[i]),
                "win_chance": float(value[i]),
                "win_low": float(low[i]),
                "win_high": float(high[i]),
                "rank": int(place[i]),
                "rank_low": ends[0],
                "rank_high": ends[1],
                "tier": int(tests.tiers()[i]) if tests else None,
                "reason": reason,
            }
        )
    return rows


def _no_human_votes(votes: SidesVotes) -> list[str]:
    if HUMAN in votes.sides:
        return []
    return [
        f"There are no human votes: this is the ranking by {some(list(votes.sides))}, whose agreement with humans is "
        "unknown."
    ]


def _chance(row: Row) -> str:
    ends = f" [{percent(row['win_low'])} {percent(row['win_high'])}]" if np.isfinite(row["win_low"]) else ""
    return percent(row["win_chance"]) + ends


def _rank_text(row: Row) -> str:
    if row["rank_low"] is None or row["rank_low"] == row["rank_high"]:
        return str(row["rank"])
    return f"{row['rank']} [{row['rank_low']} {row['rank_high']}]"


def first_words(votes: SidesVotes, r: SideRanking, groups: bool = False) -> str:
    """State which systems rank first and how many pairs differ significantly; `groups`: in which group of systems."""
    human = "Human votes (assumed: no annotator is named)" if votes.assumed else "Human votes"
    who = (human if r.side == HUMAN else r.side) + (f", group {r.group}" if groups else "")
    if len(r.systems) < 2:
        return ""
    order = [votes.systems[r.systems[i]] for i in np.argsort(-r.made.theta, kind="stable")]
    if r.tests is None:
        return f"{who}: {order[0]} has the highest strength; too few inputs for a test."
    first = [votes.systems[r.systems[i]] for i in np.flatnonzero(r.tests.ranks[0] == 1)]
    first.sort(key=order.index)
    tiers = int(r.tests.tiers().max())
    if len(first) == 1:
        best = f"{who}: {first[0]} is significantly better than the other {len(order) - 1} systems"
    elif len(first) == len(order):
        more = "annotators" if 0 < r.made.annotators < r.made.units else "votes"
        return (
            f"{who}: the {len(order)} systems do not differ significantly ({order[0]} is highest); collect more {more}."
        )
    else:
        best = f"{who}: {some(first, 5)} tie for first of {len(order)}"
    pairs = len(order) * (len(order) - 1) // 2
    return f"{best}; {int(r.tests.better.sum())} of {pairs} pairs differ significantly, in {count(tiers, 'tier')}."
