"""Ranking of each side and group of connected systems: strengths, intervals, tests of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.pairwise._sides import SidesVotes
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.number import some
from nlgauge.stats.ranking.annotators import effective_annotators
from nlgauge.stats.ranking.ballots import TIE, Ballots, TieModel, both_orders, connected, winners_reach
from nlgauge.stats.ranking.bradley_terry import Strengths, bootstrap, equality_tests, expected_score, fit
from nlgauge.stats.ranking.simultaneous_tests import AllPairs, all_pairs, deviations

Floats = NDArray[np.float64]
Interval = Literal["sandwich", "bootstrap"]
Adjust = Literal["first", "style", "none"]  # presentation order; order and style; no effect
LEVEL, DRAWS = 0.95, 1000
FEWEST = 10  # independent inputs that an interval or test requires
FEWEST_ANNOTATORS = 4  # with three, tests detect 0% to 8% of the true differences (docs/rank_coverage.md)
TIES = {
    "davidson": "Bradley–Terry model with ties (Davidson 1970)",
    "rao-kupper": "Bradley–Terry model with ties (Rao and Kupper 1967)",
    "half": "Bradley–Terry model, a tie counting as half a win for each",
    "drop": "Bradley–Terry model without ties",
}


@dataclass(frozen=True)
class SideRanking:
    """Ranking of the connected systems of one side, as indices of `SidesVotes.systems`."""

    side: str
    group: int
    systems: list[int]
    ballots: Ballots  # renumbered
    made: Strengths
    covariance: Floats  # of strengths, effects and the tie's parameter
    low: Floats
    high: Floats
    tests: AllPairs | None  # none with too few inputs
    infinite: list[str]  # why a system has no finite estimate; "" if it has one

    @property
    def factor(self) -> float:
        """Return the half-width of an interval in standard errors."""
        return float(stdtrit(self.made.freedom, (1 + LEVEL) / 2))

    def counts(self) -> tuple[Floats, Floats, Floats]:
        """Return wins, ties and losses of each system."""
        b, size = self.ballots, len(self.systems)
        won, lost = np.where(b.outcome == 0, b.first, b.second), np.where(b.outcome == 0, b.second, b.first)
        clear = b.outcome != TIE
        tied = np.concatenate([b.first[~clear], b.second[~clear]])
        return tuple(np.bincount(x, minlength=size) for x in (won[clear], tied, lost[clear]))  # type: ignore[return-value]

    def chances(self) -> tuple[Floats, Floats, Floats]:
        """Return the win rate against an average other system (ties count half), with its interval (delta method)."""
        made, size = self.made, len(self.systems)
        gap, others = made.theta[:, None] - made.theta, ~np.eye(size, dtype=bool)

        def mean(gaps: Floats, tie: float) -> Floats:
            return np.asarray((expected_score(gaps, tie, made.ties) * others).sum(axis=1) / (size - 1))

        step = 1e-5
        slope = (expected_score(gap + step, made.tie, made.ties) - expected_score(gap - step, made.tie, made.ties)) * (
            others / (2 * step * (size - 1))
        )
        gradient = np.zeros((size, len(self.covariance)))
        gradient[:, :size] = np.diag(slope.sum(axis=1)) - slope
        if np.isfinite(made.tie):
            gradient[:, -1] = (mean(gap, made.tie + step) - mean(gap, made.tie - step)) / (2 * step)
        value = mean(gap, made.tie)
        error = np.sqrt(np.einsum("ij,jk,ik->i", gradient, self.covariance, gradient)) / (value * (1 - value))
        odds = np.log(value / (1 - value))
        ends = [1 / (1 + np.exp(-(odds + sign * self.factor * error))) for sign in (-1, 1)]
        low, high = (np.full(size, np.nan) if self.tests is None else end for end in ends)
        for i, why in enumerate(self.infinite):
            if why and self.tests is not None:
                low[i], high[i] = self._bound(i)
        return value, low, high

    def _bound(self, i: int) -> tuple[float, float]:
        """Return the exact limit of the win rate of a system that won (or lost) all, with clusters as observations."""
        won, tied, lost = (c[i] for c in self.counts())
        involved = (self.ballots.first == i) | (self.ballots.second == i)
        clusters = [self.ballots.unit, *([self.ballots.annotator] if self.made.annotators else [])]
        limit = float(((1 - LEVEL) / 2) ** (1 / min(len(np.unique(c[involved])) for c in clusters if c is not None)))
        if tied == 0 and lost == 0:
            return limit, 1.0
        return (0.0, 1 - limit) if tied == 0 and won == 0 else (float("nan"), float("nan"))


def rankings(votes: SidesVotes, ties: TieModel, adjust: Adjust, interval: Interval, seed: int) -> list[SideRanking]:
    """Return a ranking per side and group of systems that were compared with each other."""
    ranked = []
    for side, ballots in votes.sides.items():
        compared = {*ballots.first.tolist(), *ballots.second.tolist()}
        groups = [g for g in connected(ballots, len(votes.systems)) if g[0] in compared]
        for number, group in enumerate(groups, start=1):
            index = np.full(len(votes.systems), -1)
            index[group] = np.arange(len(group))
            part = ballots.part(np.isin(ballots.first, group))
            part = replace(part, first=index[part.first], second=index[part.second])
            try:
                ranked.append(_ranked(side, number, group, part, ties, adjust, interval, seed))
            except DataError as error:
                code = error.refusals[0].code
                raise NeedsMissing(f"{'human votes' if side == HUMAN else side}: {error}", code=code) from None
    return ranked


def _ranked(
    side: str,
    number: int,
    group: list[int],
    ballots: Ballots,
    ties: TieModel,
    adjust: Adjust,
    interval: Interval,
    seed: int,
) -> SideRanking:
    position = adjust != "none" and both_orders(ballots) > 0.5
    enough = effective_annotators(ballots, len(group)) > FEWEST_ANNOTATORS - 1
    clustered = ballots if enough else replace(ballots, annotator=None)
    made = fit(clustered, len(group), ties, position)
    size, rng = len(group), np.random.default_rng(seed)
    why = _infinite(ballots, size, ties)
    middle = np.array([not w for w in why]) if not all(why) else np.ones(size, bool)
    made = made.around(middle)  # the mean is over finite strengths
    covariance, theta = made.covariance, made.theta
    missing = np.full(size, np.nan)
    if made.units < FEWEST:
        return SideRanking(side, number, group, ballots, made, covariance, missing, missing, None, why)
    if interval == "bootstrap":
        drawn = bootstrap(ballots, made, DRAWS, rng)
        if made.annotators:  # the bootstrap draws inputs; the variance between annotators is from the jackknife
            drawn += rng.multivariate_normal(np.zeros(len(made.between)), made.between, DRAWS, method="eigh")
        drawn[:, :size] -= drawn[:, :size][:, middle].mean(axis=1, keepdims=True)
        covariance = np.atleast_2d(np.cov(drawn.T))
        low, high = np.quantile(drawn[:, :size], _expanded(made.freedom + 1), axis=0)
        errors = drawn[:, :size] - theta
        if made.annotators:
            errors *= np.sqrt(made.freedom / rng.chisquare(made.freedom, (DRAWS, 1)))
    else:
        errors = deviations(covariance[:size, :size], made.freedom, rng)
        low = high = theta
    ranking = SideRanking(
        side,
        number,
        group,
        ballots,
        made,
        covariance,
        low,
        high,
        all_pairs(theta, covariance[:size, :size], errors, LEVEL, _tested(clustered, made, why)),
        why,
    )
    if interval == "sandwich":
        half = ranking.factor * np.sqrt(np.diag(covariance)[:size])
        ranking = replace(ranking, low=theta - half, high=theta + half)
    infinite = np.array([bool(w) for w in why])
    return replace(ranking, low=np.where(infinite, np.nan, ranking.low), high=np.where(infinite, np.nan, ranking.high))


def _tested(ballots: Ballots, made: Strengths, why: list[str]) -> Floats | None:
    """Return score tests of the pairs with a system that has no finite strength."""
    size = len(why)
    pairs = [(i, j) for i in range(size) for j in range(i) if why[i] or why[j]]
    if not pairs:
        return None
    scores = np.full((size, size), np.nan)
    for (i, j), z in zip(pairs, equality_tests(ballots, size, made.ties, made.position, pairs), strict=True):
        scores[i, j], scores[j, i] = z, -z
    return scores


def _expanded(units: float) -> list[float]:
    """Return expanded percentiles, which correct the bootstrap's narrowness with few units (Hesterberg 2015)."""
    tail = float(ndtr(np.sqrt(units / (units - 1)) * stdtrit(units - 1, (1 - LEVEL) / 2)))
    return [tail, 1 - tail]


def _infinite(ballots: Ballots, systems: int, ties: TieModel) -> list[str]:
    """Return why a system has no finite maximum-likelihood strength; "" for the largest strongly connected group."""
    reach = winners_reach(ballots, systems, ties)
    mutual = reach & reach.T
    largest = int(np.argmax(mutual.sum(axis=1)))
    finite = mutual[largest] if mutual[largest].sum() > 1 else np.zeros(systems, bool)
    up, down = reach[:, largest], reach[largest]
    reasons = []
    for i in range(systems):
        involved = (ballots.first == i) | (ballots.second == i)
        outcome, own = ballots.outcome[involved], np.where(ballots.first == i, 0, 1)[involved]
        if finite[i]:
            reasons.append("")
        elif (outcome == own).all():
            reasons.append(f"won all {len(outcome):,} comparisons")
        elif (outcome == 1 - own).all():
            reasons.append(f"lost all {len(outcome):,} comparisons")
        else:
            reasons.append("never lost to the others" if up[i] and not down[i] else "never won against the others")
    return reasons


def effect_names(votes: SidesVotes, ranking: SideRanking) -> list[str]:
    """Return the names of the effects in the model of one side, in the order of its coefficients."""
    return [*(["first_place"] if ranking.made.position else []), *votes.features]


def method(votes: SidesVotes, ranked: list[SideRanking], ties: TieModel, adjust: Adjust, interval: Interval) -> str:
    """Describe the model and its intervals."""
    unit, annotators = votes.unit, any(r.made.annotators for r in ranked)
    order = " with an effect of presentation order"
    style = " and effects of length and formatting (relative differences, in standard deviations)"
    effects = {"first": order, "none": "", "style": order + style}[adjust]
    how = {
        "sandwich": f"two-way sandwich covariance clustered by {unit} and, for human votes, by annotator "
        "(jackknife), t "
        "distribution with the degrees of freedom of the fewer clusters"
        if annotators
        else f"sandwich covariance clustered by {unit}, t distribution",
        "bootstrap": f"bootstrap over {unit}s, {DRAWS:,} draws, expanded percentiles"
        + (", with the variance between annotators (jackknife)" if annotators else ""),
    }[interval]
    return (
        f"{TIES[ties]}{effects}; maximum likelihood. Strengths are log-odds with mean 0. {LEVEL:.0%} confidence "
        f"intervals: {how}."
    )


def remarks(votes: SidesVotes, ranked: list[SideRanking], adjust: Adjust) -> list[str]:
    """Return notes on what could not be estimated, and on what is reported instead."""
    notes = list(votes.notes)
    for side in dict.fromkeys(r.side for r in ranked):
        of_side = [r for r in ranked if r.side == side]
        who = "human votes" if side == HUMAN else side
        if len(of_side) > 1:
            groups = "; ".join(some([votes.systems[i] for i in r.systems], 6) for r in of_side)
            notes.append(
                f"{who}: {len(of_side)} groups of systems are not connected by comparisons and are ranked separately, "
                f"each with mean 0: {groups}."
            )
        for r in of_side:
            group = f", group {r.group}" if len(of_side) > 1 else ""
            notes += [f"{who}{group}: {text}" for text in _limitations(votes, r, adjust)]
    return notes


def _limitations(votes: SidesVotes, r: SideRanking, adjust: Adjust) -> list[str]:
    """Return what could not be estimated in one group of systems."""
    texts = []
    infinite = {votes.systems[i]: why for i, why in zip(r.systems, r.infinite, strict=True) if why}
    if r.made.penalized:
        which = some([f"{name} {why}" for name, why in infinite.items()], 4)
        finite_mean = " (the mean of the other systems is 0)" if 0 < len(infinite) < len(r.systems) else ""
        texts.append(
            f"maximum likelihood has no finite strength{f' ({which})' if which else ''}; strengths are penalized by "
            f"{len(r.systems) - 1} votes, half wins and half losses, spread over the comparisons{finite_mean}. A win "
            "rate "
            "of 0% or 100% has an exact limit as its interval; ranks and tiers of such a system are by score tests."
        )
    if r.tests is None:
        texts.append(
            f"intervals and tiers require comparisons on at least {FEWEST} {votes.unit}s; found {r.made.units}."
        )
    if adjust != "none" and not r.made.position:
        texts.append(
            "most pairs of systems were shown in one order only, so position bias is confounded with strength and not "
            "controlled for. Show pairs in both orders."
        )
    return texts


def limit_to_annotators(ranked: list[SideRanking]) -> list[str]:
    """State that results hold for these annotators only, if they are too few or their votes are too unequal."""
    sentences = []
    for r in ranked:
        if r.ballots.annotator is None or r.made.annotators:
            continue
        names = len(np.unique(r.ballots.annotator[r.ballots.annotator >= 0]))
        if not names:  # a group of systems whose votes all lack an ID; `annotator_notes` counts these
            continue
        if names < FEWEST_ANNOTATORS:
            reason = f"With {names} annotator{'s' * (names > 1)} (at least {FEWEST_ANNOTATORS} are required)"
        else:
            effective = effective_annotators(r.ballots, len(r.systems))
            reason = (
                f"With {names} annotators whose votes are so uneven that the effective number of annotators of a "
                "system "
                f"is {effective:.1f} (more than {FEWEST_ANNOTATORS - 1} are required)"
            )
        sentences.append(
            f"{reason}, human results hold for these annotators only and do not generalize to other annotators."
        )
    return list(dict.fromkeys(sentences))


def annotator_notes(ranked: list[SideRanking]) -> list[str]:
    """Return what is assumed about votes whose annotator is unknown."""
    people = [r.ballots.annotator for r in ranked if r.side == HUMAN]
    known = [annotator for annotator in people if annotator is not None]
    if len(known) < len(people):
        return [
            "Annotator IDs are unknown, so human votes on different inputs are assumed to be independent. If few "
            "annotators cast them, the intervals are too narrow and false positives more frequent than stated "
            "(docs/rank_coverage.md). A column of annotator IDs, such as `annotator`, is used if there is one."
        ]
    unnamed, votes = sum(int((a < 0).sum()) for a in known), sum(len(a) for a in known)
    if not unnamed:
        return []
    return [
        f"{unnamed:,} of {votes:,} human votes have no annotator ID and are assumed to be independent of the others."
    ]
