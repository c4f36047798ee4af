"""Reliability of metrics by use: ranking systems, pairwise comparison of outputs, flagging bad outputs."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import finite_mean, human_note, signature
from nlgauge.analyses.agreement.intervals import scope_notes
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import interval, number, percent, some
from nlgauge.options import option
from nlgauge.stats.correlation.uses import UseShares, badge_of, flag_shares, outlying_systems, pair_shares, tied_pairs
from nlgauge.stats.ranking.quality_levels import LOW, quality_levels
from nlgauge.stats.resampling.jackknife import UNITS, generalizes_to
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Mask

USES = {
    "rank systems": "of two systems with unequal mean human ratings, how often the metric puts the better one first",
    "pairwise": "of two outputs of one input with unequal human ratings, how often the metric prefers the better one",
    "flag": "of a bad output (lowest third of the scale) and another one, how often the metric scores the bad one "
    "lower (area under the ROC curve)",
}
MEASURES = {"rank systems": "system/pairwise-accuracy", "pairwise": "input/pairwise-accuracy", "flag": "roc_area"}


@analysis("uses", question="Is a metric reliable for ranking systems, pairwise comparison and flagging bad outputs?")
def uses(panel: Panel, *, limit: float = 0.75, level: float = 0.95) -> Table:
    """Rate how reliable each metric is for ranking systems, pairwise comparison and flagging bad outputs.

    Parameters
    ----------
    limit : float, default 0.75
        Minimum share for the verdict 'reliable', between 0.5 (chance) and 1.

    Returns
    -------
    Table
        One row per metric and use: the share with its interval, the paired difference from the best baseline,
        and the badge.

    Notes
    -----
    `rank systems` and `pairwise` are pairwise accuracies over system means and within inputs (human ties excluded;
    metric ties count one half); `flag` is the area under the ROC curve for outputs in the lowest third of the
    scale. 0.5 is chance and 1 is always right. A metric is reliable if its whole interval lies at `limit` or above
    and the interval of its difference from the best baseline (a constant, the length of the output; for `flag`
    also the metric's mean over the systems of each input) lies above 0; not reliable if one of the two lies below
    as a whole; else inconclusive. Intervals hold for all metrics together. With too few systems, inputs or bad
    outputs there is no interval and no badge. A badge that does not hold without systems whose mean rating is an
    outlier is inconclusive.
    """
    if not 0.5 <= limit <= 1:
        raise NlgaugeError(f"{option('limit')} must be between 0.5 and 1; got {limit:g}.")
    levels = quality_levels(panel.human)
    bad = np.asarray(levels.level == LOW)
    shares = _shares(panel, bad, level)
    outlying = outlying_systems(panel.human)
    without = _shares(panel, bad, level, ~outlying) if outlying.any() else {}
    rows = [row for use, each in shares.items() for row in _rows(panel, use, each, without.get(use), bad, limit)]
    defined = [u for u in USES if any(np.isfinite(r["value"]) for r in rows if r["use"] == u)]
    if not defined:
        raise NeedsMissing(
            "human ratings do not differ between systems, outputs or levels of quality.", code="constant"
        )
    order = {m: _mean([r["value"] for r in rows if r["metric"] == m and r["use"] in defined]) for m in panel.names}
    rows = [r for r in rows if r["use"] in defined]
    rows.sort(key=lambda r: (order[r["metric"]], list(USES).index(r["use"])))
    over = generalizes_to("auto", len(set(panel.families or panel.systems)))
    return Table(
        title=Title(panel.name, f"reliability of each metric by use, on {panel.aspect}"),
        rows=rows,
        layout=Layout("metric", "use", "value", line=panel.label),
        cells={"value": _cell},
        definitions={u: USES[u] for u in defined},
        method=f"{percent(level)} confidence intervals for {UNITS[over]}, simultaneous over the {len(panel.names)} "
        "metrics "
        f"(jackknife, Student's t; ranking systems: Bonett and Wright's interval of Kendall's tau). reliable: interval "
        f"at {number(limit)} or above, and paired difference from the best baseline above 0; not reliable: one of the "
        f"two below; inconclusive: anything else. Bad outputs: {int(bad.sum())} of "
        f"{int(np.isfinite(panel.human).sum())} from {int(bad.any(axis=1).sum())} systems ({levels.words}).",
        facts={
            "outlying": [s for s, out in zip(panel.systems, outlying, strict=True) if out],
            "human_ties": tied_pairs(panel.human),
        },
        notes=[
            *_outlier_notes([s for s, out in zip(panel.systems, outlying, strict=True) if out]),
            *_baseline_notes({u: shares[u] for u in defined}),
            *[f"not available: {u} (no pairs with different human ratings)." for u in USES if u not in defined],
            *[
                f"no confidence interval: {why}."
                for why in {r["reason"]: 0 for r in rows if np.isfinite(r["value"])}
                if why
            ],
            *scope_notes(panel, over),
            *human_note(panel),
        ],
        signature=signature(panel, limit=limit),
    )


def _shares(panel: Panel, bad: np.ndarray, level: float, systems: Mask | None = None) -> dict[str, UseShares]:
    """Return the shares of each use, of all systems or of a subset."""
    subset = np.ones(panel.n_systems, bool) if systems is None else systems
    x, z, bad, length = panel.oriented()[:, subset], panel.human[subset], bad[subset], panel.output_lengths()
    length = None if length is None else length[subset]
    families = None if panel.families is None else [f for f, use in zip(panel.families, subset, strict=True) if use]
    options = {"clusters": panel.clusters, "families": families, "level": level}
    return {
        "rank systems": pair_shares(MEASURES["rank systems"], x, z, length, **options),  # type: ignore[arg-type]
        "pairwise": pair_shares(MEASURES["pairwise"], x, z, length, **options),  # type: ignore[arg-type]
        "flag": flag_shares(x, z, bad, length, **options),  # type: ignore[arg-type]
    }


def _rows(
    panel: Panel, use: str, shares: UseShares, without: UseShares | None, bad: np.ndarray, limit: float
) -> list[Row]:
    rows: list[Row] = []
    for k, metric in enumerate(panel.names):
        value, low, high = (float(v[k]) for v in (shares.value, shares.low, shares.high))
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
                "advantage_low": float(shares.advantage_low[k]),
                "advantage_high": float(shares.advantage_high[k]),
                "baseline": max(shares.baselines, key=lambda b: shares.baselines[b]),
                "baseline_value": max(shares.baselines.values()),
                "badge": _badge(shares, without, k, limit),
                "without_outliers": None if without is None else float(without.value[k]),
                "positives": int(scored.sum()) if use == "flag" else None,
                "positive_systems": int(scored.any(axis=1).sum()) if use == "flag" else None,
                "reason": shares.reason[k] if np.isfinite(value) else "no pairs to compare",
            }
        )
    return rows


def _badge(shares: UseShares, without: UseShares | None, k: int, limit: float) -> str | None:
    """Return the badge of a metric; inconclusive if it changes without outlying systems."""
    badges = [
        badge_of(s.low[k], s.high[k], limit, s.advantage_low[k], s.advantage_high[k])
        for s in (shares, without)
        if s is not None and np.isfinite(s.low[k])
    ]
    if np.isnan(shares.low[k]):
        return None
    return badges[0] if len(set(badges)) == 1 else "inconclusive"


def _outlier_notes(systems: list[str]) -> list[str]:
    if not systems:
        return []
    return [f"the mean rating of {some(systems)} is an outlier: a badge that changes without it is inconclusive."]


def _mean(values: list[float]) -> float:
    """Return minus the mean of the finite values, so that the best metric sorts first and undefined ones last."""
    mean = finite_mean(values)
    return np.inf if np.isnan(mean) else -mean


def _baseline_notes(shares: dict[str, UseShares]) -> list[str]:
    lengths = {u: s.baselines["output length"] for u, s in shares.items() if "output length" in s.baselines}
    if not lengths:
        return ["baseline: a constant (0.5); output length is not available without output texts."]
    words = ", ".join(f"{u} {number(v, 2)}" for u, v in lengths.items() if np.isfinite(v))
    return [f"baselines: a constant (0.5); output length ({words})."]


def _cell(row: Row) -> str:
    if np.isnan(row["value"]):
        return "–"
    return f"{row['badge'] or '–'} {interval(row['value'], row['low'], row['high'])}"
