"""How high could a metric come? The human ceiling of each measure, and each metric's share of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, defined, measures_of, people_note, ratings_of, signature
from nlgauge.analyses.agreement.correlation import measures_across
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.stats.agreement.ceiling import DRAWS, ceilings, leave_one_out, share_of_ceiling, split_half
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.table import Row, Table, Title


@analysis(
    "ceiling", trials="first", paper="gao2025", question="How high could a metric come, given that people disagree?"
)
def ceiling(
    panel: Panel, *, measures: Sequence[Named] | None = None, splits: int = 100, draws: int = DRAWS, seed: int = 0
) -> Table:
    """One row a metric and measure: correlation, ceiling, share of the ceiling, and the share of raters it outdoes."""
    ratings = ratings_of(panel, "a ceiling")
    chosen, notes = defined(panel, measures_of(measures))
    if not chosen:
        raise NeedsMissing(" ".join(notes), data=panel.name, aspect=panel.aspect, code="undefined")
    first, second = np.random.SeedSequence(seed).spawn(2)
    halves = split_half(ratings, chosen, np.random.default_rng(first), splits=splits)
    found = ceilings(ratings, chosen, np.random.default_rng(second), draws=draws, persons=panel.persons)
    stacked = panel.oriented()
    values = evaluate(stacked, panel.human, chosen).value
    share = share_of_ceiling(values, found, chosen)
    closer = leave_one_out(ratings, stacked, chosen).closer if panel.persons else np.full(values.shape, np.nan)
    rows: list[Row] = [
        {"metric": metric, "aspect": panel.aspect, "measure": str(m), "value": float(values[k, j]),
         "halves": float(halves.half[j]),
         "ceiling": float(found.ceiling[j]), "ceiling_low": float(found.low[j]), "ceiling_high": float(found.high[j]),
         "share": float(share[k, j]), "closer_than_raters": float(closer[k, j])}
        for j, m in enumerate(chosen)
        for k, metric in sorted(enumerate(panel.metrics), key=lambda item: -np.nan_to_num(values[item[0], j], nan=-2))
    ]  # fmt: skip
    if not panel.persons:
        notes.append(f"No metric can be compared with a single person: {panel.nameless}.")
    if panel.aggregate != "mean":
        notes.append(f"The ceiling is that of the mean rating; the correlations are with the {panel.aggregate}.")
    notes += [f"{m}: {why}." for m, why in zip(chosen, found.reasons, strict=True) if why]
    return Table(
        title=Title(panel.name, f"human ceiling on {panel.aspect}"),
        rows=rows,
        layout=measures_across(chosen, value="share"),
        definitions={
            "shown": "the metric's value as a share of the ceiling of the same measure, both above chance; noise "
            "may lift it above 1",
            "ceiling": "what a metric that knew the true score would reach: "
            + ", ".join(
                f"{m} {number(c)} [{number(low)} {number(high)}]"
                for m, c, low, high in zip(chosen, found.ceiling, found.low, found.high, strict=True)
                if np.isfinite(c)
            ),
        },
        method=found.method + ".",
        notes=[*notes, *people_note(panel)],
        signature=signature(panel, splits=splits, draws=draws, seed=seed),
    )
