"""Annotation files: a CSV with empty columns, tasks for Label Studio or records for Argilla.

Scores stay out of the file: who labels should not see what a judge thinks. System, input and the probability of the
draw travel with each output, so that the answers find their place (`--labels`).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.labels import DESIGN, ROUND
from nlgauge.errors import NameUnknown
from nlgauge.foreign_text import for_spreadsheet
from nlgauge.options import option
from nlgauge.writing import write_whole

Tool = Literal["csv", "label-studio", "argilla"]
TEXTS = ("source", "context", "output")


def write_tasks(
    data: Dataset,
    rows: Sequence[dict[str, Any]],
    path: str | Path,
    tool: Tool | None = None,
    aspects: Sequence[str] = (),
) -> list[str]:
    """Write the drawn outputs with their sampling design and texts; return what was written."""
    path = Path(path)
    tool = tool or ("label-studio" if path.suffix.lower() == ".json" else "csv")
    if tool not in get_args(Tool):
        raise NameUnknown(f"no tool '{tool}'; use {', '.join(get_args(Tool))}.")
    named = [c for c in TEXTS if c in data.samples.columns and data.samples[c].null_count() < len(data)]
    drawn = pl.DataFrame([{k: row[k] for k in (*KEY, *DESIGN)} for row in rows], infer_schema_length=None)
    tasks = drawn.join(data.samples.select(*KEY, *named), on=KEY, how="left", maintain_order="left")
    asked = list(aspects) or data.aspects or ["label"]
    write_whole(path, _WRITERS[tool](tasks, named, asked))
    said = f"written: {path} ({tasks.height} outputs, {tool})"
    many = "s" * (len(asked) > 1)
    if tool == "csv":
        return [
            said,
            (f"fill in the column{many} {', '.join(asked)}, then: {option('labels', str(path))}{_beside(tasks)}"),
        ]
    return [
        said,
        "import it there, let annotators answer, export as JSON, then: "
        f"{option('labels', 'EXPORT')}{_beside(tasks)} (question{many}: "
        f"{', '.join(asked)})",
    ]


def _beside(tasks: pl.DataFrame) -> str:
    return f" next to {option('labels')} of the earlier draws" if (tasks[ROUND] > 1).any() else ""


def _csv(tasks: pl.DataFrame, named: list[str], asked: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*KEY, *named, *asked, *DESIGN])
    for row in tasks.iter_rows(named=True):
        empty = [""] * len(asked)
        texts = (for_spreadsheet(row[c] or "") for c in (*KEY, *named))  # annotators open the file in a spreadsheet
        writer.writerow([*texts, *empty, *("" if row[c] is None else row[c] for c in DESIGN)])
    return out.getvalue()


def _label_studio(tasks: pl.DataFrame, named: list[str], asked: list[str]) -> str:
    """Return a list of tasks; the fields in `data` are returned in the export."""
    found = [{"data": {c: row[c] for c in (*KEY, *named, *DESIGN)}} for row in tasks.iter_rows(named=True)]
    return json.dumps(found, ensure_ascii=False, indent=1)


def _argilla(tasks: pl.DataFrame, named: list[str], asked: list[str]) -> str:
    """Return a list of records in the format of `Dataset.records.from_json`."""
    found = [
        {
            "id": f"{row['system']}: {row['input']}",
            "fields": {c: row[c] or "" for c in named},
            "metadata": {c: row[c] for c in (*KEY, *DESIGN) if row[c] is not None},
            "suggestions": {},
            "responses": {},
            "vectors": {},
        }
        for row in tasks.iter_rows(named=True)
    ]
    return json.dumps(found, ensure_ascii=False, indent=1)


_WRITERS = {"csv": _csv, "label-studio": _label_studio, "argilla": _argilla}
