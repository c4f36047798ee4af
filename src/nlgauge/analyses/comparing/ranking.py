"""In which order do the metrics stand, and where are the steps? Rank clusters as the shared tasks print them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, evaluated, measures_of, signature, turned_note
from nlgauge.analyses.comparing.significance import Test, significance
from nlgauge.data.panel import Panel
from nlgauge.number import sentence
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.resampling.jackknife import intervals
from nlgauge.table import Row, Table


@analysis("ranking", paper="gao2025", question="In which order do the metrics stand, and where are the steps?")
def ranking(
    panel: Panel,
    *,
    measure: Named = "input/kendall",
    test: Test = "auto",
    how: Swap | None = None,
    draws: int | None = None,
    correction: Literal["holm", "bh", "none"] = "holm",
    level: float = 0.05,
    profile: str = "nlgauge",
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Metrics from best to worst with an interval and a rank.

    Going down the list, a metric takes the current rank unless a metric that has it already is significantly better;
    then the next rank begins (the rule of the WMT metrics tasks). All of rank 1 may be the best one. The first is
    `clearly best` where its p against each single other metric is below `level`: to name the best of many, no
    correction for their number is needed (Gutmann and Maymin 1987), and the false alarms are shown in docs/trust.md.
    """
    chosen = measures_of(measure)[0]
    pairs = significance(
        panel, measure=chosen, test=test, how=how, draws=draws, correction=correction, level=level, profile=profile,
        seed=seed, progress=progress,
    )  # fmt: skip
    stacked = panel.oriented()
    found = evaluated(panel, [chosen])
    sure = intervals(stacked, panel.human, [chosen], clusters=panel.clusters)
    values = dict(zip(panel.names, found.value[:, 0].tolist(), strict=True))
    names = sorted(panel.names, key=lambda name: (math.isnan(values[name]), -values[name]))
    pair = {frozenset((r["better"], r["worse"])): r for r in pairs.rows}
    valued = [name for name in names if not math.isnan(values[name])]  # the others have no place in the order
    ranks = clusters(valued, {(r["better"], r["worse"]) for r in pairs.rows if r["significant"]})
    rows: list[Row] = []
    alike: dict[str, list[str]] = {}
    beaten = {o for o in names[1:] if pair[frozenset((names[0], o))]["p"] < level}
    for place, name in enumerate(names):
        k = panel.names.index(name)
        below = pair[frozenset((name, valued[place + 1]))] if place + 1 < len(valued) else None
        rows.append(
            {"rank": ranks.get(name), "metric": name, "aspect": panel.aspect, "measure": str(chosen),
             "value": values[name], "low": float(sure.low[k, 0]), "high": float(sure.high[k, 0]),
             "p_to_next": float(below["p"]) if below else None, "n": int(found.n[k, 0]),
             "clearly_best": place == 0 and len(beaten) == sum(not math.isnan(values[o]) for o in names[1:]) > 0,
             "may_be_best": place == 0 or (not math.isnan(values[name]) and name not in beaten)}
        )  # fmt: skip
        alike[name] = [
            o for o in valued if name in ranks and o != name and not pair[frozenset((name, o))]["significant"]
        ]
    notes = [*pairs.notes, *turned_note(panel)]
    if np.isnan(found.value).any():
        notes.append("metrics without a value stand last, without a rank.")
    return Table(
        title=f"{panel.name}: ranks of the metrics on {panel.aspect}, {chosen}",
        rows=rows,
        shown=["rank", "metric", "value", "low", "high", "p_to_next", "n"],
        facts={**pairs.facts, "no_different_from": alike},
        definitions=pairs.definitions,
        method=pairs.method + f" {sentence(sure.method)}. A rank ends where a metric is "
        f"significantly worse than one that has the rank. May be best: p against the first is {level:g} or more.",
        notes=notes,
        signature=signature(panel, measure=chosen, seed=seed),
    )


def clusters(names: list[str], better: set[tuple[str, str]]) -> dict[str, int]:
    """Ranks of names in their order, from the pairs in which the first is significantly better.

    >>> clusters(["a", "b", "c"], {("a", "c")})
    {'a': 1, 'b': 1, 'c': 2}
    """
    ranks: dict[str, int] = {}
    current: list[str] = []
    rank = 1
    for name in names:
        if any((other, name) in better for other in current):
            rank, current = rank + 1, []
        current.append(name)
        ranks[name] = rank
    return ranks
