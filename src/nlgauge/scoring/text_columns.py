"""Text columns of a table that is read in batches, and the samples of one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge import registry
from nlgauge.data.tables.columns import Roles, find_roles
from nlgauge.data.tables.raw import Where
from nlgauge.data.tables.vocabulary import label_text
from nlgauge.errors import DataError, NameUnknown
from nlgauge.metrics import Batch
from nlgauge.scoring.table_batches import TableFile, TableRows

INFERENCE_ROWS = 1000  # from which the roles of the columns are inferred
NOBODY = "(none)"
TEXTS = ("output", "source", "context", "references", "control")


@dataclass(frozen=True)
class TextColumns:
    """The roles of the columns and the group column, inferred from the first rows of the file."""

    names: list[str]
    roles: Roles
    group: str | None

    @classmethod
    def of(cls, file: TableFile, columns: dict[str, str], by: str) -> TextColumns:
        """Infer the roles from the first rows of a file; `columns` overrides them."""
        first = next(iter(file.batches(INFERENCE_ROWS)), None)
        if first is None:
            raise DataError(f"{file.path}: the file has no rows.")
        table = first.table(INFERENCE_ROWS)
        table.where = Where(str(file.path))
        roles = find_roles(table, columns)
        group = {"system": roles.system, "input": roles.input}.get(by, by)
        names = table.frame.columns
        if group is not None and group not in names:
            hint = registry.did_you_mean(group, names)
            raise NameUnknown(f"{file.path.name}: no column '{group}'.{hint}")
        return cls(names, roles, group)

    @property
    def has(self) -> set[str]:
        """The texts that the samples have."""
        return {role for role in TEXTS if getattr(self.roles, role)}

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        r = self.roles
        named = (r.output, r.source, r.context, r.control, r.system, r.input, self.group, *r.references)
        return list(dict.fromkeys(name for name in named if name is not None))

    def batch(self, rows: TableRows) -> Batch:
        """Return the samples of some rows."""
        single = {
            role: None if (column := getattr(self.roles, role)) is None else _texts(rows, column)
            for role in ("output", "source", "context", "control")
        }
        references = _references(rows, self.roles.references) if self.roles.references else None
        output = single.pop("output")
        return Batch.from_columns([None] * len(rows) if output is None else output, references=references, **single)

    def keys(self, rows: TableRows) -> dict[str, list[str | None]]:
        """Return system and input of each row, for the table that is written."""
        key_columns = {"system": self.roles.system, "input": self.roles.input}
        return {role: _labels(rows, column) for role, column in key_columns.items() if column is not None}

    def groups(self, rows: TableRows) -> list[str]:
        """Return the group of each row."""
        if self.group is None:
            return ["system"] * len(rows)
        return [NOBODY if label is None else label for label in _labels(rows, self.group)]


def _labels(rows: TableRows, column: str) -> list[str | None]:
    return [None if value is None else label_text(value).strip() for value in rows.values(column)]


def _texts(rows: TableRows, column: str) -> list[str | None]:
    values = rows.values(column)
    if all(type(value) is str or value is None for value in values):
        return values
    return [_text(value, rows, i, column) for i, value in enumerate(values)]


def _text(value: Any, rows: TableRows, row: int, column: str) -> str | None:
    if isinstance(value, list) and all(isinstance(x, str) or x is None for x in value):
        return "\n".join(x for x in value if x is not None)
    if value is None or isinstance(value, str):
        return value
    raise DataError(
        f"row {rows.place.first + row:,}, column '{column}': found {type(value).__name__}, expected a text."
    )


def _references(rows: TableRows, columns: Sequence[str]) -> list[list[str]]:
    references: list[list[str]] = [[] for _ in range(len(rows))]
    for column in columns:
        for i, value in enumerate(rows.values(column)):
            for text in value if isinstance(value, list) else [value]:
                if type(text) is str:
                    references[i].append(text)
                elif text is not None:
                    _text(text, rows, i, column)
    return references
