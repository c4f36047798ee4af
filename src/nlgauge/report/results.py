"""results.json: all tables of a report for machines, and the values per input with which two runs are compared."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge
from nlgauge.analyses.verdicts.verdict_rows import verdict_rows
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.report.answer import ReportAnswer
from nlgauge.report.sections import Answered, Run
from nlgauge.stats.correlation.measure import Measure, group_values
from nlgauge.writing import write_whole

SCHEMA = "nlgauge-results/2"


def results_of(
    run: Run, answered: Sequence[Answered], command: Sequence[str] = (), answer: ReportAnswer | None = None
) -> dict[str, Any]:
    """What `docs/report.md` describes: a header, the answers, the tables, and the gate measure of every input."""
    source = run.source
    return {
        "schema": SCHEMA, "nlgauge": nlgauge.__version__, "command": "nlgauge " + " ".join(command),
        "data": run.data.name,
        "seed": source.seed, "draws": run.draws, "quick": run.quick, "date": datetime.date.today().isoformat(),
        "card": list(source.card), "answer": None if answer is None else answer.to_dict(),
        "sections": [
            {"key": a.section.key, "question": a.section.question, "missing": a.missing or None,
             "answers": [{"about": p.about, "answer": p.answer} for p in a.found.parts],
             "not_said": a.section.not_said, "lines": list(a.found.lines)}
            for a in answered
        ],
        "tables": [
            {"section": a.section.key, "about": p.about,
             **t.to_dict()} for a in answered for p in a.found.parts for t in p.tables
        ],
        "per_input": per_input(run), "verdicts": verdicts_of(run), "one_system": scores_of(run),
        "signatures": dict(run.data.signatures),
    }  # fmt: skip


def per_input(run: Run) -> dict[str, Any]:
    """The gate measure on each input, per aspect and metric; null where the input is constant or unrated."""
    measure = Measure.parse(run.gate)
    if measure.grouping != "input":
        raise NlgaugeError(f"--gate {run.gate}: only input/… measures have a value per input to compare.")
    found: dict[str, Any] = {"measure": str(measure), "inputs": [], "values": {}}
    for aspect in run.aspects:
        try:
            panel = run.source.panel(aspect)
            values = group_values(panel.oriented(), panel.human, measure)
        except DataError:
            continue  # nothing rated or scored here; the tables say so
        found["inputs"] = list(panel.inputs)  # the same for all aspects: rated on any
        found["values"][aspect] = {m: [_short(v) for v in values[k].tolist()] for k, m in enumerate(panel.names)}
    return found


def verdicts_of(run: Run) -> dict[str, Any]:
    """Aspect → pass and fail of people and judges, row by row, where both have two values."""
    found = {}
    for aspect in run.aspects:
        try:
            rows = verdict_rows(run.source.panel(aspect))
        except DataError:
            continue
        if rows is not None:
            found[aspect] = rows
    return found


def scores_of(run: Run) -> dict[str, Any]:
    """Aspect → ratings and scores of every rated input, where there is one system: no input has an order of systems."""
    found: dict[str, Any] = {}
    for aspect in run.aspects:
        try:
            panel = run.source.panel(aspect)
        except DataError:
            continue
        if len(panel.systems) == 1:
            rated = np.flatnonzero(np.isfinite(panel.human[0]))
            found[aspect] = {
                "inputs": [panel.inputs[k] for k in rated], "people": [_short(v) for v in panel.human[0, rated]],
                "metrics": {m: [_short(v) for v in panel.oriented()[k, 0, rated]] for k, m in enumerate(panel.names)},
            }  # fmt: skip
    return found


def _short(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 6)


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
