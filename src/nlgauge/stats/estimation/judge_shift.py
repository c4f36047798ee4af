"""Change of a judge's scores between two runs: its own shift on outputs judged in both, and the change of the data."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.resampling.cluster_jackknife import Jackknifed, jackknifed
from nlgauge.stats.tests.two_samples import mean_test, unit_means

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
AGAIN = 0.8  # assumed correlation of a judge with itself where there are no anchors


def _moments(x: Floats, y: Floats) -> list[Floats]:
    return [np.ones(len(x)), x, y, x * x, y * y, x * y]


def _stacked(parts: list[list[Floats]]) -> Floats:
    """Stack the rows of all parts as a block-diagonal array."""
    wide = sum(len(p) for p in parts)
    out, index = np.zeros((sum(len(p[0]) for p in parts), wide)), (0, 0)
    for p in parts:
        out[index[0] : index[0] + len(p[0]), index[1] : index[1] + len(p)] = np.column_stack(p)
        index = index[0] + len(p[0]), index[1] + len(p)
    return out


def shifts(old: tuple[Floats, Codes], new: tuple[Floats, Codes], anchors: tuple[Floats, Codes]) -> Jackknifed:
    """Compute the total change of the mean, the judge's shift on anchors (2 × n), the rest, and the change of their
    SD.
    """
    pairs, codes = anchors
    rows = _stacked([_moments(old[0], old[0]), _moments(new[0], new[0]), _moments(pairs[0], pairs[1])])

    def figures(s: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            o, n, a = (s[..., k : k + 6] / s[..., k : k + 1] for k in (0, 6, 12))
            total, judge = n[..., 1] - o[..., 1], a[..., 2] - a[..., 1]
            spread = np.sqrt(np.maximum(a[..., 4] - a[..., 2] ** 2, 0)) - np.sqrt(
                np.maximum(a[..., 3] - a[..., 1] ** 2, 0)
            )
        return np.stack([total, judge, total - judge, spread], axis=-1)

    result = jackknifed(rows, np.concatenate([old[1], new[1], codes]), figures)
    few = len(np.unique(codes))
    return result if not few else Jackknifed(result.value, result.se, min(result.freedom, few - 1))


def agreements(old: tuple[Floats, Floats, Codes], new: tuple[Floats, Floats, Codes] | None, kappa: bool) -> Jackknifed:
    """Compute the agreement of judge and human labels (kappa for 0/1, else Pearson's r) in both runs, and the
    change.
    """
    parts = [old, *([] if new is None else [new])]
    rows = _stacked([_moments(y, z) for y, z, _ in parts])

    def one(m: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            m = m / m[..., :1]
            y, z = m[..., 1], m[..., 2]
            if kappa:
                chance = y * z + (1 - y) * (1 - z)
                return np.asarray((1 - (y + z - 2 * m[..., 5]) - chance) / (1 - chance))
            return np.asarray((m[..., 5] - y * z) / np.sqrt((m[..., 3] - y**2) * (m[..., 4] - z**2)))

    def figures(s: Floats) -> Floats:
        both = [one(s[..., 6 * k : 6 * k + 6]) for k in range(len(parts))]
        return np.stack([*both, both[-1] - both[0]], axis=-1)

    return jackknifed(rows, np.concatenate([p[2] for p in parts]), figures)


def selection_test(anchors: tuple[Floats, Codes], others: tuple[Floats, Codes]) -> tuple[float, float]:
    """Test whether anchors are a random sample of the scores of their run.

    Anchors that were selected by their score regress to the mean when they are judged again, which looks like a shift
    of the judge, and a change of their spread when both ends of the scale or its middle were selected.

    Parameters
    ----------
    anchors, others : tuple of arrays
        Scores of the run from which the anchors were taken, and the input of each.

    Returns
    -------
    tuple of float
        p of a difference of the mean, and of the mean absolute deviation from the mean of all scores; each doubled
        (Bonferroni). NaN where fewer than two inputs are not anchors, so that nothing was selected.

    Notes
    -----
    Welch's t test of one value per input. On whole points from 1 to 5 it finds selection far more often than the test
    of Kolmogorov and Smirnov, which loses power to ties.

    Examples
    --------
    >>> scores = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], 20)
    >>> low, codes = scores < 3, np.arange(100)
    >>> location, spread = selection_test((scores[low], codes[low]), (scores[~low], codes[~low]))
    >>> location < 0.001
    True
    """
    center = np.concatenate([anchors[0], others[0]]).mean()
    location, spread = (
        mean_test(unit_means(transform(anchors[0]), anchors[1]), unit_means(transform(others[0]), others[1]))
        for transform in (np.asarray, lambda scores: np.abs(scores - center))
    )
    return min(1.0, 2 * location), min(1.0, 2 * spread)


def anchors_needed(sd: float, shift: float, repeat: float = AGAIN, power: float = 0.8) -> int:
    """Return the number of anchors that detect a shift of this size at 5% with this power, for a correlation of
    `repeat`.

    >>> anchors_needed(1.0, 0.2)
    79
    """
    from scipy.special import ndtri

    far = (ndtri(0.975) + ndtri(power)) ** 2
    return math.ceil(float(far) * 2 * (1 - repeat) * sd**2 / shift**2)
