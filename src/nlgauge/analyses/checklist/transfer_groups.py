"""Table 3 of nimah2023 as data: the sets that are in-domain, semantic or domain shift for a metric family."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

GROUPS = ("ID", "semantic-shift", "domain-shift")


@dataclass(frozen=True)
class Transfer:
    """One cell: for metrics of `family`, the paper's `dataset` (`set_name` here) belongs to `group`."""

    family: str
    category: str
    human_aligned: bool
    dataset: str
    set_name: str
    group: str


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return table


def transfer_groups() -> list[Transfer]:
    """All cells of Table 3.

    >>> {t.dataset: t.group for t in transfer_groups() if t.family == "CTRLEval"}["USR-PC"]
    'domain-shift'
    """
    names = _table()["datasets"]
    return [
        Transfer(row["family"], row["category"], row["human_aligned"], dataset, names[dataset], group)
        for row in _table()["families"]
        for group in GROUPS
        for dataset in row[group]
    ]


def metric_family(column: str) -> str | None:
    """The family of Table 3 that a column of the checklist tables belongs to.

    >>> metric_family("ctc_e_engage"), metric_family("meteor_1")
    ('CTC', None)
    """
    return next((row["family"] for row in _table()["families"] if re.search(row["columns"], column)), None)
