"""Data frames as plain columns, through narwhals: pandas, pyarrow, Modin, cuDF, DuckDB relations, Hugging Face
datasets.

The index of a pandas frame is data, too: it is used or refused, never dropped without a note.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from nlgauge.errors import DataError, NeedsMissing


def frame_columns(data: Any, source: str) -> tuple[dict[str, list[Any]], list[str]] | None:
    """Return the columns as lists, and notes on unused parts; None if the object is not a data frame.

    >>> import pyarrow
    >>> frame_columns(pyarrow.table({"system": ["A"], "bleu": [0.5]}), "mine")
    ({'system': ['A'], 'bleu': [0.5]}, [])
    """
    import narwhals.stable.v2 as nw
    from narwhals.dependencies import is_pandas_like_dataframe

    if isinstance(getattr(data, "column_names", None), dict):  # datasets.DatasetDict
        splits = list(data.column_names)
        raise DataError(f"{source}: has splits {', '.join(splits)}; pass one, e.g. data['{splits[0]}'].")
    notes: list[str] = []
    if hasattr(data, "with_format") and hasattr(data, "column_names"):  # datasets.Dataset
        data = data.with_format("arrow")[:]
    if is_pandas_like_dataframe(data):
        data, notes = _without_index(data, source)
    else:
        check_names(getattr(data, "column_names", None) or [], source)
    try:
        frame = nw.from_native(data)
    except TypeError:
        return None
    if isinstance(frame, nw.LazyFrame):
        try:
            frame = frame.collect("polars")
        except ImportError as error:
            raise NeedsMissing(f"{source}: {error}.") from None
    return {name: _plain(frame[name].to_list()) for name in frame.columns}, notes


def _without_index(frame: Any, source: str) -> tuple[Any, list[str]]:
    """Return a pandas frame with plain column names, and with its named index levels as first columns."""
    names = [_name(c) for c in frame.columns]
    check_names(names, source)
    given = [None if name is None else _name(name) for name in frame.index.names]
    flat = frame.set_axis(names, axis=1)
    columns: dict[str, Any] = {}
    notes = []
    for level, name in enumerate(given):
        values = frame.index.get_level_values(level)
        if name is None and len(given) == 1 and values.dtype.kind in "iu":
            # A default index after rows were filtered or sorted; noted unless it counts the rows.
            if not (len(values) and (np.asarray(values) == np.arange(len(values))).all()):
                notes.append("the unnamed index of the frame is not used (to use it: frame.rename_axis('input'))")
        elif name is None:
            which = f"level {level + 1} of its index" if len(given) > 1 else "its index"
            raise DataError(
                f"{source}: {which} has no name (first value: {values[0] if len(values) else 'none'}); name it "
                "(frame.rename_axis(['system', 'input'])), or drop it (frame.reset_index(drop=True))."
            )
        elif name in names:
            if _plain(flat[name].tolist()) != _plain(values.tolist()):
                raise DataError(
                    f"{source}: '{name}' is in the index and in a column with different values; rename one."
                )
        elif name in columns:
            raise DataError(f"{source}: two levels of its index have the same name; rename one.")
        else:
            columns[name] = values
    flat = flat.reset_index(drop=True)
    for place, (name, values) in enumerate(columns.items()):
        flat.insert(place, name, values)
    return flat, notes


def _name(column: Any) -> str:
    """Join several levels of names, as in `human.coherence`."""
    if isinstance(column, tuple):
        return ".".join(str(part) for part in column if str(part).strip())
    return str(column)


def check_names(names: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name."""
    repeated = [name for name, n in Counter(names).items() if n > 1]
    if repeated:
        raise DataError(f"{source}: two columns have the name '{repeated[0]}'; rename one.")


def _plain(values: list[Any]) -> list[Any]:
    """Convert to lists of plain values; missing ones (NaN or NA of pandas, also among texts) are None."""
    return [value.tolist() if isinstance(value, np.ndarray) else None if _missing(value) else value for value in values]


def _missing(value: Any) -> bool:
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )
