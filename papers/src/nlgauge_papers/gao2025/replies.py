"""gao2025, sensitivity to score granularity, from the replies that the authors released (set gao2025-replies).

As their program re_sampling.py: for each output, n of a judge's ten replies are drawn with replacement and averaged;
the correlation with the human scores is computed for each of the draws; median and 2.5 and 97.5 percentiles.
"""

from __future__ import annotations

import re

import numpy as np

from nlgauge import Table
from nlgauge.plugins import Panel, Row
from nlgauge.stats import TWELVE, evaluate
from nlgauge_papers import Sources, further
from nlgauge_papers.common import Array

SET = "gao2025-replies"


def reply_columns(panel: Panel) -> dict[str, list[str]]:
    """Return the columns of replies of each judge: `NAME #1` to `NAME #10`."""
    results: dict[str, list[str]] = {}
    for name in panel.metrics:
        if match := re.fullmatch(r"(.+) #\d+", name):
            results.setdefault(match[1], []).append(name)
    return results


def drawn(replies: Array, n: int, draws: int, seed: int) -> Array:
    """Draw n replies of each output with replacement and average them: draws × systems × inputs.

    >>> drawn(np.ones((10, 2, 3)), 4, 5, 0).shape
    (5, 2, 3)
    """
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, len(replies), (draws, n, *replies.shape[1:]))
    return np.asarray(np.take_along_axis(replies[None], chosen, axis=1).mean(axis=1))


@further(
    "gao2025", "granularity", title="Correlations of judges by the number of replies that are averaged", sets=[SET]
)
def granularity(sources: Sources, draws: int = 1000, seed: int = 0, judge: str = "") -> list[Table]:
    """Correlate the mean of 1 to 10 replies with human ratings; `draws` is the number of random choices, `judge`
    selects one judge.
    """
    rows: list[Row] = []
    for group, part in sources(SET).by("dataset", "aspect"):
        panel = part.panel("human_score", keep_human=True)
        for name, columns in reply_columns(panel).items():
            if judge not in ("", name):
                continue
            sources.tell(f"{group['dataset']} {group['aspect']}: {name}")
            replies = np.stack([panel.metrics[c] for c in columns])
            for n in range(1, len(columns) + 1):
                values = evaluate(drawn(replies, n, draws, seed), panel.human, TWELVE).value
                low, middle, high = np.nanpercentile(values, [2.5, 50, 97.5], axis=0)
                for j, measure in enumerate(TWELVE):
                    ends = {"value": float(middle[j]), "low": float(low[j]), "high": float(high[j])}
                    rows.append({**group, "metric": name, "replies": n, "measure": str(measure), **ends})
    return [
        Table(
            "Correlation with human scores by the number of replies averaged",
            rows,
            method=f"median and 2.5 and 97.5 percentiles of {draws} random choices of replies, seed {seed}.",
            kind="granularity",
        )
    ]
