"""Rankings: one row per input and annotator, as ranks in columns or as an order 'A > B = C'."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nlgauge.data.comparisons import Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.records import first_row, parse_json, shown
from nlgauge.data.tables.raw import RawTable, read_table
from nlgauge.data.tables.values import is_number_column, numbers
from nlgauge.data.tables.vocabulary import ASIDE, column_of, label_text, plain
from nlgauge.errors import DataError
from nlgauge.registry import register

RANKING = {"ranking", "rankorder", "preferenceorder", "order", "ranked"}
RANK = re.compile(r"^(?:rank(?:s|ing)?[ _.:-]+(?P<before>.+)|(?P<after>.+?)[ _.:-]+rank)$", re.I)
WMT = re.compile(r"^system(?P<slot>\d+)rank$", re.I)


@register("reader", "preferences")
class Preferences(Reader):
    """Rankings: a column 'ranking' with 'A > B = C', or ranks (1 is best) in columns rank_A, rank_B …"""

    takes = Takes(
        "a table with 'A > B = C' in `ranking`, or ranks in `rank_A`, `rank_B` …",
        human="all pairs of the ranking; minus the rank is a rating",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        row = first_row(peek)
        column = _ranking_column(row)
        if column is not None:
            value = row[column]
            return isinstance(value, list) or (isinstance(value, str) and (">" in value or value.strip()[:1] == "["))
        return len(_rank_columns(row)) > 1 or bool(_wmt_columns(row))

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        """Read rankings; if this reader is named explicitly, other numeric columns are ranks of systems."""
        table = read_table(path, encoding)
        frame, choices = table.frame, Choices(path.name)
        roles = {role: column_of(role, frame.columns) for role in ("input", "source", "rater", "aspect")}
        ranks = _ranks(table, roles)
        for i, row in enumerate(frame.iter_rows(named=True)):
            merits = ranks(i, row)
            named = roles["input"] or roles["source"]
            if named and row[named] in (None, ""):
                raise DataError(f"{table.where.at(i, named)}: is empty, expected a name.")
            source = row[roles["source"]] if roles["source"] else None
            outputs = {system: {"output": row.get(f"output_{system}"), "source": source} for system in merits}
            given = choices.place(label_text(row[named]) if named else str(i), outputs)
            aspect = str(row[roles["aspect"]]) if roles["aspect"] else "preference"
            rater = label_text(row[roles["rater"]]) if roles["rater"] and row[roles["rater"]] is not None else None
            for system, merit in merits.items():
                choices.rate(system, given, aspect, rater, merit)
            choices.rank(given, merits, aspect, rater)
        return choices.dataset(["ratings are minus the rank (higher is better); comparisons are all pairs of a row"])


def _ranking_column(names: Mapping[str, Any]) -> str | None:
    return next((name for name in names if plain(name) in RANKING), None)


def _rank_columns(names: Mapping[str, Any] | list[str]) -> dict[str, str]:
    """Map each system to the column with its rank."""
    matches = {name: match for name in names if (match := RANK.match(name))}
    return {match["before"] or match["after"]: name for name, match in matches.items()}


def _wmt_columns(names: Mapping[str, Any] | list[str]) -> list[tuple[str, str]]:
    """Return the columns [(system1Id, system1rank), …] of a ranking in the format of the early WMT campaigns."""
    by_name = {name.lower(): name for name in names}
    slots = [match["slot"] for name in names if (match := WMT.match(name))]
    return [(by_name[f"system{s}id"], by_name[f"system{s}rank"]) for s in slots if f"system{s}id" in by_name]


def _ranks(table: RawTable, roles: Mapping[str, str | None]) -> Any:
    """Return a function from a row to {system: minus its rank}, in presentation order."""
    frame = table.frame
    ranking = _ranking_column(dict.fromkeys(frame.columns))
    if ranking is not None:
        return lambda i, row: _parse(table.where.at(i, ranking), row[ranking])
    if wmt := _wmt_columns(frame.columns):
        values = {column: numbers(table, column) for _, column in wmt}
        return lambda i, row: {
            row[who]: -v for who, column in wmt if (v := values[column][i]) is not None and v > 0 and row[who]
        }
    columns = _rank_columns(frame.columns)
    if len(columns) < 2:
        free = [
            c for c in frame.columns if c not in roles.values() and not ASIDE.match(c) and is_number_column(frame[c])
        ]
        columns = {c: c for c in free}
    if len(columns) < 2:
        raise DataError(
            f"{table.where.at()}: expected a column 'ranking', or rank_A, rank_B, … "
            f"Columns: {', '.join(frame.columns)}."
        )
    values = {column: numbers(table, column) for column in columns.values()}
    return lambda i, _: {system: -v for system, column in columns.items() if (v := values[column][i]) is not None}


def _parse(where: str, value: Any) -> dict[str, float]:
    """Parse a ranking 'A > B = C', ["A", "B"] or [["A"], ["B", "C"]], the best first; tied systems share their mean
    rank.
    """
    if value is None:
        return {}
    if isinstance(value, str) and value.strip()[:1] == "[":
        value = parse_json(where, value)
    elif isinstance(value, str):
        value = [re.split(r"[=~]", part) for part in value.split(">")]
    listed = value if isinstance(value, list) else [value]
    groups = [group if isinstance(group, list) else [group] for group in listed]
    names = [name.strip() if isinstance(name, str) else "" for group in groups for name in group]
    if "" in names or len(set(names)) < len(names):
        raise DataError(f"{where}: found {shown(value)}, expected different systems in order, e.g. 'A > B = C'.")
    merits: dict[str, float] = {}
    for group in groups:
        merits |= dict.fromkeys((str(name).strip() for name in group), -(len(merits) + (len(group) + 1) / 2))
    return merits
