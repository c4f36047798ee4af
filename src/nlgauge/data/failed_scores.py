"""Metrics that have no value for many outputs: whoever reads their figures must see that first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

MANY = 0.01  # of the outputs; fewer are a note


def headline(metric: str, reasons: Mapping[str, int], of: int) -> list[str]:
    """One line if a metric failed on more than 1 % of the outputs: on how many, and the commonest reason; else none.

    >>> headline("meteor", {"no reference": 2, "empty reference": 28}, 1000)
    ['meteor has no value for 30 of 1,000 outputs (3.0 %); mostly: empty reference']
    >>> headline("meteor", {"no reference": 10}, 1000)
    []
    """
    missing = sum(reasons.values())
    if not of or missing <= MANY * of:
        return []
    why = max(reasons, key=reasons.__getitem__)
    rest = "" if reasons[why] == missing else "mostly: "
    share = 100 * missing / of
    shown = f"{share:.0f}" if share >= 10 else f"{share:.1f}"
    return [f"{metric} has no value for {missing:,} of {of:,} outputs ({shown} %); {rest}{why}"]


def headlines(data: Dataset) -> list[str]:
    """The same for all metrics of a Dataset, by the reasons that stand in its `failures`."""
    found: dict[str, Counter[str]] = {}
    for metric, reason in data.failures.select("metric", "reason").iter_rows():
        found.setdefault(metric, Counter())[reason] += 1
    return [line for metric, reasons in found.items() for line in headline(metric, reasons, len(data))]
