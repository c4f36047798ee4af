"""Comparison of measures: power, consistency, agreement with each other, robustness to scale (Gao et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named
from nlgauge.analyses.comparing.compare_pairs import Test
from nlgauge.analyses.design.stability import HEADS, stability
from nlgauge.data.panel import Panel
from nlgauge.errors import NlgaugeError
from nlgauge.number import number
from nlgauge.stats.correlation.measure import Measure, evaluate, group_values
from nlgauge.stats.correlation.ties import snap
from nlgauge.stats.design.simulate import discretize, thresholds
from nlgauge.stats.resampling.canonical import table_order
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

Cut = Literal["both", "metrics", "human"]
TAU = Measure("global", "kendall")
TAU_OF_EACH = Measure("input", "kendall")  # of the metrics (rows), for each measure (column)


@analysis(
    "measures",
    trials="mean",
    paper="gao2025",
    question="Which measure of agreement is most reliable on these data (power, consistency, robustness)?",
)
def measures_study(
    panel: Panel,
    *,
    measures: Sequence[Named] | None = None,
    scales: Sequence[int] | int = (3, 5, 10),
    cut: Cut = "both",
    redraws: int = 10,
    test: Test = "permutation",
    draws: int | None = None,
    trials: int = 1000,
    profile: str = "nlgauge",
    ranked_by: Named | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Compare the measures of agreement by power, consistency, agreement with each other and robustness to scale.

    Parameters
    ----------
    scales : int or sequence of int, default (3, 5, 10)
        Numbers of levels into which scores and ratings are discretized.
    cut : {'both', 'metrics', 'human'}, default 'both'
        What to discretize: the scores (`metrics`), the human ratings (`human`), or `both`.
    redraws : int, default 10
        Number of random sets of cut points per number of levels.

    Returns
    -------
    Table
        One row per measure, the most trustworthy first: all columns of `stability`; `agreement`, the mean
        tau-b between the ranking of the metrics by this measure and by each other one; and for each number of
        levels `kept` (tau-b between the rankings before and after the cut) and `shift` (mean change of the
        correlations, away from zero + or towards it −).

    Notes
    -----
    Cut points are drawn as in Algorithm 1 of the paper.

    References
    ----------
    Gao et al. (2025), sections 4 and 5.
    """
    levels = [scales] if isinstance(scales, int) else list(scales)
    if any(level < 2 for level in levels) or redraws < 1:
        raise NlgaugeError(f"scales require at least 2 levels and 1 redraw; got {levels} and {redraws}.")
    base = stability(
        panel,
        measures=measures,
        test=test,
        draws=draws,
        trials=trials,
        profile=profile,
        ranked_by=ranked_by,
        seed=seed,
        progress=progress,
    )
    chosen = [Measure.parse(row["measure"]) for row in base]
    values = _values(panel.oriented(), panel.human, chosen)
    relation = np.stack([rank_agreement(values, column) for column in values.T])
    np.fill_diagonal(relation, np.nan)
    names = [str(m) for m in chosen]
    taus = {
        one: {other: float(relation[j, k]) for k, other in enumerate(names) if k != j} for j, one in enumerate(names)
    }
    rows = base.rows
    for j, row in enumerate(rows):
        others = relation[j][np.isfinite(relation[j])]
        row["agreement"] = float(others.mean()) if len(others) else float("nan")
    lost = _add_scales(rows, panel, chosen, values, levels, cut, redraws, seed)
    what = {"both": "metrics and human ratings", "metrics": "metrics", "human": "human ratings"}[cut]
    return Table(
        title=Title(panel.name, f"comparison of measures of agreement on {panel.aspect}"),
        rows=rows,
        shown=["measure", "dp", "rc", "agreement", *(f"{part}_{c}" for part in ("kept", "shift") for c in levels)],
        heads=HEADS,
        facts={**base.facts, "agreement": taus, "stability_title": base.title},
        definitions={
            **base.definitions,
            "agreement": "mean tau-b between the rankings of the metrics by this measure and by each of the others",
            "kept, shift": f"{what} binned to so many levels: tau-b between the rankings of the metrics before and "
            "after, and how much stronger (+) or weaker (-) the correlations become, mean over the metrics",
        },
        method=f"{base.method} Levels: thresholds uniform within mean ± SD of each score, mean of {redraws} draws.",
        answers=[*base.answers, *_advice(rows, taus, levels)],
        notes=[*base.notes, *lost],
        signature=f"{base.signature}|scales:{','.join(map(str, levels))}|cut:{cut}|redraws:{redraws}",
    )


def rank_agreement(values: Array, column: Array) -> Array:
    """Return tau-b between the rankings of the K metrics by each column of `values` (K×L) and by one other.

    >>> rank_agreement(np.array([[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]]), np.array([0.5, 0.6, 0.7])).tolist()
    [1.0, -1.0]
    """
    return np.asarray(evaluate(values.T[:, None, :], column[None], [TAU]).value[:, 0])


def _values(metrics: Array, human: Array, measures: Sequence[Measure]) -> Array:
    """Evaluate K metrics × L measures; correlations that differ by rounding only are tied."""
    return np.asarray(snap(evaluate(metrics, human, measures).value, axis=0, scale=1.0))


def _add_scales(
    rows: list[Row],
    panel: Panel,
    measures: Sequence[Measure],
    before: Array,
    levels: Sequence[int],
    cut: Cut,
    redraws: int,
    seed: int,
) -> list[str]:
    """Add `kept` and `shift` of each measure at each scale to the rows; return notes on undefined values."""
    lost = 0
    for level, own in zip(levels, np.random.SeedSequence(seed).spawn(len(levels)), strict=True):
        kept, shift = np.full((redraws, len(measures)), np.nan), np.full((redraws, len(measures)), np.nan)
        for r, child in enumerate(own.spawn(redraws)):
            metrics, human = _coarse(panel, level, cut, np.random.default_rng(child))
            after = _values(metrics, human, measures)
            taus = group_values(after[None], before, TAU_OF_EACH)[0]
            kept[r] = np.where(np.isfinite(after + before).sum(axis=0) > 2, taus, np.nan)
            shift[r] = _mean(np.sign(before) * (after - before), axis=0)
            lost += int((np.isnan(after) & np.isfinite(before)).sum())
        for j, row in enumerate(rows):
            row |= {f"kept_{level}": float(_mean(kept[:, j])), f"shift_{level}": float(_mean(shift[:, j]))}
    total = len(levels) * redraws * before.size
    return (
        [f"{lost} of {total} correlations are undefined on the shorter scales (all scores are equal)."] if lost else []
    )


def _coarse(panel: Panel, level: int, cut: Cut, rng: np.random.Generator) -> tuple[Array, Array]:
    """Bin each array of scores to so many levels by its own random thresholds."""
    metrics, human = panel.oriented(), panel.human
    if cut != "metrics":
        human = _levels(human, level, rng)
    if cut != "human":
        # One random stream per content: thresholds do not depend on the order of metrics or on constant ones.
        varied = [k for k in table_order(metrics) if _varies(metrics[k])]
        for k, own in zip(varied, rng.spawn(len(varied)), strict=True):
            metrics[k] = _levels(metrics[k], level, own)
    return metrics, human


def _varies(scores: Array) -> bool:
    known = scores[np.isfinite(scores)]
    return bool(len(known) and known.max() > known.min())


def _levels(scores: Array, level: int, rng: np.random.Generator) -> Array:
    known = scores[np.isfinite(scores)]
    if len(known) < 2:
        return scores
    return discretize(scores, thresholds(level, float(known.mean()), float(known.std(ddof=1)), rng))


def _mean(values: Array, axis: int | None = None) -> Array:
    there = np.isfinite(values)
    n = there.sum(axis=axis)
    return np.where(n > 0, np.where(there, values, 0.0).sum(axis=axis) / np.maximum(n, 1), np.nan)


def _advice(rows: list[Row], agreement: dict[str, dict[str, float]], levels: Sequence[int]) -> list[str]:
    """Return notes on agreement and scale, next to the recommendation of `stability`."""
    best = rows[0]
    taus = {name: tau for name, tau in agreement[best["measure"]].items() if np.isfinite(tau)}
    notes = []
    if taus:
        far = min(taus, key=taus.__getitem__)
        notes.append(
            f"{best['measure']} agrees with the rankings by the other measures at τ = {number(best['agreement'], 2)} "
            "on "
            f"average, least with {far} ({number(taus[far], 2)})"
            + ("; choose the measure that matches your use." if taus[far] < 0.5 else ".")
        )
    if levels:
        short_scale = min(levels)
        steady = min(
            rows, key=lambda r: abs(r[f"shift_{short_scale}"]) if np.isfinite(r[f"shift_{short_scale}"]) else np.inf
        )
        text = (
            f"With {short_scale} levels {best['measure']} changes by "
            f"{number(best[f'shift_{short_scale}'], 2, sign=True)} and its ranking agrees at τ = "
            f"{number(best[f'kept_{short_scale}'], 2)}"
        )
        if steady is not best:
            text += f"; {steady['measure']} changes least ({number(steady[f'shift_{short_scale}'], 2, sign=True)})"
        notes.append(text + ": compare only scores of equal granularity.")
    return notes
