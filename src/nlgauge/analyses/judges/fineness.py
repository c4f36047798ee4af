"""Is judge A better, or only finer? Every measure as it is, with one draw, and with all judges made equally coarse
(gao2025).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, measures_of, people_note, signature
from nlgauge.analyses.agreement.correlate import measures_across
from nlgauge.analyses.judges.judges import draws_of
from nlgauge.data.panel import Panel
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.design.simulate import coarsen, fit_scores
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

LEVELS = (3, 5, 10)


@analysis("fineness", paper="gao2025", question="Is one judge better than another, or only finer?")
def fineness(
    panel: Panel, *, measures: Sequence[Named] | None = None, levels: Sequence[int] = LEVELS, seed: int = 0
) -> Table:
    """Compare judges on equally coarse scales, to see whether one is better or only finer.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    measures : sequence of str or Measure, optional
        Measures of agreement, such as `input/kendall` or `system/pearson`; by default the twelve of Gao et al.
        (2025): Pearson, Spearman and Kendall at the levels system, item, input and global.
    levels : sequence of int, default (3, 5, 10)
        Numbers of equal steps to which each judge's range is cut.
    seed : int, default 0
        Seed of the random draws: the same seed gives the same numbers on any machine.

    Returns
    -------
    Table
        One row per judge, version and measure. The versions are the scores as they are, the mean over single
        draws (`one draw`), and the scores cut to few levels. Two judges are compared fairly in the same
        version.

    References
    ----------
    Gao et al. (2025).
    """
    chosen = measures_of(measures)
    draws = draws_of(panel.names)
    single = {d for many in draws.values() for d in many}
    rows: list[Row] = []
    for judge in (n for n in panel.names if n not in single):
        sign = -1.0 if judge in panel.lower else 1.0
        versions: dict[str, list[Array]] = {"as it is": [panel.metrics[judge]]}
        if judge in draws:
            versions["one draw"] = [panel.metrics[d] for d in draws[judge]]
        cut = {f"{k} levels": k for k in levels}
        versions |= {version: [coarsen(panel.metrics[judge], k)] for version, k in cut.items()}
        for version, arrays in versions.items():
            found = evaluate(np.stack(arrays) * sign, panel.human, chosen, seed=seed)
            fits = [fit_scores(a) for a in arrays]
            spread = {
                "unique": float(np.mean([f.unique for f in fits])),
                "ties": float(np.mean([f.tie_ratio for f in fits])),
            }
            for j, measure in enumerate(chosen):
                rows.append(
                    {
                        "metric": judge,
                        "aspect": panel.aspect,
                        "version": version,
                        "levels": cut.get(version),
                        "measure": str(measure),
                        "value": float(np.mean(found.value[:, j])),
                        **spread,
                    }
                )
    heads = [str(m) for m in chosen]
    return Table(
        title=Title(panel.name, f"judges on {panel.aspect}, as they are and made equally coarse"),
        rows=rows,
        layout=measures_across(
            chosen,
            ("metric", "version"),
            extra={"unique": lambda mine: round(mine[0]["unique"]), "ties": lambda mine: mine[0]["ties"]},
        ),
        heads={"metric": "judge"},
        method=f"{panel.n_systems} systems × {panel.n_inputs} inputs. ‘one draw’: mean over the single draws; ‘k "
        "levels’: the scores cut into k equal steps between their lowest and highest. A judge whose lead disappears "
        "when both are equally coarse was only finer.",
        answers=verdicts(rows, heads),
        notes=people_note(panel),
        signature=signature(panel, levels=",".join(map(str, levels))),
    )


def verdicts(rows: list[Row], measures: Sequence[str]) -> list[str]:
    """For each measure the best judge as it is, and whether it still leads when all are equally coarse."""
    said = []
    for measure in measures:
        best, coarser = {}, {r["version"] for r in rows if r["levels"]}
        for version in dict.fromkeys(r["version"] for r in rows):
            mine = [r for r in rows if r["measure"] == measure and r["version"] == version and r["value"] == r["value"]]
            if mine:
                best[version] = max(mine, key=lambda r: r["value"])["metric"]
        lead, others = best.get("as it is"), [v for v in best if v in coarser]
        lost = [v for v in others if best[v] != lead]
        if lead is not None and lost:
            said.append(f"{measure}: {lead} leads as it is, but {best[lost[0]]} with {', '.join(lost)}.")
    return said
