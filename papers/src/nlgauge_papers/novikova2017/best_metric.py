"""Which metric of each type agrees best with people, and is it really better than the next? (novikova2017, Table 3)"""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, people_note, signature, turned_note
from nlgauge.analyses.parts import Outputs, correlations, single, star_words
from nlgauge.data.families import Families, families_of
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import starred
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.resampling.contrasts import difference_tests
from nlgauge.stats.resampling.jackknife import UNITS, over_of
from nlgauge.stats.tests.row_column_permutation import clustered
from nlgauge.stats.tests.williams import williams_test
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array
from nlgauge_papers.novikova2017.metric_types import Types, types_of


@analysis(
    "best-metric", trials="mean", paper="novikova2017", question="Which metric of each type agrees best with people?"
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
    """One row per type of metric (word-based, grammar-based, other; or `types={name: [metrics]}`; or group="family"):
    the highest absolute correlation, the next one, and a test of the two on the outputs that both scored (Williams'
    with
    `outputs="independent"`).
    """
    chosen = single(measure, "best-metric")
    names = panel.names
    sorts = families_of(names, families) if group == "family" and types is None else types_of(names, types)
    turned = dict(zip(names, panel.oriented(), strict=True))
    found = dict(zip(names, correlations(panel.oriented(), panel.human, chosen, outputs, seed), strict=True))
    rows: list[Row] = []
    empty = []
    as_good: dict[str, list[str]] = {}  # type -> metrics that the best one does not beat
    for kind in dict.fromkeys(sorts.values()):
        members = [m for m in names if sorts.get(m) == kind and not np.isnan(found[m].value)]
        if not members:
            empty.append(kind)
            continue
        members.sort(key=lambda m: -abs(found[m].value))
        best, n = found[members[0]], len(members)
        row: Row = {
            "type": kind, "aspect": panel.aspect, "metric": members[0], "measure": str(chosen), "value": best.value,
            "n": best.n, "p": best.p, "significant": bool(best.p < level),
            "next": None, "next_value": float("nan"), "p_to_next": float("nan"), "clearly_best": n == 1, "metrics": n,
        }  # fmt: skip
        if n > 1:
            p = _to_next(turned[members[0]], turned[members[1]], panel.human, chosen, outputs)
            row |= {
                "next": members[1], "next_value": found[members[1]].value, "p_to_next": p,
                "clearly_best": bool(p < level),
            }  # fmt: skip
            as_good[kind] = [
                m for m in members[1:] if not _to_next(turned[members[0]], turned[m], panel.human, chosen,
                                                       outputs) < level
            ]  # fmt: skip
        rows.append(row)
    if not rows:
        why = next(iter(f.reason for f in found.values()), "no metrics")
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
            *people_note(panel), *turned_note(panel),
            *([f"no metric with a value: {', '.join(empty)}."] if empty else []),
            *(["best of several by their values on these outputs: on new outputs it will do somewhat worse."]),
        ],
        signature=signature(panel, measure=chosen, group=group if types is None else "given"),
    )  # fmt: skip


def _words(panel: Panel, outputs: Outputs) -> str:
    if outputs == "clustered" and clustered(panel.oriented(), panel.human):
        units = UNITS[over_of("auto", panel.n_systems)]
        return f"difference over its delete-one standard error against Student's t, two-sided, for {units}"
    return "Williams' test, two-sided, outputs taken as independent"


def _to_next(a: Array, b: Array, human: Array, measure: Measure, outputs: Outputs) -> float:
    """Two-sided p on the outputs that both scored, both metrics turned so that they rise with the ratings."""
    both = np.isfinite(a) & np.isfinite(b) & np.isfinite(human)
    pair = np.where(both, np.stack([a, b]), np.nan)
    people = np.where(both, human, np.nan)
    r = evaluate(pair, people, [measure]).value[:, 0]
    turn = np.where(r < 0, -1.0, 1.0)
    if outputs == "clustered" and clustered(pair, human):
        return float(difference_tests(pair * turn[:, None, None], people, [measure]).p[0, 0])
    between = float(evaluate(pair[:1], pair[1], [measure]).value[0, 0]) * turn[0] * turn[1]
    return float(williams_test(abs(r[0]), abs(r[1]), between, int(both.sum())))
