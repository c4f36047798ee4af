"""The alternative annotator test: may a metric replace an annotator? (Calderon, Reichart and Dror 2025)"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.alttest import AltTest, alt_test
from nlgauge.table import Row, Table, Title


@analysis(
    "replacement", trials="first", paper="", question="May a metric replace an annotator (alternative annotator test)?"
)
def replacement(
    panel: Panel, *, epsilon: float = 0.2, scale: Literal["raw", "ranks", "zscore"] = "ranks", min_units: int = 30
) -> Table:
    """Test whether a metric may replace an annotator (alternative annotator test).

    It needs at least three annotators with IDs.

    Parameters
    ----------
    epsilon : float, default 0.2
        Cost-benefit margin: the metric beats an annotator if its advantage plus epsilon exceeds the annotator's. The
        authors use 0.2 for experts, 0.15 for skilled annotators and 0.1 for crowd workers.
    scale : {'raw', 'ranks', 'zscore'}, default 'ranks'
        Scale on which scores and ratings are compared: `raw` (for a judge on the annotators' scale), `ranks` or
        `zscore`.
    min_units : int, default 30
        Minimum number of outputs that an annotator has rated in common with other annotators; annotators with fewer
        are not tested.

    Returns
    -------
    Table
        One row per metric: winning rate ω (share of annotators that it beats), its advantage, whether it
        passes (ω at least 0.5), and the verdict `passes`, `fails` or `inconclusive`.

    Notes
    -----
    For each annotator in turn, the metric and the annotator are compared by their distance from the other annotators
    (root mean squared error) in a t test, with the correction of Benjamini and Yekutieli. If a constant score passes
    too, a pass is `inconclusive`.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge.
    """
    ratings = ratings_of(panel, "the alternative annotator test", least=3)
    if not panel.persons:
        raise NeedsMissing(
            f"the alternative annotator test requires annotator IDs; {panel.nameless}.", code="too_few_raters"
        )
    rows: list[Row] = []
    method = ""
    options: dict[str, Any] = {"epsilon": epsilon, "scale": scale, "persons": panel.persons, "min_units": min_units}
    # A constant median rating is close to every annotator: if it passes, passing is no evidence.
    constant = alt_test(ratings, np.full(ratings.shape[1:], np.nanmedian(ratings)), **options).passed
    for metric, scores in panel.metrics.items():
        test = alt_test(ratings, -scores if metric in panel.lower else scores, **options)
        method = test.method
        rows.append(
            {
                "metric": metric,
                "aspect": panel.aspect,
                "winning_rate": test.winning_rate,
                "advantage": test.advantage,
                "passes": test.passed,
                "verdict": _verdict(test, constant),
                "raters": len(ratings) - test.skipped_raters,
                "left_out": test.dropped_units,
                "reason": test.reason or ("a constant score would pass too" if constant else None),
            }
        )
    rows.sort(key=lambda row: [-np.nan_to_num(row[c], nan=-9.0) for c in ("winning_rate", "advantage")])
    return Table(
        title=Title(panel.name, f"alternative annotator test on {panel.aspect}"),
        rows=rows,
        heads={"winning_rate": "ω", "raters": "annotators"},
        definitions={
            "ω": "winning rate: share of annotators that the metric beats in their test; it passes at 0.5 or more",
            "advantage": "how often the metric is at least as close to the other annotators as the one left out",
        },
        method=method + "; outputs are assumed to be independent. passes: ω is at least 0.5; fails: more than half of "
        "the annotators are significantly closer to the others by more than ε (the reversed test); inconclusive: "
        "anything else, and a pass that a constant score would reach too.",
        notes=human_note(panel),
        signature=signature(panel, epsilon=epsilon, scale=scale),
    )


def _verdict(test: AltTest, constant: bool) -> str:
    """Return the verdict; annotators who are neither beaten nor significantly better count for neither side."""
    tested = int(np.isfinite(test.p).sum())
    lost = tested > 0 and test.lost_to.sum() > tested / 2
    return "fails" if lost else "passes" if test.passed and not constant else "inconclusive"
