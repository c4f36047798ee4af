"""Judge bias: effects of length, formatting and model family on a judge at equal quality; leniency, spread and halo.

All of them are compared with those of human annotators.

Judge y and a human rating z of the same outputs: y = b·q + c·features + error, z = q + noise, where q is what
annotators agree on, including their own preferences for the features. Slopes on the features are not attenuated by
noise, so the bias is c = (judge's slope) − b · (human slope). Only b needs the variance of q: two annotators of one
output have only q in common, so that variance is the mean product of their residuals. Where outputs have one rating, b
is known up to the reliability of a rating, and both ends of its range are returned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.resampling.cluster_jackknife import Jackknifed, jackknifed

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEAST_RELIABILITY = 0.3  # assumed range of the reliability of one rating, where it is unknown
SURE = 4.0  # the agreed variance must be this many standard errors above 0 to divide by it


@dataclass(frozen=True)
class Effect:
    """A slope of the judge, the part explained by following the human ratings, and the difference, which is the bias.

    `se` of each; the bias is between `low` and `high`, which include the uncertainty from single ratings.
    """

    judge: float
    people: float
    value: float
    se: tuple[float, float, float]
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Ratings:
    """One aspect of outputs: the judge's score, the mean human rating, the mean product of two annotators' ratings
    (NaN with one rating), and the code of the input.
    """

    judge: Floats
    people: Floats
    pairs: Floats
    clusters: Codes

    @property
    def twice(self) -> bool:
        """Return whether enough inputs have two ratings of an output to estimate the noise of ratings."""
        return len(np.unique(self.clusters[np.isfinite(self.pairs)])) >= FEWEST


FEWEST = 30  # inputs


def rater_products(cube: Floats) -> Floats:
    """Return the mean product of ratings by two different annotators (first axis); NaN with fewer than two ratings.

    >>> rater_products(np.array([[1.0, 2.0], [3.0, np.nan], [5.0, np.nan]])).tolist()
    [7.666666666666667, nan]
    """
    there = np.isfinite(cube)
    many, filled = there.sum(axis=0), np.where(there, cube, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(many > 1, (filled.sum(0) ** 2 - (filled**2).sum(0)) / (many * (many - 1)), np.nan)


def feature_effects(rows: Ratings, features: Floats, reliability: float | None = None) -> list[Effect]:
    """Estimate the effect of each feature with the others held fixed, in SDs of the judge's scores per unit of the
    feature.

    `reliability` of the human ratings, where outputs were rated once and it is known.
    """
    size = features.shape[1] + 1
    y = rows.judge / rows.judge.std()
    v = np.column_stack([np.ones(len(y)), features, y, rows.people])
    moments = v[:, :, None] * v[:, None, :]
    twice = np.isfinite(rows.pairs)
    doubled = np.where(twice[:, None, None], moments, 0.0)
    doubled[:, -1, -1] = np.where(twice, rows.pairs, 0.0)
    width = v.shape[1]

    def slopes(sums: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        both = sums.reshape(*sums.shape[:-1], 2, width, width)
        m, d = both[..., 0, :, :], both[..., 1, :, :]
        beta = np.linalg.solve(m[..., :size, :size], m[..., :size, size:])  # … × parameters × (judge, human)
        rest = m[..., size:, size:] - np.swapaxes(beta, -1, -2) @ m[..., :size, size:]
        g = beta[..., 1:]
        agreed = d[..., -1:, -1:] - 2 * np.swapaxes(g, -1, -2) @ d[..., :size, -1:]
        agreed = agreed + np.swapaxes(g, -1, -2) @ d[..., :size, :size] @ g
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(beta), rest, agreed[..., 0, 0] / d[..., 0, 0], m[..., 0, 0]

    def told(sums: Floats) -> Floats:
        beta, rest, agreed, n = slopes(sums)
        b = rest[..., 0, 1] / n / agreed
        return _three(beta, b)

    flat = np.stack([moments, doubled], axis=1).reshape(len(y), -1)
    if rows.twice:
        spread = jackknifed(flat, rows.clusters, lambda s: slopes(s)[2][..., None])
        if spread.value[0] > SURE * spread.se[0]:
            return _effects(jackknifed(flat, rows.clusters, told))

    def once(held: float) -> Jackknifed:
        def given(sums: Floats) -> Floats:
            beta, rest, _, _ = slopes(sums)
            return _three(beta, rest[..., 0, 1] / rest[..., 1, 1] / held)

        return jackknifed(flat, rows.clusters, given)

    _, rest, _, _ = slopes(flat.sum(axis=0)[None])
    explained = float(rest[0, 0, 1] ** 2 / (rest[0, 0, 0] * rest[0, 1, 1]))
    ends = [reliability] if reliability else [1.0, max(explained, LEAST_RELIABILITY)]
    return _between([_effects(once(held)) for held in ends])


def _three(beta: Floats, b: Floats) -> Floats:
    """Return judge, human part and bias for every feature: … × (3 · features)."""
    judge, people = beta[..., 1:, 0], b[..., None] * beta[..., 1:, 1]
    return np.concatenate([judge, people, judge - people], axis=-1)


def _effects(found: Jackknifed) -> list[Effect]:
    value, se, half, p = (a.reshape(3, -1) for a in (found.value, found.se, found.half(), found.p()))
    found_of = zip(value.T.tolist(), se.T.tolist(), half[2].tolist(), p[2].tolist(), strict=True)
    return [Effect(j, z, v, (sj, sz, sv), v - h, v + h, p1) for (j, z, v), (sj, sz, sv), h, p1 in found_of]


def _between(ends: list[list[Effect]]) -> list[Effect]:
    """Combine both ends of the range: the midpoint, the outer limits, and the largest p (1 if the signs differ)."""
    results = []
    for those in zip(*ends, strict=True):
        people = float(np.mean([e.people for e in those]))
        same = len({np.sign(e.value) for e in those}) == 1
        results.append(
            Effect(
                those[0].judge,
                people,
                those[0].judge - people,
                those[0].se,
                min(e.low for e in those),
                max(e.high for e in those),
                max(e.p for e in those) if same else 1.0,
            )
        )
    return results


def leniency(rows: Ratings) -> Effect:
    """Compute the mean of the judge minus the mean human rating, in points of their common scale."""
    table = np.column_stack([np.ones(len(rows.judge)), rows.judge, rows.people])

    def means(s: Floats) -> Floats:
        y, z = s[..., 1] / s[..., 0], s[..., 2] / s[..., 0]
        return np.stack([y, z, y - z], axis=-1)

    return _effects(jackknifed(table, rows.clusters, means))[0]


def spread(rows: Ratings) -> Effect:
    """Compute the SD of the judge minus that of the agreed human score; noise can only increase the judge's SD."""
    y, z = rows.judge, rows.people
    twice = np.isfinite(rows.pairs)
    one = np.ones(len(y))
    table = np.column_stack([one, y, y**2, z, z**2, y * z, one * twice, z * twice, np.where(twice, rows.pairs, 0.0)])

    def parts(s: Floats) -> tuple[Floats, Floats, Floats]:
        n = s[..., 0]
        var = s[..., 2] / n - (s[..., 1] / n) ** 2, s[..., 4] / n - (s[..., 3] / n) ** 2
        cov = s[..., 5] / n - s[..., 1] * s[..., 3] / n**2
        return var[0], var[1], cov

    def agreed(s: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(s[..., 8] / s[..., 6] - (s[..., 7] / s[..., 6]) ** 2)

    def three(s: Floats, people: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            y_sd, z_sd = np.sqrt(parts(s)[0]), np.sqrt(people)
        return np.stack([y_sd, z_sd, y_sd - z_sd], axis=-1)

    if rows.twice:
        sure = jackknifed(table, rows.clusters, lambda s: agreed(s)[..., None])
        if sure.value[0] > SURE * sure.se[0]:
            return _effects(jackknifed(table, rows.clusters, lambda s: three(s, agreed(s))))[0]

    def least(s: Floats) -> Floats:
        var_y, var_z, cov = parts(s)
        return np.maximum(cov**2 / var_y, LEAST_RELIABILITY * var_z)

    ends = [
        jackknifed(table, rows.clusters, lambda s: three(s, parts(s)[1])),
        jackknifed(table, rows.clusters, lambda s: three(s, least(s))),
    ]
    return _between([_effects(e) for e in ends])[0]


@dataclass(frozen=True)
class TwoAspects:
    """Outputs rated on two aspects: the judge's scores, and the ratings (annotators × outputs) of each."""

    judge: tuple[Floats, Floats]
    raters: tuple[Floats, Floats]
    clusters: Codes


def halo(pairs: list[TwoAspects]) -> Effect:
    """Estimate the halo effect: the correlation between the errors on two aspects of one output, mean over pairs of
    aspects.

    Both are shares of the spread of the scores: the judge's (covariance of its scores beyond b·b · covariance of the
    agreed human scores), and that of an annotator (covariance of one annotator's two ratings beyond that of two
    different annotators).
    """
    tables, codes, width = [], [], 0
    for k, two in enumerate(pairs):
        (ya, yb), (za, zb) = two.judge, (np.where(np.isfinite(sum(two.raters)), c, np.nan) for c in two.raters)
        many = np.isfinite(za).sum(axis=0)
        use = (many > 1) & np.isfinite(ya) & np.isfinite(yb)
        ya, yb, za, zb, many = ya[use], yb[use], za[:, use], zb[:, use], many[use]
        a, b, ab = np.nansum(za, axis=0), np.nansum(zb, axis=0), np.nansum(za * zb, axis=0)
        across = (a * b - ab) / (many * (many - 1))
        columns = [
            np.ones(len(ya)),
            ya,
            yb,
            a / many,
            b / many,
            ya**2,
            yb**2,
            ya * yb,
            ya * a / many,
            yb * b / many,
            rater_products(za),
            rater_products(zb),
            across,
            ab / many,
            np.nansum(za**2, axis=0) / many,
            np.nansum(zb**2, axis=0) / many,
        ]
        width = len(columns)
        table = np.zeros((len(ya), width * len(pairs)))
        table[:, k * width : (k + 1) * width] = np.column_stack(columns)
        tables.append(table)
        codes.append(two.clusters[use])

    def each(s: Floats) -> Floats:
        m = s.reshape(*s.shape[:-1], len(pairs), width)
        with np.errstate(invalid="ignore", divide="ignore"):
            m = m / m[..., :1]
            ya, yb, za, zb = (m[..., k] for k in range(1, 5))
            var_ya, var_yb, cov_y = m[..., 5] - ya**2, m[..., 6] - yb**2, m[..., 7] - ya * yb
            with_a, with_b = m[..., 8] - ya * za, m[..., 9] - yb * zb
            var_a, var_b, agreed = m[..., 10] - za**2, m[..., 11] - zb**2, m[..., 12] - za * zb
            judge = (cov_y - with_a / var_a * with_b / var_b * agreed) / np.sqrt(var_ya * var_yb)
            person = (m[..., 13] - m[..., 12]) / np.sqrt((m[..., 14] - za**2) * (m[..., 15] - zb**2))
        return np.stack([judge.mean(-1), person.mean(-1), (judge - person).mean(-1)], axis=-1)

    return _effects(jackknifed(np.concatenate(tables), np.concatenate(codes), each))[0]
