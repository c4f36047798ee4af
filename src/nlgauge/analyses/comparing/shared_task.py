"""Ranking of metrics as in a shared task: its measures on every data set, and their mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_words
from nlgauge.analyses.agreement.correlate import short
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.options import call
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Layout, Row, Table

MEAN = "mean"


@dataclass(frozen=True)
class SharedTask:
    """Measures that a task computes for each language pair, and how they are combined."""

    title: str
    measures: tuple[str, ...]
    rule: str


BOTH = ("system/spa", "input/acc-eq-calibrated")
TASKS = {
    "wmt24": SharedTask(
        "WMT24 metrics task",
        BOTH,
        "mean over language pairs and both measures, each with the same weight (tasks.WMT24 of mt-metrics-eval)",
    ),
    "wmt25": SharedTask(
        "WMT25 task on automated translation evaluation, subtask 1 (scores)",
        BOTH,
        "mean over language pairs and both measures, each with the same weight (as in WMT24; the scoring "
        "script of this subtask was not available)",
    ),
}
Profile = Literal["wmt24", "wmt25"]


@analysis("shared-task", takes="datasets", question="How would a shared task rank the metrics?")
def shared_task(choice: Choice, *, profile: Profile = "wmt24", seed: int = 0) -> Table:
    """Rank metrics as a WMT shared task does, by the mean of its measures over all data sets.

    Each data set is a language pair.

    Parameters
    ----------
    profile : {'wmt24', 'wmt25'}, default 'wmt24'
        The shared task.
    seed : int, default 0
        Seed of the measures that draw at random (system/spa draws 1,000 sign flips).

    Returns
    -------
    Table
        One row per metric, data set and measure of the task, and one with the mean for each metric that has
        all of them.

    Notes
    -----
    The WMT24 metrics task takes soft pairwise accuracy (system/spa) and pairwise accuracy with tie calibration
    (input/acc-eq-calibrated), each with the same weight. This is a ranking without a test; `compare` tests.
    """
    task = TASKS[profile]
    measures = [Measure.parse(name) for name in task.measures]
    rows: list[Row] = []
    lower, aspects = set[str](), []
    for data in choice.datasets:
        asked = [choice.aspects[0]] if choice.aspects else data.aspects
        if len(asked) != 1:
            data.aspect(None)  # raises an error that lists the aspects
        panel = replace(choice, data=data, others=()).panel(asked[0], canonical=True)
        found = evaluate(panel.oriented(), panel.human, measures, seed=seed)
        lower |= set(panel.lower)
        aspects.append(panel.aspect)
        for k, metric in enumerate(panel.names):
            for j, measure in enumerate(measures):
                e = found.at(k, j)
                rows.append(
                    {
                        "metric": metric,
                        "data": data.name,
                        "aspect": panel.aspect,
                        "measure": str(measure),
                        "value": e.value,
                        "n": e.n,
                        "reason": e.reason,
                    }
                )
    if not any(math.isfinite(row["value"]) for row in rows):
        raise NeedsMissing((rows[0]["reason"] if rows else "no metric scores") + ".", code="undefined")
    means = _means(rows, len(choice.datasets) * len(measures), aspects)
    order = {row["metric"]: (math.isnan(row["value"]), -row["value"], row["metric"]) for row in means}
    return Table(
        title=f"{task.title}: its measures on {len(choice.datasets)} data set{'s' * (len(choice.datasets) > 1)}",
        rows=sorted([*means, *rows], key=lambda row: order[row["metric"]]),
        layout=Layout(
            "metric",
            ("data", "measure"),
            "value",
            best=lambda row: float(row["value"]),
            heads={("all", MEAN): MEAN, **_heads(rows, measures)},
        ),
        method=f"{task.title}: {task.rule}. Only metrics with all values have a mean. The ranking is not a "
        "significance "
        f"test; use {call('analyze compare FILE')}. SPA draws 1,000 sign flips, so its third digit depends on the "
        "seed.",
        definitions={short(m): m.definition for m in measures},
        notes=flipped_words(lower),
        signature=f"profile:{profile}|aspects:{','.join(dict.fromkeys(aspects))}|seed:{seed}",
    )


def _heads(rows: list[Row], measures: list[Measure]) -> dict[object, str]:
    words = {str(m): short(m) for m in measures}
    many = len({row["data"] for row in rows}) > 1
    return {
        (row["data"], row["measure"]): f"{row['data']} {words[row['measure']]}" if many else words[row["measure"]]
        for row in rows
    }


def _means(rows: list[Row], count: int, aspects: list[str]) -> list[Row]:
    means = []
    for metric in dict.fromkeys(row["metric"] for row in rows):
        mine = [row for row in rows if row["metric"] == metric]
        known = [row["value"] for row in mine if math.isfinite(row["value"])]
        whole = len(known) == count
        means.append(
            {
                "metric": metric,
                "data": "all",
                "aspect": ", ".join(dict.fromkeys(aspects)),
                "measure": MEAN,
                "value": sum(known) / count if whole else math.nan,
                "n": sum(row["n"] for row in mine),
                "reason": None if whole else f"{len(known)} of {count} values are available",
            }
        )
    return means
