"""results.json of `nlgauge run`: written whole, and checked when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nlgauge.errors import DataError
from nlgauge.foreign_text import for_json
from nlgauge.options import call
from nlgauge.writing import write_whole

SCHEMA_VERSION = 3  # a change that breaks readers of the file adds one


def write_results(path: Path, results: dict[str, Any]) -> Path:
    """Write results as JSON, whole or not at all; return the path."""
    write_whole(path, for_json(json.dumps(results, ensure_ascii=False, indent=1, default=str)) + "\n")
    return path


def read_results(path: Path) -> dict[str, Any]:
    """A results file, checked; every complaint names it."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or 'cannot be read'}.") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not JSON ({error}).") from None
    version = found.get("schema_version") if isinstance(found, dict) else None
    if type(version) is not int or version != SCHEMA_VERSION:
        raise DataError(
            f"{path}: not a results file of this version of nlgauge (schema_version: found {version!r}, expected "
            f"{SCHEMA_VERSION}); write it again with {call('run FILE')}."
        )
    values = found.get("per_input")
    if (
        not isinstance(values, dict)
        or not isinstance(values.get("values"), dict)
        or not isinstance(values.get("inputs"), list)
        or not isinstance(values.setdefault("units", {}), dict)
    ):
        raise DataError(f"{path}: it holds no values per input; write it again with this version.")
    for key, inside in (
        ("signatures", "name: signature"),
        ("verdicts", "aspect: rows"),
        ("one_system", "aspect: scores"),
    ):
        if not isinstance(found.setdefault(key, {}), dict):
            raise DataError(f"{path}: {key}: found {type(found[key]).__name__}, expected {inside}.")
    return found


def is_results(path: Path) -> bool:
    """Whether a .json file is the results of a run, of this or another version, and not data."""
    if path.name.endswith(".results.json"):
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"schema_version"' in file.read(200)
