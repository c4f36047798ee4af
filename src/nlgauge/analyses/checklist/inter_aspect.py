"""Agreement between the human aspects (Nimah et al. 2023, sections 5.3 and A.4.1)."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, signature
from nlgauge.analyses.checklist.rater_rows import RaterRows, Scales, Unit, chosen_panel, rated_rows
from nlgauge.data.choice import Choice
from nlgauge.options import option
from nlgauge.stats.agreement.kappa import cohen_kappa
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.ranking.quality_levels import HIGH, LOW, Bins
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

SYSTEMS = Measure("global", "kendall")  # of two rankings of the systems


@analysis(
    "inter-aspect", paper="nimah2023", takes="dataset", question="How well do the human aspects agree with each other?"
)
def inter_aspect(choice: Choice, *, bins: Bins = "thirds", scale: Scales = None, unit: Unit = "rater") -> Table:
    """Compute the agreement between the human ratings of two aspects.

    Returns
    -------
    Table
        One row per pair of aspects: Pearson correlation, Cohen's kappa of the levels (quadratic weights),
        share of observations at the same and at opposite levels, Kendall's tau-b of the order of the systems,
        n.

    References
    ----------
    Nimah et al. (2023), sections 5.3 and A.4.1.
    """
    panel = chosen_panel(replace(choice, metrics=[]))
    rows = rated_rows(panel, unit)
    rows.require_two_aspects()
    levels = {aspect: rows.levels(aspect, bins, scale).level for aspect in rows.human}
    means = rows.system_means()
    pairs = [_pair(a, b, rows, levels, (means[a], means[b])) for a, b in combinations(rows.human, 2)]
    pairs.sort(key=lambda row: -np.nan_to_num(row["kappa"], nan=-2.0))
    disjoint = sum(not row["n"] for row in pairs)
    return Table(
        title=Title(panel.name, "agreement between the human aspects"),
        rows=pairs,
        shown=["first", "second", "r", "kappa", "same_level", "opposite", "systems_tau", "n"],
        heads={"systems_tau": "systems τ"},
        definitions={
            "r": "Pearson correlation of the two ratings over the n observations",
            "kappa": "Cohen's kappa of the levels low, moderate, high, with quadratic weights",
            "opposite": "share of the observations that are low on one aspect and high on the other",
            "systems τ": "Kendall's tau-b between the two rankings of the systems",
        },
        method=f"{rows.description(scores=False).capitalize()}. Levels: {rows.level_words(bins, scale)}.",
        notes=[
            rows.unanimity_words(bins, scale),
            *(
                [
                    f"{disjoint} pairs of aspects have no observation in common (different annotators); "
                    f"{option('unit', 'output')} compares their means."
                ]
                if disjoint
                else []
            ),
            *human_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit),
    )


def _pair(a: str, b: str, rows: RaterRows, levels: dict[str, NDArray[np.int8]], means: tuple[Array, ...]) -> Row:
    x, y = rows.human[a], rows.human[b]
    both = ~(np.isnan(x) | np.isnan(y))
    p, q = levels[a][both], levels[b][both]
    n = int(both.sum())
    varies = n > 1 and np.ptp(x[both]) > 0 and np.ptp(y[both]) > 0
    kappa = cohen_kappa(p, q, "quadratic") if n else None
    rated = ~(np.isnan(means[0]) | np.isnan(means[1]))
    return {
        "first": a,
        "second": b,
        "r": float(np.corrcoef(x[both], y[both])[0, 1]) if varies else np.nan,
        "kappa": kappa.value if kappa else np.nan,
        "same_level": float((p == q).mean()) if n else np.nan,
        "opposite": float((np.abs(p - q) == HIGH - LOW).mean()) if n else np.nan,
        "systems_tau": SYSTEMS(means[0][None], means[1][None]).value if rated.sum() > 2 else np.nan,
        "n": n,
        "reason": None if n else "no observation has both aspects",
    }
