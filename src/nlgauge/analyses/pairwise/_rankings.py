"""The ranking of each side and group of connected systems: strengths, intervals, tests of all pairs."""

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
Adjust = Literal["first", "style", "none"]  # the place alone; the place and style; nothing
LEVEL, DRAWS = 0.95, 1000
FEWEST = 10  # independent inputs below which there is no interval and no test
FEWEST_ANNOTATORS = 4  # three find 0% to 8% of the true differences for other annotators (docs/rank_coverage.md)
TIES = {
    "davidson": "Bradley-Terry with ties after Davidson (1970)",
    "rao-kupper": "Bradley-Terry with ties after Rao and Kupper (1967)",
    "half": "Bradley-Terry, a tie being half a win for each",
    "drop": "Bradley-Terry, ties left out",
}


@dataclass(frozen=True)
class SideRanking:
    """Systems of one side that chains of comparisons connect, as numbers in `SidesVotes.systems`."""

    side: str
    group: int
    systems: list[int]
    ballots: Ballots  # renumbered
    made: Strengths
    covariance: Floats  # of strengths, effects and the tie's parameter
    low: Floats
    high: Floats
    tests: AllPairs | None  # none with too few inputs
    infinite: list[str]  # why a system has no finite estimate; "" where it has

    @property
    def factor(self) -> float:
        """Standard errors in half an interval."""
        return float(stdtrit(self.made.freedom, (1 + LEVEL) / 2))

    def counts(self) -> tuple[Floats, Floats, Floats]:
        """Wins, ties and losses of each system."""
        b, size = self.ballots, len(self.systems)
        won, lost = np.where(b.outcome == 0, b.first, b.second), np.where(b.outcome == 0, b.second, b.first)
        clear = b.outcome != TIE
        tied = np.concatenate([b.first[~clear], b.second[~clear]])
        return tuple(np.bincount(x, minlength=size) for x in (won[clear], tied, lost[clear]))  # type: ignore[return-value]

    def chances(self) -> tuple[Floats, Floats, Floats]:
        """Chance to beat an average other system (a tie is half), with its interval (delta method on log-odds)."""
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
        """What can be said of one that won (or lost) all: the exact limit of a share, clusters counted, not choices."""
        won, tied, lost = (c[i] for c in self.counts())
        mine = (self.ballots.first == i) | (self.ballots.second == i)
        clusters = [self.ballots.unit, *([self.ballots.annotator] if self.made.annotators else [])]
        limit = float(((1 - LEVEL) / 2) ** (1 / min(len(np.unique(c[mine])) for c in clusters if c is not None)))
        if tied == 0 and lost == 0:
            return limit, 1.0
        return (0.0, 1 - limit) if tied == 0 and won == 0 else (float("nan"), float("nan"))


def rankings(found: SidesVotes, ties: TieModel, adjust: Adjust, interval: Interval, seed: int) -> list[SideRanking]:
    """One ranking a side and group of systems that were compared with each other."""
    ranked = []
    for side, ballots in found.sides.items():
        there = {*ballots.first.tolist(), *ballots.second.tolist()}
        groups = [g for g in connected(ballots, len(found.systems)) if g[0] in there]
        for number, group in enumerate(groups, start=1):
            place = np.full(len(found.systems), -1)
            place[group] = np.arange(len(group))
            rows = np.isin(ballots.first, group)
            part = ballots.part(rows)
            part = replace(part, first=place[part.first], second=place[part.second])
            try:
                ranked.append(_ranked(side, number, group, part, ties, adjust, interval, seed))
            except DataError as error:
                code = error.refusals[0].code
                raise NeedsMissing(f"{'people' if side == HUMAN else side}: {error}", code=code) from None
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
    made = made.around(middle)  # a strength without an end has no place in a mean
    covariance, theta = made.covariance, made.theta
    nothing = np.full(size, np.nan)
    if made.units < FEWEST:
        return SideRanking(side, number, group, ballots, made, covariance, nothing, nothing, None, why)
    if interval == "bootstrap":
        drawn = bootstrap(ballots, made, DRAWS, rng)
        if made.annotators:  # inputs are drawn; what annotators add comes from the jackknife
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
    """Score tests of the pairs with a system that has no finite strength."""
    size = len(why)
    pairs = [(i, j) for i in range(size) for j in range(i) if why[i] or why[j]]
    if not pairs:
        return None
    found = np.full((size, size), np.nan)
    for (i, j), z in zip(pairs, equality_tests(ballots, size, made.ties, made.position, pairs), strict=True):
        found[i, j], found[j, i] = z, -z
    return found


def _expanded(units: float) -> list[float]:
    """Percentiles widened for the bootstrap's narrowness with few units (Hesterberg 2015)."""
    tail = float(ndtr(np.sqrt(units / (units - 1)) * stdtrit(units - 1, (1 - LEVEL) / 2)))
    return [tail, 1 - tail]


def _infinite(ballots: Ballots, systems: int, ties: TieModel) -> list[str]:
    """Why maximum likelihood has no finite strength for a system beside those of the largest group that beat each
    other."""
    reach = winners_reach(ballots, systems, ties)
    mutual = reach & reach.T
    largest = int(np.argmax(mutual.sum(axis=1)))
    known = mutual[largest] if mutual[largest].sum() > 1 else np.zeros(systems, bool)
    up, down = reach[:, largest], reach[largest]
    words = []
    for i in range(systems):
        mine = ballots.outcome[(ballots.first == i) | (ballots.second == i)]
        place = np.where(ballots.first == i, 0, 1)[(ballots.first == i) | (ballots.second == i)]
        if known[i]:
            words.append("")
        elif (mine == place).all():
            words.append(f"won all {len(mine):,} choices")
        elif (mine == 1 - place).all():
            words.append(f"lost all {len(mine):,} choices")
        else:
            words.append("never lost to the others" if up[i] and not down[i] else "never won against the others")
    return words


def effect_names(found: SidesVotes, ranking: SideRanking) -> list[str]:
    """Name the effects in the model of one side, in the order of its coefficients."""
    return [*(["first_place"] if ranking.made.position else []), *found.features]


def method(found: SidesVotes, ranked: list[SideRanking], ties: TieModel, adjust: Adjust, interval: Interval) -> str:
    """One sentence a choice that was made."""
    unit, annotators = found.unit, any(r.made.annotators for r in ranked)
    place = ", with an advantage of the first place"
    style = " and effects of length and layout (their relative difference, in standard deviations)"
    what = {"first": place, "none": "", "style": place + style}[adjust]
    how = {
        "sandwich": f"two-way sandwich covariance clustered by {unit} and, for people, by annotator (jackknife), t "
        "distribution with the degrees of freedom of the fewer clusters"
        if annotators
        else f"sandwich covariance clustered by {unit}, t distribution",
        "bootstrap": f"bootstrap over {unit}s, {DRAWS:,} draws, expanded percentiles"
        + (", with the variance between annotators (jackknife)" if annotators else ""),
    }[interval]
    return (
        f"{TIES[ties]}{what}; maximum likelihood. Strengths are log-odds around a mean of 0. {LEVEL:.0%} intervals: "
        f"{how}."
    )


def remarks(found: SidesVotes, ranked: list[SideRanking], adjust: Adjust) -> list[str]:
    """What could not be estimated, and what stands in its place."""
    notes = list(found.notes)
    for side in dict.fromkeys(r.side for r in ranked):
        mine = [r for r in ranked if r.side == side]
        who = "people" if side == HUMAN else side
        if len(mine) > 1:
            groups = "; ".join(some([found.systems[i] for i in r.systems], 6) for r in mine)
            notes.append(
                f"{who}: {len(mine)} groups of systems that no chain of comparisons connects, each ranked by itself "
                f"around a mean of its own: {groups}."
            )
        for r in mine:
            endless = {found.systems[i]: why for i, why in zip(r.systems, r.infinite, strict=True) if why}
            if r.made.penalized:
                told = some([f"{name} {why}" for name, why in endless.items()], 4)
                notes.append(
                    f"{who}: maximum likelihood has no finite strength{f' ({told})' if told else ''}; strengths are "
                    f"penalized values: {len(r.systems) - 1} votes, half wins and half losses, are spread over the "
                    f"comparisons{', their mean without such systems 0' if 0 < len(endless) < len(r.systems) else ''}. "
                    "An interval of the win chance with 0 or 100 % at one end is the exact limit; places "
                    "and tiers of such a system are by score tests, which need no finite strength."
                )
            if r.tests is None:
                notes.append(
                    f"{who}: choices on {r.made.units} {found.unit}s; intervals and tiers need at least {FEWEST}."
                )
            if adjust != "none" and not r.made.position:
                which = f", group {r.group}" if len(mine) > 1 else ""
                notes.append(
                    f"{who}{which}: most pairs of systems were shown in one order only, so an advantage of the first "
                    "place cannot be told from a stronger system: not controlled for. Show pairs in both orders."
                )
    return notes


def limit_to_annotators(ranked: list[SideRanking]) -> list[str]:
    """Return the sentence that results hold for these annotators only, where they are too few or too unequal."""
    sentences = []
    for r in ranked:
        if r.ballots.annotator is None or r.made.annotators:
            continue
        names = len(np.unique(r.ballots.annotator[r.ballots.annotator >= 0]))
        if not names:  # a group of systems whose votes all lack an ID; `annotator_notes` counts these
            continue
        if names < FEWEST_ANNOTATORS:
            reason = f"With {names} annotator{'s' * (names > 1)} (at least {FEWEST_ANNOTATORS} are needed)"
        else:
            effective = effective_annotators(r.ballots, len(r.systems))
            reason = (
                f"With votes that {names} annotators cast so unevenly that one of the systems has an effective number "
                f"of {effective:.1f} annotators (more than {FEWEST_ANNOTATORS - 1} are needed)"
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
            "Annotator IDs are unknown, so human votes on different inputs are assumed to be independent. If a few "
            "annotators with preferences of their own cast them, the intervals are too narrow and false claims are "
            "more frequent than stated (docs/rank_coverage.md). A column of annotator IDs, such as `annotator`, is "
            "taken into account."
        ]
    unnamed, votes = sum(int((a < 0).sum()) for a in known), sum(len(a) for a in known)
    if not unnamed:
        return []
    return [
        f"{unnamed:,} of {votes:,} human votes have no annotator ID and are assumed to be independent of the others."
    ]
