"""May a metric stand in for a rater? The alternative annotator test (Calderon, Reichart and Dror 2025)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.alttest import alt_test
from nlgauge.table import Row, Table


@analysis("replacement", paper="", question="May a metric stand in for a rater?")
def replacement(
    panel: Panel, *, epsilon: float = 0.2, scale: Literal["raw", "ranks", "zscore"] = "ranks", min_units: int = 30
) -> Table:
    """One row per metric: share of raters beaten (ω); at least one half passes.

    Metrics are rarely on the raters' scale, so everybody's ranks are compared; a judge on the same scale may use `raw`.
    """
    ratings = ratings_of(panel, "the test, which leaves one rater out,", least=3)
    if not panel.persons:
        raise NeedsMissing(
            f"{panel.name}, {panel.aspect}: the test compares a metric with single persons; {panel.nameless}."
        )
    rows: list[Row] = []
    method = ""
    for metric, scores in panel.metrics.items():
        found = alt_test(
            ratings, -scores if metric in panel.lower else scores, epsilon=epsilon, scale=scale, persons=panel.persons,
            min_units=min_units,
        )  # fmt: skip
        method = found.method
        rows.append(
            {"metric": metric, "aspect": panel.aspect, "winning_rate": found.winning_rate, "advantage": found.advantage,
             "passes": found.passed,
             "raters": len(ratings) - found.skipped_raters, "left_out": found.dropped_units,
             "reason": found.reason or None}
        )  # fmt: skip
    rows.sort(key=lambda row: [-np.nan_to_num(row[c], nan=-9.0) for c in ("winning_rate", "advantage")])
    return Table(
        title=f"{panel.name}: may a metric stand in for a rater on {panel.aspect}?",
        rows=rows,
        heads={"winning_rate": "ω"},
        definitions={
            "ω": "share of raters than whom the metric is closer to the others, tested one by one; .5 or more passes",
            "advantage": "how often the metric is at least as close to the others as the rater left out",
        },
        method=method + "; outputs taken as independent.",
        notes=people_note(panel),
        signature=signature(panel, epsilon=epsilon, scale=scale),
    )
