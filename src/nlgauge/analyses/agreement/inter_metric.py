"""Correlations between metrics, and of metrics with human aspects (Novikova et al. 2017, Figure 1)."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, flipped_note, human_note, measures_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

PEOPLE = "human: "  # prefix of the names of human aspects: a metric may have the same name


@analysis("inter-metric", paper="novikova2017", question="How strongly do the metrics correlate with each other?")
def inter_metric(
    panel: Panel, *, measure: Named = "global/spearman", alike: float = 0.8, aspects: bool = True
) -> Table:
    """Compute the correlation of every metric with every other metric and with the human aspects.

    Parameters
    ----------
    alike : float, default 0.8
        Minimum mean absolute correlation of the metrics in a cluster.
    aspects : bool, default True
        Include the human aspects as the first lines.

    Returns
    -------
    Table
        One row per ordered pair: value, number of outputs that both scored, and the cluster of the first metric
        (0 for human aspects).

    Notes
    -----
    Metrics are in the order of a hierarchical clustering (average linkage on 1 − |correlation|), so that similar
    metrics are adjacent.

    References
    ----------
    Novikova et al. (2017), Why We Need New Evaluation Metrics for NLG, Figure 1.
    """
    chosen = measures_of(measure)[0]
    people = list(panel.humans) if aspects else []
    arrays = (
        np.concatenate([np.stack([panel.humans[a] for a in people]), panel.oriented()]) if people else panel.oriented()
    )
    names = [*(PEOPLE + a for a in people), *panel.names]
    values = _matrix(arrays, chosen)
    if np.isnan(values[~np.eye(len(names), dtype=bool)]).all() and len(names) > 1:
        raise NeedsMissing(f"{chosen} is undefined for all pairs of metrics.", code="undefined")
    first = len(people)
    order, clusters = _clustered(np.abs(values[first:, first:]), alike)
    place = [*range(first), *(first + k for k in order)]
    group = {first + k: c for k, c in zip(order, clusters, strict=True)}
    rows: list[Row] = [
        {
            "metric": names[i],
            "other": names[j],
            "measure": str(chosen),
            "value": float(values[i, j]),
            "n": int((np.isfinite(arrays[i]) & np.isfinite(arrays[j])).sum()),
            "cluster": group.get(i, 0),
            "kind": "human" if i < first else "automatic",
        }
        for i in place
        for j in place
    ]
    members: dict[int, list[str]] = {}
    for k in order:
        members.setdefault(group[first + k], []).append(names[first + k])
    return Table(
        title=Title(panel.name, f"{chosen} between metrics" + (" and with human ratings" if people else "")),
        rows=rows,
        layout=Layout("metric", "other", "value"),
        decimals=2,
        definitions={str(chosen): chosen.definition},
        method="Hierarchical clustering, average linkage on 1 - |correlation|; a cluster has an average absolute "
        f"correlation of at least {alike:g}. Outputs with both scores.",
        notes=[
            *(f"one cluster: {', '.join(m)}." for m in members.values() if len(m) > 1),
            *([f"in no cluster: {', '.join(s)}."] if (s := [m[0] for m in members.values() if len(m) == 1]) else []),
            *human_note(panel),
            *flipped_note(panel),
        ],
        signature=signature(panel, measure=chosen, alike=alike),
    )


def _matrix(arrays: Array, measure: Measure) -> Array:
    values = np.full((len(arrays), len(arrays)), np.nan)
    for j, other in enumerate(arrays):
        values[: j + 1, j] = evaluate(arrays[: j + 1], other, [measure]).value[:, 0]
        values[j, :j] = values[:j, j]
    return values


def _clustered(size: Array, alike: float) -> tuple[list[int], list[int]]:
    """Return the order of the leaves and the cluster of each; an undefined correlation counts as 0."""
    k = len(size)
    if k < 2:
        return list(range(k)), [1] * k
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = 1 - np.nan_to_num(size, nan=0.0)
    np.fill_diagonal(distance, 0.0)
    condensed = squareform(np.clip(distance, 0.0, 1.0), checks=False)
    tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    order = [int(i) for i in leaves_list(tree)]
    label = fcluster(tree, 1 - alike + 1e-12, "distance")
    number: dict[int, int] = {}
    return order, [number.setdefault(int(label[i]), len(number) + 1) for i in order]
