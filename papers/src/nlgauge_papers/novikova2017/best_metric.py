"""The metric of each type that agrees best with human ratings, tested against the next one (Novikova et al. 2017,
Table 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nlgauge import Table
from nlgauge.plugins import (
    NeedsMissing,
    Panel,
    Row,
    Title,
    analysis,
    families_of,
    flipped_note,
    human_note,
    signature,
    starred,
)
from nlgauge.stats import (
    Measure,
    clustered,
    correlations,
    difference_tests,
    evaluate,
    single,
    star_words,
    williams_test,
)
from nlgauge_papers.common import Array, Families, Named, Outputs
from nlgauge_papers.novikova2017.metric_types import Types, types_of

ENOUGH = 6  # systems: with fewer the test does not generalize to other systems


@analysis(
    "best-metric",
    trials="mean",
    paper="novikova2017",
    question="Which metric of each type agrees best with human ratings?",
)
def best_metric(
    panel: Panel,
    *,
    types: Types | None = None,
    families: Families | None = None,
    group: str = "type",
    measure: Named = "global/spearman",
    level: float = 0.05,
    outputs: Outputs = "clustered",
    seed: int = 0,
) -> Table:
    """Find the metric of each type that agrees best with the human ratings, and test it against the next one.

    Parameters
    ----------
    types : mapping, optional
        {type: [metrics]}; by default word-based, grammar-based and other, derived from the metric names.
    families : mapping, optional
        {column: family} or {family: [columns]}, for group='family'.
    group : {'type', 'family'}
        The unit for which the best metric is selected.
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.

    Returns
    -------
    Table
        One row per type: the highest absolute correlation, the next one, and p of the two on the outputs that both
        scored.

    Notes
    -----
    Table 3 of Novikova et al. (2017), who do not test the best metric. Independent outputs: Williams' test.
    """
    chosen = single(measure, "best-metric")
    names = panel.names
    sorts = families_of(names, families) if group == "family" and types is None else types_of(names, types)
    turned = dict(zip(names, panel.oriented(), strict=True))
    result = dict(zip(names, correlations(panel.oriented(), panel.human, chosen, outputs, seed), strict=True))
    rows: list[Row] = []
    as_good: dict[str, list[str]] = {}  # type -> metrics that the best one does not beat
    kinds = list(dict.fromkeys(sorts.values()))
    members = {kind: [m for m in names if sorts.get(m) == kind and not np.isnan(result[m].value)] for kind in kinds}
    for kind in (kind for kind in kinds if members[kind]):
        ordered = sorted(members[kind], key=lambda m: -abs(result[m].value))
        p = [_to_next(turned[ordered[0]], turned[m], panel.human, chosen, outputs) for m in ordered[1:]]
        rows.append({"type": kind, "aspect": panel.aspect, **_row(ordered, result, p, str(chosen), level)})
        if p:
            as_good[kind] = [m for m, each in zip(ordered[1:], p, strict=True) if not each < level]
    empty = [kind for kind in kinds if not members[kind]]
    if not rows:
        why = next(iter(f.reason for f in result.values()), "no metrics")
        raise NeedsMissing(f"{chosen}: {why}", data=panel.name, aspect=panel.aspect, code="undefined")
    return Table(
        title=Title(panel.name, f"best metric of each type for {panel.aspect}, {chosen}"),
        rows=rows,
        shown=["type", "metric", "value", "n", "next", "next_value", "p_to_next", "clearly_best", "metrics"],
        cells={"value": lambda row: starred(row["value"], row["p"], level)},
        facts={"as_good": as_good},
        definitions={str(chosen): chosen.definition},
        method=f"Highest absolute correlation of each type. {star_words(level, outputs, seed)}. p to next, on absolute "
        f"correlations and outputs that both metrics scored: {_words(panel, outputs)}.",
        notes=[
            *human_note(panel),
            *flipped_note(panel),
            *([f"no metric with a value: {', '.join(empty)}."] if empty else []),
            *(["selected as the best on these outputs: its value on new outputs is expected to be lower."]),
        ],
        signature=signature(panel, measure=chosen, group=group if types is None else "given"),
    )


def _row(ordered: list[str], found: dict[str, Any], p: list[float], measure: str, level: float) -> Row:
    """Return the best of the metrics in order, and the next one; `p`: the best against each other one."""
    best = found[ordered[0]]
    return {
        "metric": ordered[0],
        "measure": measure,
        "value": best.value,
        "n": best.n,
        "p": best.p,
        "significant": bool(best.p < level),
        "next": ordered[1] if p else None,
        "next_value": found[ordered[1]].value if p else float("nan"),
        "p_to_next": p[0] if p else float("nan"),
        "clearly_best": bool(p[0] < level) if p else True,
        "metrics": len(ordered),
    }


def _words(panel: Panel, outputs: Outputs) -> str:
    if outputs == "clustered" and clustered(panel.oriented(), panel.human):
        units = "systems and inputs like these" if panel.n_systems >= ENOUGH else "these systems and inputs like these"
        return f"difference over its jackknife standard error against Student's t, two-sided, for {units}"
    return "Williams' test, two-sided, outputs taken as independent"


def _to_next(a: Array, b: Array, human: Array, measure: Measure, outputs: Outputs) -> float:
    """Compute the two-sided p-value on the outputs that both scored, with signs such that both correlate positively."""
    both = np.isfinite(a) & np.isfinite(b) & np.isfinite(human)
    pair = np.where(both, np.stack([a, b]), np.nan)
    people = np.where(both, human, np.nan)
    r = evaluate(pair, people, [measure]).value[:, 0]
    turn = np.where(r < 0, -1.0, 1.0)
    if outputs == "clustered" and clustered(pair, human):
        return float(difference_tests(pair * turn[:, None, None], people, [measure]).p[0, 0])
    between = float(evaluate(pair[:1], pair[1], [measure]).value[0, 0]) * turn[0] * turn[1]
    return float(williams_test(abs(r[0]), abs(r[1]), between, int(both.sum())))
