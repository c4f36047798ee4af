"""Outputs on which a metric and the human ratings disagree most (Novikova et al. 2017, section 8.3, Table 5)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._common import reference
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

ALL = "mean of all metrics"
OVER, UNDER = "metric high, human low", "metric low, human high"


@analysis(
    "disagreements",
    paper="novikova2017",
    takes="dataset",
    question="On which outputs do a metric and the human ratings disagree most?",
)
def disagreements(choice: Choice, *, metric: str | None = None, top: int = 5, width: int = 90) -> Table:
    """List the outputs on which a metric and the human ratings disagree most.

    Parameters
    ----------
    metric : str, optional
        Metric to compare with the human ratings. Default: the mean rank over all metrics.
    top : int, default 5
        Number of outputs to list in each direction.
    width : int, default 90
        Number of characters after which texts are truncated in the printed table; the rows hold the full texts.

    Returns
    -------
    Table
        One row per output: human rating, rank by the metric and by human ratings (0 to 1 over all outputs, 1
        is best, ties shared), their difference, and the texts.

    References
    ----------
    Novikova et al. (2017), section 8.3, Table 5.
    """
    data, wanted = choice.data, choice.wanted
    chosen = choice.metrics if metric is None else [metric]
    choice = replace(choice, metrics=chosen)
    if not (chosen or data.metrics):
        raise NeedsMissing("there are no metric scores.", code="no_scores")
    name = metric or (ALL if len(chosen or data.metrics) > 1 else (chosen or data.metrics)[0])
    texts = _texts(data)
    rows: list[Row] = []
    unscored = 0
    for aspect in wanted:
        panel = choice.panel(aspect, canonical=True)
        place, people = metric_place(panel), ranks(panel.human)
        both = np.isfinite(place) & np.isfinite(people)
        unscored += int(np.isfinite(people).sum() - both.sum())
        if both.sum() < 2:
            continue
        rows += _worst(panel, name, place, people, both, texts, top)
    if not rows:
        raise NeedsMissing("no output has both a human rating and a score.", code="no_scores_of_rated")
    shown = [c for c in ("source", "output", "reference") if any(r[c] for r in rows)]
    return Table(
        title=Title(data.name, f"largest disagreements of {name} with {reference(data)}"),
        rows=rows,
        shown=["aspect", "who", "system", "input", "human", "metric_place", "human_place", *shown],
        cells={c: partial(_short, c, width) for c in shown},
        decimals=2,
        method="Relative ranks among all rated and scored outputs: 0 worst, 1 best, ties share the mean rank; the "
        "sign of metrics for "
        f"which lower is better is flipped. The {top} largest differences in each direction; ties in order of the "
        "data.",
        notes=[
            *([f"{unscored} rated outputs without a score are excluded."] if unscored else []),
            *([] if "output" in shown else ["the data have no texts; only systems and inputs are listed."]),
        ],
        signature=f"metric:{name}|top:{top}|aggregate:{choice.aggregate}",
    )


def ranks(values: Array) -> Array:
    """Return ranks from 0 to 1 over the finite values; ties share the mean rank.

    >>> ranks(np.array([3.0, 1.0, 3.0, np.nan])).tolist()
    [0.75, 0.0, 0.75, nan]
    """
    known = np.isfinite(values)
    placed = np.full(values.shape, np.nan)
    n = int(known.sum())
    placed[known] = (average_ranks(values[known]) - 1) / max(n - 1, 1)
    return placed


def metric_place(panel: Panel) -> Array:
    """Return the mean rank of each output over the metrics that are not constant."""
    every = [ranks(v) for v in panel.oriented() if np.unique(v[np.isfinite(v)]).size > 1]
    if not every:
        return np.full(panel.human.shape, np.nan)
    stacked = np.stack(every)
    known = np.isfinite(stacked).any(axis=0)
    mean = np.full(panel.human.shape, np.nan)
    mean[known] = np.nanmean(stacked[:, known], axis=0)
    return ranks(mean)


def _worst(
    panel: Panel, name: str, place: Array, people: Array, both: np.ndarray, texts: dict[Any, Any], top: int
) -> list[Row]:
    gap = np.where(both, place - people, np.nan)
    rows: list[Row] = []
    for who, cells in furthest(gap, top).items():
        for i, j in cells:
            text = texts.get((panel.systems[i], panel.inputs[j]), {})
            rows.append(
                {
                    "metric": name,
                    "aspect": panel.aspect,
                    "who": who,
                    "system": panel.systems[i],
                    "input": panel.inputs[j],
                    "human": float(panel.human[i, j]),
                    "metric_place": float(place[i, j]),
                    "human_place": float(people[i, j]),
                    "gap": float(gap[i, j]),
                    **{c: text.get(c, "") for c in ("source", "output", "reference")},
                }
            )
    return rows


def furthest(gap: Array, top: int) -> dict[str, list[tuple[int, int]]]:
    """Return the cells of the `top` largest positive and negative gaps, the largest first; ties in order of the data.

    >>> furthest(np.array([[0.5, -0.2], [np.nan, 0.0]]), 3)
    {'metric high, human low': [(0, 0)], 'metric low, human high': [(0, 1)]}
    """
    found = {}
    for who, signed in ((OVER, gap), (UNDER, -gap)):
        order = np.argsort(-signed, axis=None, kind="stable")[:top]  # NaN sorts to the end
        cells = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, gap.shape), strict=True)]
        found[who] = [cell for cell in cells if signed[cell] > 0]
    return found


def _texts(data: Dataset) -> dict[tuple[str, str], dict[str, str]]:
    """Return source, output and one reference of every sample, if available."""
    schema = data.samples.schema
    columns = [pl.col(c) for c in ("source", "output") if schema.get(c) == pl.String]
    if isinstance(schema.get("references"), pl.List):
        columns.append(pl.col("references").list.first().alias("reference"))
    frame = data.samples.select(*KEY, *columns)
    return {(r["system"], r["input"]): {c: r[c] or "" for c in frame.columns[2:]} for r in frame.iter_rows(named=True)}


def _short(column: str, width: int, row: Row) -> str:
    plain = " ".join(row[column].split())
    return plain if len(plain) <= width else plain[: max(width - 1, 1)] + "…"
