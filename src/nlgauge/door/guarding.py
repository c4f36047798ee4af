"""Guarding a judge in daily work: its biases, and whether it has drifted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nlgauge.door.questions import analyse

if TYPE_CHECKING:
    from nlgauge.table import Table
    from nlgauge.types import Names


def bias(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    family: str | Sequence[str] | Mapping[str, str] | None = None,
    reliability: float | None = None,
    level: float = 0.95,
) -> Table:
    """Which biases has a judge that people do not have? Place, length, layout, own family, leniency, spread, halo.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        With the judge's scores (or choices) and people's ratings of the same outputs.
    aspect, metrics : str or sequence of str, optional
        All by default; `metrics` are the judges. A column whose name holds that of an aspect is held against it only.
    family : str, sequence of str or mapping, optional
        'gpt-*=gpt-4o': systems gpt-* are of the family of the judge gpt-4o.
    reliability : float, optional
        Of people's ratings, where each output was rated once and it is known.
    level : float, default 0.95
        Share of data sets in which a judge without bias raises no alarm, over all its checks.

    Returns
    -------
    Table
        One row a judge, aspect and check: `judge` (its effect), `people` (what following people explains of it),
        `value` (the difference) with interval, `p_corrected`, `verdict` ('found', 'not found', 'cannot tell') and
        `detectable`, the smallest bias that would be found in four of five data sets.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rng = __import__("random").Random(1)
    >>> rows = []
    >>> for k in range(60):
    ...     good, words = rng.gauss(3, 1), rng.choice([5, 10, 20, 40])
    ...     rows.append({"id": k, "output": "word " * words, "human_1": good + rng.gauss(0, 0.3),
    ...                  "human_2": good + rng.gauss(0, 0.3), "judge": good + words / 20 + rng.gauss(0, 0.3)})
    >>> table = ng.bias(ng.load(rows, human=["quality=human_1+human_2"], metrics=["judge"]))
    >>> [(row["measure"], row["verdict"]) for row in table]
    [('length', 'found')]
    """
    return analyse("bias", data, aspect, metrics, family=family, reliability=reliability, level=level)
