"""Rubrics: their items from a file, and the protocol that asks a judge for a verdict on each item of an output.

A rubric is TOML or JSON with a list of `items` (or `rubrics`, as in HealthBench), each with `text` (or `criterion`) and
perhaps `name` and `points`; a JSON list of them or of texts; or a text file with one criterion per line.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nlgauge.data.files import read_text
from nlgauge.data.readers.logs.rubrics import CRITERION, ITEMS, POINTS
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.metrics.batch import Scores
from nlgauge.metrics.judge.own_words import TooLong, plain_text, without_judged, without_quotations
from nlgauge.metrics.judge.protocol import WITHOUT_CODE, Found, JudgeProtocol
from nlgauge.metrics.judge.replies import Failure, Reply, Request
from nlgauge.metrics.judge.task import LIBRARY
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.text.batch import Batch
from nlgauge.types import Array

FOLDER = LIBRARY / "rubrics"
SUFFIXES = (".toml", ".json", ".txt", ".md")
NAMES = ("name", "id", "title")
TOKENS_PER_ITEM = 80  # of a reply
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
VERDICT = r"\s*:\s*(?:criterion|item)?\s*#?(?P<item>\d{1,3})\W{1,5}(?P<met>not\s+met|unmet|met|no|yes|false|true)\b"
MET = {"met": 1.0, "yes": 1.0, "true": 1.0}


class RubricItem(NamedTuple):
    """A criterion with its points, which are below 0 for what an output should not do."""

    name: str
    text: str
    points: float = 1.0


def shipped_rubrics() -> list[str]:
    """Return the names of the rubrics inside the package."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_rubric(name: str | Path) -> list[RubricItem]:
    """Read a shipped rubric by name, or a user's rubric by path.

    >>> [item.name for item in load_rubric("grounded-summary")][:2]
    ['main point', 'supported']
    """
    path = FOLDER / f"{name}.toml" if str(name) in shipped_rubrics() else Path(name).expanduser()
    if path.suffix.lower() not in SUFFIXES:
        raise NameUnknown(
            f"no rubric '{name}'.{did_you_mean(str(name), shipped_rubrics())} Expected one of "
            f"{', '.join(shipped_rubrics())}, the path of a {', '.join(SUFFIXES)} file, or 'data' where the data have "
            "criteria."
        )
    items = [_item(path, k, entry) for k, entry in enumerate(_entries(path), 1)]
    if not items:
        raise DataError(f"{path}: no items of a rubric; expected `items`, each with `text` and `points`.")
    for what in ("name", "text"):
        repeated = [value for value, n in Counter(getattr(item, what) for item in items).items() if n > 1]
        if repeated:
            raise DataError(f"{path}: two items have the {what} '{repeated[0]}'.")
    return items


def _entries(path: Path) -> list[Any]:
    """Return the items as the file lists them."""
    text = read_text(path)
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json"):
        lines = (BULLET.sub("", line).strip() for line in text.splitlines())
        return [line for line in lines if line and not line.startswith("#")]
    try:
        content: Any = tomllib.loads(text) if suffix == ".toml" else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not {suffix[1:].upper()} ({error}).") from None
    if isinstance(content, dict):
        content = next((content[key] for key in ITEMS if isinstance(content.get(key), list)), None)
    if not isinstance(content, list):
        raise DataError(f"{path}: no list of items; expected one under `{'`, `'.join(ITEMS)}`.")
    return content


def _item(path: Path, number: int, entry: Any) -> RubricItem:
    where = f"{path}, item {number}"
    values = {"text": entry} if isinstance(entry, str) else entry
    if not isinstance(values, dict):
        raise DataError(f"{where}: found {type(entry).__name__}, expected a text, or `text` with `points`.")
    text = next((str(values[key]).strip() for key in CRITERION if values.get(key)), "")
    if not text:
        raise DataError(f"{where}: no text; keys found: {', '.join(map(str, values)) or 'none'}.")
    given = next((values[key] for key in POINTS if values.get(key) is not None), 1)
    try:
        points = float(given)
    except (TypeError, ValueError):
        points = math.nan
    if not math.isfinite(points):
        raise DataError(f"{where}: points '{given}' are not a number.")
    name = next((str(values[key]).strip() for key in NAMES if values.get(key)), f"item {number}")
    return RubricItem(name, text, points)


class ItemVerdict(NamedTuple):
    """1 met, 0 not met; None with the reason. `note` is a remark on how it was read."""

    value: float | None
    reason: str = ""
    note: str = ""


class RubricCall(NamedTuple):
    """What one request asks: the criteria about one output, and the place of each sample's criterion among them."""

    protocol: JudgeProtocol
    example: str
    items: int
    place: dict[int, int]


@dataclass(frozen=True)
class RubricProtocol(JudgeProtocol):
    """A judge of rubric items: samples are items of outputs, with their criterion in `Batch.criterion`.

    Mode `rubric` asks about all items of an output at once, `item` about each by itself.
    """

    def calls(self, batch: Batch) -> list[RubricCall]:
        """Return the requests, without draws: samples with the same texts are items of one output."""
        if not batch.criterion:
            raise NeedsMissing(
                f"a judge of mode '{self.mode}' needs the items of a rubric; name it with {option('rubric')}."
            )
        of_output: dict[tuple[Any, ...], list[int]] = {}
        for i in range(len(batch)):
            if batch.output[i] >= 0 and batch.criterion[i]:
                references = tuple(batch.reference[batch.start[i] : batch.start[i + 1]].tolist())
                key = (int(batch.output[i]), int(batch.source[i]), int(batch.context[i]), references, batch.control[i])
                own = batch.criterion[i] if self.mode == "item" else None
                of_output.setdefault((*key, own), []).append(i)
        calls = []
        for rows in of_output.values():
            criteria = list(dict.fromkeys(str(batch.criterion[i]) for i in rows))
            place = {i: criteria.index(str(batch.criterion[i])) + 1 for i in rows}
            calls.append(RubricCall(self._about(criteria), self.example(batch, rows[0]), len(criteria), place))
        return calls

    def _about(self, criteria: list[str]) -> JudgeProtocol:
        """Return the protocol whose prompt lists these criteria."""
        listed = "\n".join(f"{k}. {' '.join(text.split())}" for k, text in enumerate(criteria, 1))
        tokens = self.task.max_tokens + TOKENS_PER_ITEM * len(criteria)
        return replace(self, task=replace(self.task, aspects={self.aspect: listed}, max_tokens=tokens))

    def requests(self, batch: Batch) -> Iterator[Request]:
        """Yield all requests for these samples, each as often as it is drawn."""
        for call in self.calls(batch):
            yield from call.protocol.drawn(call.example)

    def count(self, batch: Batch) -> int:
        """Return how many requests there are; equal ones count separately."""
        return self.n * len(self.calls(batch))

    def body(self, prompt: str) -> dict[str, Any]:
        """Return the body of a request with this prompt."""
        body = super().body(prompt)
        if self.structured:
            body["response_format"] = VERDICTS_SCHEMA
        return body

    def scores(self, batch: Batch, found: Found) -> Scores:
        """Return the verdict on each item: that of most draws."""
        missing = {i: "no output" if batch.output[i] < 0 else "no criterion" for i in range(len(batch))}
        values, reasons, notes = np.full(len(batch), np.nan), missing, dict[int, str]()
        for i, draws in self._verdicts(batch, found):
            given = [verdict.value for verdict in draws if verdict.value is not None]
            reasons.pop(i, None)
            if not given or sum(given) * 2 == len(given):
                reasons[i] = "the draws are divided" if given else draws[0].reason
                continue
            values[i] = float(sum(given) * 2 > len(given))
            remarks = {verdict.note for verdict in draws if verdict.note}
            if len(given) < len(draws):
                remarks.add(f"{len(draws) - len(given)} of {len(draws)} draws without a verdict")
            if remarks:
                notes[i] = "; ".join(sorted(remarks))
        return Scores(values, reasons, notes)

    def draws(self, batch: Batch, found: Found) -> Array:
        """Return the single verdicts, samples × draws; NaN where a reply has none."""
        values = np.full((len(batch), self.n), np.nan)
        for i, draws in self._verdicts(batch, found):
            values[i] = [np.nan if verdict.value is None else verdict.value for verdict in draws]
        return values

    def unread(self, batch: Batch, found: Found) -> dict[bytes, tuple[str, str]]:
        """Return the replies that lack a verdict on an item, by key: the reason and the text."""
        lost = {}
        for call in self.calls(batch):
            for request in call.protocol.drawn(call.example):
                reply = found.get(request.key)
                if isinstance(reply, Reply):
                    verdicts = self.item_verdicts(reply, request, call.items)
                    if why := next((verdict.reason for verdict in verdicts if verdict.reason), ""):
                        lost[request.key] = why, reply.text
        return lost

    def _verdicts(self, batch: Batch, found: Found) -> Iterator[tuple[int, list[ItemVerdict]]]:
        """Yield the verdicts of all draws on the item of each sample."""
        for call in self.calls(batch):
            read = [self.item_verdicts(found[r.key], r, call.items) for r in call.protocol.drawn(call.example)]
            for i, place in call.place.items():
                yield i, [verdicts[place - 1] for verdicts in read]

    def item_verdicts(self, reply: Reply | Failure, request: Request, count: int) -> list[ItemVerdict]:
        """Return the verdict on each of the items that a request asks about."""
        if isinstance(reply, Failure):
            return [ItemVerdict(None, reply.reason)] * count
        given, note = (_json_verdicts(reply.text), "") if self.structured else ({}, "")
        if not given:
            given, note = _line_verdicts(reply, request)
        verdicts = []
        for number in range(1, count + 1):
            values = given.get(number, set())
            if len(values) == 1:
                verdicts.append(ItemVerdict(min(values), note=note))
                continue
            why = "no verdict on an item" if not values else "two verdicts on an item"
            if reply.finish == "length" and not values:
                why += f": cut off after {reply.completion_tokens} tokens"
            verdicts.append(ItemVerdict(None, why))
        return verdicts


def _line_verdicts(reply: Reply, request: Request) -> tuple[dict[int, set[float]], str]:
    """Return the verdicts in lines such as `ITEM-7f3a: 2 not met`; without the code those outside the judged texts."""
    try:
        text = re.sub(r"[*_`#]+", "", plain_text(reply.text))
    except TooLong:
        return {}, ""
    coded = re.compile(rf"\bitem-{re.escape(reply.code)}{VERDICT}", re.I) if reply.code else None
    matches = list(coded.finditer(text)) if coded else []
    note = ""
    if not matches:
        own = without_quotations(without_judged(text, reply.code))
        judged = " ".join(request.judged_text().lower().split())
        loose = re.compile(rf"^\W*item{VERDICT}", re.I | re.M)
        matches = [m for m in loose.finditer(own) if " ".join(m[0].lower().split()) not in judged]
        note = WITHOUT_CODE if reply.code and matches else ""
    given: dict[int, set[float]] = {}
    for match in matches:
        met = MET.get(" ".join(match["met"].lower().split()), 0.0)
        given.setdefault(int(match["item"]), set()).add(met)
    return given, note


def _json_verdicts(text: str) -> dict[int, set[float]]:
    """Return the verdicts of a reply that follows the schema; empty for other replies."""
    given: dict[int, set[float]] = {}
    try:
        items = json.loads(text)["items"]
        for item in items:
            if isinstance(item["met"], bool):
                given.setdefault(int(item["item"]), set()).add(float(item["met"]))
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return {}
    return given


_ITEM_SCHEMA = {
    "type": "object",
    "properties": {"item": {"type": "integer"}, "reason": {"type": "string"}, "met": {"type": "boolean"}},
    "required": ["item", "reason", "met"],
    "additionalProperties": False,
}
VERDICTS_SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdicts",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": _ITEM_SCHEMA}},
            "required": ["items"],
            "additionalProperties": False,
        },
    },
}
