"""pandas frames as plain columns: what stands in the index is data too, and is used or refused, never dropped unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.errors import DataError


def pandas_columns(frame: Any, source: str) -> tuple[dict[str, list[Any]], list[str]]:
    """Columns and index levels with names, as lists; and lines that say what was not used."""
    names = [_name(c) for c in frame.columns]
    check_names(names, source)
    levels, notes = _index(frame, names, source)
    columns = {name: _plain(frame.iloc[:, i].tolist()) for i, name in enumerate(names)}
    return levels | columns, notes


def _name(column: Any) -> str:
    """Several levels of names are read as `human.coherence`."""
    if isinstance(column, tuple):
        return ".".join(str(part) for part in column if str(part).strip())
    return str(column)


def _index(frame: Any, names: Sequence[str], source: str) -> tuple[dict[str, list[Any]], list[str]]:
    index = frame.index
    given = [None if name is None else _name(name) for name in index.names]
    found: dict[str, list[Any]] = {}
    notes = []
    for level, name in enumerate(given):
        values = index.get_level_values(level)
        if name is None and len(given) == 1 and values.dtype.kind in "iu":
            # What is left of a default index after rows were filtered or sorted; said unless it counts the rows.
            if not (len(values) and (np.asarray(values) == np.arange(len(values))).all()):
                notes.append(
                    "the frame's index has no name and is not used (name it: frame.rename_axis('input'))"
                )
        elif name is None:
            which = f"level {level + 1} of its index" if len(given) > 1 else "its index"
            raise DataError(
                f"{source}: {which} has no name (first value: {values[0] if len(values) else 'none'}); name it "
                "(frame.rename_axis(['system', 'input'])), or drop it (frame.reset_index(drop=True))."
            )
        elif name in names:
            same = _plain(frame.iloc[:, list(names).index(name)].tolist()) == _plain(values.tolist())
            if not same:
                raise DataError(
                    f"{source}: '{name}' is both in the index and a column, with other values; rename one."
                )
        else:
            found[name] = _plain(values.tolist())
    if len(found) < len([n for n in given if n is not None and n not in names]):
        raise DataError(f"{source}: two levels of its index have the same name; rename one.")
    return found, notes


def check_names(names: Sequence[str], source: str) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise DataError(f"{source}: two columns are called '{twice[0]}'; rename one.")


def _plain(values: list[Any]) -> list[Any]:
    """pandas marks what is missing as NaN or NA, also among texts."""
    return [None if value is None or value != value or type(value).__name__ == "NAType" else value  # noqa: PLR0124
            if not isinstance(value, np.ndarray) else value.tolist() for value in values]  # fmt: skip
