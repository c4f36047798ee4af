"""Rubrics: the total of points and its agreement, the items that carry the disagreement, and reliability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, signature
from nlgauge.analyses.verdicts._output_parts import OutputParts, complete_outputs, output_parts
from nlgauge.data.panel import Panel
from nlgauge.data.tables.vocabulary import POINTS, plain
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, row_interval
from nlgauge.stats.agreement.classes import too_few_clusters
from nlgauge.stats.agreement.distributions import clustered_mean
from nlgauge.stats.agreement.two_by_two import CLUSTERS, Figure
from nlgauge.stats.estimation.rubric_totals import best_items, cronbach_alpha, mcdonald_omega, rubric_totals
from nlgauge.stats.resampling.cluster_jackknife import jackknifed
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Ints

MOST_ITEMS = 10  # in the table, those with the largest share of the disagreement
NEAR = 0.95  # correlation with the whole total that a shortened rubric reaches
HUMANS = "human"
LABELS = {
    "human_total": "mean total, human",
    "judge_total": "mean total, judge",
    "total_difference": "total, judge less human",
    "total_distance": "mean distance of the totals",
    "total_correlation": "correlation of the totals",
    "cronbach_alpha": "Cronbach's alpha of the total",
    "omega": "McDonald's omega of the total",
    "short_items": "items with which the total correlates at .95 with that of all",
    "short_alpha": "Cronbach's alpha of these items",
    "item": "item: share of the disagreement in points",
}


class ItemScores(NamedTuple):
    """Outputs × items of a rubric that all outputs share; points and name of each item."""

    human: Array
    judge: Array
    points: Array
    names: list[str]


@analysis(
    "rubric",
    question="Does the judge's total of a rubric agree, and which items carry the disagreement?",
    classes=True,
    declared=True,
)
def rubric(
    panel: Panel, *, human_pass_from: float | None = None, judge_pass_from: float | None = None, level: float = 0.95
) -> Table:
    """Evaluate a judge's verdicts on rubric items: totals, the items with the most disagreement, and reliability.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect of rubric items; a column `points` holds their points.

    Returns
    -------
    Table
        One row per judge and figure of the total, and one per item with the largest shares of the disagreement
        (`item`, `points`). Reliability is that of the human totals, and needs a rubric that all outputs share.

    Notes
    -----
    Total: points of the items that are met over the sum of positive points (Arora et al. 2025), not clipped. Without
    points every item counts 1. The correlation has a jackknife interval over clusters on Fisher's scale. Cronbach's
    alpha (1951) and McDonald's omega total (1999; one factor by principal axes) are of items weighted by points.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"id": f"q{i}", "item": k, "points": k, "human_label": (i + k) % 2, "judge": (i * k) % 2}
    ...         for i in range(12) for k in (1, 2, 3)]
    >>> table = ng.analyze("rubric", ng.load(rows, name="mine"))
    >>> table.rows[0]["measure"]
    'human_total'

    $ nlgauge analyze rubric graded.csv --columns part=criterion
    """
    parts = output_parts(panel, "rubric", human_pass_from, judge_pass_from)
    points, named = _points(parts)
    rows: list[Row] = []
    notes = [] if named else ["no column of points was found: every item counts 1."]
    for judge in parts.judges:
        rows += _total_rows(panel, parts, judge, points, level)
        rows += _item_rows(panel, parts, judge, points)
    grid = _grid(parts, points)
    if grid is None:
        notes.append(
            "outputs have different items, so the total has no alpha or omega: a rubric that all share is needed."
        )
    else:
        rows += _reliability(panel, grid)
    if not rows:
        raise NeedsMissing("no output has both verdicts on every item.", code="no_scores_of_rated")
    return Table(
        title=Title(panel.name, f"rubric on {panel.aspect}"),
        rows=sorted(rows, key=lambda row: list(LABELS).index(row["measure"])),
        shown=["metric", "measure", "item", "points", "value", "n", "reason"],
        heads={"metric": "judge"},
        cells={"value": _cell, "measure": lambda row: LABELS[row["measure"]]},
        answers=_answers(rows),
        method=f"{level:.0%} intervals: Student's t over clusters; of the correlation, jackknife over clusters on "
        "Fisher's scale.",
        notes=[*notes, *human_note(panel)],
        signature=signature(panel, level=number(level, 2)),
    )


def _points(parts: OutputParts) -> tuple[Array, bool]:
    """Return the points of each part, 1 if no column contains them."""
    column = next((c for c in parts.samples.columns if plain(c) in POINTS), None)
    if column is None:
        return np.ones(len(parts.human)), False
    values = parts.samples[column].cast(float, strict=False).to_numpy().astype(np.float64)
    return np.where(np.isfinite(values), values, 0.0), True


def _item_key(parts: OutputParts) -> list[str]:
    column = next((c for c in ("criterion", "criteria") if c in parts.samples.columns), None)
    return parts.names if column is None else [str(v) for v in parts.samples[column]]


def _row(
    panel: Panel, judge: str, measure: str, figure: Figure, item: str | None = None, points: float = np.nan
) -> Row:
    return {
        "metric": judge,
        "aspect": panel.aspect,
        "measure": measure,
        "item": item,
        "points": points,
        **figure.columns,
    }


def _total_rows(panel: Panel, parts: OutputParts, judge: str, points: Array, level: float) -> list[Row]:
    chosen = complete_outputs(parts, judge)
    human, given = (rubric_totals(v, points, parts.outputs)[chosen] for v in (parts.human, parts.judges[judge]))
    there = np.isfinite(human) & np.isfinite(given)
    human, given, units = human[there], given[there], parts.clusters[chosen][there]
    figures = {
        "human_total": clustered_mean(human, units, level),
        "judge_total": clustered_mean(given, units, level),
        "total_difference": clustered_mean(given - human, units, level),
        "total_distance": Figure(float(np.abs(given - human).mean()) if len(human) else np.nan, n=len(human)),
        "total_correlation": correlation_interval(human, given, units, level),
    }
    return [_row(panel, judge, name, figure) for name, figure in figures.items()]


def correlation_interval(a: Array, b: Array, clusters: Ints, level: float = 0.95) -> Figure:
    """Return Pearson's correlation with a jackknife interval over clusters, on Fisher's scale.

    >>> x = np.arange(30.0)
    >>> found = correlation_interval(x, x + 10 * np.sin(x), np.arange(30))
    >>> found.low < found.value < found.high
    True
    """

    def fisher(sums: Array) -> Array:
        n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
        cov = xy / n - x * y / n**2
        spread = np.sqrt(np.maximum((xx / n - (x / n) ** 2) * (yy / n - (y / n) ** 2), 0))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.arctanh(np.clip(cov / spread, -0.999999, 0.999999)))[..., None]

    n, many = len(a), len(np.unique(clusters))
    if n < 3 or not (np.ptp(a) > 0 and np.ptp(b) > 0):
        return Figure(np.nan, n=n, reason="the totals do not differ" if n >= 3 else "fewer than 3 outputs")
    value = float(np.corrcoef(a, b)[0, 1])
    if many < CLUSTERS:
        return Figure(value, n=n, reason=too_few_clusters(many))
    a, b = a - a.mean(), b - b.mean()
    found = jackknifed(np.stack([np.ones(n), a, b, a * a, b * b, a * b], axis=1), clusters, fisher)
    half = float(found.half(level)[0]) * (many / (many - 3)) ** 0.5  # as the 1 / (n - 3) of Fisher's variance
    centre = float(found.value[0])
    return Figure(value, float(np.tanh(centre - half)), float(np.tanh(centre + half)), n)


def _item_rows(panel: Panel, parts: OutputParts, judge: str, points: Array) -> list[Row]:
    """Return the items, sorted by their share of all points on which human and judge differ."""
    both = np.isfinite(parts.human) & np.isfinite(parts.judges[judge])
    apart = np.where(both, (parts.human != parts.judges[judge]) * np.abs(points), 0.0)
    names = _item_key(parts)
    of: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        of.setdefault(name, []).append(k)
    whole = float(apart.sum())
    if not whole:
        return []
    shares = sorted(((float(apart[at].sum()) / whole, name) for name, at in of.items()), key=lambda pair: -pair[0])
    rows = []
    for share, name in shares[:MOST_ITEMS]:
        at = of[name]
        rows.append(_row(panel, judge, "item", Figure(share, n=int(both[at].sum())), name, float(points[at[0]])))
    return rows


def _grid(parts: OutputParts, points: Array) -> ItemScores | None:
    """Return the human verdicts as outputs × items; None if outputs do not share the items."""
    names = _item_key(parts)
    items = list(dict.fromkeys(names))
    if not 1 < len(items) <= 200 or len(names) < 0.8 * len(items) * parts.many:
        return None
    place = {name: k for k, name in enumerate(items)}
    human, judge = (np.full((parts.many, len(items)), np.nan) for _ in range(2))
    worth = np.zeros(len(items))
    for k, name in enumerate(names):
        human[parts.outputs[k], place[name]] = parts.human[k]
        worth[place[name]] = points[k]
    return ItemScores(human, judge, worth, items)


def _reliability(panel: Panel, grid: ItemScores) -> list[Row]:
    """Compute alpha and omega of the human total, and the fewest items whose total correlates at .95 with all."""
    scores = grid.human * grid.points
    n = int(np.isfinite(scores).all(axis=1).sum())
    found = {"cronbach_alpha": Figure(cronbach_alpha(scores), n=n), "omega": Figure(mcdonald_omega(scores), n=n)}
    order = best_items(grid.human, grid.points, len(grid.names))
    complete = scores[np.isfinite(scores).all(axis=1)]
    whole = complete.sum(axis=1)
    count = len(order)
    for k in range(1, len(order)):
        part = complete[:, order[:k]].sum(axis=1)
        if part.std() > 0 and whole.std() > 0 and np.corrcoef(part, whole)[0, 1] >= NEAR:
            count = k
            break
    found["short_items"] = Figure(float(count), n=n)
    found["short_alpha"] = Figure(cronbach_alpha(scores[:, order[:count]]), n=n)
    rows = []
    for name, figure in found.items():
        reason = "" if np.isfinite(figure.value) else "too few items or outputs, or an item that does not differ"
        short = ", ".join(grid.names[i] for i in order[:count]) if name == "short_items" else None
        rows.append({**_row(panel, HUMANS, name, figure), "reason": reason or None, "item": short})
    return rows


def _cell(row: Row) -> str:
    if row["measure"] in ("item", "short_items"):
        return f"{row['value']:.0%}" if row["measure"] == "item" else f"{row['value']:.0f}"
    return row_interval(row)


def _answers(rows: Sequence[Row]) -> list[str]:
    lines = []
    for judge in dict.fromkeys(r["metric"] for r in rows if r["metric"] != HUMANS):
        of = {r["measure"]: r for r in rows if r["metric"] == judge and r["measure"] != "item"}
        lines.append(
            f"{judge}: totals correlate at {row_interval(of['total_correlation'])}; mean total "
            f"{row_interval(of['judge_total'])}, human {row_interval(of['human_total'])} (difference "
            f"{row_interval(of['total_difference'])})."
        )
        items = [r for r in rows if r["metric"] == judge and r["measure"] == "item"]
        if len(items) > 1:
            top = "; ".join(f"{r['item'][:60]} ({r['value']:.0%})" for r in items[:3])
            lines.append(f"Most of {judge}'s disagreement in points is on: {top}.")
    return lines
