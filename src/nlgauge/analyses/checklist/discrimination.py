"""Aspect-level discrimination: KS distance of scores between levels of quality (Nimah et al. 2023, section 3.4)."""

from __future__ import annotations

import math

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, signature
from nlgauge.analyses.checklist.rater_rows import (
    CONTRASTS,
    OTHER_RATERS,
    RaterRows,
    Scales,
    Unit,
    rated_rows,
    with_overall,
)
from nlgauge.data.families import Families, families_of
from nlgauge.data.panel import Panel
from nlgauge.number import sentence
from nlgauge.stats.ranking.quality_levels import LEVELS, Bins, Levels
from nlgauge.table import Layout, Row, Table, Title, grouped


@analysis(
    "discrimination",
    trials="mean",
    paper="nimah2023",
    question="Does a metric separate levels of quality of an aspect (Kolmogorov–Smirnov distance)?",
)
def discrimination(
    panel: Panel,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: Unit = "rater",
    overall: bool = False,
    families: Families | None = None,
    draws: int = 499,
    seed: int = 0,
) -> Table:
    """Compute how well a metric separates low, moderate and high quality (Kolmogorov–Smirnov distance).

    For comparison, the other human aspects and the other annotators of the same aspect are listed next to the metrics.

    Returns
    -------
    Table
        One row per metric and contrast of levels (Lo-Hi, Lo-Mod, Hi-Mod): distance, p, and the number of
        observations on both sides. p is not corrected for many metrics.

    Notes
    -----
    The distance is the largest gap between the distributions of the scores at two levels: 0 if they are the same,
    1 without overlap. It has no direction.

    References
    ----------
    Nimah et al. (2023), section 3.4.
    """
    rows = rated_rows(with_overall(panel) if overall else panel, unit)
    levels = rows.levels(panel.aspect, bins, scale)
    families_by_name = families_of(panel.names, families)
    table_rows: list[Row] = []
    for contrast, pair in CONTRASTS.items():
        values = contrast_ks(rows, panel.aspect, levels, pair, draws, seed)
        for name, (d, p) in values.items():
            table_rows.append(
                {
                    "metric": name,
                    "family": families_by_name.get(name, "Human"),
                    "aspect": panel.aspect,
                    "contrast": contrast,
                    "value": d,
                    "p": p,
                    "n_first": levels.counts[pair[0]],
                    "n_second": levels.counts[pair[1]],
                    "reason": _reason(d, levels, pair, rows, name),
                }
            )
    order = _order(table_rows)
    table_rows.sort(key=lambda row: (order[row["metric"]], list(CONTRASTS).index(row["contrast"])))
    return Table(
        title=Title(panel.name, f"aspect-level discrimination (KS distance), {panel.aspect}"),
        rows=table_rows,
        layout=Layout(
            "metric",
            "contrast",
            "value",
            best=lambda row: -1.0 if row["family"] == "Human" else row["value"],
            extra={"p Lo-Hi": _p},
        ),
        definitions={
            "KS": "largest difference between the distribution functions of the scores at two levels (0 same, 1 no "
            "overlap); without direction",
            "human: …": "human reference: ratings of another aspect, or the mean of the other annotators of this "
            "aspect",
        },
        method=f"{sentence(rows.description())}: {counts_words(levels)}. "
        f"p: {rows.words}, {draws} permutations, not corrected for several metrics.",
        notes=[*_notes(table_rows), *human_note(panel), *flipped_note(panel)],
        signature=signature(panel, bins=bins, unit=unit, draws=draws, seed=seed),
    )


def contrast_ks(
    rows: RaterRows, aspect: str, levels: Levels, pair: tuple[int, int], draws: int, seed: int
) -> dict[str, tuple[float, float]]:
    """Return KS and p between two levels of an aspect, of every metric, each other aspect and the other annotators."""
    one, two = levels.level == pair[0], levels.level == pair[1]
    others = {a: values for a, values in rows.human.items() if a != aspect}
    if (raters := rows.others(aspect)) is not None:
        others[OTHER_RATERS] = raters
    return {**rows.ks(one, two, draws, seed), **rows.human_ks(one, two, others, draws, seed)}


def counts_words(levels: Levels) -> str:
    """State how levels were cut, and how many rows each has."""
    counts = ", ".join(f"{n} {word}" for word, n in zip(LEVELS, levels.counts, strict=True))
    return f"{levels.words}; {counts}"


def _reason(value: float, levels: Levels, pair: tuple[int, int], rows: RaterRows, name: str) -> str | None:
    if not math.isnan(value):
        return None
    empty = [LEVELS[i] for i in pair if not levels.counts[i]]
    return f"no {' and no '.join(empty)} rows" if empty else "one of the levels has no scores"


def _order(rows: list[Row]) -> dict[str, tuple[bool, float]]:
    """Return the sort key of each metric: metrics before human references, by Lo-Hi or the first defined contrast."""
    return {
        name: (part[0]["family"] == "Human", -next((r["value"] for r in part if not math.isnan(r["value"])), -1.0))
        for name, part in grouped(rows, "metric").items()
    }


def _p(rows: list[Row]) -> float:
    return next((row["p"] for row in rows if row["contrast"] == "Lo-Hi"), math.nan)


def _notes(rows: list[Row]) -> list[str]:
    missing: dict[str, set[str]] = {}
    for row in rows:
        if row["reason"]:
            missing.setdefault(row["reason"], set()).add(row["contrast"])
    return [
        f"not available: {', '.join(c for c in CONTRASTS if c in where)} ({why})." for why, where in missing.items()
    ]
