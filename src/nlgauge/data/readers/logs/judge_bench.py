"""JUDGE-BENCH (Bavaresco et al. 2024): one JSON object of annotated properties and of instances with human labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nlgauge.data.peek import Peek
from nlgauge.data.readers import Takes
from nlgauge.data.readers.logs._logs import HUMAN, MODEL, Log, LogReader, text_of
from nlgauge.data.records import Record, read_object
from nlgauge.data.tables.words import worth_of
from nlgauge.errors import DataError
from nlgauge.registry import register

# Texts with a judged part first repeat the complete output; texts of one prompt have the prompt before the response.
STEP = re.compile(r"\n\s*(?:JUDGE|STEP TO JUDGE|JUDGE THIS STEP)\s*:\s*(?P<part>.+?)\s*$", re.S)
RESPONSE = re.compile(r"\n[#* ]*(?:MODEL |GENERATED |SYSTEM |BOT )?RESPONSE[#*: ]*\n?")
OUTPUTS = ("response", "output", "answer", "completion", "summary", "translation", "hypothesis")
SCORES = "individual_human_scores"


@register("reader", "judge-bench", only="json")
class JudgeBenchReader(LogReader):
    """JUDGE-BENCH JSON: properties on graded scales or in classes, with the labels of every annotator."""

    takes = Takes(
        "a JSON object with `annotations` (metric, category, labels_list) and `instances`",
        human="`individual_human_scores`, else `majority_human` or `mean_human`",
        scores="labels of models next to the human ones",
        tested="files in the layout of the JUDGE-BENCH repository (it is not a package)",
    )
    tool = "JUDGE-BENCH"

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        return (
            '"annotations"' in peek.text
            and (SCORES in peek.text or '"majority_human"' in peek.text)
            and ('"labels_list"' in peek.text or '"category"' in peek.text)
        )

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        whole = Record(str(path), 0, read_object(path, encoding), path.name)
        for each in whole.children("annotations"):
            _declare(log, each)
        instances = whole.children("instances")
        if not instances:
            raise DataError(f"{path}: no instances.")
        log.own_aspects = True
        log.persons = False  # the n-th label is not known to be that of one annotator
        places = _places([instance.values.get("instance") for instance in instances])
        for instance, place in zip(instances, places, strict=True):
            name = instance.want("id", str, int)
            extra = {k: v for k, v in instance.values.items() if k not in ("id", "instance", "annotations")}
            row = log.output("system", place.pop("input") or name, extra=extra, **place)
            for metric, given in instance.want("annotations", dict).items():
                _judged(log, row, metric, given)


def _declare(log: Log, each: Record) -> None:
    """Record the scale of a property: ordered levels, classes, or two known words for pass and fail."""
    metric = str(each.want("metric", str))
    labels = [str(label) for label in each.maybe("labels_list", list) or []]
    if str(each.values.get("category")) == "graded":
        log.levels.add(metric)
    elif labels and (len(labels) > 2 or worth_of([label.lower() for label in labels]) is None):
        log.classes[metric] = tuple(labels)


def _judged(log: Log, row: int, metric: str, given: Any) -> None:
    """Record the labels of one instance; all keys except those of the human labels belong to models."""
    if not isinstance(given, dict):
        log.judged(row, metric, given, HUMAN)
        return
    scores = given.get(SCORES)
    scores = scores if isinstance(scores, list) else []
    if not scores:
        scores = [next((given[k] for k in ("majority_human", "mean_human") if given.get(k) is not None), None)]
    for slot, value in enumerate(scores, 1):
        if value is not None:
            log.judged(row, metric, value, HUMAN, slot if len(scores) > 1 else None)
    for key, value in given.items():
        if "human" not in key and isinstance(value, str | int | float):
            log.judged(row, metric, value, MODEL, key)


def _places(texts: list[Any]) -> list[dict[str, Any]]:
    """Return for each instance its input, the part of the output that is judged, and its texts.

    Instances about one response are parts of one output. Responses to one source are trials of one input, because the
    file does not name the systems that wrote them.

    Instances about one response are parts of one output; responses to one source are trials of one input, because
    nothing says which system wrote them.
    """
    found = [_split(text) for text in texts]
    wholes = [place["whole"] for place in found]
    counted: dict[str, int] = {}
    sources: dict[str, int] = {}
    outputs: dict[tuple[str, str], int] = {}
    for k, (place, whole) in enumerate(zip(found, wholes, strict=True)):
        source, output, part = place["source"], place["output"], place.pop("part")
        place.pop("whole")
        steps = part is not None and wholes.count(whole) > 1
        given = sources.setdefault(source, len(sources)) if source else len(sources) + k
        place["input"] = f"i{given + 1}" if source else ""
        if not steps:
            place["output"] = place["output"] if part is None else f"{output or ''}\n{part}".strip()
            place["repeat"] = k
            continue
        place["repeat"] = outputs.setdefault((source, whole), len(outputs))
        counted[whole] = counted.get(whole, 0) + 1
        place["part"] = f"step {counted[whole]}"
        place["input"] = place["input"] or f"i{place['repeat'] + 1}"
    if not any(place["source"] and wholes.count(whole) for place, whole in zip(found, wholes, strict=True)):
        for place in found:
            place["source"] = None
    return found


def _split(text: Any) -> dict[str, Any]:
    """Return the source, the output, the judged part, and the text without the judged part."""
    if isinstance(text, dict):
        output = next((str(text[k]) for k in OUTPUTS if isinstance(text.get(k), str)), None)
        rest = {k: v for k, v in text.items() if k not in OUTPUTS or v != output}
        source = text_of(rest) if rest else None
        return {"source": source, "output": output, "part": None, "whole": f"{source}\n{output}"}
    words = "" if text is None else str(text)
    step = STEP.search(words)
    whole = words[: step.start()] if step else words
    halves = RESPONSE.split(whole, maxsplit=1)
    source, output = (halves[0], halves[1]) if len(halves) == 2 else (whole, None)
    return {"source": source.strip(), "output": output, "part": step["part"] if step else None, "whole": whole.strip()}
