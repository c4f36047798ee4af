"""What people should label next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nlgauge.api.questions import select

if TYPE_CHECKING:
    from nlgauge.analyses.design.next_labels import Goal, How
    from nlgauge.api.label_tasks import Tool
    from nlgauge.table import Table


def next_to_label(
    data: Any,
    budget: int,
    *,
    goal: Goal = "estimate",
    how: How | None = None,
    cut: float | None = None,
    out: str | Path | None = None,
    tool: Tool | None = None,
) -> Table:
    """Which outputs should people label next? A draw with known probabilities.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        Outputs of which few or none have labels; `nlgauge.select` names aspect, metrics and seed.
    budget : int
        Number of outputs to draw among those without a label.
    goal : {'estimate', 'agreement', 'ranking', 'threshold'}
        What the labels are for.
    how : {'random', 'stratified', 'disagreement', 'optimal', 'diverse'}, optional
        The design; by default the one that measured best for the goal.
    cut : float, optional
        Of the judge, for goal 'threshold'; by default where earlier labels of pass and fail put it.
    out : path, optional
        File to write for those who label.
    tool : {'csv', 'label-studio', 'argilla'}, optional
        Its layout; by default by its suffix.

    Returns
    -------
    Table
        system, input, label_probability, label_stratum and label_round of each output drawn.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"system": "A", "id": i, "output": f"text {i}", "judge": i / 50} for i in range(50)]
    >>> table = ng.next_to_label(ng.load(rows, metrics=["judge"]), 10)
    >>> len(table), table.rows[0]["label_probability"]
    (10, 0.2)
    """
    from nlgauge.analyses.design.next_labels import next_labels
    from nlgauge.api.label_tasks import write_tasks

    chosen = select(data)
    given = chosen.data
    if chosen.aspects:
        asked = [given.aspect(a) for a in chosen.aspects] if given.aspects else []
        given = replace(given, ratings=given.ratings.filter(pl.col("aspect").is_in(asked)))
    if chosen.metrics is not None:
        given = given.only_metrics(chosen.metrics)
    table = next_labels(
        given, budget, goal=goal, how=how, cut=cut, seed=chosen.seed, keep_people=chosen.keep_people
    )  # fmt: skip
    if out is not None:
        table.notes = [*table.notes, *write_tasks(given, table.rows, out, tool, chosen.aspects or ())]
    return table
