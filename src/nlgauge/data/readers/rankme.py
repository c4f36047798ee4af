"""RankME (Novikova et al. 2018): magnitude estimates of several outputs per annotator."""

from __future__ import annotations

import re
from pathlib import Path

from nlgauge.data.comparisons import Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.records import first_row
from nlgauge.data.tables.raw import RawTable, read_table
from nlgauge.data.tables.values import is_number_column, numbers
from nlgauge.errors import DataError
from nlgauge.registry import register

NUMBERED = re.compile(r"^(?P<stem>.*\D)(?P<slot>\d+)$")
FULL = {"inf": "informativeness", "nat": "naturalness", "qual": "quality"}
TEXTS = ("ref", "team")


@register("reader", "rankme")
class RankMe(Reader):
    """RankME csv: ref1.. team1.. quality1..: magnitude ratings, and the comparisons they imply."""

    takes = Takes(
        "a table with `ref1`, `ref2`, `team1`, `team2` …", human="magnitude estimates, and the comparisons they imply"
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        return {"team1", "team2", "ref1", "ref2"} <= set(first_row(peek))

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        table = read_table(path, encoding)
        stems = _stems(table)
        for stem in TEXTS:
            if len(stems.get(stem, ())) < 2:
                raise DataError(
                    f"{path}: expected columns {stem}1, {stem}2, … Columns: {', '.join(table.frame.columns)}."
                )
        slots = stems["team"]
        aspects = {
            s: FULL.get(s, s) for s, columns in stems.items() if s not in TEXTS and _rates(table, s, columns, slots)
        }
        if not aspects:
            raise DataError(
                f"{path}: no column of ratings such as quality{slots[0]}. Columns: {', '.join(table.frame.columns)}."
            )
        values = {(stem, slot): numbers(table, f"{stem}{slot}") for stem in aspects for slot in slots}
        choices = Choices(path.name)
        for i, row in enumerate(table.frame.iter_rows(named=True)):
            given = row.get("mr_id") or row.get("mr")
            teams = [row[f"team{slot}"] for slot in slots]
            if given is None or None in teams:
                column = "mr_id" if given is None else f"team{slots[teams.index(None)]}"
                raise DataError(f"{table.where.at(i, column)}: is empty, expected a name.")
            if len(set(teams)) < len(teams):
                raise DataError(f"{table.where.at(i)}: a system occurs twice in this row ({', '.join(teams)}).")
            outputs = {row[f"team{s}"]: {"output": row.get(f"ref{s}"), "source": row.get("mr")} for s in slots}
            given = choices.place(str(given), outputs)
            rater = row.get("_worker_id") or row.get("worker_id")
            for stem, aspect in aspects.items():
                merits = {team: values[stem, slot][i] for team, slot in zip(teams, slots, strict=True)}
                merits = {team: value for team, value in merits.items() if value is not None}
                for team, value in merits.items():
                    choices.rate(team, given, aspect, rater, value)
                choices.rank(given, merits, aspect, rater)
        used = {"mr", "mr_id", "_worker_id", "worker_id", *(f"{s}{k}" for s in (*TEXTS, *aspects) for k in slots)}
        aside = [c for c in table.frame.columns if c not in used]
        return choices.dataset(
            ["magnitude estimates: each annotator has an individual scale; comparisons are the pairs of a row"]
            + ([f"columns not read: {', '.join(aside)}"] if aside else [])
        )


def _stems(table: RawTable) -> dict[str, list[str]]:
    """Return the numbered columns by their stem: {'ref': ['1', '2', '3'], 'quality': ['1', '2', '3'], …}."""
    stems: dict[str, list[str]] = {}
    for column in table.frame.columns:
        if match := NUMBERED.match(column):
            stems.setdefault(match["stem"], []).append(match["slot"])
    return stems


def _rates(table: RawTable, stem: str, columns: list[str], slots: list[str]) -> bool:
    # One numeric column is enough: a word in another one is then an error.
    return set(columns) >= set(slots) and any(is_number_column(table.frame[f"{stem}{slot}"]) for slot in slots)
