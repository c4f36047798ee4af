"""Inspect AI: evaluation logs, `.eval` (a zip file) and `.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from nlgauge.data.files import decode, read_bytes
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import HUMAN_WORDS, is_model
from nlgauge.data.readers import Takes
from nlgauge.data.readers._archives import names_in, read_entries
from nlgauge.data.readers.logs._logs import CODE, HUMAN, MODEL, UNKNOWN, Log, LogReader
from nlgauge.data.records import Record, parse_json, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

VERSION = 2  # of the log format
HEADER, START = "header.json", "_journal/start.json"
# A sample is one entry, or in chunked logs a folder whose sample.json has all but its messages and events.
SAMPLE = re.compile(r"samples/.*_epoch_\d+(\.json|/sample\.json)", re.S)
PRECOMPUTED = "precomputed_scores"  # the scorer that imports judgments made elsewhere, by humans or programs


@register("reader", "inspect-ai", only="json folder zip")
class InspectAi(LogReader):
    """Inspect AI logs (.eval, .json, or a folder of .eval): the scores of every scorer, human ones included."""

    takes = Takes(
        "`.eval`, `.json`, or a folder of `.eval` files",
        human="scorers with a human marker in their name (`human_grade`)",
        scores="every other scorer, `precomputed_scores` too unless declared as human; C, P, I, N are 1, 0.5, 0, 0; "
        "an object gives one metric per key",
        tested="inspect_ai 0.3.285",
    )
    tool = "Inspect AI"
    worth: ClassVar[Mapping[str, float]] = {"c": 1.0, "p": 0.5, "i": 0.0, "n": 0.0}
    pattern = "*.eval"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        if peek.is_folder:
            return peek.holds(cls.pattern)
        if peek.bytes[:2] == b"PK":
            names = names_in(peek.path)
            return HEADER in names or START in names
        return {"version", "status", "eval", "plan"} <= peek.keys

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        header, samples = _opened(path, encoding)
        if header.values.get("version") != VERSION:
            raise DataError(
                f"{path}: Inspect log of version {header.values.get('version')}; expected version {VERSION}. "
                "Convert it with `inspect log convert`."
            )
        about = Record(f"{header.where}, key 'eval'", 0, header.want("eval", dict))
        model, judges = str(about.want("model", str)), _judges(about)
        if (status := header.values.get("status", "started")) != "success":
            log.notes.append(f"{path.name}: run status '{status}'; outputs may be missing")
        edited = 0
        for sample in samples:
            if sample.values.get("error"):
                log.not_read["samples that ended in an error"] += 1
                continue
            output = sample.maybe("output", dict) or {}
            epoch = sample.values.get("epoch")
            row = log.output(
                model,
                sample.want("id", str, int),
                task=str(about.values.get("task")),
                repeat=(path, str(epoch)),
                extra={**(sample.maybe("metadata", dict) or {}), "epoch": epoch},
                output=output.get("completion", output),
                source=sample.values.get("input"),
                references=sample.values.get("target"),
            )
            scores = sample.maybe("scores", dict) or {}
            for name in scores:
                score = Record(f"{sample.where}, key 'scores'", 0, scores).maybe(name, dict) or {}
                value, history = score.get("value"), score.get("history")
                if isinstance(history, list) and history and isinstance(history[0], dict):
                    edited += 1  # the first entry is the scorer's own value
                    value = history[0].get("value", value)
                by = _by(name, score)
                log.judged(row, name, value, by, judges.get(name) if by == MODEL else None, score.get("explanation"))
        if edited:
            log.notes.append(f"{edited} scores were edited after the run; the scorer's original value is read")


def _opened(path: Path, encoding: str | None) -> tuple[Record, Iterator[Record]]:
    if path.suffix != ".eval" and not names_in(path):
        log = _record(str(path), decode(path, read_bytes(path), encoding))
        return log, iter(log.children("samples"))
    first = HEADER if HEADER in names_in(path) else START  # a run that was killed has no header
    entries = read_entries(path, first, SAMPLE)
    header = _record(f"{path}, {first}", next(entries, ("", b"{}"))[1].decode(errors="replace"))
    return header, (_record(f"{path}, {name}", raw.decode(errors="replace")) for name, raw in entries)


def _record(where: str, text: str) -> Record:
    values = parse_json(where, text)
    if not isinstance(values, dict):
        raise DataError(f"{where}: expected an object, got {shown(values)}.")
    return Record(where, 0, values)


def _judges(about: Record) -> dict[str, str | None]:
    """Return the grader model of each scorer: the scorer's own option, or the model with the grader role."""
    roles = about.maybe("model_roles", dict) or {}
    judges = {}
    for scorer in about.children("scorers"):
        options = scorer.maybe("options", dict) or {}
        graders = [options.get("model"), roles.get(str(options.get("model_role") or "grader"))]
        names = [g.get("model") if isinstance(g, dict) else g for g in graders]
        judges[str(scorer.values.get("name"))] = next((n for n in names if isinstance(n, str)), None)
    return judges


def _by(name: str, score: Mapping[str, Any]) -> str:
    if HUMAN_WORDS.search(name):
        return HUMAN
    if name == PRECOMPUTED:
        return UNKNOWN
    graded = isinstance(score.get("metadata"), dict) and "grading" in score["metadata"]
    return MODEL if graded or name.startswith("model_graded") or is_model(name) else CODE
