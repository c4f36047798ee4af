"""For what use can I trust a metric: to rank systems, to choose the better of two outputs, to flag bad ones?"""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.agreement.intervals import scope_notes
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import interval, number, percent
from nlgauge.stats.correlation.uses import Use, use_interval, verdict_of
from nlgauge.stats.ranking.quality_levels import LOW, quality_levels
from nlgauge.stats.resampling.jackknife import UNITS, over_of
from nlgauge.table import Layout, Row, Table

USES = {
    "rank systems": "of two systems that people rate differently, how often it puts the better one first",
    "choose of two": "of two outputs of one input that people rate differently, how often it prefers the better one",
    "flag bad": "of a bad output (lowest third of the scale) and another, how often it scores the bad one lower "
    "(ROC area)",
}
SHORT: dict[str, Use] = {"rank systems": "rank", "choose of two": "choose", "flag bad": "flag"}


@analysis("uses", question="For what use can I trust a metric: ranking systems, choosing of two, flagging bad outputs?")
def uses(panel: Panel, *, usable: float = 0.6, good: float = 0.75, level: float = 0.95) -> Table:
    """One probability per use (.5 chance, 1 always right; metric ties count half) with an interval and a verdict.

    The interval is for systems and inputs like these (for inputs like these, where fewer than six systems cannot speak
    of others). good: all of it at `good` or above; usable: all of it at `usable` or above; not: all of it below
    `usable`; cannot tell: anything else.
    """
    if not 0.5 <= usable <= good <= 1:
        raise NlgaugeError(f"limits must be .5 <= usable <= good <= 1; found usable {usable:g}, good {good:g}.")
    scores, human = panel.oriented(), panel.human
    over = over_of("auto", panel.n_systems)
    levels = quality_levels(human)
    bad = np.asarray(levels.level == LOW)
    rows: list[Row] = []
    for k, metric in enumerate(panel.names):
        for use, words in USES.items():
            value, low, high, reason = use_interval(SHORT[use], scores[k], human, bad, over, level, panel.clusters)
            verdict = None if np.isnan(value) else verdict_of(low, high, usable, good)
            rows.append(
                {"metric": metric, "aspect": panel.aspect, "use": use, "value": value, "low": low, "high": high,
                 "verdict": verdict, "reason": reason if np.isfinite(value) else f"nothing to count: {words}"}
            )  # fmt: skip
    there = [u for u in USES if any(np.isfinite(r["value"]) for r in rows if r["use"] == u)]
    if not there:
        raise NeedsMissing(
            f"{panel.name}, {panel.aspect}: no two systems, outputs or levels that people rate differently."
        )
    order = {
        m: -np.nanmean([r["value"] for r in rows if r["metric"] == m and r["use"] in there] or [0.0])
        if any(np.isfinite(r["value"]) for r in rows if r["metric"] == m) else np.inf
        for m in panel.names
    }  # fmt: skip
    rows = sorted((r for r in rows if r["use"] in there), key=lambda r: order[r["metric"]])
    return Table(
        title=f"{panel.name}: what each metric is good for, on {panel.aspect}",
        rows=rows,
        layout=Layout("metric", "use", "value", line=panel.label),
        cells={"value": _cell},
        definitions={u: USES[u] for u in there},
        method=f"{percent(level)} intervals for {UNITS[over]} (delete-one, Student's t; ranking systems: Kendall's "
        f"tau after Bonett and Wright). good: interval at {number(good)} or above; usable: at {number(usable)} or "
        f"above; not: below {number(usable)}; cannot tell: anything else. Each mark by itself claims too much in at "
        f"most {number((1 - level) / 2, 3)} of such data sets; the number of marks is not corrected for. Bad outputs: "
        f"{int(bad.sum())} of {int(np.isfinite(human).sum())} ({levels.words}).",
        notes=[
            *[f"not given: {u} (no pairs that people rate differently)." for u in USES if u not in there],
            *[f"no interval: {why}." for why in {r["reason"]: 0 for r in rows if np.isfinite(r["value"])} if why],
            *scope_notes(panel, over),
            *people_note(panel),
        ],
        signature=signature(panel, usable=usable, good=good),
    )  # fmt: skip


def _cell(row: Row) -> str:
    return f"{row['verdict']} {interval(row['value'], row['low'], row['high'])}" if row["verdict"] else "–"
