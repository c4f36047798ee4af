"""A metric for MLflow's evaluation: `mlflow.models.evaluate(…, extra_metrics=[judge_agreement()])`.

The predictions are a judge's verdicts and the targets the human labels of the same outputs.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

from mlflow.metrics import MetricValue, make_metric

from nlgauge.data.tables.words import WORTH
from nlgauge.errors import DataError
from nlgauge.plugins._agreement import judge_figures


def judge_agreement(inputs: str | None = None) -> Any:
    """Make the metric: agreement, kappa and recalls of a judge with 95% confidence intervals.

    Parameters
    ----------
    inputs : str, optional
        Column of the evaluated table with the input of every output, whose outputs are one cluster; every row by
        default.
    """

    def compute(predictions: Any, targets: Any, *clusters: Any) -> MetricValue:
        judge, human = [_number(v) for v in predictions], [_number(v) for v in targets]
        rows = clusters[0] if clusters else range(len(judge))
        pairs = zip(judge, human, strict=True)
        same = [None if j is None or h is None else float((j >= 0.5) == (h >= 0.5)) for j, h in pairs]
        return MetricValue(scores=same, aggregate_results=judge_figures(judge, human, [str(row) for row in rows]))

    # MLflow gives a function the columns that its parameters name, in their order.
    names = ["predictions", "targets", *([inputs] if inputs else [])]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    compute.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return make_metric(eval_fn=compute, greater_is_better=True, name="judge_agreement")


def _number(value: Any) -> float | None:
    """Return a verdict as a number; words are those that tables may have, such as pass and fail."""
    if isinstance(value, str):
        word = value.strip().lower()
        if word and word not in WORTH:
            raise DataError(
                f"judge_agreement: '{word}' is not a verdict; give numbers, or words such as pass and fail."
            )
        return WORTH.get(word)
    return None if value is None or math.isnan(value) else float(value)
