"""The coefficients: what to do with two vectors. One decorated function each; nothing else to edit.

    @coefficient("tau-a", label="Kendall τ-a", title="Kendall's tau-a", needs="counts",
                 definition="...", formula="(C − D) / all pairs")
    def tau_a(s): return ratio(s.concordant - s.discordant, pairs(s))

`needs` says what the function is given: for "pearson", "spearman" or "counts" the GroupStats of one
kernel pass with that part filled in, for "own" the Groups themselves and a random generator. Each
function gives one value per metric and group, NaN where it is undefined. C, D: pairs that metric and
people order alike, or opposite; T_h: tied by people only; T_m: by the metric only; T_hm: by both. One
pass serves all that need counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nlgauge.stats.correlation.groups import GROUPINGS, Groups

if TYPE_CHECKING:
    from nlgauge.stats.correlation.panel_kernels import GroupStats

Floats = NDArray[np.float64]
Needs = Literal["pearson", "spearman", "counts", "own"]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its facts: `label` is for table heads, `title` and `definition` for sentences."""

    name: str
    label: str
    title: str
    definition: str
    formula: str
    needs: Needs
    function: Callable[..., Floats]
    groupings: tuple[str, ...] = tuple(GROUPINGS)


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
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register a function as a coefficient."""

    def register(function: Callable[..., Floats]) -> Callable[..., Floats]:
        COEFFICIENTS[name] = Coefficient(name, label, title, definition, formula, needs, function, groupings)
        return function

    return register


def pairs(s: GroupStats) -> Any:
    return s.n * (s.n - 1) // 2


def ratio(above: Any, below: Any) -> Floats:
    """Division that gives NaN, silently, where the denominator is 0."""
    out = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=out, where=np.asarray(below) != 0)
    return out


@coefficient(
    "pearson",
    label="Pearson r",
    title="Pearson's r",
    needs="pearson",
    definition="Linear correlation of metric and human scores.",
    formula="cov(x, z) / (sd(x) sd(z))",
)
def pearson(s: GroupStats) -> Floats:
    return s.pearson


@coefficient(
    "spearman",
    label="Spearman ρ",
    title="Spearman's rho",
    needs="spearman",
    definition="Pearson's r of the ranks; tied values share their average rank.",
    formula="r(rank(x), rank(z))",
)
def spearman(s: GroupStats) -> Floats:
    return s.spearman


@coefficient(
    "kendall",
    label="Kendall τ-b",
    title="Kendall's tau-b",
    needs="counts",
    definition="Concordant minus discordant pairs, relative to the pairs that each side does not tie.",
    formula="(C − D) / √((C + D + T_h)(C + D + T_m))",
)
def kendall(s: GroupStats) -> Floats:
    told = s.concordant + s.discordant
    # two roots: the product of two pair counts may exceed 64 bits
    below = np.sqrt(told + s.tied_human) * np.sqrt(told + s.tied_metric)
    return np.clip(ratio(s.concordant - s.discordant, below), -1, 1)


@coefficient(
    "tau-a",
    label="Kendall τ-a",
    title="Kendall's tau-a",
    needs="counts",
    definition="Concordant minus discordant pairs among all pairs; a tie on either side counts nothing.",
    formula="(C − D) / all pairs",
)
def tau_a(s: GroupStats) -> Floats:
    return ratio(s.concordant - s.discordant, pairs(s))


@coefficient(
    "tau-c",
    label="Kendall τ-c",
    title="Kendall's (Stuart's) tau-c",
    needs="counts",
    definition="Concordant minus discordant pairs, scaled for k, the smaller number of distinct values.",
    formula="2 (C − D) / (n² (k − 1) / k)",
)
def tau_c(s: GroupStats) -> Floats:
    below = ratio(s.n.astype(float) ** 2 * (s.classes - 1), s.classes)
    return np.clip(ratio(2 * (s.concordant - s.discordant), np.nan_to_num(below)), -1, 1)


@coefficient(
    "tau-10",
    label="Kendall τ₁₀",
    title="Kendall's tau-10",
    needs="counts",
    definition="Pairs that people tie are left out; pairs that only the metric ties count as discordant.",
    formula="(C − D − T_m) / (C + D + T_m)",
)
def tau_10(s: GroupStats) -> Floats:
    return ratio(s.concordant - s.discordant - s.tied_metric, s.concordant + s.discordant + s.tied_metric)


@coefficient(
    "tau-13",
    label="Kendall τ₁₃",
    title="Kendall's tau-13 (Goodman and Kruskal's gamma)",
    needs="counts",
    definition="Only pairs that neither side ties are counted.",
    formula="(C − D) / (C + D)",
)
def tau_13(s: GroupStats) -> Floats:
    return ratio(s.concordant - s.discordant, s.concordant + s.discordant)


@coefficient(
    "tau-14",
    label="Kendall τ₁₄",
    title="Kendall's tau-14",
    needs="counts",
    definition="Pairs that people tie are left out; pairs that only the metric ties count as half right.",
    formula="(C − D) / (C + D + T_m)",
)
def tau_14(s: GroupStats) -> Floats:
    return ratio(s.concordant - s.discordant, s.concordant + s.discordant + s.tied_metric)


@coefficient(
    "tau-23",
    label="Kendall τ₂₃",
    title="Kendall's tau-23",
    needs="counts",
    definition="Pairs judged alike, ties included, minus pairs judged differently, among all pairs.",
    formula="(C + T_hm − D − T_h − T_m) / all pairs",
)
def tau_23(s: GroupStats) -> Floats:
    return ratio(2 * (s.concordant + s.tied_both) - pairs(s), pairs(s))


@coefficient(
    "acc-eq",
    label="acc_eq",
    title="Pairwise accuracy with ties",
    needs="counts",
    definition="Share of pairs that metric and people judge alike, where a tie must be met by a tie.",
    formula="(C + T_hm) / all pairs",
)
def acc_eq(s: GroupStats) -> Floats:
    return ratio(s.concordant + s.tied_both, pairs(s))


@coefficient(
    "acc-eq-calibrated",
    label="acc_eq*",
    title="Pairwise accuracy with ties (metric scores at most ε apart are tied, with the best ε)",
    needs="own",
    definition="acc-eq with metric scores at most ε apart tied, for the ε with the highest mean over groups.",
    formula="max over ε of mean (C + T_hm) / all pairs",
)
def acc_eq_calibrated(groups: Groups, rng: np.random.Generator) -> Floats:
    return groups.calibration.accuracy


@coefficient(
    "tau-23-calibrated",
    label="Kendall τ₂₃*",
    title="Kendall's tau-23 (metric scores at most ε apart are tied, with the best ε)",
    needs="own",
    definition="tau-23 with metric scores at most ε apart tied, for the ε with the highest mean over groups.",
    formula="max over ε of mean (C + T_hm − D − T_h − T_m) / all pairs",
)
def tau_23_calibrated(groups: Groups, rng: np.random.Generator) -> Floats:
    return 2 * acc_eq_calibrated(groups, rng) - 1  # group by group tau-23 = 2 acc-eq − 1: the same ε is best


@coefficient(
    "spa",
    label="SPA",
    title="Soft pairwise accuracy (1 − mean |p_h − p_m| of paired sign-flip tests over inputs)",
    needs="own",
    groupings=("system",),
    definition="How alike metric and people are in how surely one system beats another (1,000 sign flips).",
    formula="1 − mean |p_h − p_m| over system pairs",
)
def spa(groups: Groups, rng: np.random.Generator) -> Floats:
    from nlgauge.stats.correlation.soft_accuracy import soft_pairwise_accuracy

    return soft_pairwise_accuracy(groups.metrics, groups.human, rng=rng)[:, None]


@coefficient(
    "top-1",
    label="top-1",
    title="Top-1 agreement (the metric's best output is one of people's best; ties are picked blindly)",
    needs="own",
    groupings=("input", "item"),
    definition="Chance that a best output of the metric, picked blindly among ties, is one of people's best.",
    formula="|best(x) ∩ best(z)| / |best(x)|",
)
def top_1(groups: Groups, rng: np.random.Generator) -> Floats:
    there = np.isfinite(groups.x) & np.isfinite(groups.z)
    best_x, best_z = _best(groups.x, there), _best(groups.z, there)
    share = ratio((best_x & best_z).sum(axis=2), best_x.sum(axis=2))
    return np.where(there.sum(axis=2) < 2, np.nan, share)


def _best(values: Floats, there: NDArray[np.bool_]) -> NDArray[np.bool_]:
    kept = np.where(there, values, -np.inf)
    best: NDArray[np.bool_] = there & (kept == kept.max(axis=2, keepdims=True, initial=-np.inf))
    return best
