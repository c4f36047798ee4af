"""Extension of Inspect: the metric `nlgauge/judge_agreement`, which Inspect finds through the entry point `inspect_ai`.

    @scorer(metrics=[accuracy(), judge_agreement()])
    def my_judge(): ...

The human label of a sample is in its metadata. Inspect reduces the epochs of a sample to one score before it computes
metrics (a mean of at least 0.5 is a pass), so that repeated runs do not narrow the intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspect_ai.scorer import Metric, SampleScore, metric, value_to_float

from nlgauge.plugins._agreement import judge_figures


@metric
def judge_agreement(
    label: str = "human_label", cluster: str = "", to_float: Callable[[Any], float] | None = None
) -> Metric:
    """Agreement of a judge's pass/fail verdicts with human labels, kappa and recalls, with 95% intervals.

    Parameters
    ----------
    label : str
        Key of the sample's metadata with the human label; samples without one are left out.
    cluster : str
        Key of the metadata with what belongs together, such as a document; the sample by default.
    to_float : callable, optional
        Makes numbers of verdicts and labels; Inspect's `value_to_float()` by default. At least 0.5 is a pass.
    """
    number = to_float or value_to_float()

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        told = [(s, (s.sample_metadata or {})) for s in scores]
        labeled = [(s, about) for s, about in told if about.get(label) is not None]
        return judge_figures(
            [number(s.score.value) for s, _ in labeled],
            [number(about[label]) for _, about in labeled],
            [str(about.get(cluster) if cluster else s.sample_id) for s, about in labeled],
        )

    return compute
