"""Effect of disagreement between aspects on a metric: KS distance where all aspects agree and where they do not.

Section 5.3 of Ni'mah et al. (2023).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge import Table
from nlgauge.plugins import (
    Cell,
    Choice,
    Layout,
    RaterRows,
    Row,
    Title,
    analysis,
    families_of,
    flipped_note,
    human_note,
    number,
    signature,
)
from nlgauge.stats import ks_chance, ks_weighted
from nlgauge_papers.common import Bins, Families, RowUnit, Scales

Per = Literal["metric", "aspect"]
WHERE = ("agree", "disagree")


@analysis(
    "aspect-disagreement",
    paper="nimah2023",
    takes="dataset",
    question="Does a metric distinguish good from bad outputs where the human aspects disagree?",
)
def aspect_disagreement(
    choice: Choice,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: RowUnit = "rater",
    per: Per = "metric",
    families: Families | None = None,
) -> Table:
    """Compare how well a metric distinguishes good from bad outputs where all aspects agree and where they do not.

    Parameters
    ----------
    per : {'metric', 'aspect'}
        One row per `metric` (mean over aspects), or one row per metric and `aspect`.

    Returns
    -------
    Table
        KS distance of low and high rows where all aspects are at the same level, and in the other rows.

    Notes
    -----
    Section 5.3 of Nimah et al. (2023).
    """
    rows = RaterRows.of(choice, unit)
    panel = rows.panel
    panel.stacked()  # says what is missing when there are no metrics
    rows.require_two_aspects()
    result = _single(rows, bins, scale, families_of(panel.names, families), choice.seed)
    shown = result if per == "aspect" else _averaged(result)
    best = {m: _mean([r["value"] for r in shown if r["metric"] == m]) for m in panel.names}
    shown.sort(key=lambda row: (-np.nan_to_num(best[row["metric"]], nan=-1.0), row["metric"]))
    chance = {w: _mean([r["chance"] for r in result if r["where"] == w]) for w in WHERE}
    counts = {
        w: ", ".join(
            f"{r['aspect']} {r['n_low']} low and {r['n_high']} high"
            for r in result
            if r["metric"] == panel.names[0] and r["where"] == w
        )
        for w in WHERE
    }
    return Table(
        title=Title(panel.name, "Lo-Hi KS where the aspects agree and where they disagree"),
        rows=shown,
        layout=Layout(
            "metric",
            ("where", "aspect") if per == "aspect" else "where",
            "value",
            best=lambda row: row["value"],
            extra={} if per == "aspect" else {"difference": _difference},
        ),
        definitions={
            "agree": "rows in which all aspects have the same level; disagree: the others",
            "KS": "largest gap between the scores of low and high rows, mean over the aspects",
        },
        method=f"{rows.description().capitalize()}. Levels: {rows.level_words(bins, scale)}. Rows where they disagree: "
        f"{counts['disagree']}.",
        notes=[
            rows.unanimity_words(bins, scale),
            f"a random metric with independent scores has KS {number(chance['agree'])} "
            f"(agree) and {number(chance['disagree'])} (disagree) with so many rows; one with effects of systems "
            "or inputs has more.",
            *human_note(panel),
            *flipped_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, seed=choice.seed),
    )


def _single(rows: RaterRows, bins: Bins, scale: Scales, families: dict[str, str], seed: int) -> list[Row]:
    levels = {aspect: rows.levels(aspect, bins, scale) for aspect in rows.human}
    same, mixed = rows.unanimous(bins, scale)
    results: list[Row] = []
    for aspect, own in levels.items():
        for where, chosen in zip(WHERE, (same, mixed), strict=True):
            low, high = rows.weights(chosen & own.low), rows.weights(chosen & own.high)
            chance = ks_chance(low, high, draws=99, seed=seed)
            for name, value in zip(rows.panel.metrics, ks_weighted(rows.scores, low, high), strict=True):
                results.append(
                    {
                        "metric": name,
                        "family": families[name],
                        "aspect": aspect,
                        "where": where,
                        "value": float(value),
                        "n_low": int(low.sum()),
                        "n_high": int(high.sum()),
                        "chance": chance,
                    }
                )
    return results


def _averaged(rows: list[Row]) -> list[Row]:
    by_metric: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_metric.setdefault((row["metric"], row["where"]), []).append(row)
    return [
        {
            "metric": m,
            "family": own[0]["family"],
            "where": w,
            "value": _mean([r["value"] for r in own]),
            "aspects": sum(not np.isnan(r["value"]) for r in own),
            "chance": _mean([r["chance"] for r in own]),
        }
        for (m, w), own in by_metric.items()
    ]


def _mean(values: list[float]) -> float:
    available = [v for v in values if np.isfinite(v)]
    return float(np.mean(available)) if available else float("nan")


def _difference(rows: list[Row]) -> Cell:
    value = {row["where"]: row["value"] for row in rows}
    difference = value["disagree"] - value["agree"]
    return Cell(number(difference, sign=True), difference)
