"""Pairs of systems that a judge ranks differently from human votes."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.pairwise._rankings import (
    LEVEL,
    Adjust,
    Floats,
    SideRanking,
    annotator_notes,
    limit_to_annotators,
    method,
    rankings,
    remarks,
)
from nlgauge.analyses.pairwise._sides import SidesVotes, sides_of
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import count, percent, row_interval, some
from nlgauge.stats.ranking.ballots import TieModel
from nlgauge.stats.ranking.bradley_terry import expected_score
from nlgauge.stats.ranking.simultaneous_tests import all_pairs, deviations
from nlgauge.table import Row, Table, Title

OPPOSITE, SAME, DIFFERS, OPEN = "opposite order", "same order", "different gap", "not significant"


@analysis("rank-sides", takes="dataset", question="Which pairs of systems does a judge rank differently from humans?")
def rank_sides(
    choice: Choice, *, aspect: str | None = None, ties: TieModel = "davidson", adjust: Adjust = "first"
) -> Table:
    """Find the pairs of systems that a judge ranks differently from human votes.

    Returns
    -------
    Table
        One row per judge and pair of systems, the one that is stronger by human votes first: both differences of
        strength, the judge's minus the human one with a simultaneous interval and p, and a verdict (opposite order,
        same order, different gap, not significant).
    """
    data, seed = choice.data, choice.seed
    votes = sides_of(choice, aspect, adjust == "style")
    if HUMAN not in votes.sides or len(votes.sides) < 2:
        raise NeedsMissing(
            "the comparison requires votes of annotators and of a judge (columns such as human_winner and gpt4_winner, "
            f"or a rater that is a model); the data have only {some([*votes.sides])}.",
            code="no_choices",
        )
    ranked = rankings(votes, ties, adjust, "sandwich", seed)
    people, judges = ([r for r in ranked if (r.side == HUMAN) is is_human] for is_human in (True, False))
    rows = [row for one in people for two in judges for row in pair_rows(votes, one, two, seed)]
    if not rows:
        raise NeedsMissing(
            "too few inputs, or no pair of systems that annotators and a judge both compared.", code="too_few_inputs"
        )
    return Table(
        title=Title(data.name, f"pairs of systems by human votes and by a judge, {votes.aspect}"),
        rows=rows,
        shown=["metric", "system", "other", "human_chance", "judge_chance", "value", "p", "verdict"],
        heads={
            "metric": "judge",
            "human_chance": "human win rate",
            "judge_chance": "judge's win rate",
            "value": "difference",
        },
        cells={
            "human_chance": lambda r: percent(r["human_chance"]),
            "judge_chance": lambda r: percent(r["judge_chance"]),
            "value": row_interval,
        },
        method=f"{method(votes, ranked, ties, adjust, 'sandwich')} Difference: the judge's gap in strength minus the "
        f"human one, in log-odds; clustered by {votes.unit}; simultaneous intervals and p over all pairs.",
        definitions={
            OPPOSITE: "both differences are significant, in opposite directions",
            SAME: "both differences are significant, in the same direction",
            DIFFERS: "the gaps differ significantly; a judge that is more or less decisive than annotators shows "
            "this too",
            OPEN: "one of the differences is not significant",
        },
        answers=[
            _words(name, [r for r in rows if r["metric"] == name]) for name in dict.fromkeys(r["metric"] for r in rows)
        ],
        notes=[*remarks(votes, ranked, adjust), *limit_to_annotators(ranked), *annotator_notes(ranked)],
        signature=f"aspect:{votes.aspect}|ties:{ties}|adjust:{adjust}|seed:{seed}",
    )


def pair_rows(votes: SidesVotes, people: SideRanking, judge: SideRanking, seed: int) -> list[Row]:
    """Return a row per pair of systems that both sides compared; none if a side has too few inputs."""
    both = [s for s in people.systems if s in judge.systems]
    if len(both) < 2 or people.tests is None or judge.tests is None:
        return []
    a, b = ([r.systems.index(s) for s in both] for r in (people, judge))
    units = len(np.union1d(people.ballots.unit, judge.ballots.unit))
    covariance = _together(people, judge, a, b, units)
    shift = judge.made.theta[b] - people.made.theta[a]
    freedom = min(units - 1, people.made.freedom) if people.made.annotators else units - 1
    tests = all_pairs(shift, covariance, deviations(covariance, freedom, np.random.default_rng(seed)), LEVEL)
    rows = []
    order = np.argsort(-people.made.theta[a], kind="stable")
    for k, i in enumerate(order):
        for j in order[k + 1 :]:
            human_gap = people.made.theta[a[i]] - people.made.theta[a[j]]
            judge_gap = judge.made.theta[b[i]] - judge.made.theta[b[j]]
            half = tests.reach * tests.error[i, j]
            rows.append(
                {
                    "metric": judge.side,
                    "aspect": votes.aspect,
                    "system": votes.systems[both[i]],
                    "other": votes.systems[both[j]],
                    "measure": "gap",
                    "human_gap": float(human_gap),
                    "judge_gap": float(judge_gap),
                    "human_chance": float(expected_score(human_gap, people.made.tie, people.made.ties)),
                    "judge_chance": float(expected_score(judge_gap, judge.made.tie, judge.made.ties)),
                    "value": float(tests.gap[i, j]),
                    "low": float(tests.gap[i, j] - half),
                    "high": float(tests.gap[i, j] + half),
                    "p": float(tests.p[i, j]),
                    "n": units,
                    "verdict": _verdict(people, judge, (a[i], a[j]), (b[i], b[j]), abs(tests.gap[i, j]) > half),
                }
            )
    return rows


def _together(people: SideRanking, judge: SideRanking, a: list[int], b: list[int], units: int) -> Floats:
    """Return the covariance of the differences in strength, clustered by unit and annotator."""
    if people.made.penalized or judge.made.penalized:
        return np.asarray(people.covariance[np.ix_(a, a)] + judge.covariance[np.ix_(b, b)])
    one, two = people.made.influence[:, a], judge.made.influence[:, b]
    rows = max(len(one), len(two))
    influence = np.zeros((rows, len(a)))
    influence[: len(two)] += two
    influence[: len(one)] -= one
    return np.asarray(influence.T @ influence * units / (units - 1) + people.made.between[np.ix_(a, a)])


def _verdict(people: SideRanking, judge: SideRanking, a: tuple[int, int], b: tuple[int, int], differs: bool) -> str:
    assert people.tests is not None and judge.tests is not None
    up, down = (people.tests.better[p] for p in (a, a[::-1]))
    judged_up, judged_down = (judge.tests.better[p] for p in (b, b[::-1]))
    if (up and judged_down) or (down and judged_up):
        return OPPOSITE
    if differs:
        return DIFFERS
    return SAME if (up and judged_up) or (down and judged_down) else OPEN


def _words(judge: str, rows: list[Row]) -> str:
    def pairs(verdict: str) -> list[str]:
        return [f"{r['system']}/{r['other']}" for r in rows if r["verdict"] == verdict]

    opposite, different, same, open_pairs = (pairs(v) for v in (OPPOSITE, DIFFERS, SAME, OPEN))
    return (
        f"{judge} and human votes, {count(len(rows), 'pair')} of systems: {len(same)} significantly in the same order, "
        f"{len(opposite)} in opposite orders{f' ({some(opposite, 3)})' if opposite else ''}, {len(different)} with "
        f"significantly different gaps{f' ({some(different, 3)})' if different else ''}, {len(open_pairs)} not "
        "significant for both."
    )
