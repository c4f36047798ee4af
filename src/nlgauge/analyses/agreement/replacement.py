"""May a metric stand in for a rater? The alternative annotator test (Calderon, Reichart and Dror 2025)."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.alttest import AltTest, alt_test
from nlgauge.table import Row, Table, Title


@analysis("replacement", trials="first", paper="", question="May a metric stand in for a rater?")
def replacement(
    panel: Panel, *, epsilon: float = 0.2, scale: Literal["raw", "ranks", "zscore"] = "ranks", min_units: int = 30
) -> Table:
    """Test whether a metric may replace an annotator (alternative annotator test).

    It needs at least three annotators with IDs.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    epsilon : float, default 0.2
        Advantage that annotators are granted for their cost: the metric beats an annotator if its advantage
        plus epsilon exceeds the annotator's. The authors take 0.2 for experts, 0.15 for skilled annotators and
        0.1 for crowds.
    scale : {'raw', 'ranks', 'zscore'}, default 'ranks'
        How scores and ratings are compared: as they are (`raw`, for a judge on the annotators' scale), by
        `ranks`, or as `zscore`.
    min_units : int, default 30
        Outputs that an annotator must have rated together with others to be tested.

    Returns
    -------
    Table
        One row per metric: winning rate ω (share of annotators that it beats), its advantage, whether it
        passes (ω at least 0.5), and the verdict `good`, `not` or `cannot tell`.

    Notes
    -----
    For each annotator in turn, the metric and the annotator are compared by how close they are to the others (root
    mean squared error); a t test for each, with the correction of Benjamini and Yekutieli. A pass that a constant
    score would get, too, is `cannot tell`.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge.
    """
    ratings = ratings_of(panel, "the test, which leaves one rater out,", least=3)
    if not panel.persons:
        raise NeedsMissing(
            f"the test compares a metric with single persons; {panel.nameless}.",
            data=panel.name,
            aspect=panel.aspect,
            code="too_few_raters",
        )
    rows: list[Row] = []
    method = ""
    options: dict[str, Any] = {"epsilon": epsilon, "scale": scale, "persons": panel.persons, "min_units": min_units}
    # Always the middle is near to everybody: where that passes, passing says nothing.
    constant = alt_test(ratings, np.full(ratings.shape[1:], np.nanmedian(ratings)), **options).passed
    for metric, scores in panel.metrics.items():
        found = alt_test(ratings, -scores if metric in panel.lower else scores, **options)
        method = found.method
        rows.append(
            {
                "metric": metric,
                "aspect": panel.aspect,
                "winning_rate": found.winning_rate,
                "advantage": found.advantage,
                "passes": found.passed,
                "verdict": _verdict(found, constant),
                "raters": len(ratings) - found.skipped_raters,
                "left_out": found.dropped_units,
                "reason": found.reason or ("the same score for every output would pass too" if constant else None),
            }
        )
    rows.sort(key=lambda row: [-np.nan_to_num(row[c], nan=-9.0) for c in ("winning_rate", "advantage")])
    return Table(
        title=Title(panel.name, f"may a metric stand in for a rater on {panel.aspect}?"),
        rows=rows,
        heads={"winning_rate": "ω"},
        definitions={
            "ω": "share of raters than whom the metric is closer to the others, tested one by one; .5 or more passes",
            "advantage": "how often the metric is at least as close to the others as the rater left out",
        },
        method=method + "; outputs taken as independent. good: it passes; not: more than half of the raters are surely "
        "closer to the others by more than ε (the same test, turned); cannot tell: anything else, and a pass where "
        "the same score for every output would pass too.",
        notes=people_note(panel),
        signature=signature(panel, epsilon=epsilon, scale=scale),
    )


def _verdict(found: AltTest, constant: bool) -> str:
    """A word that the tests support: raters who are neither beaten nor surely better speak for neither side."""
    tested = int(np.isfinite(found.p).sum())
    lost = tested > 0 and found.lost_to.sum() > tested / 2
    return "not" if lost else "good" if found.passed and not constant else "cannot tell"
