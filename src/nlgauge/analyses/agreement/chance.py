"""Chance level of each measure: the agreement of random scores with these human ratings, given their ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, human_note, measures_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import percent
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.design.planning import chance_level
from nlgauge.stats.design.simulate import fit_scores
from nlgauge.table import Row, Table, Title

# Correlations have chance level 0; these do not.
ACCURACIES = ("input/acc-eq", "item/acc-eq", "global/acc-eq", "system/acc-eq", "system/spa")


@analysis("chance", trials="mean", paper="gao2025", question="What is the chance level of each measure on these data?")
def chance(panel: Panel, *, measures: Sequence[Named] | None = None, draws: int = 200, seed: int = 0) -> Table:
    """Compute the chance level of each measure: the agreement of random scores with these human ratings.

    A continuous random score has no ties and therefore never agrees with the human ratings on a tied pair. If the
    ratings have ties, acc-eq of a random score is below 0.5.

    Parameters
    ----------
    measures : sequence of str or Measure, optional
        Measures of agreement; by default the pairwise accuracies (acc-eq at four levels, and system/spa),
        whose chance level is not 0.
    draws : int, default 200
        Number of random scores per measure.

    Returns
    -------
    Table
        One row per measure: mean and central 95% of the random scores, the number of metrics above that range,
        and the number of all metrics.
    """
    chosen = measures_of(measures or ACCURACIES)
    human = panel.human
    values = evaluate(panel.oriented(), human, chosen, seed=seed).value if panel.metrics else np.empty((0, len(chosen)))
    rows: list[Row] = []
    for j, (measure, own) in enumerate(zip(chosen, np.random.SeedSequence(seed).spawn(len(chosen)), strict=True)):
        random = chance_level(human, measure, np.random.default_rng(own), draws=draws)
        rows.append(
            {
                "measure": str(measure),
                "aspect": panel.aspect,
                "value": random.mean,
                "low": random.low,
                "high": random.high,
                "metrics_above": int((values[:, j] > random.high).sum()),
                "of": int(np.isfinite(values[:, j]).sum()),
                "undefined": random.undefined,
            }
        )
    defined = [row for row in rows if not np.isnan(row["value"])]
    if not defined:
        raise NeedsMissing("none of the measures is defined on these ratings.", code="undefined")
    notes = (
        [f"not available: {', '.join(r['measure'] for r in rows if r not in defined)} (undefined on these ratings)."]
        if len(defined) < len(rows)
        else []
    )
    ties = fit_scores(human).tie_ratio
    return Table(
        title=Title(panel.name, f"chance level of the measures on {panel.aspect}"),
        rows=defined,
        shown=["measure", "value", "low", "high", "metrics_above", "of"],
        heads={"value": "chance"},
        definitions={m: measures_of(m)[0].definition for m in (r["measure"] for r in defined)},
        method=f"{draws} random continuous scores, mean and central 95%, seed {seed}; {percent(ties, 1)} of all "
        "pairs of ratings are tied. The random scores are independent over outputs; a score with effects of systems or "
        "inputs has a wider range.",
        notes=[*notes, *human_note(panel)],
        signature=signature(panel, draws=draws, seed=seed),
    )
