"""The correlation coefficients: one decorated function each, which is all that a new one needs.

    @coefficient("tau-a", label="Kendall τ-a", title="Kendall's tau-a", needs="counts",
                 definition="...", formula="(C − D) / all pairs")
    def tau_a(s): return ratio(s.concordant - s.discordant, pairs(s))

A ratio of two sums of pair counts, like this one, is a `pair_coefficient`.

`needs` is the argument of the function: for "pearson", "spearman" and "counts" the GroupStats of one kernel pass with
that part computed, for "own" the Groups themselves and a random generator. Each function returns one value per metric
and group, NaN where it is undefined. C, D: pairs that the metric and the humans order alike or oppositely; T_h: pairs
tied by the humans only; T_m: by the metric only; T_hm: by both. One pass serves all coefficients that need counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nlgauge.stats.correlation.groups import GROUPINGS, Groups
from nlgauge.stats.correlation.soft_accuracy import soft_pairwise_accuracy
from nlgauge.types import Array, Ints, Mask

if TYPE_CHECKING:
    from nlgauge.stats.correlation.panel_kernels import GroupStats

Needs = Literal["pearson", "spearman", "counts", "own"]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its description: `label` is for table heads, `title` and `definition` for sentences."""

    name: str
    label: str
    title: str
    definition: str
    formula: str
    needs: Needs
    function: Callable[..., Array]
    groupings: tuple[str, ...] = tuple(GROUPINGS)
    share: bool = False  # range 0 to 1 with chance level 0.5, instead of -1 to 1 with chance level 0


COEFFICIENTS: dict[str, Coefficient] = {}
ALIASES = {"tau-b": "kendall", "acc23": "acc-eq", "acc-23": "acc-eq", "acc23-calibrated": "acc-eq-calibrated"}


def coefficient(
    name: str,
    *,
    label: str,
    title: str,
    definition: str,
    formula: str,
    needs: Needs,
    groupings: tuple[str, ...] = tuple(GROUPINGS),
    share: bool = False,
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Register a function as a coefficient."""

    def register(function: Callable[..., Array]) -> Callable[..., Array]:
        COEFFICIENTS[name] = Coefficient(name, label, title, definition, formula, needs, function, groupings, share)
        return function

    return register


def pairs(s: GroupStats) -> Any:
    """Return the number of pairs of points, n (n - 1) / 2."""
    return s.n * (s.n - 1) // 2


def ratio(above: Any, below: Any) -> Array:
    """Divide, with NaN and no warning where the denominator is 0."""
    below = np.asarray(below)
    out = np.empty(below.shape)
    out.fill(np.nan)
    np.divide(above, below, out=out, where=below != 0)
    return out


@coefficient(
    "pearson",
    label="Pearson r",
    title="Pearson's r",
    needs="pearson",
    definition="Linear correlation of metric and human scores.",
    formula="cov(x, z) / (sd(x) sd(z))",
)
def pearson(s: GroupStats) -> Array:
    """Return Pearson's r (metrics × groups)."""
    return s.pearson


@coefficient(
    "spearman",
    label="Spearman ρ",
    title="Spearman's rho",
    needs="spearman",
    definition="Pearson's r of the ranks; tied values share their average rank.",
    formula="r(rank(x), rank(z))",
)
def spearman(s: GroupStats) -> Array:
    """Return Spearman's rho (metrics × groups)."""
    return s.spearman


# --- the pair-count family: ratios of two sums over (C, D, T_h, T_m, T_hm) ---

FORMS: dict[str, Array] = {}  # weights of the counts in numerator and denominator, also used by the resampling kernels
C_MINUS_D, TOLD, ALL = (1, -1, 0, 0, 0), (1, 1, 0, 1, 0), (1, 1, 1, 1, 1)
Weights = tuple[float, float, float, float, float]


def _total(weights: Weights, counts: Sequence[Any]) -> Any:
    """Return the weighted sum of counts; the first weight is 1, which keeps the number of array operations small."""
    total = counts[0]
    for weight, count in zip(weights[1:], counts[1:], strict=True):
        if weight:
            total = total + count if weight == 1 else total + weight * count
    return total


def pair_coefficient(
    name: str, above: Weights, below: Weights, other: Weights | None = None, **facts: Any
) -> Callable[[GroupStats], Array]:
    """Register a ratio of pair counts; with `other`, the denominator is the root of the product of two sums."""
    if any(w[0] != 1 for w in (above, below, other or below)):
        raise ValueError(f"{name}: the weight of C must be 1")
    FORMS[name] = np.array([above, below, other or below], np.float64)

    def value(s: GroupStats) -> Array:
        counts = (s.concordant, s.discordant, s.tied_human, s.tied_metric, s.tied_both)
        if other is None:
            return ratio(_total(above, counts), _total(below, counts))
        # two square roots, because the product of two pair counts can exceed 64 bits
        roots = np.sqrt(_total(below, counts)) * np.sqrt(_total(other, counts))
        return np.minimum(np.maximum(ratio(_total(above, counts), roots), -1.0), 1.0)  # faster than clip

    return coefficient(name, needs="counts", **facts)(value)


kendall = pair_coefficient(
    "kendall",
    C_MINUS_D,
    (1, 1, 1, 0, 0),
    TOLD,
    label="Kendall τ-b",
    title="Kendall's tau-b",
    definition="Concordant minus discordant pairs, over the geometric mean of the pairs untied on each side.",
    formula="(C − D) / √((C + D + T_h)(C + D + T_m))",
)
pair_coefficient(
    "tau-a",
    C_MINUS_D,
    ALL,
    label="Kendall τ-a",
    title="Kendall's tau-a",
    definition="Concordant minus discordant pairs among all pairs; a tie on either side counts 0.",
    formula="(C − D) / all pairs",
)


@coefficient(
    "tau-c",
    label="Kendall τ-c",
    title="Kendall's (Stuart's) tau-c",
    needs="counts",
    definition="Concordant minus discordant pairs, scaled for k, the smaller number of distinct values.",
    formula="2 (C − D) / (n² (k − 1) / k)",
)
def tau_c(s: GroupStats) -> Array:
    """Compute tau-c (Stuart 1953), metrics × groups."""
    below = ratio(s.n.astype(float) ** 2 * (s.classes - 1), s.classes)
    return np.clip(ratio(2 * (s.concordant - s.discordant), np.nan_to_num(below)), -1, 1)


pair_coefficient(
    "tau-10",
    (1, -1, 0, -1, 0),
    TOLD,
    label="Kendall τ₁₀",
    title="Kendall's tau-10",
    definition="Pairs tied by the humans are excluded; pairs tied by the metric only count as discordant.",
    formula="(C − D − T_m) / (C + D + T_m)",
)
tau_13 = pair_coefficient(
    "tau-13",
    C_MINUS_D,
    (1, 1, 0, 0, 0),
    label="Kendall τ₁₃",
    title="Kendall's tau-13 (Goodman and Kruskal's gamma)",
    definition="Concordant minus discordant pairs among the pairs untied on both sides.",
    formula="(C − D) / (C + D)",
)
pair_coefficient(
    "tau-14",
    C_MINUS_D,
    TOLD,
    label="Kendall τ₁₄",
    title="Kendall's tau-14",
    definition="Pairs tied by the humans are excluded; pairs tied by the metric only count one half.",
    formula="(C − D) / (C + D + T_m)",
)
pair_coefficient(
    "pairwise-accuracy",
    (1, 0, 0, 0.5, 0),
    TOLD,
    label="pairwise accuracy",
    title="Pairwise accuracy (human ties excluded; metric ties count one half)",
    definition="Share of the pairs with unequal human ratings that the metric orders the same way; a tie of the metric "
    "counts one half, so that chance and a constant score 0.5. It equals (1 + tau-14) / 2.",
    formula="(C + T_m / 2) / (C + D + T_m)",
    share=True,
)
pair_coefficient(
    "tau-23",
    (1, -1, -1, -1, 1),
    ALL,
    label="Kendall τ₂₃",
    title="Kendall's tau-23",
    definition="Agreeing pairs, ties included, minus disagreeing pairs, among all pairs.",
    formula="(C + T_hm − D − T_h − T_m) / all pairs",
)
pair_coefficient(
    "acc-eq",
    (1, 0, 0, 0, 1),
    ALL,
    label="acc_eq",
    title="Pairwise accuracy with ties",
    definition="Share of pairs on which metric and humans agree; a tie agrees only with a tie.",
    formula="(C + T_hm) / all pairs",
)


# --- coefficients of the scores themselves ---


@coefficient(
    "acc-eq-calibrated",
    label="acc_eq*",
    title="Pairwise accuracy with ties (metric scores at most ε apart are tied, with the best ε)",
    needs="own",
    definition="acc-eq with metric scores at most ε apart tied, for the ε with the highest mean over groups.",
    formula="max over ε of mean (C + T_hm) / all pairs",
)
def acc_eq_calibrated(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute acc_eq at the best tie threshold (Deutsch, Foster and Freitag 2023), metrics × groups."""
    return groups.calibration.accuracy


@coefficient(
    "acc-eq-cross-fitted",
    label="acc_eq†",
    title="Pairwise accuracy with ties (metric scores at most ε apart are tied, with the ε of other groups)",
    needs="own",
    definition="acc-eq with metric scores at most ε apart tied, for the ε that is best on the other groups.",
    formula="mean (C + T_hm) / all pairs, at the ε of the other half",
    groupings=("input", "item"),
)
def acc_eq_cross_fitted(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute acc_eq at the tie threshold that is best on the other half of the groups, metrics × groups."""
    # Imported late: the compiled kernels, which naming a measure does not need.
    from nlgauge.stats.correlation.tie_calibration import cross_fit

    return cross_fit(groups.x, groups.z)


@coefficient(
    "tau-23-calibrated",
    label="Kendall τ₂₃*",
    title="Kendall's tau-23 (metric scores at most ε apart are tied, with the best ε)",
    needs="own",
    definition="tau-23 with metric scores at most ε apart tied, for the ε with the highest mean over groups.",
    formula="max over ε of mean (C + T_hm − D − T_h − T_m) / all pairs",
)
def tau_23_calibrated(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute tau-23 at the best tie threshold, metrics × groups."""
    return 2 * acc_eq_calibrated(groups, rng) - 1  # in each group tau-23 = 2 acc-eq − 1, so the same ε is best


@coefficient(
    "spa",
    label="SPA",
    title="Soft pairwise accuracy (1 − mean |p_h − p_m| of paired sign-flip tests over inputs)",
    needs="own",
    groupings=("system",),
    definition="Agreement of metric and humans on the p-value that one system is better (1,000 sign flips).",
    formula="1 − mean |p_h − p_m| over system pairs",
)
def spa(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute soft pairwise accuracy (Thompson et al. 2024), metrics × 1."""
    return soft_pairwise_accuracy(groups.metrics, groups.human, rng=rng)[:, None]


@coefficient(
    "pdp",
    label="PDP",
    title="Pairwise-difference Pearson (Pearson's r of the differences between two outputs of one input, all pairs in "
    "both orders)",
    needs="own",
    groupings=("global",),
    definition="Pearson's r of score differences between two outputs of one input, pooled over inputs.",
    formula="r(xᵢ − xⱼ, zᵢ − zⱼ) over all pairs i ≠ j of each input",
)
def pdp(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute pairwise-difference Pearson (DiIanni and Deutsch 2025).

    The sum of dx·dz over the ordered pairs of an input is 2n Σ (x − mean)(z − mean).
    """
    there = np.isfinite(groups.metrics) & np.isfinite(groups.human)
    n = there.sum(axis=1, keepdims=True)
    x, z = (_centered(values, there, n) for values in (groups.metrics, groups.human[None]))
    xz, xx, zz = ((n * a * b).sum(axis=(1, 2)) for a, b in ((x, z), (x, x), (z, z)))
    return np.clip(ratio(xz, np.sqrt(xx) * np.sqrt(zz)), -1, 1)[:, None]


def _centered(values: Array, there: Mask, n: Ints) -> Array:
    """Return scores minus the mean of their input (0 where missing), scaled by the largest; equal scores give 0."""
    selected = np.where(there, values, 0.0)
    selected = selected / np.maximum(
        np.abs(selected).max(axis=(1, 2), keepdims=True, initial=0.0), np.finfo(float).tiny
    )
    first = np.where(there & (np.cumsum(there, axis=1) == 1), selected, 0.0).sum(axis=1, keepdims=True)
    apart = np.where(there, selected - first, 0.0)
    centered: Array = np.where(there, apart - apart.sum(axis=1, keepdims=True) / np.maximum(n, 1), 0.0)
    return centered


@coefficient(
    "top-1",
    label="top-1",
    title="Top-1 agreement (the metric's best output is among those rated best; ties are broken at random)",
    needs="own",
    groupings=("input", "item"),
    definition="Probability that the metric's best output (random among ties) is among those rated best.",
    formula="|best(x) ∩ best(z)| / |best(x)|",
)
def top_1(groups: Groups, rng: np.random.Generator) -> Array:
    """Compute top-1 agreement, metrics × groups; NaN where fewer than two outputs have both scores."""
    there = np.isfinite(groups.x) & np.isfinite(groups.z)
    best_x, best_z = _best(groups.x, there), _best(groups.z, there)
    share = ratio((best_x & best_z).sum(axis=2), best_x.sum(axis=2))
    return np.where(there.sum(axis=2) < 2, np.nan, share)


def _best(values: Array, there: Mask) -> Mask:
    selected = np.where(there, values, -np.inf)
    best: Mask = there & (selected == selected.max(axis=2, keepdims=True, initial=-np.inf))
    return best
