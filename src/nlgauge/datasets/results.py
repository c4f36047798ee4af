"""results.json of `nlgauge run`: written atomically, checked when read, and its scores per output as a Dataset."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.data.files import read_text
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.foreign_text import for_json
from nlgauge.options import call
from nlgauge.writing import write_whole

SCHEMA_VERSION = 3  # a change that breaks readers of the file adds one
UNNAMED = "output"  # the only system of a results.json


def holds_results(data: Any) -> bool:
    """Return whether this is the path of a results.json."""
    path = Path(data) if isinstance(data, str | Path) else None
    return path is not None and path.suffix.lower() == ".json" and path.is_file() and is_results(path)


def data_of_results(path: str | Path) -> Dataset:
    """Return the scores and labels per output in a results.json, where a single system has no name."""
    path = Path(path)
    results = read_results(path)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    ratings = []
    for aspect, entry in {**results["one_system"], **results["verdicts"]}.items():
        keys = entry.get("rows") or [[UNNAMED, i] for i in entry["inputs"]]
        for k, (system, input_id) in enumerate(keys):
            scores = {name: values[k] for name, values in entry.get("judges", entry.get("metrics", {})).items()}
            rows.setdefault((str(system), str(input_id)), {}).update(scores)
            ratings.append((str(system), str(input_id), aspect, None, float(entry["human"][k])))
    if not rows:
        raise NeedsMissing(f"{path}: results of several systems have no scores per output; use the score table itself.")
    keys_frame = pl.DataFrame(list(rows), schema={"system": pl.String, "input": pl.String}, orient="row")
    names = dict.fromkeys(name for scores in rows.values() for name in scores)
    data = Dataset.of(path.name, keys_frame, ratings=pl.DataFrame(ratings, schema=Dataset.RATINGS, orient="row"))
    if units := results["per_input"]["units"]:
        names_of = [units.get(i, i) for i in keys_frame["input"]]
        data = replace(data, samples=data.samples.with_columns(pl.Series("unit", names_of)), cluster="unit")
    data = data.with_scores({name: [scores.get(name) for scores in rows.values()] for name in names})
    return replace(data, signatures=results["signatures"])


def named_alike(runs: Sequence[Dataset]) -> list[Dataset]:
    """Return the runs of one system with the name given in one of them, instead of no name."""
    shared = {system for run in runs for system in run.systems} - {UNNAMED}
    if len(shared) != 1:
        return list(runs)
    (name,) = shared
    return [_renamed(run, name) if run.systems == [UNNAMED] else run for run in runs]


def _renamed(run: Dataset, name: str) -> Dataset:
    """Rename the system of data with a single system."""
    frames = {field: getattr(run, field) for field in ("samples", "ratings", "scores", "failures", "spans")}
    return replace(run, **{field: f.with_columns(pl.lit(name).alias("system")) for field, f in frames.items()})


def write_results(path: Path, results: dict[str, Any]) -> Path:
    """Write results as JSON, whole or not at all; return the path."""
    write_whole(path, for_json(json.dumps(results, ensure_ascii=False, indent=1, default=str)) + "\n")
    return path


def read_results(path: Path) -> dict[str, Any]:
    """Read and check a results file; every error names the file."""
    try:
        found: dict[str, Any] = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
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
    """Return whether a .json file contains the results of a run (of this or another version) and not data."""
    if path.name.endswith(".results.json"):
        return True
    with path.open(encoding="utf-8", errors="replace") as file:
        return '"schema_version"' in file.read(200)
