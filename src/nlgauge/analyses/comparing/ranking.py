"""Which metric agrees best with the human ratings, and which others may be as good? Metrics in order, with ranks."""

from __future__ import annotations

import math

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, evaluated, measures_of, signature, turned_note
from nlgauge.analyses.comparing.significance import Correction, Test, significance
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import sentence
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.resampling.jackknife import intervals
from nlgauge.table import Row, Table, Title

# One metric alone has nothing to be compared with.
_ALONE = Table(title="", rows=[], facts={"marginal_level": None, "these_systems_only": False, "untested": None})


@analysis("ranking", paper="gao2025", question="Which metric agrees best with the human ratings?")
def ranking(
    panel: Panel,
    *,
    measure: Named = "input/pairwise-accuracy",
    test: Test = "auto",
    how: Swap | None = None,
    draws: int | None = None,
    correction: Correction | None = None,
    level: float = 0.05,
    profile: str = "nlgauge",
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Metrics from best to worst with an interval and the ranks that they may have.

    A metric's rank lies between one more than the number of metrics that are significantly better, and the number of
    metrics less those that it is significantly better than. The metrics that none is significantly better than are a
    95% confidence set for the best one. Intervals hold for all metrics together (test=auto), and so for the best one,
    too. Everything is read from the tests of `significance`.
    """
    chosen = measures_of(measure)[0]
    pairs = _ALONE
    if len(panel.names) > 1:
        pairs = significance(
            panel, measure=chosen, test=test, how=how, draws=draws, correction=correction, level=level, profile=profile,
            seed=seed, progress=progress,
        )  # fmt: skip
    estimates = evaluated(panel, [chosen])
    values = dict(zip(panel.names, estimates.value[:, 0].tolist(), strict=True))
    together = pairs.facts["marginal_level"] or 1 - level
    ends = intervals(
        panel.oriented(), panel.human, [chosen], clusters=panel.clusters, families=panel.families, level=together
    )
    names = sorted(panel.names, key=lambda name: (math.isnan(values[name]), -values[name]))
    valued = [name for name in names if not math.isnan(values[name])]
    better = {(r["better"], r["worse"]) for r in pairs.rows if r["significant"]}
    p_of = {frozenset((r["better"], r["worse"])): r["p_corrected"] for r in pairs.rows}
    first = [n for n in valued if not any(w == n for _, w in better)]
    rows: list[Row] = []
    for place, name in enumerate(names):
        k = panel.names.index(name)
        following = valued[place + 1] if place + 1 < len(valued) else None
        rows.append(
            {
                "rank": 1 + sum(w == name for _, w in better) if name in valued else None,
                "rank_high": len(valued) - sum(b == name for b, _ in better) if name in valued else None,
                "metric": name,
                "aspect": panel.aspect,
                "measure": str(chosen),
                "value": values[name],
                "low": float(ends.low[k, 0]),
                "high": float(ends.high[k, 0]),
                "p_to_next": float(p_of[frozenset((name, following))]) if following else None,
                "n": int(estimates.n[k, 0]),
                "groups": int(estimates.groups[k, 0]),
                "dropped": int(estimates.dropped[k, 0]),
                "clearly_best": len(valued) > 1 and all((name, o) in better for o in valued if o != name),
                "may_be_best": name in first,
                "reason": ends.reason[k, 0],
            }
        )
    if not valued:
        raise NeedsMissing(f"{panel.name}, {panel.aspect}: {chosen}: {estimates.reason[0, 0]}")
    notes = [*pairs.notes, *turned_note(panel)]
    if np.isnan(estimates.value).any():
        notes.append("Metrics without a value are listed last, without a rank.")
    simultaneous = f"The intervals hold together for all {len(valued)} metrics (each is a {together:.1%} interval)."
    return Table(
        title=Title(panel.name, f"ranks of the metrics on {panel.aspect}, {chosen}"),
        rows=rows,
        shown=["rank", "rank_high", "metric", "value", "low", "high", "p_to_next", "n"],
        facts={
            **pairs.facts,
            "no_different_from": {
                n: [o for o in valued if o != n and n in valued and not {(n, o), (o, n)} & better] for n in names
            },
        },
        definitions={str(chosen): chosen.definition},
        method=f"{pairs.method} {sentence(ends.method)}. ".lstrip()
        + (f"{simultaneous} " if together > 1 - level else "")
        + "The rank of a metric lies between `rank` and `rank_high`; metrics with rank 1 may be the best.",
        notes=notes,
        signature=signature(panel, measure=chosen, seed=seed),
    )
