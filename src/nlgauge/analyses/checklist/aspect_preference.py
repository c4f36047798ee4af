"""Aspect-level preference: agreement of the order of quality levels by a metric and by humans (Nimah et al. 2023)."""

from __future__ import annotations

import math

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, signature
from nlgauge.analyses.checklist.discrimination import counts_words
from nlgauge.analyses.checklist.rater_rows import RaterRows, Scales, Unit, rated_rows
from nlgauge.data.families import Families, families_of
from nlgauge.data.panel import Panel
from nlgauge.number import number
from nlgauge.stats.ranking.preference import chance_similarity, order_sequence, order_similarity
from nlgauge.stats.ranking.quality_levels import HIGH, LEVELS, LOW, Bins, Levels
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array


@analysis(
    "aspect-preference",
    paper="nimah2023",
    question="Does a metric order low, moderate and high quality as human ratings do?",
)
def aspect_preference(
    panel: Panel, *, bins: Bins = "thirds", scale: Scales = None, unit: Unit = "rater", families: Families | None = None
) -> Table:
    """Compare how a metric and the human ratings order low, moderate and high quality.

    Returns
    -------
    Table
        One row per metric: its mean score at each level, the similarity of their order with low < moderate <
        high, and the difference of high and low in standard deviations of the metric.

    Notes
    -----
    Similarity = ((L1 + L2) − 2 · Levenshtein) / (L1 + L2) of the two orders as sequences: 1 is the human order.

    References
    ----------
    Nimah et al. (2023), NLG Evaluation Metrics Beyond Correlation Analysis: An Empirical Metric Preference
    Checklist, aspect-level preference.
    """
    rows = rated_rows(panel, unit)
    levels = rows.levels(panel.aspect, bins, scale)
    family = families_of(panel.names, families)
    table_rows: list[Row] = []

    def order_text(row: Row) -> str:
        sign = -1.0 if row["metric"] in panel.lower else 1.0
        return " ".join(order_sequence(LEVELS, sign * np.array([row[f"mean_{word}"] for word in LEVELS])))

    for name, means in level_means(rows, levels).items():
        shown = means * (-1.0 if name in panel.lower else 1.0)
        scored = panel.metrics[name][~np.isnan(panel.metrics[name])]
        spread = scored.std() if scored.size else 0.0
        table_rows.append(
            {
                "metric": name,
                "family": family[name],
                "aspect": panel.aspect,
                "value": level_similarity(means),
                **{f"mean_{word}": value for word, value in zip(LEVELS, shown.tolist(), strict=True)},
                "high_minus_low": float((means[HIGH] - means[LOW]) / spread) if spread > 0 else math.nan,
            }
        )
    table_rows.sort(key=lambda row: [math.inf if math.isnan(row[c]) else -row[c] for c in ("value", "high_minus_low")])
    few = len(levels.present) < 2
    return Table(
        title=Title(panel.name, f"aspect-level preference, {panel.aspect}"),
        rows=table_rows,
        shown=["metric", "value", "order", *(f"mean_{word}" for word in LEVELS), "high_minus_low"],
        heads={"value": "similarity", "high_minus_low": "Hi − Lo", **{f"mean_{word}": word for word in LEVELS}},
        cells={"order": order_text},
        definitions={
            "similarity": "((L1 + L2) − 2 · Levenshtein) / (L1 + L2) of the two orders as sequences; 1 is the human "
            f"order, a random order of {len(levels.present)} levels has "
            f"{number(chance_similarity(len(levels.present)))} on average (so has the reversed order of three levels)",
            "Hi − Lo": "difference of the means of high and low in standard deviations of the metric; negative if the "
            "metric scores low quality higher",
        },
        method="Levels ordered by the mean score of the metric, compared with the human order. "
        f"{rows.description().capitalize()}: {counts_words(levels)}.",
        notes=[
            *(["only one level has ratings, so there is no order."] if few else []),
            *human_note(panel),
            *flipped_note(panel),
        ],
        signature=signature(panel, bins=bins, unit=unit),
    )


def level_means(rows: RaterRows, levels: Levels) -> dict[str, Array]:
    """Return the mean score of every metric at each level (oriented), NaN for a level without rows."""
    means: dict[str, Array] = {}
    for k, name in enumerate(rows.panel.metrics):
        scores = rows.scores[k][rows.cell]
        by_level = [scores[(levels.level == i) & ~np.isnan(scores)] for i in range(len(LEVELS))]
        means[name] = np.array([x.mean() if len(x) else np.nan for x in by_level])
    return means


def level_similarity(means: Array) -> float:
    """Return the similarity of the order of these means with low < moderate < high."""
    return order_similarity(LEVELS, np.arange(len(LEVELS), dtype=np.float64), means)
