"""Do people's aspects agree with each other? (nimah2023, sections 5.3 and A.4.1)"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.checklist.rater_rows import RaterRows, Scales, Unit, chosen_panel, rated_rows, row_words
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import percent
from nlgauge.stats.agreement.kappa import cohen_kappa
from nlgauge.stats.ranking.quality_levels import HIGH, LOW, NONE, Bins
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array


@analysis("inter-aspect", paper="nimah2023", takes="dataset", question="Do people's aspects agree with each other?")
def inter_aspect(choice: Choice, *, bins: Bins = "thirds", scale: Scales = None, unit: Unit = "rater") -> Table:
    """One row per two aspects: correlation of the ratings, agreement of the levels, and of the order of systems.

    What disagreement does to a metric: the analysis `aspect-disagreement`.
    """
    panel = chosen_panel(replace(choice, metrics=[]))
    rows = rated_rows(panel, unit)
    two_or_more(rows)
    levels = aspect_levels(rows, bins, scale)
    means = rows.system_means()
    found = [_pair(a, b, rows, levels, (means[a], means[b])) for a, b in combinations(rows.human, 2)]
    found.sort(key=lambda row: -np.nan_to_num(row["kappa"], nan=-2.0))
    apart = sum(not row["n"] for row in found)
    return Table(
        title=Title(panel.name, "agreement between the aspects"),
        rows=found,
        shown=["first", "second", "r", "kappa", "same_level", "opposite", "systems_tau", "n"],
        heads={"systems_tau": "systems τ", "n": "rows"},
        definitions={
            "r": "Pearson correlation of the two ratings over the rows",
            "kappa": "Cohen's kappa with quadratic weights of the levels low, moderate, high",
            "opposite": "share of the rows that are low on one aspect and high on the other",
            "systems τ": "Kendall's tau-b between the two orders of the systems",
        },
        method=f"{row_words(rows, scores=False).capitalize()}. Levels: {level_words(rows, bins, scale)}.",
        notes=[
            unanimity_words(np.stack(list(levels.values()))),
            *([f"{apart} pairs of aspects have no row in common (different raters); unit=output compares their "
               "means."] if apart else []),
            *people_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit),
    )  # fmt: skip


def two_or_more(rows: RaterRows) -> None:
    if len(rows.human) < 2:
        raise NeedsMissing(
            f"needs at least 2 aspects, found {len(rows.human)} ({', '.join(rows.human)}).",
            data=rows.panel.name,
            code="too_few_aspects",
        )


def aspect_levels(rows: RaterRows, bins: Bins, scale: Scales) -> dict[str, NDArray[np.int8]]:
    return {aspect: rows.levels(aspect, bins, scale).level for aspect in rows.human}


def level_words(rows: RaterRows, bins: Bins, scale: Scales) -> str:
    """How each aspect was cut; said once where all were cut alike."""
    words = {aspect: rows.levels(aspect, bins, scale).words for aspect in rows.human}
    if len(set(words.values())) == 1:
        words = {"all": next(iter(words.values()))}
    return "; ".join(f"{aspect}: {cut}" for aspect, cut in words.items())


def unanimity_words(levels: NDArray[np.int8]) -> str:
    """`levels`: aspects × rows."""
    complete = (levels != NONE).all(axis=0)
    n = int(complete.sum())
    same = complete & (levels == levels[0]).all(axis=0)
    low, high = (int((same & (levels[0] == each)).sum()) for each in (LOW, HIGH))
    share = percent(same.sum() / n) if n else "–"
    return (
        f"all {len(levels)} aspects at the same level: {int(same.sum())} of {n} rows ({share}); "
        f"low on all {low}, high on all {high}."
    )


def _pair(a: str, b: str, rows: RaterRows, levels: dict[str, NDArray[np.int8]], means: tuple[Array, ...]) -> Row:
    from scipy.stats import kendalltau

    x, y = rows.human[a], rows.human[b]
    both = ~(np.isnan(x) | np.isnan(y))
    p, q = levels[a][both], levels[b][both]
    n = int(both.sum())
    varies = n > 1 and np.ptp(x[both]) > 0 and np.ptp(y[both]) > 0
    kappa = cohen_kappa(p, q, "quadratic") if n else None
    known = ~(np.isnan(means[0]) | np.isnan(means[1]))
    return {
        "first": a, "second": b, "r": float(np.corrcoef(x[both], y[both])[0, 1]) if varies else np.nan,
        "kappa": kappa.value if kappa else np.nan, "same_level": float((p == q).mean()) if n else np.nan,
        "opposite": float((np.abs(p - q) == HIGH - LOW).mean()) if n else np.nan,
        "systems_tau": float(kendalltau(means[0][known], means[1][known]).statistic) if known.sum() > 2 else np.nan,
        "n": n, "reason": None if n else "no row has both aspects",
    }  # fmt: skip
