"""Which measure can be trusted on these data? Discriminative power and ranking consistency (paper 002, section 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, defined, measures_of, people_note, signature
from nlgauge.analyses.significance import Test, run_test
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.stability import (
    discriminative_power,
    discriminative_power_interval,
    p_value_curve,
    ranking_consistency,
)
from nlgauge.table import Row, Table


@analysis("stability", paper="002", question="Which measure can be trusted on these data?")
def stability(
    panel: Panel,
    *,
    measures: Sequence[Named] | None = None,
    test: Test = "permutation",
    draws: int | None = None,
    trials: int = 1000,
    profile: str = "nlgauge",
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """One row per measure, the most trustworthy first.

    Discriminative power (DP): mean p over all metric pairs, lower is better: how well the measure tells metrics apart.
    Ranking consistency (RC): mean tau-b between the metric rankings on two halves of the inputs, higher is better.
    """
    if len(panel.metrics) < 3:
        raise NeedsMissing(
            f"{panel.name}: stability compares rankings of metrics and needs at least 3; found {len(panel.metrics)}."
        )
    chosen, notes = defined(panel, measures_of(measures))
    if not chosen:
        raise NeedsMissing(f"{panel.name}, {panel.aspect}: " + " ".join(notes))
    stacked = panel.oriented()
    tests = run_test(
        stacked, panel.human, chosen, test, draws=draws, profile=profile, seed=seed, progress=progress
    )
    power, ends = (
        discriminative_power(tests.p),
        discriminative_power_interval(tests.p, tests.pairs, seed=seed),
    )
    consistency = ranking_consistency(stacked, panel.human, chosen, trials=trials, seed=seed)
    spread = consistency.interval()
    curves = p_value_curve(tests.p)
    rows: list[Row] = [
        {"measure": str(m), "aspect": panel.aspect, "DP": float(power[j]), "DP low": float(ends.low[j]), "DP high": float(ends.high[j]),
         "RC": float(consistency.value[j]), "RC low": float(spread.low[j]), "RC high": float(spread.high[j]),
         "pairs": int(np.isfinite(tests.p[:, j]).sum()), "curve": [round(float(p), 6) for p in curves[:, j] if np.isfinite(p)]}
        for j, m in enumerate(chosen)
    ]  # fmt: skip
    for row, place in zip(rows, _places(power, consistency.value), strict=True):
        row["place"] = place
    rows.sort(key=lambda row: row["place"])
    return Table(
        title=f"{panel.name}: which measure to trust on {panel.aspect}",
        rows=rows,
        shown=["measure", "DP", "DP low", "DP high", "RC", "RC low", "RC high"],
        definitions={
            "DP": "discriminative power, the mean p-value over all pairs of metrics; lower is better; interval over metrics",
            "RC": "ranking consistency, the mean tau-b of the metric rankings on two halves of the inputs; higher is better; "
            "interval over splits",
        },
        method=f"{len(panel.metrics)} metrics, {len(tests.pairs)} pairs; DP: {tests.method}. RC: {consistency.method}. "
        "Sorted by the mean of the two ranks.",
        notes=[recommend(rows), *notes, *people_note(panel)],
        signature=signature(panel, test=test, profile=profile, draws=tests.draws, trials=trials, seed=seed),
    )


def recommend(rows: list[Row]) -> str:
    """One sentence: what to use here, why, and what to leave."""
    best, worst = rows[0], max(rows, key=lambda r: r["DP"])
    near = [r["measure"] for r in rows[1:] if r["DP"] <= best["DP high"] and r["RC"] >= best["RC low"]][:2]
    text = f"On these data trust {best['measure']}"
    if near:
        text += f" (and {' and '.join(near)}, which the data do not tell from it)"
    text += f": DP {best['DP']:.3f}, RC {best['RC']:.3f}"
    if worst is not best and worst["DP"] > 2 * best["DP"]:
        text += f"; {worst['measure']} hardly tells your metrics apart (DP {worst['DP']:.3f})"
    return text + "."


def _places(power: np.ndarray, consistency: np.ndarray) -> list[float]:
    """Mean of the ranks by DP (low first) and by RC (high first); undefined values rank last."""
    from scipy.stats import rankdata

    # Equal measures share a rank, also where sums in another order differ in the last bit.
    known = (np.where(np.isnan(v), np.inf, v.round(12)) for v in (power, -consistency))
    by_power, by_consistency = (rankdata(v) - 1 for v in known)
    return [float(x) for x in (by_power + by_consistency) / 2]
