"""Bradley–Terry strengths of systems from pairwise comparisons, with ties, position effect and covariates.

eta = strength of the first − strength of the second + position effect + covariates · effects, and
davidson:   P(first) : P(second) : P(tie) = exp(eta/2) : exp(−eta/2) : exp(tie)          (Davidson 1970)
rao-kupper: P(first) = σ(eta − tie), P(second) = σ(−eta − tie), the rest is a tie        (Rao and Kupper 1967)
half:       logistic regression, a tie is half a win for each; drop: ties are left out   (Bradley and Terry 1952)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from nlgauge.errors import DataError
from nlgauge.stats.ranking.annotators import annotator_covariance, effective_annotators, score_excess, vote_information
from nlgauge.stats.ranking.ballots import TIE, Ballots, TieModel, winners_reach
from nlgauge.types import Array, Ints, Mask

Pair = tuple[int, int]
STEPS, CLOSE = 100, 1e-10
MAX_STRENGTH = 25.0  # a strength above this counts as infinite


@dataclass(frozen=True)
class Strengths:
    """Estimates: `theta` (mean 0), `effects` (position effect, if `position`, then covariates), `tie`.

    `influence` is units × (systems + effects + tie): the contribution of each unit to the error of the estimates; its
    cross-product is the covariance clustered by unit. `model` is the covariance implied by the model. `between` is the
    covariance added by annotators with different preferences, `annotators` their effective number; both are 0 where
    annotators are not clusters.
    """

    theta: Array
    effects: Array
    tie: float
    ties: TieModel
    position: bool
    penalized: bool
    influence: Array
    model: Array
    units: int
    between: Array
    annotators: float = 0.0

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of the standard errors: those of the smaller number of clusters."""
        return max(1.0, min(self.units, self.annotators or np.inf) - 1)

    @property
    def covariance(self) -> Array:
        """Return the covariance clustered by unit and, where known, by annotator (two-way sandwich).

        Under the penalty, residuals and with them the sandwich vanish; the model covariance is then used, multiplied by
        the design effect of the parameters that have one.
        """
        scale = self.units / max(1, self.units - 1)
        sandwich = scale * self.influence.T @ self.influence + self.between
        if not self.penalized:
            return np.asarray(sandwich)
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.diag(sandwich) / np.diag(self.model)
        finite = ratio[np.isfinite(ratio)]
        return np.asarray(self.model * max(1.0, float(np.max(finite)) if len(finite) else 1.0))

    def around(self, systems: Mask) -> Strengths:
        """Return the same with strengths centered at the mean of these systems."""
        turn = np.eye(self.model.shape[0])
        turn[: len(systems), : len(systems)] -= systems / systems.sum()
        return replace(
            self,
            theta=self.theta - self.theta[systems].mean(),
            influence=self.influence @ turn.T,
            model=turn @ self.model @ turn.T,
            between=turn @ self.between @ turn.T,
        )


@dataclass(frozen=True)
class _Cells:
    """Comparisons with the same probabilities, counted together: design is cells × parameters without the tie
    parameter.
    """

    design: Array
    of: Ints  # the cell of each choice


def fit(ballots: Ballots, systems: int, ties: TieModel = "davidson", position: bool = False) -> Strengths:
    """Fit by maximum likelihood for connected systems, with a penalty where the estimate is infinite.

    It is infinite where a chain of wins leads one way only. The penalty adds as many votes as there are free strengths,
    half of them wins and half losses, spread over the comparisons (after Clogg et al. 1991).
    """
    ballots, family = _without_ties(ballots, ties)
    if not len(ballots):
        raise DataError("no comparison is left: all are ties.", code="constant")
    if (ballots.outcome == TIE).all():
        raise DataError("all comparisons are ties: the systems cannot be ranked.", code="constant")
    cells = _cells(ballots, systems, position)
    counts = _counted(cells, ballots.outcome, np.ones(len(ballots)))
    penalized = not winners_reach(ballots, systems, ties).all()
    used = counts + _penalty(counts, systems) if penalized else counts
    result, inverse = _newton(cells.design, used, family)
    if not penalized and not np.isfinite(result).all():  # an effect has no finite estimate
        penalized, used = True, counts + _penalty(counts, systems)
        result, inverse = _newton(cells.design, used, family)
    if not np.isfinite(result).all():
        raise DataError("the effects are not identified by these comparisons; leave out style or the position effect.")
    gradient = _gradients(cells, ballots.outcome, result, family)
    units, index = np.unique(ballots.unit, return_inverse=True)
    score = np.zeros((int(ballots.unit.max()) + 1, gradient.shape[1]))
    np.add.at(score, units[index], gradient)
    turn = _centering(systems, len(result))
    theta, effects, tie = _parted(turn @ result, systems, family)

    def information_of(rows: Ints) -> Array:
        votes = np.eye(3)[ballots.outcome[rows]]
        return np.asarray(_climbs(cells.design[cells.of[rows]], votes[None], result[None], family)[1][0])

    between = annotator_covariance(ballots, systems, gradient, inverse, information_of)
    return Strengths(
        theta,
        effects,
        tie,
        ties,
        position,
        penalized,
        score @ inverse @ turn.T,
        turn @ inverse @ turn.T,
        len(units),
        turn @ between @ turn.T,
        effective_annotators(ballots, systems),
    )


def equality_tests(
    ballots: Ballots, systems: int, ties: TieModel, position: bool, pairs: Iterable[Pair]
) -> list[float]:
    """Compute z of the score test that the two systems of each pair are equally strong.

    It is clustered by unit and, where known, by annotator; z > 0 means that the first is stronger, and NaN that the
    effects are not identified. The test uses strengths under equality only, so it is valid where one system won all
    comparisons; there, a strength over its standard error decreases as the evidence grows (Hauck and Donner 1977).
    """
    ballots, family = _without_ties(ballots, ties)
    cells = _cells(ballots, systems, position)
    counts = _counted(cells, ballots.outcome, np.ones(len(ballots)))
    extra = _penalty(counts, systems)
    places = np.hstack(
        [-cells.design[:, : systems - 1].sum(axis=1, keepdims=True), cells.design]
    )  # one column per system
    units, index = np.unique(ballots.unit, return_inverse=True)
    scale = len(units) / max(1, len(units) - 1)
    results = []
    for one, other in pairs:
        equal = places.copy()
        equal[:, one] += equal[:, other]
        equal = np.delete(equal, [other, one], axis=1)  # the two together are the 0 of the others
        merged = ballots.merge(other, one)
        reach = np.delete(np.delete(winners_reach(merged, systems, ties), other, axis=0), other, axis=1)
        made, _ = _newton(equal, counts if reach.all() else counts + extra, family)
        if not np.isfinite(made).all():
            results.append(float("nan"))
            continue
        width = equal.shape[1]
        design, made = np.hstack([equal, places[:, [one]]]), np.insert(made, width, 0.0)
        gradient = _gradients(_Cells(design, cells.of), ballots.outcome, made, family)
        information = _climbs(design, counts[None], made[None], family)[1][0]
        rest = np.delete(np.arange(len(made)), width)
        slope = np.linalg.lstsq(information[np.ix_(rest, rest)], information[rest, width], rcond=None)[0]
        score = gradient[:, width] - gradient[:, rest] @ slope
        variance = scale * (np.bincount(index, score) ** 2).sum()
        if ballots.annotator is not None:
            weights = np.insert(-slope, width, 1.0)
            share = vote_information(design, counts, made, weights, partial(_terms, family=family))[cells.of]
            variance += score_excess(ballots, score, share / share.sum())
        results.append(float(score.sum() / np.sqrt(variance)) if variance > 0 else 0.0)
    return results


def bootstrap(ballots: Ballots, made: Strengths, draws: int, rng: np.random.Generator) -> Array:
    """Estimate on units drawn with replacement: draws × (systems + effects + tie).

    Each draw starts at the estimate and uses the same matrix for its steps; a draw without a finite maximum is
    penalized.
    """
    systems = len(made.theta)
    ballots, family = _without_ties(ballots, made.ties)
    cells = _cells(ballots, systems, made.position)
    size = len(cells.design) * 3
    by_kind, times = _kinds_of_units(ballots, cells.of * 3 + ballots.outcome, size)
    units = times.sum()
    free = np.concatenate([made.theta - made.theta[0], made.effects, [made.tie]])[1 : 1 + _parameters(cells, family)]
    counts = _counted(cells, ballots.outcome, np.ones(len(ballots)))
    extra = _penalty(counts, systems)
    if made.penalized:
        counts = counts + extra
    spare = extra + extra[:, :1] * [0.0, 0.0, 1 / (systems - 1)]  # with half a tie, for draws without any
    _, information = _climbs(cells.design, counts[None], free[None], family)
    inverse = np.linalg.inv(information[0])
    results = []
    block = max(1, int(2e7 // max(size, len(times))))
    for start in range(0, draws, block):
        many = min(block, draws - start)
        weights = rng.multinomial(units, times / units, size=many).astype(np.float64)
        drawn = np.asarray((by_kind.T @ weights.T).T).reshape(many, -1, 3) + (extra if made.penalized else 0.0)
        results.append(_chords(cells.design, drawn, free, inverse, family, spare))
    return np.concatenate(results) @ _centering(systems, len(free)).T


def _kinds_of_units(ballots: Ballots, cell: Ints, size: int) -> tuple[Any, Ints]:
    """Count the comparisons of each kind of unit in each cell (kinds × cells), and the units of each kind.

    Units with one comparison are of the same kind if the comparison is the same. The number of draws of each kind is
    multinomial too, so a draw does not need a number for each unit.
    """
    from scipy.sparse import csr_matrix

    _, index, choices = np.unique(ballots.unit, return_inverse=True, return_counts=True)
    alone = choices[index] == 1
    kinds, first, times = np.unique(cell[alone], return_index=True, return_counts=True)
    several, unit = np.unique(index[~alone], return_inverse=True)
    used = np.concatenate([np.flatnonzero(alone)[first], np.flatnonzero(~alone)])
    row = np.concatenate([np.arange(len(kinds)), len(kinds) + unit])
    times = np.concatenate([times, np.ones(len(several), np.int64)])
    table = csr_matrix((np.ones(len(used)), (row, cell[used])), shape=(len(times), size))
    return table, times


def expected_score(gap: Array, tie: float, ties: TieModel) -> Array:
    """Return the probability of a win plus half that of a tie, for systems that differ by `gap`, without position
    effect.
    """
    if ties == "davidson" and np.isfinite(tie):
        up, down = np.exp(gap / 2), np.exp(-gap / 2)
        return np.asarray((up + np.exp(tie) / 2) / (up + down + np.exp(tie)))
    if ties == "rao-kupper" and np.isfinite(tie):
        return np.asarray(0.5 + (_sigmoid(gap - tie) - _sigmoid(-gap - tie)) / 2)
    return _sigmoid(gap)


def _without_ties(ballots: Ballots, ties: TieModel) -> tuple[Ballots, TieModel]:
    """Return the plain Bradley–Terry model if there are no ties, because the tie parameter then has no estimate."""
    if ties == "drop":
        ballots = ballots.part(ballots.outcome != TIE)
    return ballots, ties if (ballots.outcome == TIE).any() else "half"


def _cells(ballots: Ballots, systems: int, position: bool) -> _Cells:
    if ballots.covariates is None:
        pairs, of = np.unique(ballots.first * systems + ballots.second, return_inverse=True)
        a, b = pairs // systems, pairs % systems
        more = np.empty((len(pairs), 0))
    else:
        a, b, of, more = ballots.first, ballots.second, np.arange(len(ballots)), ballots.covariates
    rows = np.arange(len(a))
    design = np.zeros((len(a), systems))
    design[rows, a] += 1.0
    design[rows, b] -= 1.0
    place = np.ones((len(a), 1)) if position else np.empty((len(a), 0))
    return _Cells(np.hstack([design[:, 1:], place, more]), np.asarray(of, np.int64))


def _counted(cells: _Cells, outcome: Ints, weights: Array) -> Array:
    counts = np.zeros((len(cells.design), 3))
    np.add.at(counts, (cells.of, outcome), weights)
    return counts


def _penalty(counts: Array, systems: int) -> Array:
    """Spread (systems − 1) votes over all cells in proportion to their comparisons, half wins and half losses."""
    share = counts.sum(axis=1) / counts.sum()
    return np.stack([share, share, 0 * share], axis=1) * (systems - 1) / 2


def _parameters(cells: _Cells, family: TieModel) -> int:
    return int(cells.design.shape[1]) + (family in ("davidson", "rao-kupper"))


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _terms(eta: Array, tie: Array, counts: Array, family: TieModel) -> tuple[Array, Array, Array, Array, Array]:
    """Compute derivatives of each cell's log-likelihood by eta and the tie parameter, and the information on both."""
    won, lost, tied = counts[..., 0], counts[..., 1], counts[..., 2]
    if family == "davidson":
        top = np.maximum(np.abs(eta) / 2, tie)
        up, down, level = np.exp(eta / 2 - top), np.exp(-eta / 2 - top), np.exp(tie - top)
        whole, n = up + down + level, won + lost + tied
        lead, p = (up - down) / whole / 2, level / whole
        spread = n * ((up + down) / whole / 4 - lead**2)
        return (won - lost) / 2 - n * lead, tied - n * p, spread, -n * p * lead, n * p * (1 - p)
    if family == "rao-kupper":
        p, q = _sigmoid(eta - tie), _sigmoid(-eta - tie)
        ups, downs = (won + tied) * (1 - p), (lost + tied) * (1 - q)
        over = np.expm1(2 * tie)
        a, b = ups * p, downs * q
        by_tie = tied * 2 * (over + 1) / over
        return ups - downs, by_tie - ups - downs, a + b, b - a, a + b + tied * 4 * (over + 1) / over**2
    n, won = won + lost + tied, won + tied / 2
    p = _sigmoid(eta)
    nothing = np.zeros_like(eta)
    return won - n * p, nothing, n * p * (1 - p), nothing, nothing


def _likelihood(design: Array, counts: Array, found: Array, family: TieModel) -> float:
    width = design.shape[1]
    eta, tie = design @ found[:width], found[width] if len(found) > width else 0.0
    if family == "davidson":
        logits = np.stack([eta / 2, -eta / 2, np.full_like(eta, tie)], axis=1)
        return float((counts * (logits - np.logaddexp.reduce(logits, axis=1)[:, None])).sum())
    log_up, log_down = -np.logaddexp(0, -(eta - tie)), -np.logaddexp(0, eta + tie)
    won, lost, tied = counts.T
    if family == "half":
        return float(((won + tied / 2) * log_up + (lost + tied / 2) * log_down).sum())
    return float(((won + tied) * log_up + (lost + tied) * log_down + tied * np.log(np.expm1(2 * tie))).sum())


def _climbs(design: Array, counts: Array, at: Array, family: TieModel) -> tuple[Array, Array]:
    """Compute gradient (draws × parameters) and information (draws × parameters × parameters)."""
    width = design.shape[1]
    tie = at[:, width:] if at.shape[1] > width else np.zeros((len(at), 1))
    by_eta, by_tie, ee, et, tt = _terms(at[:, :width] @ design.T, tie, counts, family)
    gradient = by_eta @ design
    information = np.empty((len(at), at.shape[1], at.shape[1]))
    information[:, :width, :width] = (ee[:, None, :] * design.T) @ design
    if at.shape[1] == width:
        return gradient, information
    information[:, width, :width] = information[:, :width, width] = et @ design
    information[:, width, width] = tt.sum(axis=1)
    return np.hstack([gradient, by_tie.sum(axis=1, keepdims=True)]), information


def _gradients(cells: _Cells, outcome: Ints, found: Array, family: TieModel) -> Array:
    """Compute the gradient of each comparison: comparisons × parameters."""
    width = cells.design.shape[1]
    eta = cells.design @ found[:width]
    tie = np.asarray(found[width] if len(found) > width else 0.0)
    each = [_terms(eta, tie, np.broadcast_to(np.eye(3)[o], (len(eta), 3)), family)[:2] for o in (0, 1, 2)]
    by_eta, by_tie = (np.stack([e[i] for e in each], axis=1)[cells.of, outcome] for i in (0, 1))
    gradient = cells.design[cells.of] * by_eta[:, None]
    return gradient if len(found) == width else np.hstack([gradient, by_tie[:, None]])


def _newton(design: Array, counts: Array, family: TieModel) -> tuple[Array, Array]:
    """Find the maximum and the inverse information there by Newton's method; NaN without a maximum."""
    size = design.shape[1] + (family in ("davidson", "rao-kupper"))
    index = np.zeros(size)
    if not size:  # two systems held equal: no free parameter
        return index, np.zeros((0, 0))
    if size > design.shape[1]:
        won = counts[:, :2].sum()
        share = max(counts[:, 2].sum(), 1e-9) / max(won, 1e-9)
        index[-1] = np.log(2 * share) if family == "davidson" else np.log1p(2 * share) / 2
    none = np.full(size, np.nan), np.full((size, size), np.nan)
    value = _likelihood(design, counts, index, family)
    for _ in range(STEPS):
        gradient, information = (x[0] for x in _climbs(design, counts[None], index[None], family))
        try:
            step = np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            return none
        for length in 0.5 ** np.arange(28):  # the likelihood is concave: a shorter step climbs
            to = index + length * step
            if family == "rao-kupper" and to[-1] <= 0:
                continue
            new = _likelihood(design, counts, to, family)
            if new >= value - 1e-12 * abs(value):
                break
        else:
            return none
        index, value = to, new
        if np.abs(index).max() > MAX_STRENGTH:
            return none
        if np.abs(length * step).max() < CLOSE:
            _, information = _climbs(design, counts[None], index[None], family)
            try:
                return index, np.linalg.inv(information[0])
            except np.linalg.LinAlgError:
                return none
    return none


def _chords(design: Array, drawn: Array, free: Array, inverse: Array, family: TieModel, extra: Array) -> Array:
    """Maximize every draw with the estimate's matrix; where that does not converge, by Newton's method or the
    penalty.
    """
    width, index = design.shape[1], np.tile(free, (len(drawn), 1))
    going = np.arange(len(drawn))
    for _ in range(40):
        now = index[going]
        tie = now[:, width:] if now.shape[1] > width else np.zeros((len(now), 1))
        by_eta, by_tie, *_ = _terms(now[:, :width] @ design.T, tie, drawn[going], family)
        gradient = by_eta @ design
        if now.shape[1] > width:
            gradient = np.hstack([gradient, by_tie.sum(axis=1, keepdims=True)])
        step = gradient @ inverse
        index[going] = now + step
        bad = ~(np.abs(index[going]).max(axis=1) < MAX_STRENGTH)
        if family == "rao-kupper":
            bad |= ~(index[going, -1] > 0)
        small = np.abs(step).max(axis=1) < 1e-6
        index[going[bad]] = np.nan
        going = going[~small & ~bad]
        if not len(going):
            break
    index[going] = np.nan
    for draw in np.flatnonzero(np.isnan(index).any(axis=1)):
        result, _ = _newton(design, drawn[draw], family)
        if np.isnan(result).any():
            result, _ = _newton(design, drawn[draw] + extra, family)
        index[draw] = result
    return index


def _centering(systems: int, free: int) -> Array:
    """Map the free parameters (the first system is 0) to strengths with mean 0; other parameters are unchanged."""
    turn = np.zeros((free + 1, free))
    turn[1:, :] = np.eye(free)
    turn[:systems, : systems - 1] -= 1 / systems
    return turn


def _parted(all_of: Array, systems: int, family: TieModel) -> tuple[Array, Array, float]:
    with_tie = family in ("davidson", "rao-kupper")
    effects = all_of[systems:-1] if with_tie else all_of[systems:]
    return all_of[:systems], effects, float(all_of[-1]) if with_tie else float("nan")
