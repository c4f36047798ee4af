"""System-level preference: agreement on the order of two systems (Nimah et al. 2023, Eq. 2-4)."""

from __future__ import annotations

from typing import Literal

from nlgauge.analyses import analysis
from nlgauge.analyses._common import finite_mean, flipped_note, human_note, signature
from nlgauge.analyses.checklist.easy_hard_pairs import Pairs, SystemPairs, averaged, system_pairs
from nlgauge.analyses.checklist.rater_rows import RaterRows, Unit, chosen_panel, rated_rows
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.errors import NeedsMissing
from nlgauge.number import count, sentence
from nlgauge.stats.ranking.preference import order_similarity
from nlgauge.table import Layout, Row, Table, Title, grouped

Per = Literal["metric", "family", "aspect", "pair"]


@analysis(
    "system-preference",
    paper="nimah2023",
    takes="dataset",
    question="Does a metric order two systems as human ratings do?",
)
def system_preference(
    choice: Choice,
    *,
    pairs: Pairs | None = None,
    share: float = 1 / 3,
    per: Per = "metric",
    unit: Unit = "rater",
    overall: bool = False,
    families: Families | None = None,
) -> Table:
    """Compare how a metric and the human ratings order two systems.

    Parameters
    ----------
    share : float, default 1/3
        Share of all pairs of systems that are easy, and share that are hard; above 0, at most 0.5.
    per : {'metric', 'family', 'aspect', 'pair'}, default 'metric'
        Unit of one row: a `metric`, a `family` of metrics, a metric and `aspect`, or a `pair` of systems.

    Returns
    -------
    Table
        One row per metric, family or metric and aspect, and group of pairs (or one per metric and pair): mean
        similarity of the two orders.

    Notes
    -----
    Similarity of the orders as sequences (Eq. 4): 1 for the same order, 2/3 where one of them has a tie or by
    chance, 1/3 for the opposite order.

    References
    ----------
    Nimah et al. (2023), Eq. 2–4, Tables 20–22.
    """
    panel = chosen_panel(choice, overall)
    if not panel.metrics:
        raise NeedsMissing("there are no metric scores.", code="no_scores")
    rows = rated_rows(panel, unit)
    chosen = system_pairs(rows, pairs, share)
    single = preference_rows(rows, chosen, families_of(panel.names, families))
    line = "family" if per == "family" else "metric"
    across = ("first", "second") if per == "pair" else "pairs"
    if per == "aspect":
        across = ("pairs", "aspect")
        table_rows = [
            {**row, "aspect": aspect}
            for aspect in panel.humans
            for row in averaged([r for r in single if r["aspect"] == aspect], "metric", ["value"])
        ]
    elif per == "pair":
        table_rows = [
            {**{k: v for k, v in part[0].items() if k != "aspect"}, "value": finite_mean([r["value"] for r in part])}
            for part in grouped(single, "metric", "first", "second").values()
        ]
    else:
        table_rows = averaged(single, per, ["value"])
    place = {name: i for i, name in enumerate(dict.fromkeys(row["pairs"] for row in single))}
    best = {name: finite_mean([r["value"] for r in part]) for name, part in grouped(table_rows, line).items()}
    table_rows.sort(key=lambda row: (-best[row[line]], row[line], place[row["pairs"]]))
    return Table(
        title=Title(panel.name, "system-level preference (similarity with the human order)"),
        rows=table_rows,
        layout=Layout(line, across, "value", best=lambda row: row["value"], heads=chosen.heads(panel.systems)),
        definitions={
            "similarity": "similarity of the human order and the metric's order as sequences (Eq. 4): 1 same order, "
            "2/3 "
            "if one of them has a tie, 1/3 opposite order; chance 2/3"
        },
        method=f"{sentence(chosen.words)}. Order by the mean of each system ({rows.description()}), "
        f"mean over the pairs and {count(len(panel.humans), 'aspect')} ({', '.join(panel.humans)}).",
        notes=[*human_note(panel), *flipped_note(panel)],
        signature=signature(panel, aspect=",".join(panel.humans), unit=unit),
    )


def preference_rows(rows: RaterRows, chosen: SystemPairs, families: dict[str, str]) -> list[Row]:
    """Return a row per pair, metric and aspect with the similarity of the two orders."""
    systems, human, metric = rows.panel.systems, rows.system_means(), rows.metric_means()
    table_rows: list[Row] = []
    for group, pairs in chosen.groups.items():
        for a, b in pairs:
            names = [systems[a], systems[b]]
            for name, scores in metric.items():
                for aspect, ratings in human.items():
                    x, y = ratings[[a, b]], scores[[a, b]]
                    table_rows.append(
                        {
                            "metric": name,
                            "family": families[name],
                            "aspect": aspect,
                            "pairs": group,
                            "first": names[0],
                            "second": names[1],
                            "value": order_similarity(names, x, y),
                        }
                    )
    return table_rows
