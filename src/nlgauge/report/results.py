"""results.json: all tables of a report for programs, and the values per input by which two runs are compared."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np

import nlgauge
from nlgauge.analyses.verdicts.verdict_rows import verdict_rows
from nlgauge.datasets.results import SCHEMA_VERSION
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.options import option
from nlgauge.report.answer_types import ReportAnswer
from nlgauge.report.sections import Answered, ReportContext
from nlgauge.stats.correlation.measure import Measure, group_values


def results_of(
    run: ReportContext, answered: Sequence[Answered], command: Sequence[str] = (), answer: ReportAnswer | None = None
) -> dict[str, Any]:
    """Return the contents of results.json (see `docs/report.md`): header, answers, tables, gate measure per input."""
    source = run.source
    return {
        "schema_version": SCHEMA_VERSION,
        "nlgauge": nlgauge.__version__,
        "command": "nlgauge " + " ".join(command),
        "data": run.data.name,
        "seed": source.seed,
        "draws": run.draws,
        "quick": run.quick,
        "date": datetime.date.today().isoformat(),
        "card": list(source.card),
        "answer": None if answer is None else answer.to_dict(),
        "sections": [
            {
                "key": a.section.key,
                "title": a.section.title,
                "question": a.section.question,
                "missing": a.missing or None,
                "answers": [{"about": p.about, "answer": p.answer} for p in a.found.parts],
                "limitations": a.section.limitations,
                "lines": list(a.found.lines),
            }
            for a in answered
        ],
        "tables": [
            {"section": a.section.key, "about": p.about, **t.to_dict()}
            for a in answered
            for p in a.found.parts
            for t in p.tables
        ],
        "not_computed": [refusal.to_dict() for refusal in source.not_computed],
        "per_input": per_input(run),
        "verdicts": verdicts_of(run),
        "one_system": scores_of(run),
        "signatures": dict(run.data.signatures),
    }


def per_input(run: ReportContext) -> dict[str, Any]:
    """Return the gate measure on each input, per aspect and metric; None if the input is constant or unrated."""
    measure = Measure.parse(run.gate)
    if measure.grouping != "input":
        raise NlgaugeError(f"{option('gate', run.gate)}: only input/… measures have a value per input to compare.")
    result: dict[str, Any] = {"measure": str(measure), "inputs": [], "units": {}, "values": {}}
    for aspect in run.aspects:
        try:
            panel = run.source.panel(aspect)
            values = group_values(panel.oriented(), panel.human, measure)
        except DataError:
            continue  # nothing rated or scored here; the tables say so
        result["inputs"] = list(panel.inputs)  # the same for all aspects: rated on any
        result["units"] = {i: unit for i, unit in zip(panel.inputs, panel.units, strict=True) if unit != i}
        result["values"][aspect] = {m: [_short(v) for v in values[k].tolist()] for k, m in enumerate(panel.names)}
    return result


def verdicts_of(run: ReportContext) -> dict[str, Any]:
    """Return the pass and fail verdicts of human labels and judges by aspect, if both have two values."""
    verdicts = {}
    for aspect in run.aspects:
        try:
            rows = verdict_rows(run.source.panel(aspect))
        except DataError:
            continue
        if rows is not None:
            verdicts[aspect] = rows
    return verdicts


def scores_of(run: ReportContext) -> dict[str, Any]:
    """Return ratings and scores of every rated input by aspect, if there is only one system."""
    scores: dict[str, Any] = {}
    for aspect in run.aspects:
        try:
            panel = run.source.panel(aspect)
        except DataError:
            continue
        if len(panel.systems) == 1:
            rated = np.flatnonzero(np.isfinite(panel.human[0]))
            scores[aspect] = {
                "inputs": [panel.inputs[k] for k in rated],
                "human": [_short(v) for v in panel.human[0, rated]],
                "metrics": {m: [_short(v) for v in panel.oriented()[k, 0, rated]] for k, m in enumerate(panel.names)},
            }
    return scores


def _short(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 6)
