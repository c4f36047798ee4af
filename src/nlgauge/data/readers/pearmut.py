"""Pearmut: annotations of a campaign (`data/annotations/CAMPAIGN.jsonl`), with scores and error spans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._spans import NO_SEVERITY, Span, frame_of, plain_severity
from nlgauge.data.records import Record, number, read_records
from nlgauge.errors import DataError
from nlgauge.registry import register

RESET = "__RESET__"  # what the annotator did before does not count
PRACTICE = ("welcome_", "random_", "goodbye_")  # tutorials, attention checks, forms
MISSING = ("missing", "[missing]")


@register("reader", "pearmut", only="json")
class Pearmut(Reader):
    """Pearmut annotations (DA, ESA, cESA, MQM, own sliders): scores and error spans of every annotator."""

    takes = Takes(
        "`data/annotations/CAMPAIGN.jsonl` (until version 1.0 `data/outputs/…`), or the annotations that the dashboard "
        "downloads",
        human="the score, the sliders and the error spans of every annotator",
        tested="pearmut 1.1.6",
    )

    keys = ({"annotation", "user_id", "item_i"}, {"annotation", "item", "user_id"})

    @staticmethod
    def read(path: Path, encoding: str | None = None) -> Dataset:
        samples: dict[tuple[str, str], dict[str, Any]] = {}
        ratings: dict[tuple[str, str, str, str], float] = {}
        spans: dict[tuple[str, str, str], list[Span]] = {}
        left_out = 0
        for entry in _active(read_records(path, encoding)):
            rater, items = str(entry.want("user_id", str, int)), entry.maybe("item", list)
            given = entry.maybe("annotation", list)
            if not items or not given or str(entry.values.get("item_i")).startswith(PRACTICE):
                left_out += 1
                continue
            for i, (item, annotation) in enumerate(zip(items, given, strict=False), 1):
                texts = item.get("tgt") if isinstance(item, dict) else None
                if not isinstance(annotation, dict) or not isinstance(texts, dict):
                    left_out += 1
                    continue
                name = str(item.get("item_id") or f"{entry.values.get('item_i')}/{i}")
                for system, text in texts.items():
                    if isinstance(said := annotation.get(system), dict):
                        key = str(system), name
                        samples[key] = _sample(key, item, text)
                        where = f"{entry.where}, item {i}, system '{system}'"
                        for aspect, value in {"score": said.get("score"), **_sliders(said)}.items():
                            if (rated := number(f"{where}, '{aspect}'", value)) is not None:
                                ratings[*key, aspect, rater] = rated
                        if "error_spans" in said:
                            spans[*key, rater] = _spans(where, (*key, rater), said["error_spans"], text)
        if not samples:
            raise DataError(f"{path}: holds no annotated outputs ({left_out} tutorials, forms and empty entries).")
        notes = [f"{left_out} tutorials, attention checks and forms are left out"] if left_out else []
        frame = pl.DataFrame(
            [(*key[:3], key[3], value) for key, value in ratings.items()], schema=Dataset.RATINGS, orient="row"
        )
        found = frame_of(span for each in spans.values() for span in each)
        names = [*KEY, "output", "source", "references", "doc"]
        rows = [{name: sample.get(name) for name in names} for sample in samples.values()]
        schema = {name: pl.List(pl.String) if name == "references" else pl.String for name in names}
        table = pl.DataFrame(rows, schema=schema)
        table = table.select(c for c in table.columns if c in KEY or table[c].null_count() < table.height)
        return Dataset.of(path.name, table, ratings=frame, spans=found, persons=True, notes=notes)


def _active(entries: list[Record]) -> list[Record]:
    """Return the entries after an annotator's last reset."""
    last = {str(e.values.get("user_id")): i for i, e in enumerate(entries) if e.values.get("annotation") == RESET}
    return [e for i, e in enumerate(entries) if i > last.get(str(e.values.get("user_id")), -1)]


def _sample(key: tuple[str, str], item: dict[str, Any], text: Any) -> dict[str, Any]:
    reference = item.get("ref")
    references = [str(r) for r in (reference if isinstance(reference, list) else [reference]) if r]
    source, document = item.get("src"), item.get("doc_id", item.get("document_id"))
    return {
        "system": key[0],
        "input": key[1],
        "output": str(text),
        "source": source if isinstance(source, str) else None,
        "references": references or None,
        "doc": str(document) if document is not None else None,
    }


def _spans(where: str, key: tuple[str, str, str], errors: Any, text: Any) -> list[Span]:
    """Return the error spans marked on one output.

    The file counts characters from 0 and includes the last one, which is excluded here.
    """
    found = []
    for error in errors if isinstance(errors, list) else []:
        mark = Record(f"{where}, an error span", 0, error if isinstance(error, dict) else {})
        start, end = mark.maybe("start_i", int, str), mark.maybe("end_i", int, str)
        inside = isinstance(start, int) and isinstance(end, int) and 0 <= start <= end < len(str(text))
        place = (start, end + 1) if inside and isinstance(start, int) and isinstance(end, int) else (None, None)
        severity, category = mark.maybe("severity", str), mark.maybe("category", str)
        found.append(Span(*key, "output", place[0], place[1], plain_severity(severity or NO_SEVERITY), category))
    return found or [Span(*key)]


def _sliders(annotation: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a campaign's own sliders."""
    given = annotation.get("sliders")
    return given if isinstance(given, dict) else {}
