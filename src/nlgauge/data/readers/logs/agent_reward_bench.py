"""AgentRewardBench (Lù et al. 2025): a CSV of annotators' judgments of the trajectories of web agents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, Log, LogReader
from nlgauge.data.tables.raw import read_table
from nlgauge.registry import register

PREFIX = "trajectory_"
UNKNOWN_WORDS = ("unsure", "", "none", "nan")
SYSTEM_COLUMNS = ("model_name", "agent_model", "agent_name", "agent", "model", "system")
ANNOTATOR_COLUMNS = ("annotator_name", "annotator", "annotator_id")
LEVEL = re.compile(r"^(\d+)\.\s")  # "1. Complete Failure"


@register("reader", "agent-reward-bench", only="text")
class AgentRewardBenchReader(LogReader):
    """AgentRewardBench CSV: success, side effects, optimality and looping of agent trajectories, by annotator."""

    takes = Takes(
        "a CSV with `task_id`, `trajectory_success`, and the model of the agent (`model_name`, `agent_model`, `agent`)",
        human="`trajectory_…` of every annotator",
        scores="`trajectory_…` of a column `judge`, and other columns that end in an annotated property",
        tested="files in the layout of the AgentRewardBench repository",
    )
    tool = "AgentRewardBench"
    worth: ClassVar[Mapping[str, float]] = {"successful": 1.0, "unsuccessful": 0.0}

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return "task_id" in peek.columns and f"{PREFIX}success" in peek.columns

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        log.own_aspects = True
        table = read_table(path, encoding)
        named = [c for c in table.frame.columns if c.startswith(PREFIX)]
        judged = {c: p for c in table.frame.columns for p in named if c != p and c.endswith(p.removeprefix(PREFIX))}
        system_column, annotator_column = (
            next((c for c in names if c in table.frame.columns), None) for names in (SYSTEM_COLUMNS, ANNOTATOR_COLUMNS)
        )
        if system_column is None:
            log.notes.append("no column names the agent's model: all rows are one system")
        unsure = 0
        for row in table.frame.iter_rows(named=True):
            extra = {"benchmark": row["benchmark"]} if row.get("benchmark") else {}
            number = log.output(row.get(system_column or ""), row["task_id"], repeat=row.get("exp_name"), extra=extra)
            by = MODEL if row.get("judge") else HUMAN
            who = row.get("judge") or row.get(annotator_column or "")
            for column in named:
                value = _known(row[column])
                unsure += value is None and row[column] is not None
                log.judged(number, column.removeprefix(PREFIX), value, by, who)
            for column, of in judged.items():
                log.judged(number, of.removeprefix(PREFIX), _known(row[column]), MODEL, column)
        if unsure:
            log.notes.append(f"{unsure} judgments 'Unsure' are missing values")


def _known(value: Any) -> Any:
    if value is None or str(value).strip().lower() in UNKNOWN_WORDS:
        return None
    level = LEVEL.match(str(value))
    return float(level[1]) if level else value
