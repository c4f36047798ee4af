"""Does a metric put two systems in people's order? Preference similarity (nimah2023, Eq. 2-4, Tables 20-22)."""

from __future__ import annotations

from typing import Literal

from nlgauge.analyses import analysis
from nlgauge.analyses._common import known_mean, people_note, signature, turned_note
from nlgauge.analyses.checklist.easy_hard_pairs import Pairs, SystemPairs, averaged, system_pairs
from nlgauge.analyses.checklist.rater_rows import RaterRows, Unit, chosen_panel, rated_rows, row_words
from nlgauge.data.choice import Choice
from nlgauge.data.families import Families, families_of
from nlgauge.errors import NeedsMissing
from nlgauge.number import sentence
from nlgauge.stats.ranking.preference import order_similarity
from nlgauge.table import Layout, Row, Table, Title, grouped

Per = Literal["metric", "family", "aspect", "pair"]


@analysis("system-preference", paper="nimah2023", takes="dataset", question="Does a metric put two systems in "
    "people's order?")  # fmt: skip
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
    """Mean similarity over easy and hard pairs (and aspects) per metric, family, metric and aspect, or pair (`per`)."""
    panel = chosen_panel(choice, overall)
    if not panel.metrics:
        raise NeedsMissing("no metric scores to compare with people's order.", data=panel.name, code="no_scores")
    rows = rated_rows(panel, unit)
    chosen = system_pairs(rows, pairs, share)
    single = preference_rows(rows, chosen, families_of(panel.names, families))
    line = "family" if per == "family" else "metric"
    across = ("first", "second") if per == "pair" else "pairs"
    if per == "aspect":
        across = ("pairs", "aspect")
        found = [
            {**row, "aspect": aspect}
            for aspect in panel.humans
            for row in averaged([r for r in single if r["aspect"] == aspect], "metric", ["value"])
        ]
    elif per == "pair":
        found = [
            {**{k: v for k, v in mine[0].items() if k != "aspect"}, "value": known_mean([r["value"] for r in mine])}
            for mine in grouped(single, "metric", "first", "second").values()
        ]  # fmt: skip
    else:
        found = averaged(single, per, ["value"])
    place = {name: i for i, name in enumerate(dict.fromkeys(row["pairs"] for row in single))}
    best = {name: known_mean([r["value"] for r in mine]) for name, mine in grouped(found, line).items()}
    found.sort(key=lambda row: (-best[row[line]], row[line], place[row["pairs"]]))
    return Table(
        title=Title(panel.name, "order of two systems, similarity with people"),
        rows=found,
        layout=Layout(line, across, "value", best=lambda row: row["value"],
                      heads=chosen.heads(panel.systems)),
        definitions={
            "similarity": "of a ≺ b by people and by the metric as sequences (Eq. 4): 1 same order, .667 where one of "
            "the two has a tie, .333 opposite; chance .667",
        },
        method=f"{sentence(chosen.words)}. Order by the mean of each system ({row_words(rows)}), "
        f"mean over the pairs and {len(panel.humans)} aspect{'s' if len(panel.humans) > 1 else ''} "
        f"({', '.join(panel.humans)}).",
        notes=[*people_note(panel), *turned_note(panel)],
        signature=signature(panel, aspect=",".join(panel.humans), unit=unit),
    )  # fmt: skip


def preference_rows(rows: RaterRows, chosen: SystemPairs, families: dict[str, str]) -> list[Row]:
    """One row per pair, metric and aspect: both orders and their similarity."""
    systems, human, metric = rows.panel.systems, rows.system_means(), rows.metric_means()
    found: list[Row] = []
    for group, pairs in chosen.groups.items():
        for a, b in pairs:
            names = [systems[a], systems[b]]
            for name, scores in metric.items():
                for aspect, ratings in human.items():
                    x, y = ratings[[a, b]], scores[[a, b]]
                    found.append(
                        {"metric": name, "family": families[name], "aspect": aspect, "pairs": group, "first": names[0],
                         "second": names[1], "value": order_similarity(names, x, y)}
                    )  # fmt: skip
    return found
