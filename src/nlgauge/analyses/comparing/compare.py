"""Ranking of metrics by agreement with human ratings, with confidence intervals of values and ranks."""

from __future__ import annotations

import math

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, evaluated, flipped_note, measures_of, signature
from nlgauge.analyses.comparing.compare_pairs import Correction, Test, compare_pairs
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import sentence
from nlgauge.stats.correlation.measure import Estimates, Measure
from nlgauge.stats.resampling.draws import Swap
from nlgauge.stats.resampling.jackknife import Intervals, intervals
from nlgauge.table import Row, Table, Title

# A single metric cannot be compared.
_ALONE = Table(title="", rows=[], facts={"marginal_level": None, "these_systems_only": False, "untested": None})


@analysis("compare", paper="gao2025", question="Which metric agrees best with the human ratings?")
def compare(
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
    """Rank metrics by their agreement with the human ratings, with confidence intervals of their ranks.

    Parameters
    ----------
    level : float, default 0.05
        Significance level of the tests; the intervals have the level 1 − level.

    Returns
    -------
    Table
        One row per metric, the best first: value with its confidence interval, lowest and highest rank, p of
        the difference from the next metric, and whether it may be the best.

    Notes
    -----
    The rank of a metric lies between one more than the number of metrics that are significantly better, and the
    number of metrics minus those that it is significantly better than. The metrics with rank 1 are a confidence
    set for the best one. With test=auto, the intervals hold for all metrics together. `compare-pairs` shows the
    tests of all pairs.

    Examples
    --------
    >>> import nlgauge as ng
    >>> [(row["metric"], row["rank"]) for row in ng.compare(ng.example())]
    [('unigram_f1', 1), ('char3_f1', 1), ('source_overlap', 1), ('length_ratio', 1), ('random', 4)]

    $ nlgauge analyze compare scores.csv --aspect coherence
    """
    chosen = measures_of(measure)[0]
    pairs = _ALONE
    if len(panel.names) > 1:
        pairs = compare_pairs(
            panel,
            measure=chosen,
            test=test,
            how=how,
            draws=draws,
            correction=correction,
            level=level,
            profile=profile,
            seed=seed,
            progress=progress,
        )
    estimates = evaluated(panel, [chosen])
    if np.isnan(estimates.value).all():
        raise NeedsMissing(f"{panel.name}, {panel.aspect}: {chosen}: {estimates.reason[0, 0]}")
    together = pairs.facts["marginal_level"] or 1 - level
    ends = intervals(
        panel.oriented(), panel.human, [chosen], clusters=panel.clusters, families=panel.families, level=together
    )
    better = {(r["better"], r["worse"]) for r in pairs.rows if r["significant"]}
    rows = _rows(panel, chosen, estimates, ends, pairs, better)
    valued = [row["metric"] for row in rows if row["rank"] is not None]
    alike = {
        n: [o for o in valued if o != n and n in valued and not {(n, o), (o, n)} & better]
        for n in (row["metric"] for row in rows)
    }
    notes = [*pairs.notes, *flipped_note(panel)]
    if len(valued) < len(rows):
        notes.append("Metrics without a value are listed last, without a rank.")
    simultaneous = (
        f"The intervals are simultaneous over the {len(valued)} metrics (each has a level of {together:.1%})."
    )
    return Table(
        title=Title(panel.name, f"ranking of metrics on {panel.aspect}, {chosen}"),
        rows=rows,
        shown=["rank", "rank_high", "metric", "value", "low", "high", "p_to_next", "n"],
        facts={**pairs.facts, "no_different_from": alike},
        definitions={str(chosen): chosen.definition},
        method=f"{pairs.method} {sentence(ends.method)}. ".lstrip()
        + (f"{simultaneous} " if together > 1 - level else "")
        + "The rank of a metric is between `rank` and `rank_high`; the metrics with rank 1 are a confidence set for "
        "the best.",
        notes=notes,
        signature=signature(panel, measure=chosen, seed=seed),
    )


def _rows(
    panel: Panel, measure: Measure, estimates: Estimates, ends: Intervals, pairs: Table, better: set[tuple[str, str]]
) -> list[Row]:
    """Return a row per metric, the best first; `better` holds the significant pairs, the better metric first."""
    values = dict(zip(panel.names, estimates.value[:, 0].tolist(), strict=True))
    names = sorted(panel.names, key=lambda name: (math.isnan(values[name]), -values[name]))
    valued = [name for name in names if not math.isnan(values[name])]
    p_of = {frozenset((r["better"], r["worse"])): r["p_corrected"] for r in pairs.rows}
    rows: list[Row] = []
    for place, name in enumerate(names):
        k = panel.names.index(name)
        following = valued[place + 1] if place + 1 < len(valued) else None
        losses, wins = (sum(pair[side] == name for pair in better) for side in (1, 0))
        rows.append(
            {
                "rank": 1 + losses if name in valued else None,
                "rank_high": len(valued) - wins if name in valued else None,
                "metric": name,
                "aspect": panel.aspect,
                "measure": str(measure),
                "value": values[name],
                "low": float(ends.low[k, 0]),
                "high": float(ends.high[k, 0]),
                "p_to_next": float(p_of[frozenset((name, following))]) if following else None,
                "n": int(estimates.n[k, 0]),
                "groups": int(estimates.groups[k, 0]),
                "dropped": int(estimates.dropped[k, 0]),
                "clearly_best": len(valued) > 1 and all((name, o) in better for o in valued if o != name),
                "may_be_best": name in valued and not losses,
                "reason": ends.reason[k, 0],
            }
        )
    return rows
