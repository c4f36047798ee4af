"""For what use can I trust a metric: to rank systems, to choose the better of two outputs, to flag bad ones?"""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.data.panel import Array, Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.stats.bins import LOW, quality_levels
from nlgauge.stats.uses import choose_right, flag_right, rank_right
from nlgauge.table import Layout, Row, Table

USES = {
    "rank systems": "of two systems that people rate differently, how often it puts the better one first",
    "choose of two": "of two outputs of one input that people rate differently, how often it prefers the better one",
    "flag bad": "of a bad output (lowest third of the scale) and another, how often it scores the bad one lower (ROC area)",
}


@analysis(
    "uses",
    question="For what use can I trust a metric: ranking systems, choosing of two, flagging bad outputs?",
)
def uses(panel: Panel, *, good: float = 0.75, draws: int = 500, level: float = 0.95, seed: int = 0) -> Table:
    """One probability per use (.5 chance, 1 always right; metric ties count half) with an interval over inputs and a verdict.

    yes: the whole interval lies at `good` or above; weak: above chance, but not surely good; no: chance cannot be excluded.
    """
    scores, human = panel.oriented(), panel.human
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    times = rng.multinomial(panel.n_inputs, np.full(panel.n_inputs, 1 / panel.n_inputs), draws).astype(float)
    once = np.vstack([np.ones(panel.n_inputs), times])
    levels = quality_levels(human)
    bad = np.asarray(levels.level == LOW)
    rows: list[Row] = []
    for k, metric in enumerate(panel.names):
        found: dict[str, Array] = {
            "rank systems": rank_right(scores[k], human, once), "choose of two": choose_right(scores[k], human, once),
            "flag bad": flag_right(scores[k], bad, human, once),
        }  # fmt: skip
        rows += [_row(panel, metric, use, values, good, level) for use, values in found.items()]
    there = [u for u in USES if any(np.isfinite(r["value"]) for r in rows if r["use"] == u)]
    if not there:
        raise NeedsMissing(
            f"{panel.name}, {panel.aspect}: no two systems, outputs or levels that people rate differently."
        )
    order = {
        m: -np.nanmean([r["value"] for r in rows if r["metric"] == m and r["use"] in there] or [0.0])
        for m in panel.names
    }
    rows = sorted((r for r in rows if r["use"] in there), key=lambda r: order[r["metric"]])
    return Table(
        title=f"{panel.name}: what each metric is good for, on {panel.aspect}",
        rows=rows,
        layout=Layout("metric", "use", "shown", line=panel.label),
        definitions={u: USES[u] for u in there},
        method=f"{level:.0%} percentile intervals from {draws} draws of inputs. yes: interval at {good:g} or above; weak: above .5; no: chance "
        f"cannot be excluded. Bad outputs: {int(bad.sum())} of {int(np.isfinite(human).sum())} ({levels.words}).",
        notes=[
            *[f"not given: {u} (no pairs that people rate differently)." for u in USES if u not in there],
            *(["with few systems ‘rank systems’ has few pairs: other systems could change it more than the interval says."] if panel.n_systems < 10 else []),
            *people_note(panel),
        ],
        signature=signature(panel, draws=draws, seed=seed, good=good),
    )  # fmt: skip


def _row(panel: Panel, metric: str, use: str, values: Array, good: float, level: float) -> Row:
    value, drawn = float(values[0]), values[1:][np.isfinite(values[1:])]
    tail = 100 * (1 - level) / 2
    low, high = (
        (float(v) for v in np.percentile(drawn, [tail, 100 - tail])) if len(drawn) else (np.nan, np.nan)
    )
    verdict = "–" if np.isnan(value) else "yes" if low >= good else "weak" if low > 0.5 else "no"
    shown = "–" if np.isnan(value) else f"{verdict} {number(value, 2)} [{number(low, 2)} {number(high, 2)}]"
    return {
        "metric": metric, "aspect": panel.aspect, "use": use, "value": value, "low": low, "high": high, "verdict": verdict,
        "shown": shown,
    }  # fmt: skip
