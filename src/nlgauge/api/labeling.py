"""Sampling of outputs to label next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from nlgauge.analyses.design.next_labels import Goal, How, next_labels
from nlgauge.api.label_tasks import Tool, write_tasks
from nlgauge.api.policies import queue
from nlgauge.api.questions import ChoiceOptions, select
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NlgaugeError
from nlgauge.options import option
from nlgauge.table import Table
from nlgauge.types import Names

SHOWN = 5  # rows that are printed, where a file holds them all


@with_shared_parameters
def label(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    budget: int | None = None,
    policy: str | Path | None = None,
    goal: Goal = "estimate",
    how: How | None = None,
    cut: float | None = None,
    tool: Tool | None = None,
    out: str | Path | None = None,
    **choice: Unpack[ChoiceOptions],
) -> Table:
    """Sample outputs for human labeling with known probabilities, and write an annotation file.

    The annotation file contains the texts, without scores, and the sampling probability of each output. When the
    completed file is passed as labels, `nlgauge estimate` weights each label by its sampling probability. Later
    samples are drawn from the unlabeled outputs.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        Data with few or no labeled outputs.
    metrics : str or sequence of str, optional
        Judges whose scores guide the sampling. Default: all.
    budget : int, optional
        Number of unlabeled outputs to sample. With a policy file: number of outputs that the judge decides to sample
        for the audit.
    policy : path, optional
        Policy file written by `analyze delegate`. Selects all outputs that the judge does not decide alone, and a
        random sample of the others as an audit.
    goal : {'estimate', 'agreement', 'ranking', 'threshold'}, default 'estimate'
        Purpose of the labels.
    how : {'random', 'stratified', 'disagreement', 'optimal', 'diverse'}, optional
        Sampling design. Default: the design with the best simulated result for the goal.
    cut : float, optional
        Pass threshold of the judge, for the goal threshold. Default: estimated from the existing labels.
    tool : {'csv', 'label-studio', 'argilla'}, optional
        File format. Default: inferred from the file extension.
    out : path, optional
        Annotation file to write: .csv, or .json for Label Studio (or for Argilla, see `tool`).

    Returns
    -------
    Table
        system, input, label_probability, label_stratum and label_round of each output drawn.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"system": "A", "id": i, "output": f"text {i}", "judge": i / 50} for i in range(50)]
    >>> table = ng.label(ng.load(rows, metrics=["judge"]), budget=10)
    >>> len(table), table.rows[0]["label_probability"]
    (10, 0.2)

    $ nlgauge label answers.csv --budget 60 -o to_label.csv

    $ nlgauge label answers.csv --budget 60 --goal ranking -o tasks.json --tool label-studio

    $ nlgauge label answers.csv --labels to_label.csv --budget 40 -o second.csv

    $ nlgauge label answers.csv --policy policy.json --budget 30 -o queue.csv

    $ nlgauge estimate answers.csv --labels to_label.csv --labels second.csv
    """
    session = select(data, aspect, metrics, **choice)
    chosen = session.data
    if session.aspects:
        asked = [chosen.aspect(a) for a in session.aspects] if chosen.aspects else []
        chosen = replace(chosen, ratings=chosen.ratings.filter(pl.col("aspect").is_in(asked)))
    if session.metrics is not None:
        chosen = chosen.only_metrics(session.metrics)
    if policy is not None:
        table = queue(chosen, policy, budget or 0, session.seed)
    elif budget is None:
        raise NlgaugeError(f"set the number of outputs to draw, as in {option('budget', 60)}.")
    else:
        table = next_labels(
            chosen, budget, goal=goal, how=how, cut=cut, seed=session.seed, keep_human=session.keep_human
        )
    if out is not None:
        table.notes = [*table.notes, *write_tasks(chosen, table.rows, out, tool, session.aspects or ())]
        if len(table) > SHOWN:
            more = f"… and {len(table) - SHOWN:,} more in {out}"
            table.parts = [replace(table, rows=table.rows[:SHOWN], notes=[more, *table.notes])]
    return table
