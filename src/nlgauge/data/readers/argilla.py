"""Argilla records: FeedbackDataset exports (v1), `records.to_json` (v2) and its flat form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nlgauge.data.comparisons import Choices
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._annotations import CollectedAnswers, dataset_of, numbered
from nlgauge.data.records import Record, number, read_records, shown
from nlgauge.errors import DataError
from nlgauge.registry import register

SUBMITTED = (None, "submitted")


class Response(NamedTuple):
    where: str
    question: str
    user: str | None
    value: Any
    status: str | None


@register("reader", "argilla", only="json")
class Argilla(Reader):
    """Argilla records (v1 or v2): responses are ratings, suggestions of a named agent are scores."""

    takes = Takes(
        "records of Argilla v1 or v2, also the flat form",
        human="submitted responses; rankings are pairwise comparisons",
        scores="suggestions of a named agent",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        record = peek.record
        nested = isinstance(record.get("fields"), dict) and ("responses" in record or "suggestions" in record)
        return nested or any(name.endswith(".responses") for name in record)

    @staticmethod
    def read(
        path: Path, values: Mapping[str, Any] | str | None = None, ignore: str = "", encoding: str | None = None
    ) -> Dataset:
        records = read_records(path, encoding)
        answers, choices = CollectedAnswers(values, ignore), Choices(path.name)
        aside: Counter[str] = Counter()
        rows = []
        for row, record in enumerate(records):
            rows.append(_fields(record) | dict(_suggested(record, answers)))
            for response in _responses(record):
                if response.status not in SUBMITTED:
                    aside[f"responses with status '{response.status}'"] += 1
                elif isinstance(response.value, list) and response.value and isinstance(response.value[0], dict):
                    _rank(choices, str(rows[-1]["id"]), response)
                elif isinstance(response.value, list) and len(response.value) > 1:
                    aside["answers of several labels"] += 1
                else:
                    answers.add(row, response.where, response.question, response.user, response.value)
        notes = [f"not read: {', '.join(f'{n} {what}' for what, n in aside.items())}"] if aside else []
        if choices.choices and not answers.found:
            return choices.dataset(notes)
        ratings, more = answers.ratings(path.name)
        if not ratings:
            raise DataError(f"{path}: none of the {len(records)} records has a submitted response.")
        if choices.choices:
            rated = ",".join(answers.found)
            more.append(f"{len(choices.choices)} ranked pairs are not read; ignore='{rated}' reads them instead")
        where = numbered(path, records)
        return dataset_of(where, rows, ratings=ratings, persons=True, notes=[*notes, *more])


def _fields(record: Record) -> dict[str, Any]:
    """Return the fields, the metadata, and an ID that distinguishes outputs if nothing else does."""
    name = next((record.values[k] for k in ("id", "external_id") if record.values.get(k) is not None), record.number)
    if "fields" in record.values:
        metadata = record.values.get("metadata")
        return {"id": name, **(metadata if isinstance(metadata, dict) else {}), **record.want("fields", dict)}
    flat = {k: v for k, v in record.values.items() if ".responses" not in k and ".suggestion" not in k}
    return {"id": name, **{k: v for k, v in flat.items() if k not in ("external_id", "_server_id", "status")}}


def _responses(record: Record) -> Iterator[Response]:
    given = record.maybe("responses", list, dict)
    if isinstance(given, dict):  # v2: question -> answers
        for question in given:
            inner = Record(f"{record.where}, key 'responses'", record.number, given)
            for answer in inner.children(question):
                yield Response(
                    answer.where, question, _user(answer), answer.values.get("value"), answer.values.get("status")
                )
    elif given is not None:  # v1: one entry per user
        for user in record.children("responses"):
            for question, answer in (user.maybe("values", dict) or {}).items():
                value = answer.get("value") if isinstance(answer, dict) else answer
                yield Response(
                    f"{user.where}, question '{question}'", question, _user(user), value, user.values.get("status")
                )
    for key in record.values if given is None else ():  # flat
        if key.endswith(".responses"):
            listed = record.maybe(key, list) or []
            users, status = record.values.get(f"{key}.users"), record.values.get(f"{key}.status")
            for i, value in enumerate(listed):
                who = str(users[i]) if isinstance(users, list) and i < len(users) else None
                state = status[i] if isinstance(status, list) and i < len(status) else None
                yield Response(
                    f"{record.where}, key '{key}', item {i + 1}", key.removesuffix(".responses"), who, value, state
                )


def _user(record: Record) -> str | None:
    user = record.values.get("user_id")
    return None if user is None else str(user)


def _suggested(record: Record, answers: CollectedAnswers) -> Iterator[tuple[str, float]]:
    """Yield `agent:question` and the number that a named agent suggested."""
    given = record.maybe("suggestions", list, dict)
    if isinstance(given, dict):
        suggestions = [(question, entry) for question, entry in given.items() if isinstance(entry, dict)]
    elif given is not None:
        suggestions = [(str(s.want("question_name", str)), s.values) for s in record.children("suggestions")]
    else:
        flat = [k.removesuffix(".suggestion") for k in record.values if k.endswith(".suggestion")]
        suggestions = [
            (q, {"value": record.values[f"{q}.suggestion"], "agent": record.values.get(f"{q}.suggestion.agent")})
            for q in flat
        ]
    for question, entry in suggestions:
        grade = None if entry.get("value") is None else answers.grade(entry["value"])
        if entry.get("agent") and grade is not None:
            yield f"{entry['agent']}:{question}", grade


def _rank(choices: Choices, given: str, response: Response) -> None:
    """Add the answer to a ranking question: [{"rank": 1, "value": "reply-2"}, …], where 1 is best."""
    merits: dict[str, float] = {}
    for entry in response.value:
        rank = number(f"{response.where}, rank", entry.get("rank")) if isinstance(entry, dict) else None
        if rank is None or not isinstance(entry.get("value"), str):
            raise DataError(f"{response.where}: found {shown(entry)}, expected {{'rank': 1, 'value': 'name'}}.")
        merits[entry["value"]] = -rank
    choices.rank(choices.place(given, {name: {} for name in merits}), merits, response.question, response.user)
