"""results.json of `nlgauge run`: written whole, and checked when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nlgauge.errors import DataError
from nlgauge.writing import write_whole

SCHEMA = "nlgauge-results/2"


def write_results(path: Path, results: dict[str, Any]) -> Path:
    write_whole(path, json.dumps(results, ensure_ascii=False, indent=1, default=str) + "\n")
    return path


def read_results(path: Path) -> dict[str, Any]:
    """A results file, checked; every complaint names it."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or 'cannot be read'}.") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: not JSON ({error}).") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise DataError(
            f"{path}: not a results file of this version of `nlgauge run` (schema {schema!r}, expected "
            f"{SCHEMA!r}); run it again."
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
    """Whether a .json is the results of a run, of this or another version, and not data."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"nlgauge-results/' in file.read(200)
