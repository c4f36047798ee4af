"""Google's MQM files (wmt-mqm-human-evaluation): error annotations, or the published average scores."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import Rating, dataset_of, numbered
from nlgauge.data.readers._spans import Span, frame_of, plain_severity, untagged
from nlgauge.data.records import number, option_numbers
from nlgauge.errors import DataError
from nlgauge.registry import register

NEEDED = ("system", "doc", "rater", "target", "category", "severity")
# Freitag et al. 2021; special categories take precedence over the severity.
WEIGHTS = {"major": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0}
PUNCTUATION, NON_TRANSLATION = 0.1, 25.0
Places = list[tuple[int, int]]
AVERAGES = re.compile(r"^system\s+mqm_avg_score\s+\S+\s*$", re.I)


@register("reader", "mqm")
class Mqm(Reader):
    """Google MQM: the TSV of error annotations (one score per annotator), or *.avg_seg_scores.tsv."""

    takes = Takes(
        "MQM error annotations (`.tsv`), or `mqm_avg_score` files",
        human="minus the weighted errors of every annotator, and their error spans",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        head = peek.text.partition("\n")[0]
        return bool(AVERAGES.match(head)) or ("\t" in head and set(NEEDED) <= {n.strip() for n in head.split("\t")})

    @staticmethod
    def read(path: Path, weights: Mapping[str, Any] | str | None = None, encoding: str | None = None) -> Dataset:
        lines = decode(path, read_bytes(path), encoding).replace("\r\n", "\n").split("\n")
        if AVERAGES.match(lines[0]):
            return _averages(path, lines)
        return _errors(path, lines, WEIGHTS | option_numbers("weights", weights))


def _averages(path: Path, lines: list[str]) -> Dataset:
    rows = []
    for i, line in enumerate(lines[1:], 2):
        words = line.split()
        if words and len(words) != 3:
            raise DataError(f"{path}, line {i}: found {len(words)} fields, expected 3 (system, score, segment).")
        if words:
            rows.append(
                (words[0], words[2], "mqm", None, number(f"{path}, line {i}, column 'mqm_avg_score'", words[1]))
            )
    if not rows:
        raise DataError(f"{path}: has a header but no rows.")
    long = pl.DataFrame(rows, schema=Dataset.RATINGS, orient="row")
    return Dataset.of(
        path.name,
        long.select(KEY),
        ratings=long.drop_nulls("value"),
        notes=["mqm is minus the weighted errors, the published mean over annotators: higher is better"],
    )


def _fields(path: Path, lines: list[str]) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Return the column names, and each row by column name with its line number."""
    names = [name.strip() for name in lines[0].split("\t")]
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise DataError(f"{path}, line 1: no column '{missing[0]}'. Columns: {', '.join(names)}.")
    # Fields have no tabs and quotes are not special, so that splitting is exact.
    rows = []
    for i, line in enumerate(lines[1:], 2):
        if line.strip():
            fields = line.split("\t")
            if len(fields) != len(names):
                raise DataError(f"{path}, line {i}: found {len(fields)} fields, the header has {len(names)}.")
            rows.append((i, dict(zip(names, fields, strict=True))))
    return names, rows


def _errors(path: Path, lines: list[str], weights: Mapping[str, float]) -> Dataset:
    names, rows = _fields(path, lines)
    segment = _segment_column(path, names, rows)
    samples: dict[tuple[str, str], int] = {}
    fields_of: list[dict[str, Any]] = []
    lines_at: list[int] = []
    scores: dict[tuple[int, str], float] = {}
    skipped: Counter[str] = Counter()
    void: set[tuple[int, str]] = set()
    spans: list[tuple[tuple[int, str], Span]] = []
    for i, row in rows:
        if row["doc"] == "canary":
            continue
        key = row["system"], f"{row['doc']}:{row[segment]}"
        target, marks = untagged(row["target"])
        source, source_marks = untagged(row.get("source", ""))
        sample = samples.get(key)
        if sample is None:
            sample = samples[key] = len(fields_of)
            fields_of.append(
                {"system": key[0], "input": key[1], "output": target, "source": source, "document": row["doc"]}
            )
            lines_at.append(i)
        elif fields_of[sample]["output"] != target:
            skipped["rows with a target text that differs from the first of their segment"] += 1
            marks = None  # of another text
        severity, category = plain_severity(row["severity"]), plain_severity(row["category"])
        if severity == "hotw-test" or not row["rater"].strip():
            skipped["attention tests" if row["rater"].strip() else "rows without an annotator"] += 1
            continue
        who = sample, row["rater"].strip()
        if "unrateable" in (severity, category):
            void.add(who)
            continue
        scores[who] = scores.get(who, 0.0) - _weight(path, i, severity, category, weights)
        error = None if severity == "no-error" else severity
        if error and marks is None:
            skipped["positions of errors whose tag is not closed or is in another text of the segment"] += 1
        named = Span(*key, who[1], severity=error, category=row["category"].strip() if error else None)
        spans += [(who, span) for span in _placed(named, marks, source_marks)]
    if not fields_of:
        raise DataError(f"{path}: has a header but no rows.")
    notes = [_weights_note(weights), *(f"{n} {what} were left out" for what, n in skipped.items())]
    if void:
        notes.append(
            f"{len(void)} segments were marked unrateable by an annotator; they have no score by that annotator"
        )
    ratings = [
        Rating(sample, "mqm", rater, score) for (sample, rater), score in scores.items() if (sample, rater) not in void
    ]
    data = dataset_of(
        numbered(path, lines_at, "line"),
        fields_of,
        ratings=ratings,
        persons=True,
        notes=notes,
        human={},
        metrics={},
        columns={"system": "system", "input": "input", "output": "output", "source": "source"},
    )
    return replace(data, spans=frame_of(span for who, span in spans if who not in void))


def _placed(error: Span, output: Places | None, source: Places | None) -> list[Span]:
    """Return the error once for each of its positions, or once without a position if it has none."""
    if error.severity is None:
        return [error]
    placed = [error._replace(start=start, end=end) for start, end in output or ()]
    placed += [error._replace(side="source", start=start, end=end) for start, end in source or ()]
    return placed or [error]


def _segment_column(path: Path, names: list[str], rows: list[tuple[int, dict[str, str]]]) -> str:
    """Return the column with the number of the segment in the test set, or in its document if the
    former is constant.
    """
    candidates = [name for name in ("seg_id", "globalSegId", "doc_id", "docSegId") if name in names]
    if not candidates:
        raise DataError(f"{path}, line 1: no column 'seg_id' or 'globalSegId'. Columns: {', '.join(names)}.")
    return next((name for name in candidates if len({row[name] for _, row in rows}) > 1), candidates[0])


def _weight(path: Path, line: int, severity: str, category: str, weights: Mapping[str, float]) -> float:
    if severity not in weights:
        raise DataError(
            f"{path}, line {line}, column 'severity': found '{severity}', which has no weight. Severities: "
            f"{', '.join(weights)}. Set its weight: weights='{severity or 'word'}=5'."
        )
    if severity in ("neutral", "no-error"):
        return weights[severity]
    if category.startswith("non-translation"):
        return weights.get("non-translation", NON_TRANSLATION)
    if severity == "minor" and category == "fluency/punctuation":
        return weights.get("punctuation", PUNCTUATION)
    return weights[severity]


def _weights_note(weights: Mapping[str, float]) -> str:
    special = {
        "minor fluency/punctuation": weights.get("punctuation", PUNCTUATION),
        "non-translation": weights.get("non-translation", NON_TRANSLATION),
    }
    named = {k: v for k, v in weights.items() if k not in ("punctuation", "non-translation")} | special
    return "mqm is minus the sum of an annotator's weighted errors: higher is better; weights: " + ", ".join(
        f"{name} {value:g}" for name, value in named.items()
    )
