"""Comparison of judges at equal granularity: original scores, single draws, and scores binned into few levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, human_note, measures_of, signature
from nlgauge.analyses.agreement.correlate import measures_across
from nlgauge.analyses.judges.judges import draws_of
from nlgauge.data.panel import Panel
from nlgauge.stats.correlation.measure import evaluate
from nlgauge.stats.design.simulate import coarsen, fit_scores
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

LEVELS = (3, 5, 10)
ORIGINAL = "original"  # version: scores that are not binned
ONE_DRAW = "one draw"


@analysis(
    "fineness", paper="gao2025", question="Is one judge better than another, or are its scores only finer-grained?"
)
def fineness(
    panel: Panel, *, measures: Sequence[Named] | None = None, levels: Sequence[int] = LEVELS, seed: int = 0
) -> Table:
    """Compare judges at the same granularity of their scores, because finer scores have fewer ties.

    Parameters
    ----------
    levels : sequence of int, default (3, 5, 10)
        Numbers of equal-width bins into which the range of each judge's scores is divided.

    Returns
    -------
    Table
        One row per judge, version and measure. The versions are the original scores, the mean over single draws
        (`one draw`), and the scores binned into few levels. Judges are comparable within a version.

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
        versions: dict[str, list[Array]] = {ORIGINAL: [panel.metrics[judge]]}
        if judge in draws:
            versions[ONE_DRAW] = [panel.metrics[d] for d in draws[judge]]
        cut = {f"{k} levels": k for k in levels}
        versions |= {version: [coarsen(panel.metrics[judge], k)] for version, k in cut.items()}
        for version, arrays in versions.items():
            estimates = evaluate(np.stack(arrays) * sign, panel.human, chosen, seed=seed)
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
                        "value": float(np.mean(estimates.value[:, j])),
                        **spread,
                    }
                )
    heads = [str(m) for m in chosen]
    return Table(
        title=Title(panel.name, f"judges at equal granularity on {panel.aspect}"),
        rows=rows,
        layout=measures_across(
            chosen,
            ("metric", "version"),
            extra={"unique": lambda line: round(line[0]["unique"]), "ties": lambda line: line[0]["ties"]},
        ),
        heads={"metric": "judge"},
        method=f"{panel.n_systems} systems × {panel.n_inputs} inputs. ‘one draw’: mean over the single draws; ‘k "
        "levels’: scores in k equal bins between their minimum and maximum. If the advantage of a judge disappears at "
        "equal granularity, it is due to finer scores.",
        answers=verdicts(rows, heads),
        notes=human_note(panel),
        signature=signature(panel, levels=",".join(map(str, levels))),
    )


def verdicts(rows: list[Row], measures: Sequence[str]) -> list[str]:
    """State for each measure whether the best judge changes at equal granularity."""
    lines = []
    for measure in measures:
        best, binned = {}, {r["version"] for r in rows if r["levels"]}
        for version in dict.fromkeys(r["version"] for r in rows):
            defined = [
                r for r in rows if r["measure"] == measure and r["version"] == version and r["value"] == r["value"]
            ]
            if defined:
                best[version] = max(defined, key=lambda r: r["value"])["metric"]
        first = best.get(ORIGINAL)
        changed = [v for v in best if v in binned and best[v] != first]
        if first is not None and changed:
            lines.append(
                f"{measure}: {first} is best with its original scores, but {best[changed[0]]} with "
                f"{', '.join(changed)}."
            )
    return lines
