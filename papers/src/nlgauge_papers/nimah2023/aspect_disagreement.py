"""What does disagreement between aspects do to a metric?

KS where all aspects agree and where they do not (nimah2023).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import known_mean, people_note, signature, turned_note
from nlgauge.analyses.checklist.inter_aspect import aspect_levels, level_words, two_or_more, unanimity_words
from nlgauge.analyses.checklist.rater_rows import RaterRows, Scales, Unit, chosen_panel, rated_rows, row_words
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.number import number, sentence
from nlgauge.stats.ranking.quality_levels import HIGH, LOW, NONE, Bins
from nlgauge.stats.tests.ks import ks_chance, ks_weighted
from nlgauge.table import Cell, Layout, Row, Table, Title, grouped

Per = Literal["metric", "aspect"]
WHERE = ("agree", "disagree")


@analysis("aspect-disagreement", paper="nimah2023", takes="dataset", question="Does a metric still tell good "
    "from bad where people's aspects disagree?")  # fmt: skip
def aspect_disagreement(
    choice: Choice,
    *,
    bins: Bins = "thirds",
    scale: Scales = None,
    unit: Unit = "rater",
    per: Per = "metric",
    families: Families | None = None,
) -> Table:
    """Lo-Hi KS of every metric in the rows where all aspects have the same level, and in the others (mean over aspects,
    or each one with per=aspect)."""
    panel = chosen_panel(choice)
    panel.stacked()  # says what is missing when there are no metrics
    rows = rated_rows(panel, unit)
    two_or_more(rows)
    found = _single(rows, bins, scale, families_of(panel.names, families), choice.seed)
    shown = found if per == "aspect" else _averaged(found)
    best = {m: known_mean([r["value"] for r in shown if r["metric"] == m]) for m in panel.names}
    shown.sort(key=lambda row: (-np.nan_to_num(best[row["metric"]], nan=-1.0), row["metric"]))
    chance = {w: known_mean([r["chance"] for r in found if r["where"] == w]) for w in WHERE}
    counts = {
        w: ", ".join(f"{r['aspect']} {r['n_low']} low and {r['n_high']} high" 
            for r in found if r["metric"] == panel.names[0] and r["where"] == w)
        for w in WHERE
    }  # fmt: skip
    return Table(
        title=Title(panel.name, "Lo-Hi KS where the aspects agree and where they disagree"),
        rows=shown,
        layout=Layout("metric", ("where", "aspect") if per == "aspect" else "where", "value",
                      best=lambda row: row["value"],
                      extra={} if per == "aspect" else {"difference": _difference}),
        definitions={
            "agree": "rows in which all aspects have the same level; disagree: the others",
            "KS": "largest gap between the scores of low and high rows, mean over the aspects",
        },
        method=f"{sentence(row_words(rows))}. Levels: {level_words(rows, bins, scale)}. Rows where they disagree: "
        f"{counts['disagree']}.",
        notes=[
            unanimity_words(np.stack(list(aspect_levels(rows, bins, scale).values()))),
            f"a metric that knows nothing and scores every output by itself has KS {number(chance['agree'])} "
            f"(agree) and {number(chance['disagree'])} (disagree) with so many rows; one with effects of systems "
            "or inputs has more.",
            *people_note(panel), *turned_note(panel),
        ],
        signature=signature(panel, aspect=",".join(panel.humans), bins=bins, unit=unit, seed=choice.seed),
    )  # fmt: skip


def _single(rows: RaterRows, bins: Bins, scale: Scales, families: dict[str, str], seed: int) -> list[Row]:
    levels = aspect_levels(rows, bins, scale)
    stacked = np.stack(list(levels.values()))
    complete = (stacked != NONE).all(axis=0)
    same = complete & (stacked == stacked[0]).all(axis=0)
    found: list[Row] = []
    for aspect, own in levels.items():
        for where, chosen in zip(WHERE, (same, complete & ~same), strict=True):
            low, high = rows.weights(chosen & (own == LOW)), rows.weights(chosen & (own == HIGH))
            chance = ks_chance(low, high, draws=99, seed=seed)
            for name, value in zip(rows.panel.metrics, ks_weighted(rows.scores, low, high), strict=True):
                found.append(
                    {"metric": name, "family": families[name], "aspect": aspect, "where": where, "value": float(value),
                     "n_low": int(low.sum()), "n_high": int(high.sum()), "chance": chance}
                )  # fmt: skip
    return found


def _averaged(rows: list[Row]) -> list[Row]:
    return [
        {"metric": m, "family": mine[0]["family"], "where": w, "value": known_mean([r["value"] for r in mine]),
         "aspects": sum(not np.isnan(r["value"]) for r in mine), "chance": known_mean([r["chance"] for r in mine])}
        for (m, w), mine in grouped(rows, "metric", "where").items()
    ]  # fmt: skip


def _difference(rows: list[Row]) -> Cell:
    value = {row["where"]: row["value"] for row in rows}
    difference = value["disagree"] - value["agree"]
    return Cell(number(difference, sign=True), difference)
