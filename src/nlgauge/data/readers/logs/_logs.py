"""Logs of evaluation tools: outputs, and what people, models and code said of them, collected into a Dataset.

A reader of a log is a `LogReader` with one method, `collect`: it hands every output and every judgement to a `Log`,
which decides, the same way for all tools, what is a rating of a person and what a score of a metric, what words are
worth, and what several outputs of one system for one input (epochs, runs) become.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import polars as pl

from nlgauge.data.dataset import KEY, Dataset, check_metrics
from nlgauge.data.declared import Repeats
from nlgauge.data.readers import Reader
from nlgauge.data.readers._annotations import turn_text
from nlgauge.data.records import option_worth
from nlgauge.data.tables.means import means_by
from nlgauge.data.tables.raw import from_object
from nlgauge.data.tables.values import read_numbers
from nlgauge.data.tables.words import WORTH
from nlgauge.data.units import TRIAL_OF, trials_text
from nlgauge.errors import DataError, NameUnknown, Note
from nlgauge.options import SOME, option
from nlgauge.registry import did_you_mean

PERSON, MODEL, CODE, UNKNOWN = "person", "model", "code", "unknown"  # who judged; unknown is never a person
TEXTS = ("output", "source", "context", "references", "control")
SCORES = {**dict.fromkeys([*KEY, "metric"], pl.String), "value": pl.Float64, "reason": pl.String}
NAMED = ("Ratings of people", "Judgements of models", "Scores of code", "Scores from an unknown source")


class Judgement(NamedTuple):
    """What somebody or something said of the output in one row; `why` is the log's reason where there is no value."""

    row: int
    name: str
    by: str
    who: str | None
    value: Any
    why: str


class Log:
    """Collects the outputs and judgements of one log."""

    def __init__(self, path: Path, tool: str, worth: Mapping[str, float]) -> None:
        self.path, self.tool, self.worth = path, tool, worth
        self.rows: list[dict[str, Any]] = []
        self.judgements: list[Judgement] = []
        self.aside: Counter[str] = Counter()  # what is not read, and how often
        self.notes: list[str] = []
        self.overruled = 0  # judgements that a person replaced
        self.lower: set[str] = set()  # metrics of which the log says that less is better
        self._row_of: dict[tuple[Any, ...], int] = {}

    def output(
        self,
        system: str,
        input: str,
        *,
        task: str | None = None,
        repeat: Any = None,
        extra: Mapping[str, Any] | None = None,
        **texts: Any,
    ) -> int:
        """The row of an output. Records of one system, task, input and `repeat` (epoch, run) speak of one output."""
        row = self._row_of.setdefault((system, task, input, repeat), len(self.rows))
        if row == len(self.rows):
            self.rows.append({"system": system, "input": input} | ({} if task is None else {"task": task}))
        plain = {k: v for k, v in (extra or {}).items() if isinstance(v, str | int | float)}
        self.rows[row] |= {f"{k} (column)" if k in (*KEY, *TEXTS) else k: v for k, v in plain.items()}
        self.rows[row] |= {role: text for role, text in texts.items() if text is not None}
        return row

    def judged(self, row: int, name: str, value: Any, by: str = CODE, who: str | None = None, why: str = "") -> None:
        """One judgement; an object holds one for each of its keys."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self.judged(row, f"{name}.{key}", inner, by, who, why)
        elif isinstance(value, list):
            self.aside[f"lists of values of '{name}'"] += 1
        else:
            self.judgements.append(Judgement(row, name, by, who, value, why))

    def dataset(self, human: Any = None, metrics: Any = None, repeats: Repeats = "auto") -> Dataset:
        """The Dataset; `human` and `metrics` name judgements of which the user says whose they are."""
        if not self.rows:
            counts = "; ".join(f"{n} {what}" for what, n in self.aside.items())
            raise DataError(f"{self.path}: the log holds no outputs that can be read{counts and f' ({counts})'}.")
        judgements = self._by_users_word(human, metrics)
        bases = self._base_inputs()
        keys = self._keys(bases, repeats)
        numbers, notes = self._numbers(judgements)
        if judgements and not numbers:
            raise DataError(f"{self.path}: {notes[0]}")
        if self.overruled:
            notes.append(
                f"{self.overruled} judgements were overruled by people: both are read; where people correct only what "
                "is wrong, a judge looks worse than it is"
            )
        rows = [row | key for row, key in zip(self.rows, keys, strict=True)]
        if any(key["input"] != base for key, base in zip(keys, bases, strict=True)):
            rows = [row | {TRIAL_OF: base} for row, base in zip(rows, bases, strict=True)]
        samples = from_object(rows).frame.unique(KEY, keep="first", maintain_order=True)
        names = _metric_names(numbers)
        check_metrics(str(self.path), names.values())
        samples = samples.rename({c: f"{c} (column)" for c in samples.columns if c in names.values()})
        placed = [(keys[j.row], j, value) for j, value in numbers]
        ratings = pl.DataFrame(
            [(*key.values(), j.name, j.who, value) for key, j, value in placed if j.by == PERSON and value is not None],
            schema=Dataset.RATINGS,
            orient="row",
        )
        long = pl.DataFrame(
            [
                (*key.values(), names[j.name, j.who], value, j.why or "no value in the log")
                for key, j, value in placed
                if j.by != PERSON
            ],
            schema=SCORES,
            orient="row",
        )
        if repeats != "mean":
            notes += _repeated("ratings repeat the same rater, output and aspect", ratings.drop("value"))
            notes += _repeated("scores repeat the same output and metric", long.drop("value", "reason"))
        scores = samples.select(KEY)
        for (metric,), part in long.group_by("metric", maintain_order=True):
            means = means_by(part, KEY, ["value"]).rename({"value": str(metric)})
            scores = scores.join(means, on=KEY, how="left", maintain_order="left")
        found = long.drop_nulls("value").select(*KEY, "metric")
        failures = long.join(found, on=[*KEY, "metric"], how="anti", maintain_order="left").drop("value")
        data = Dataset.of(
            self.path.name,
            samples,
            ratings=means_by(ratings, [*KEY, "aspect", "rater"], ["value"]),
            scores=scores,
            failures=failures.unique([*KEY, "metric"], keep="first", maintain_order=True),
            persons=ratings["rater"].null_count() < ratings.height,
            lower=self.lower & set(scores.columns),
            notes=[*self._whose([j for j, _ in numbers], names), *self.notes, *notes],
        )
        models = {names[j.name, j.who]: j.who for j, _ in numbers if j.by == MODEL and j.who}
        return replace(data, signatures={m: f"{self.tool}|model:{who}" for m, who in models.items()})

    def _by_users_word(self, human: Any, metrics: Any) -> list[Judgement]:
        """The judgements, those that the user names as people's or as a metric's changed accordingly."""
        known = dict.fromkeys(j.name for j in self.judgements)
        is_person: dict[str, bool] = {}
        for names, person in ((human, True), (metrics, False)):
            for name in [names] if isinstance(names, str) else list(names or ()):
                bare = name.removeprefix("+")
                if bare not in known:
                    raise NameUnknown(
                        f"{self.path}: nothing called '{bare}' judged here.{did_you_mean(bare, known)} "
                        f"Judgements in this log: {', '.join(known) or 'none'}."
                    )
                is_person[bare] = person
        return [
            j
            if j.name not in is_person or (j.by == PERSON) == is_person[j.name]
            else j._replace(by=PERSON if is_person[j.name] else CODE)
            for j in self.judgements
        ]

    def _base_inputs(self) -> list[str]:
        """The input of every row, whichever trial it is; with its task where there are several."""
        if len({row.get("task") for row in self.rows}) < 2:
            return [row["input"] for row in self.rows]
        self.notes.append(f"several tasks: their inputs are kept apart ({option('by', 'task')} splits them)")
        return [f"{row.get('task')}: {row['input']}" for row in self.rows]

    def _keys(self, bases: Sequence[str], repeats: Repeats) -> list[dict[str, str]]:
        """The key of every row: further outputs of a system for an input are 'input #2', …, or share a key."""
        seen: Counter[tuple[str, str]] = Counter()
        keys = []
        for row, base in zip(self.rows, bases, strict=True):
            seen[row["system"], base] += 1
            number = seen[row["system"], base]
            keys.append({"system": row["system"], "input": f"{base} #{number}" if number > 1 else base})
        if further := len(self.rows) - len(seen):
            trials = trials_text(pl.DataFrame(keys).with_columns(pl.Series(TRIAL_OF, bases)))
            self.notes.append(
                f"{further} further outputs of the same system for the same input: the means of their scores and "
                f"ratings are used, the first one's text is shown ({option('repeats', 'number')} keeps each)"
                if repeats == "mean"
                else f"{trials}: the trials of one input count as one cluster ({option('repeats', 'mean')} "
                "averages their "
                "scores)"
            )
        if repeats == "mean":
            return [{"system": row["system"], "input": base} for row, base in zip(self.rows, bases, strict=True)]
        return keys

    def _numbers(self, judgements: Sequence[Judgement]) -> tuple[list[tuple[Judgement, float | None]], list[str]]:
        """Judgements with what they are worth; those in words that nobody explained are left aside, and said."""
        groups: dict[str, list[Judgement]] = {}
        for j in judgements:  # what a person and a judge say under one name has one scale
            groups.setdefault(j.name, []).append(j)
        found: list[tuple[Judgement, float | None]] = []
        lost: list[str] = []
        ways: dict[str, list[str]] = {}
        for name, group in groups.items():
            values, how = as_numbers([j.value for j in group], self.worth)
            if values is None:
                words = list(dict.fromkeys(str(j.value)[:30] for j in group if j.value is not None))[:6]
                fix = option("values", dict.fromkeys(words, SOME))
                text = f"'{name}' is judged in words ({', '.join(words)}), not read; map them: {fix}"
                lost.append(Note(text, "declare"))
                continue
            found += zip(group, values, strict=True)
            ways.setdefault(how, []).append(f"'{name}'")
        notes = [f"values of {', '.join(names)}: {how}" for how, names in ways.items() if how]
        return found, lost + notes + [f"left aside: {n} {what}" for what, n in self.aside.items()]

    def _whose(self, judgements: Sequence[Judgement], names: Mapping[tuple[str, str | None], str]) -> list[str]:
        """One line for people, models and code each: what they judged, and how to say otherwise."""
        lines: list[str] = []
        for by, title in zip((PERSON, MODEL, CODE, UNKNOWN), NAMED, strict=True):
            found: dict[str, list[str]] = {}
            for j in judgements:
                if j.by == by:
                    whos = found.setdefault(j.name if by == PERSON else names[j.name, j.who], [])
                    whos += [j.who] if by == MODEL and j.who and j.who not in whos else []
            listed = ", ".join(f"'{name}'" + (f" ({', '.join(w)})" if w else "") for name, w in found.items())
            other = f"{option('metrics' if by == PERSON else 'human')} says otherwise"
            lines += [Note(f"{title} in this {self.tool} log: {listed}; {other}", "declare")] if found else []
        return lines or [f"this {self.tool} log holds no judgements, only outputs"]


def _repeated(what: str, keys: pl.DataFrame) -> list[str]:
    twice = keys.height - keys.n_unique()
    return [f"{twice} {what}: their mean is used"] if twice else []


def _metric_names(numbers: Iterable[tuple[Judgement, float | None]]) -> dict[tuple[str, str | None], str]:
    """The metric of every (name, who): `name`, or `who:name` where several judged under one name."""
    judges = dict.fromkeys((j.name, j.who) for j, _ in numbers if j.by != PERSON)
    several = {name for name, n in Counter(name for name, _ in judges).items() if n > 1}
    return {(name, who): f"{who}:{name}" if name in several and who else name for name, who in judges}


def as_numbers(values: Sequence[Any], worth: Mapping[str, float]) -> tuple[list[float | None] | None, str]:
    """Numbers, true/false and words as floats, and how words were read; None where they cannot be.

    >>> as_numbers(["C", "I", None], {"c": 1.0, "i": 0.0})
    ([1.0, 0.0, None], 'c = 1, i = 0')
    """
    if all(v is None or isinstance(v, int | float) for v in values):
        return [_finite(v) for v in values], ""
    words = [None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    series = pl.Series(words, dtype=pl.String)
    found = read_numbers(series, worth)
    if found is None and len(set(words) - {None}) == 1:  # every verdict is the same one of a pair
        found = read_numbers(series, WORTH)
    if found is None or found.wrong is not None or found.doubt:
        return None, ""
    return found.values.to_list(), found.how


def _finite(value: float | None) -> float | None:
    try:
        number = None if value is None else float(value)
    except OverflowError:
        return None
    return number if number is not None and abs(number) < float("inf") else None


def text_of(value: Any) -> str | None:
    """A text from what a log calls input or output: a text, messages, an object around one, else JSON.

    >>> text_of([{"role": "user", "content": "Hi"}]), text_of({"question": "Why?"}), text_of({"a": 1, "b": 2})
    ('Hi', 'Why?', '{"a": 1, "b": 2}')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        if isinstance(value.get("messages"), list):
            return text_of(value["messages"])
        if isinstance(value.get("choices"), list) and value["choices"] and isinstance(value["choices"][0], dict):
            return text_of(value["choices"][0].get("message"))
        inner = value.get("content", value.get("text"))
        if isinstance(inner, str | list) or len(value) == 1:
            return text_of(inner if isinstance(inner, str | list) else next(iter(value.values())))
    if isinstance(value, list) and value and all(isinstance(turn, dict) for turn in value):
        return str(text_of(value[0])) if len(value) == 1 else "\n".join(turn_text(turn) for turn in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def texts_of(value: Any) -> list[str] | None:
    """References: one text, or a list of them; empty ones are none."""
    found = [str(text_of(v)) for v in (value if isinstance(value, list) else [value]) if v not in (None, "")]
    return found or None


class LogReader(Reader):
    """What readers of logs share: their options, and the folder of several logs."""

    tool: ClassVar[str] = ""
    worth: ClassVar[Mapping[str, float]] = {}  # of words that the tool itself writes
    pattern: ClassVar[str] = ""  # of the logs in a folder

    @classmethod
    def read(
        cls,
        path: Path,
        values: Mapping[str, Any] | str | None = None,
        human: Any = None,
        metrics: Any = None,
        repeats: Repeats = "auto",
        encoding: str | None = None,
    ) -> Dataset:
        log = Log(path, cls.tool, {**cls.worth, **option_worth("values", values)})
        try:
            for file in cls.files(path):
                cls.collect(log, file, encoding)
        except RecursionError:
            raise DataError(f"{path}: the log is nested too deeply.") from None
        return log.dataset(human, metrics, repeats)

    @classmethod
    def files(cls, path: Path) -> list[Path]:
        """The log, or all logs of a folder."""
        return sorted(path.rglob(cls.pattern)) if cls.pattern and path.is_dir() else [path]

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        """Add the outputs, scores and labels of one file to the log."""
        raise NotImplementedError
