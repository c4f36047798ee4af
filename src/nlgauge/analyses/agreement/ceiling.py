"""Human ceiling of each measure, and the share of it that each metric reaches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, defined_measures, human_note, ratings_of, signature
from nlgauge.analyses.agreement.correlate import measures_across
from nlgauge.data.panel import Panel
from nlgauge.number import interval
from nlgauge.stats.agreement.ceiling import DRAWS, ceilings, leave_one_out, share_of_ceiling, split_half
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.table import Row, Table, Title


@analysis(
    "ceiling",
    trials="first",
    paper="gao2025",
    question="What is the human ceiling: the highest agreement a metric could reach, given annotator noise?",
)
def ceiling(
    panel: Panel, *, measures: Sequence[Named] | None = None, splits: int = 100, draws: int = DRAWS, seed: int = 0
) -> Table:
    """Compute the human ceiling of each measure, and the agreement of each metric as a share of it.

    Parameters
    ----------
    splits : int, default 100
        Number of random splits of the annotators into two halves.
    draws : int, default 400
        Number of simulated sets of true scores from which the ceiling is computed.

    Returns
    -------
    Table
        One row per metric and measure: the metric's value, the agreement of two halves of the annotators, the
        ceiling with its interval, the share of the ceiling, and the share of annotators who agree less with the
        other annotators than the metric does.

    Notes
    -----
    The ceiling is the value that a metric would reach if it knew the true score of every output: human ratings are
    noisy, so it is below 1. The share is (value − chance) / (ceiling − chance). Noise may lift a share above 1.
    """
    ratings = ratings_of(panel, "a ceiling")
    chosen, notes = defined_measures(panel, measures)
    first, second = np.random.SeedSequence(seed).spawn(2)
    halves = split_half(ratings, chosen, np.random.default_rng(first), splits=splits)
    human = ceilings(ratings, chosen, np.random.default_rng(second), draws=draws, persons=panel.persons)
    stacked = panel.oriented()
    values = evaluate(stacked, panel.human, chosen).value
    share = share_of_ceiling(values, human, chosen)
    closer = leave_one_out(ratings, stacked, chosen).closer if panel.persons else np.full(values.shape, np.nan)
    rows: list[Row] = [
        {
            "metric": metric,
            "aspect": panel.aspect,
            "measure": str(m),
            "value": float(values[k, j]),
            "halves": float(halves.half[j]),
            "ceiling": float(human.ceiling[j]),
            "ceiling_low": float(human.low[j]),
            "ceiling_high": float(human.high[j]),
            "share": float(share[k, j]),
            "closer_than_raters": float(closer[k, j]),
        }
        for j, m in enumerate(chosen)
        for k, metric in sorted(enumerate(panel.metrics), key=lambda item: -np.nan_to_num(values[item[0], j], nan=-2))
    ]
    if not panel.persons:
        notes.append(f"Metrics are not compared with single annotators: {panel.nameless}.")
    if panel.aggregate != "mean":
        notes.append(f"The ceiling is that of the mean rating; the correlations are with the {panel.aggregate}.")
    notes += [f"{m}: {why}." for m, why in zip(chosen, human.reasons, strict=True) if why]
    return Table(
        title=Title(panel.name, f"human ceiling on {panel.aspect}"),
        rows=rows,
        layout=measures_across(chosen, value="share"),
        definitions={
            "values": "share of the ceiling, (value − chance) / (ceiling − chance); noise may lift it above 1",
            "ceiling": "expected value of a metric that knows the true score: "
            + ", ".join(
                f"{m} {interval(c, low, high)}"
                for m, c, low, high in zip(chosen, human.ceiling, human.low, human.high, strict=True)
                if np.isfinite(c)
            ),
        },
        method=human.method + ".",
        notes=[*notes, *human_note(panel)],
        signature=signature(panel, splits=splits, draws=draws, seed=seed),
    )
