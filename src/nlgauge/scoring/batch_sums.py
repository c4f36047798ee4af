"""What means and corpus values need of batches that are scored one by one, and the tables made of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.metrics import Metric
from nlgauge.scoring.aggregate import from_sums, group_rows, group_table
from nlgauge.scoring.score_batch import Outcome, outcome_table
from nlgauge.table import Row, Table


@dataclass
class Sums:
    """What means and corpus values need of the rows so far: by metric, and by group and metric."""

    rows: int = 0
    empty: int = 0
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    groups: dict[str, dict[str, Outcome]] = field(default_factory=dict)
    stats: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def add(self, other: Sums) -> None:
        self.rows += other.rows
        self.empty += other.empty
        for name, outcome in other.outcomes.items():
            self.outcomes[name] = self.outcomes.get(name, Outcome()) + outcome
        for group, outcomes in other.groups.items():
            mine = self.groups.setdefault(group, {})
            for name, outcome in outcomes.items():
                mine[name] = mine.get(name, Outcome()) + outcome
        for group, stats in other.stats.items():
            sums = self.stats.setdefault(group, {})
            for name, row in stats.items():
                sums[name] = np.add(sums[name], row).tolist() if name in sums else row

    def to_text(self) -> str:
        groups = {
            group: {name: vars(o) for name, o in outcomes.items()} for group, outcomes in self.groups.items()
        }
        outcomes = {name: vars(o) for name, o in self.outcomes.items()}
        return json.dumps({**vars(self), "outcomes": outcomes, "groups": groups})

    @classmethod
    def from_text(cls, text: str) -> Sums:
        """Raises ValueError, KeyError, TypeError or AttributeError for what is no such text."""
        kept = json.loads(text)

        def outcomes(found: dict[str, Any]) -> dict[str, Outcome]:
            return {name: Outcome.from_json(said) for name, said in found.items()}

        groups = {group: outcomes(found) for group, found in kept["groups"].items()}
        return cls(kept["rows"], kept["empty"], outcomes(kept["outcomes"]), groups, kept["stats"])


def run_table(name: str, metrics: Sequence[Metric], total: Sums, batch: int) -> Table:
    """What was run, over all rows."""
    table = outcome_table(name, metrics, total.outcomes, total.empty)
    table.notes = [*table.notes, f"{total.rows:,} rows in batches of {batch:,}, each row a sample of its own"]
    return table


def groups_table(title: str, by: str, metrics: Sequence[Metric], total: Sums) -> Table:
    """Means and corpus values by group."""
    rows: list[Row] = []
    for metric in metrics:
        name = str(metric)
        for group, outcomes in total.groups.items():
            found = outcomes[name]
            sums = total.stats.get(group, {}).get(name)
            corpus = None
            if hasattr(metric, "from_stats"):
                corpus = from_sums(metric, np.array(sums)) if sums and found.scored else np.nan
            counts = {"n": found.scored, "unscored": found.unscored, "lower": metric.facts.lower}
            rows += group_rows({by: group}, name, found.mean, corpus, counts)
    table = group_table(title, by, rows)
    if pooled := [str(m) for m in metrics if hasattr(m, "pooled") and not hasattr(m, "from_stats")]:
        said = f"no corpus value in batches, as it pools the outputs themselves: {', '.join(pooled)}"
        table.notes = [*table.notes, said]
    return table
