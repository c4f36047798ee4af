"""Declarations of the user about a file and its columns: `columns=`, keyword arguments and nlgauge.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, get_args

from nlgauge.data.files import read_text
from nlgauge.data.names import common_form
from nlgauge.errors import DataError, NameUnknown, Note
from nlgauge.number import either
from nlgauge.options import LABELED, ONE_COLUMN, ROLES, SEVERAL, check_role, option, parse_columns, write_columns
from nlgauge.registry import names_code

Repeats = Literal["auto", "number", "mean"]
ColumnNames = Mapping[str, Any] | Sequence[str] | str | None
SETTINGS_FILE = "nlgauge.toml"


@dataclass(frozen=True)
class Declared:
    """The user's declarations about one file, checked.

    Attributes
    ----------
    columns : mapping
        Role -> its column; for `references` a list of columns.
    human, metrics : list or mapping, optional
        Columns ("+x" adds to those that are inferred), or label -> its columns; None if not declared.
    note : str
        The note on nlgauge.toml, if it was used.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    human: ColumnNames = None
    metrics: ColumnNames = None
    ignore: Sequence[str] = ()
    lower: Sequence[str] = ()
    higher: Sequence[str] = ()
    human_systems: Sequence[str] | None = None
    person_raters: Sequence[str] = ()
    model_raters: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    nominal: Sequence[str] = ()
    multilabel: Sequence[str] = ()
    repeats: Repeats = "auto"
    values: Mapping[str, Any] | str | None = None
    sheet: str | None = None
    encoding: str | None = None
    reader: str | None = None
    note: str = ""
    in_settings: frozenset[str] = frozenset()  # names in nlgauge.toml

    @classmethod
    def of(cls, columns: Mapping[str, Any] | str | None, keywords: Mapping[str, Any], data: Any) -> Declared:
        """Merge declarations; explicit ones override those of nlgauge.toml next to the file, role by role."""
        unset = {f.name: f.default for f in fields(cls)}
        given = {role: value for role, value in keywords.items() if value is not None and value != unset.get(role)}
        roles = parse_columns(columns) if isinstance(columns, str) else columns or {}
        roles = _checked(roles, option("columns"))
        if repeated := sorted(set(roles) & set(given)):
            raise DataError(f"{option(repeated[0])}: declared twice, also in {option('columns')}.")
        explicit = {**roles, **_checked(given, "")}
        from_file = _from_settings(data) if isinstance(data, str | Path) else {}
        used = {role: value for role, value in from_file.items() if role not in explicit}
        note = Note(f"from {SETTINGS_FILE}: {write_columns(used)}", "declared") if used else ""
        merged = {**used, **explicit}
        single = {role: merged.pop(role) for role in (*ONE_COLUMN, "references") if role in merged}
        return cls(columns=single, note=note, in_settings=frozenset(_names(list(used.values()))), **merged)

    @property
    def names_columns(self) -> bool:
        """Whether any column is named, so that only a plain table can be meant."""
        return bool(self.columns or self.human or self.metrics or self.nominal or self.multilabel)

    @property
    def mentioned(self) -> set[str]:
        """All possible column names; from a table with very many columns only these are read."""
        names = set(_names(list(self.columns.values())))
        for name in _names([self.human, self.metrics, self.ordinal, self.nominal, self.multilabel]):
            names |= {name, name.removeprefix("+")}
        return names

    def without(self, rater: bool, human: bool) -> Declared:
        """Return the same without the column of raters, or of human ratings."""
        columns = {role: column for role, column in self.columns.items() if not (rater and role == "rater")}
        return replace(self, columns=columns, human=None if human else self.human)


def _checked(roles: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the roles with checked values; `human.quality` as a role is `human` with a label."""
    checked: dict[str, Any] = {}
    for name, value in roles.items():
        if value is None:
            continue
        role, _, label = (name, "", "") if name in ROLES else name.partition(".")
        place = where or option(role)
        check_role(role, place, labeled=bool(label))
        before = checked[role] if isinstance(checked.get(role), Mapping) else {}
        checked[role] = _value(role, {**before, label: value} if label else value, place)
    if checked.get("repeats", "auto") not in get_args(Repeats):
        raise NameUnknown(f"{option('repeats', checked['repeats'])}: use {either(get_args(Repeats))}.")
    return checked


def _value(role: str, value: Any, where: str) -> Any:
    if role in LABELED and isinstance(value, Mapping):
        return {name: common_form(of) if isinstance(of, str) else _listed(of) for name, of in value.items()}
    if role in SEVERAL:
        names = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
        if all(isinstance(name, str) for name in names):
            return [common_form(name) for name in names]
    elif isinstance(value, str):
        return common_form(value)
    raise DataError(f"{where}: {role}: found {value!r}, expected {'names' if role in SEVERAL else 'a name'}.")


def _listed(columns: Any) -> Any:
    """Return the columns of one aspect, normalized in the same way as column headings."""
    if isinstance(columns, list | tuple) and all(isinstance(column, str) for column in columns):
        return [common_form(column) for column in columns]
    return columns


def _names(values: Any) -> Iterator[str]:
    """Yield all strings in nested lists and mappings."""
    if isinstance(values, str):
        yield values
    elif values is not None:
        for value in values.values() if isinstance(values, Mapping) else values:
            yield from _names(value)


def _from_settings(data: str | Path) -> dict[str, Any]:
    """Read the roles that nlgauge.toml next to a file declares, in `[columns]` and matching `[columns."pattern"]`
    tables.
    """
    path = Path(data).parent / SETTINGS_FILE
    try:
        if not path.exists():
            return {}
        columns = tomllib.loads(read_text(path)).get("columns", {})
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: invalid TOML ({error}).") from None
    if not isinstance(columns, Mapping):
        raise DataError(f"{path}: columns: found {columns!r}, expected a table, [columns].")
    patterns = {name: part for name, part in columns.items() if isinstance(part, Mapping) and name not in LABELED}
    plain_roles = {name: value for name, value in columns.items() if name not in patterns}
    roles = _checked(plain_roles, f"{path}, [columns]")
    for pattern, part in patterns.items():
        own = _checked(part, f'{path}, [columns."{pattern}"]')
        if fnmatchcase(Path(data).name, pattern):
            roles |= own
    if names_code(str(roles.get("reader", ""))):  # the file may have come with the data
        raise DataError(f"{path}: a reader in a Python file can only be named with {option('reader')}.")
    return roles
