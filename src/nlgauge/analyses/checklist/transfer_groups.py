"""Table 3 of Nimah et al. (2023) as data: sets that are in-domain, semantic or domain shift for a metric family."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

GROUPS = ("ID", "semantic-shift", "domain-shift")


@dataclass(frozen=True)
class Transfer:
    """A cell of the table: for metrics of `family`, the paper's `dataset` (`set_name` here) belongs to `group`."""

    family: str
    category: str
    dataset: str
    set_name: str
    group: str


@cache
def transfer_groups() -> list[Transfer]:
    """Return all cells of Table 3.


    >>> {t.dataset: t.group for t in transfer_groups() if t.family == "CTRLEval"}["USR-PC"]
    'domain-shift'
    """
    table: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return [
        Transfer(row["family"], row["category"], dataset, table["datasets"][dataset], group)
        for row in table["families"]
        for group in GROUPS
        for dataset in row[group]
    ]
