"""System-level discrimination: KS distance of scores between two systems (Nimah et al. 2023, section 3.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import finite_mean, flipped_note, human_note, signature
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN, Pairs, SystemPairs, averaged, system_pairs
from nlgauge.analyses.checklist.rater_rows import RaterRows, Unit, chosen_panel, rated_rows
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.number import sentence
from nlgauge.table import Layout, Row, Table, Title, grouped

Per = Literal["metric", "family", "pair"]


@analysis(
    "system-discrimination",
    trials="mean",
    paper="nimah2023",
    takes="dataset",
    question="Does a metric separate the outputs of two systems (Kolmogorov–Smirnov distance)?",
)
def system_discrimination(
    choice: Choice,
    *,
    pairs: Pairs | None = None,
    share: float = 1 / 3,
    per: Per = "metric",
    unit: Unit = "rater",
    overall: bool = False,
    families: Families | None = None,
    draws: int = 499,
) -> Table:
    """Compute how well a metric separates two systems (Kolmogorov–Smirnov distance).

    Parameters
    ----------
    share : float, default 1/3
        Share of all pairs of systems that are easy, and share that are hard; above 0, at most 0.5.
    per : {'metric', 'family', 'pair'}, default 'metric'
        Unit of one row: a `metric`, a `family` of metrics, or a `pair` of systems.

    Returns
    -------
    Table
        One row per metric (or family) and group of pairs: mean distance over the pairs, and share of pairs
        with p < 0.05; or one row per metric and pair with distance and p. The human aspects follow the
        metrics.

    Notes
    -----
    The distance is the largest gap between the distributions of two systems' scores. For p the outputs of each
    input are swapped between the two systems at random.

    References
    ----------
    Nimah et al. (2023), section 3.2, Tables 17–19.
    """
    panel = chosen_panel(choice, overall)
    rows = rated_rows(panel, unit)
    chosen = system_pairs(rows, pairs, share)
    single = pair_rows(rows, chosen, families_of(panel.names, families), draws, choice.seed)
    table_rows = single if per == "pair" else averaged(single, per, ["value"])
    line = "family" if per == "family" else "metric"
    order = _order(table_rows, line)
    table_rows.sort(key=lambda row: (order[row[line]], list(chosen.groups).index(row["pairs"])))
    across = ("first", "second") if per == "pair" else "pairs"
    return Table(
        title=Title(panel.name, "system-level discrimination (KS distance)"),
        rows=table_rows,
        layout=Layout(
            line,
            across,
            "value",
            best=lambda row: -1.0 if row["family"] == HUMAN else row["value"],
            heads=chosen.heads(rows.panel.systems),
        ),
        definitions={
            "KS": "largest difference between the distribution functions of two systems' scores (0 same, 1 no "
            "overlap), "
            "mean over the pairs; without direction"
        },
        method=f"{sentence(chosen.words)}. {rows.description().capitalize()}."
        + (" Family: mean over its metrics; Human: mean over the aspects." if per == "family" else "")
        + f" p: the outputs of each input are swapped between the two systems at random, {draws} permutations.",
        notes=[*human_note(panel), *flipped_note(panel)],
        signature=signature(panel, aspect=",".join(panel.humans), unit=unit, draws=draws, seed=choice.seed),
    )


def pair_rows(rows: RaterRows, chosen: SystemPairs, families: dict[str, str], draws: int, seed: int) -> list[Row]:
    """Return a row per pair and metric, and per pair and human aspect."""
    tests: list[Row] = []
    systems = rows.panel.systems
    for group, pairs in chosen.groups.items():
        for a, b in pairs:
            tests += [
                {
                    "metric": name,
                    "family": families.get(name, HUMAN),
                    "pairs": group,
                    "first": systems[a],
                    "second": systems[b],
                    "value": d,
                    "p": p,
                }
                for name, (d, p) in rows.ks_systems((a, b), draws, seed).items()
            ]
    return tests


def _order(rows: list[Row], line: str) -> dict[str, tuple[bool, float]]:
    """Return the sort key of each metric: by its mean distance, human aspects last."""
    return {
        name: (part[-1]["family"] == HUMAN, -m if not np.isnan(m := finite_mean([r["value"] for r in part])) else 1.0)
        for name, part in grouped(rows, line).items()
    }
