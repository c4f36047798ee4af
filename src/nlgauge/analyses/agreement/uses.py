"""For what use is a metric reliable: ranking systems, choosing the better of two outputs, flagging bad outputs?"""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.agreement.intervals import scope_notes
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import interval, number, percent
from nlgauge.stats.correlation.uses import UseShares, badge_of, flag_shares, pair_shares
from nlgauge.stats.ranking.quality_levels import LOW, quality_levels
from nlgauge.stats.resampling.jackknife import UNITS, over_of
from nlgauge.table import Layout, Row, Table

USES = {
    "rank systems": "of two systems with unequal mean human ratings, how often the metric puts the better one first",
    "pairwise": "of two outputs of one input with unequal human ratings, how often the metric prefers the better one",
    "flag": "of a bad output (lowest third of the scale) and another one, how often the metric scores the bad one lower "
    "(area under the ROC curve)",
}
MEASURES = {"rank systems": "system/pairwise-accuracy", "pairwise": "input/pairwise-accuracy", "flag": "roc_area"}


@analysis("uses", question="For what use is a metric reliable: ranking systems, pairwise choices, flagging bad outputs?")
def uses(panel: Panel, *, limit: float = 0.75, level: float = 0.95) -> Table:
    """One share per use (0.5 is chance, 1 is always right; metric ties count one half) with an interval and a badge.

    reliable: the whole interval lies at `limit` or above, and the interval of the paired difference from the best
    baseline (a constant, the length of the output, and for `flag` the metric's mean over the systems of each input) lies
    above 0; not reliable: one of the two lies below as a whole; inconclusive: anything else. The intervals hold for all
    metrics together. Below a floor there is no interval and no badge.
    """
    if not 0.5 <= limit <= 1:
        raise NlgaugeError(f"the limit must lie between 0.5 and 1; got {limit:g}.")
    levels = quality_levels(panel.human)
    bad = np.asarray(levels.level == LOW)
    shares = _shares(panel, bad, level)
    rows = [row for use, found in shares.items() for row in _rows(panel, use, found, bad, limit)]
    there = [u for u in USES if any(np.isfinite(r["value"]) for r in rows if r["use"] == u)]
    if not there:
        raise NeedsMissing(
            f"{panel.name}, {panel.aspect}: no two systems, outputs or levels with different human ratings."
        )
    order = {m: _mean([r["value"] for r in rows if r["metric"] == m and r["use"] in there]) for m in panel.names}
    rows = sorted((r for r in rows if r["use"] in there), key=lambda r: (order[r["metric"]], list(USES).index(r["use"])))
    over = over_of("auto", len(set(panel.families or panel.systems)))
    return Table(
        title=f"{panel.name}: what each metric is reliable for, on {panel.aspect}",
        rows=rows,
        layout=Layout("metric", "use", "value", line=panel.label),
        cells={"value": _cell},
        definitions={u: USES[u] for u in there},
        method=f"{percent(level)} intervals for {UNITS[over]}, simultaneous over the {len(panel.names)} metrics (jackknife, "
        f"Student's t; ranking systems: Bonett and Wright's interval of Kendall's tau). reliable: interval at "
        f"{number(limit)} or above, and paired difference from the best baseline above 0; not reliable: one of the two "
        f"below; inconclusive: anything else. Bad outputs: {int(bad.sum())} of {int(np.isfinite(panel.human).sum())} from "
        f"{int(bad.any(axis=1).sum())} systems ({levels.words}).",
        notes=[
            *_baseline_notes({u: shares[u] for u in there}),
            *[f"not available: {u} (no pairs with different human ratings)." for u in USES if u not in there],
            *[f"no interval: {why}." for why in {r["reason"]: 0 for r in rows if np.isfinite(r["value"])} if why],
            *scope_notes(panel, over),
            *people_note(panel),
        ],
        signature=signature(panel, limit=limit),
    )


def _shares(panel: Panel, bad: np.ndarray, level: float) -> dict[str, UseShares]:
    x, z, length = panel.oriented(), panel.human, panel.output_lengths()
    options = {"clusters": panel.clusters, "families": panel.families, "level": level}
    return {
        "rank systems": pair_shares(MEASURES["rank systems"], x, z, length, **options),  # type: ignore[arg-type]
        "pairwise": pair_shares(MEASURES["pairwise"], x, z, length, **options),  # type: ignore[arg-type]
        "flag": flag_shares(x, z, bad, length, **options),  # type: ignore[arg-type]
    }


def _rows(panel: Panel, use: str, shares: UseShares, bad: np.ndarray, limit: float) -> list[Row]:
    rows: list[Row] = []
    for k, metric in enumerate(panel.names):
        value, low, high = (float(v[k]) for v in (shares.value, shares.low, shares.high))
        gain = float(shares.advantage_low[k]), float(shares.advantage_high[k])
        scored = bad & np.isfinite(panel.metrics[metric])
        rows.append(
            {
                "metric": metric,
                "aspect": panel.aspect,
                "use": use,
                "measure": MEASURES[use],
                "value": value,
                "low": low,
                "high": high,
                "advantage_low": gain[0],
                "advantage_high": gain[1],
                "baseline": max(shares.baselines, key=lambda b: shares.baselines[b]),
                "baseline_value": max(shares.baselines.values()),
                "badge": None if np.isnan(low) else badge_of(low, high, limit, *gain),
                "positives": int(scored.sum()) if use == "flag" else None,
                "positive_systems": int(scored.any(axis=1).sum()) if use == "flag" else None,
                "reason": shares.reason[k] if np.isfinite(value) else f"nothing to count: {USES[use]}",
            }
        )
    return rows


def _mean(values: list[float]) -> float:
    """Minus the mean of what there is, so that the best come first and those without any value last."""
    known = [v for v in values if np.isfinite(v)]
    return -float(np.mean(known)) if known else np.inf


def _baseline_notes(shares: dict[str, UseShares]) -> list[str]:
    lengths = {u: s.baselines["output length"] for u, s in shares.items() if "output length" in s.baselines}
    if not lengths:
        return ["baseline: a constant (0.5); the length of the outputs is not known (no output texts)."]
    words = ", ".join(f"{u} {number(v, 2)}" for u, v in lengths.items() if np.isfinite(v))
    return [f"baselines: a constant (0.5); output length ({words})."]


def _cell(row: Row) -> str:
    return f"{row['badge'] or '–'} {interval(row['value'], row['low'], row['high'])}" if np.isfinite(row["value"]) else "–"
