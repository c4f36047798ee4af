"""Logs of evaluation tools: outputs and their judgments by humans, models and code, collected into a Dataset.

A reader of a log is a `LogReader` with one method, `collect`: it passes every output and every judgment to a `Log`.
The `Log` decides, in the same way for all tools, what is a human rating and what a metric score, which numbers labels
stand for, and how several outputs of one system for one input (epochs, runs) are treated.
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
from nlgauge.data.records import label_values
from nlgauge.data.tables._classes import MOST_CLASSES, set_name
from nlgauge.data.tables.means import mean_ratings, means_by
from nlgauge.data.tables.raw import from_object
from nlgauge.data.tables.values import read_numbers
from nlgauge.data.tables.words import WORTH
from nlgauge.data.units import PART, PART_OF, PART_ORDER, TRIAL_OF, part_input, trials_text
from nlgauge.errors import DataError, NameUnknown, Note
from nlgauge.options import SOME, option
from nlgauge.registry import did_you_mean
from nlgauge.types import AspectScale

HUMAN, MODEL, CODE, UNKNOWN = "human", "model", "code", "unknown"  # who judged; unknown is never taken for human
SAME_INPUT = "several systems: spans with the same input belong to one input"
REPEAT = "__repeat__"  # of a part, until its trial has a number
TEXTS = ("output", "source", "context", "references", "control")
SCORES = {**dict.fromkeys([*KEY, "metric"], pl.String), "value": pl.Float64, "reason": pl.String}
TITLES = {
    HUMAN: "Human ratings",
    MODEL: "Model judgments",
    CODE: "Scores computed by code",
    UNKNOWN: "Scores from an unknown source",
}


class Judgment(NamedTuple):
    """One value given to the output of one row; `reason` is the log's reason where there is no value."""

    row: int
    name: str
    by: str
    who: str | None
    value: Any
    reason: str


class Log:
    """Collects the outputs and judgments of one log."""

    def __init__(self, path: Path, tool: str, label_values: Mapping[str, float]) -> None:
        self.path, self.tool, self.label_values = path, tool, label_values
        self.rows: list[dict[str, Any]] = []
        self.judgments: list[Judgment] = []
        self.not_read: Counter[str] = Counter()  # what is not read, and how often
        self.notes: list[str] = []
        self.overruled = 0  # judgments that an annotator replaced
        self.lower: set[str] = set()  # metrics that the log declares as lower-is-better
        self.classes: dict[str, tuple[str, ...]] = {}  # judgment -> its classes, where the log declares them
        self.levels: set[str] = set()  # judgments on ordered levels, where the log declares them
        self.own_aspects = False  # a judgment is about the human aspect of its name, and no other
        self.persons = True  # an annotator's name is one person throughout
        self.by_text = False  # of several systems, outputs for one source text are outputs for one input
        self._scales: dict[str, AspectScale] = {}
        self._row_of: dict[tuple[Any, ...], int] = {}
        self._places: Counter[tuple[Any, ...]] = Counter()  # parts of an output so far

    def match_inputs_by_text(self, systems: Iterable[Any], note: str = "") -> None:
        """Use the source text as the input if there are several systems: their records have different names."""
        self.by_text = len(set(systems)) > 1
        self.notes += [note] if self.by_text and note else []

    def output(
        self,
        system: Any,
        input: Any,
        *,
        task: str | None = None,
        repeat: Any = None,
        part: str | None = None,
        extra: Mapping[str, Any] | None = None,
        **texts: Any,
    ) -> int:
        """Return the row of an output, or of a part of it; a system without a name is called 'system'.

        Records with the same system, task, input, `repeat` (epoch, run) and `part` (step, turn, claim, rubric item)
        share it. Parts are in the order in which they come. `texts` (output, source, context, references) may be
        whatever a log has in their place.
        """
        texts = {role: texts_of(value) if role == "references" else text_of(value) for role, value in texts.items()}
        system, input = str(system or "system"), str((self.by_text and texts.get("source")) or input)
        which = str(repeat) if isinstance(repeat, list | dict) else repeat  # of a broken log
        row = self._row_of.setdefault((system, task, input, which, part), len(self.rows))
        if row == len(self.rows):
            self.rows.append({"system": system, "input": input} | ({} if task is None else {"task": task}))
            if part is not None:
                self._places[system, task, input, repeat] += 1
                self.rows[-1] |= {PART: part, PART_ORDER: self._places[system, task, input, repeat], REPEAT: repeat}
        plain = {k: v for k, v in (extra or {}).items() if isinstance(v, str | int | float)}
        self.rows[row] |= {f"{k} (column)" if k in (*KEY, *TEXTS) else k: v for k, v in plain.items()}
        self.rows[row] |= {role: text for role, text in texts.items() if text is not None}
        return row

    def judged(self, row: int, name: Any, value: Any, by: str = CODE, who: Any = None, reason: Any = None) -> None:
        """Add one judgment; an object holds one judgment per key. Only humans and models have names."""
        name, reason = str(name), str(reason or "")
        who = str(who) if by in (HUMAN, MODEL) and who not in (None, "") else None
        if isinstance(value, dict):
            for key, inner in value.items():
                self.judged(row, f"{name}.{key}", inner, by, who, reason)
        elif isinstance(value, list) and value and all(isinstance(label, str) for label in value):
            self.judgments.append(Judgment(row, name, by, who, tuple(value), reason))  # a set of labels
        elif isinstance(value, list):
            self.not_read[f"lists of values of '{name}'"] += 1
        else:
            self.judgments.append(Judgment(row, name, by, who, value, reason))

    def dataset(self, human: Any = None, metrics: Any = None, repeats: Repeats = "auto") -> Dataset:
        """Return the Dataset; `human` and `metrics` name judgments whose source the user declares."""
        if not self.rows:
            counts = "; ".join(f"{n} {what}" for what, n in self.not_read.items())
            raise DataError(f"{self.path}: no readable outputs in this log{counts and f' ({counts})'}.")
        judgments = self._with_declared_sources(human, metrics)
        bases = self._base_inputs()
        keys = self._keys(bases, repeats)
        numbers, notes = self._numbers(judgments)
        if judgments and not numbers:
            raise DataError(f"{self.path}: {notes[0]}")
        if self.overruled:
            notes.append(
                f"annotators overruled {self.overruled} judgments; both values are read. If annotators corrected only "
                "wrong judgments, the agreement of the judge is underestimated"
            )
        samples, names = self._samples(keys, bases), _metric_names(numbers)
        check_metrics(str(self.path), names.values())
        samples = samples.rename({c: f"{c} (column)" for c in samples.columns if c in names.values()})
        ratings, long_scores = _long_tables([(keys[j.row], j, value) for j, value in numbers], names)
        if repeats != "mean":
            notes += _repeated("ratings repeat the same annotator, output and aspect", ratings.drop("value"))
            notes += _repeated("scores repeat the same output and metric", long_scores.drop("value", "reason"))
        scores = samples.select(KEY)
        coded = [j for j, _ in numbers if j.by != HUMAN and j.name in self._scales]
        of_metric = {names[j.name, j.who]: self._scales[j.name] for j in coded}
        for (metric,), part in long_scores.group_by("metric", maintain_order=True):
            of_classes = ["value"] if str(metric) in of_metric else ()
            means = means_by(part, KEY, ["value"], of_classes).rename({"value": str(metric)})
            scores = scores.join(means, on=KEY, how="left", maintain_order="left")
        with_value = long_scores.drop_nulls("value").select(*KEY, "metric")
        failures = long_scores.join(with_value, on=[*KEY, "metric"], how="anti", maintain_order="left").drop("value")
        data = Dataset.of(
            self.path.name,
            samples,
            ratings=mean_ratings(ratings, self._scales),
            scores=scores,
            failures=failures.unique([*KEY, "metric"], keep="first", maintain_order=True),
            persons=self.persons and ratings["rater"].null_count() < ratings.height,
            lower=self.lower & set(scores.columns),
            notes=[*self._source_notes([j for j, _ in numbers], names), *self.notes, *notes],
        )
        models = {names[j.name, j.who]: j.who for j, _ in numbers if j.by == MODEL and j.who}
        scales = {a: self._scales.get(a, AspectScale("ordinal", declared=True)) for a in data.aspects}
        scales = {a: scale for a, scale in scales.items() if a in self._scales or a in self.levels}
        own = [j for j, _ in numbers if j.by != HUMAN] if self.own_aspects else coded
        about = {names[j.name, j.who]: j.name for j in own if j.name in data.aspects}
        signatures = {m: f"{self.tool}|model:{who}" for m, who in models.items()}
        return replace(data, signatures=signatures, scales=scales, metric_scales=of_metric, metric_aspects=about)

    def _with_declared_sources(self, human: Any, metrics: Any) -> list[Judgment]:
        """Return the judgments after applying the user's declarations of which are human ratings and which are metric
        scores.
        """
        judged = dict.fromkeys(j.name for j in self.judgments)
        is_human: dict[str, bool] = {}
        for names, declared_human in ((human, True), (metrics, False)):
            for name in [names] if isinstance(names, str) else list(names or ()):
                bare = name.removeprefix("+")
                if bare not in judged:
                    raise NameUnknown(
                        f"{self.path}: no judgment '{bare}' in this log.{did_you_mean(bare, judged)} "
                        f"Judgments: {', '.join(judged) or 'none'}."
                    )
                is_human[bare] = declared_human
        return [
            j
            if j.name not in is_human or (j.by == HUMAN) == is_human[j.name]
            else j._replace(by=HUMAN if is_human[j.name] else CODE)
            for j in self.judgments
        ]

    def _samples(self, keys: Sequence[dict[str, str]], bases: Sequence[str]) -> pl.DataFrame:
        """Return one row per key, with the base input if trials are numbered."""
        rows = [row | key for row, key in zip(self.rows, keys, strict=True)]
        whole = [row.get(PART_OF, key["input"]) for row, key in zip(rows, keys, strict=True)]
        if any(given != base for given, base in zip(whole, bases, strict=True)):
            rows = [row | {TRIAL_OF: base} for row, base in zip(rows, bases, strict=True)]
        return from_object(rows).frame.unique(KEY, keep="first", maintain_order=True)

    def _base_inputs(self) -> list[str]:
        """Return the input of every row without its trial; the task precedes it if there are several tasks."""
        if len({row.get("task") for row in self.rows}) < 2:
            return [row["input"] for row in self.rows]
        self.notes.append(f"several tasks; inputs are named 'task: input' ({option('by', 'task')} reports each task)")
        return [f"{row.get('task')}: {row['input']}" for row in self.rows]

    def _keys(self, bases: Sequence[str], repeats: Repeats) -> list[dict[str, str]]:
        """Return the key of every row: further outputs of a system for an input are named 'input
        #2', … or share a key.
        """
        seen: Counter[tuple[str, str]] = Counter()
        keys = []
        wholes: dict[tuple[str, str], dict[Any, int]] = {}
        for row, base in zip(self.rows, bases, strict=True):
            if PART in row:  # parts of one trial share its number
                numbers = wholes.setdefault((row["system"], base), {})
                number = numbers.setdefault(row.pop(REPEAT), len(numbers) + 1)
                row[PART_OF] = f"{base} #{number}" if number > 1 else base
                given = part_input(row[PART_OF], row[PART])
            else:
                number = seen[row["system"], base] + 1
                given = f"{base} #{number}" if number > 1 else base
            seen[row["system"], base if PART not in row else given] += 1
            keys.append({"system": row["system"], "input": given})
        if further := len(self.rows) - len(seen):
            trials = trials_text(pl.DataFrame(keys).with_columns(pl.Series(TRIAL_OF, bases)))
            self.notes.append(
                f"{further} further outputs of the same system for the same input: scores and ratings are averaged, "
                f"the text of the first output is shown ({option('repeats', 'number')} keeps each output)"
                if repeats == "mean"
                else f"{trials}: the trials of one input are one cluster ({option('repeats', 'mean')} averages them)"
            )
        if repeats == "mean":
            return [{"system": row["system"], "input": base} for row, base in zip(self.rows, bases, strict=True)]
        return keys

    def _numbers(self, judgments: Sequence[Judgment]) -> tuple[list[tuple[Judgment, float | None]], list[str]]:
        """Return judgments with their numbers; labels without a known value are skipped with a note."""
        groups: dict[str, list[Judgment]] = {}
        for j in judgments:  # human and model judgments of one name share a scale
            groups.setdefault(j.name, []).append(j)
        numbers: list[tuple[Judgment, float | None]] = []
        unread: list[str] = []
        ways: dict[str, list[str]] = {}
        for name, group in groups.items():
            flat = not any(isinstance(j.value, tuple) for j in group)
            values, how = as_numbers([j.value for j in group], self.label_values) if flat else (None, "")
            values = None if name in self.classes else values
            if (coded := self._classes_of(name, group)) is not None:
                numbers += zip(group, coded, strict=True)
                continue
            if values is None:
                labels = list(dict.fromkeys(str(j.value)[:30] for j in group if j.value is not None))[:6]
                fix = option("values", dict.fromkeys(labels, SOME))
                text = f"'{name}' not read: its values are labels ({', '.join(labels)}); map them to numbers with {fix}"
                unread.append(Note(text, "declare"))
                continue
            numbers += zip(group, values, strict=True)
            ways.setdefault(how, []).append(f"'{name}'")
        notes = [f"values of {', '.join(names)}: {how}" for how, names in ways.items() if how]
        return numbers, unread + notes + [f"not read: {n} {what}" for what, n in self.not_read.items()]

    def _classes_of(self, name: str, group: Sequence[Judgment]) -> list[float | None] | None:
        """Return the codes of classes or of sets of labels, if the log declares them or two sources share labels; else
        None.
        """
        sets = any(isinstance(j.value, tuple) for j in group)
        if sets and not all(isinstance(j.value, tuple | str | None) for j in group):
            return None
        numeric = not sets and as_numbers([j.value for j in group], self.label_values)[0] is not None
        if name not in self.classes and numeric:
            return None
        names = [None if j.value is None else set_name(j.value) if sets else str(j.value).strip() for j in group]
        used: dict[tuple[str, str | None], set[str]] = {}
        for j, label in zip(group, names, strict=True):
            used.setdefault((j.by, j.who), set()).update([] if label is None else [label])
        shared = any(len(a & b) > 1 for k, a in enumerate(used.values()) for b in list(used.values())[:k])
        every = set().union(*used.values())
        if name not in self.classes and (not shared or len(every) > MOST_CLASSES * (10 if sets else 1)):
            return None
        declared = self.classes.get(name, ())
        book = (*declared, *sorted(every - set(declared)))
        scale = AspectScale("multilabel" if sets else "nominal", book, name in self.classes)
        self._scales[name] = scale
        code = {label: float(k) for k, label in enumerate(book)}
        labels = ", ".join(scale.labels[:8]) + (", …" if len(scale.labels) > 8 else "")
        what = "sets of labels" if sets else "classes without an order"
        self.notes.append(Note(f"values of '{name}': {what} ({labels})", "classes"))
        return [None if label is None else code[label] for label in names]

    def _source_notes(self, judgments: Sequence[Judgment], names: Mapping[tuple[str, str | None], str]) -> list[str]:
        """Return one line each for humans, models and code: what they judged, and the option that changes it."""
        lines: list[str] = []
        for by, title in TITLES.items():
            judges: dict[str, list[str]] = {}
            for j in judgments:
                if j.by == by:
                    whos = judges.setdefault(j.name if by == HUMAN else names[j.name, j.who], [])
                    whos += [j.who] if by == MODEL and j.who and j.who not in whos else []
            listed = ", ".join(f"'{name}'" + (f" ({', '.join(w)})" if w else "") for name, w in judges.items())
            other = f"change with {option('metrics' if by == HUMAN else 'human')}"
            lines += [Note(f"{title} in this {self.tool} log: {listed} ({other})", "declare")] if judges else []
        return lines or [f"this {self.tool} log has outputs but no judgments"]


def _long_tables(
    judged: Sequence[tuple[dict[str, str], Judgment, float | None]], names: Mapping[tuple[str, str | None], str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return two tables with one row per judgment: the human ratings, and all other scores."""
    ratings = [(*key.values(), j.name, j.who, v) for key, j, v in judged if j.by == HUMAN and v is not None]
    scores = [
        (*key.values(), names[j.name, j.who], v, j.reason or "no value in the log")
        for key, j, v in judged
        if j.by != HUMAN
    ]
    return (
        pl.DataFrame(ratings, schema=Dataset.RATINGS, orient="row"),
        pl.DataFrame(scores, schema=SCORES, orient="row"),
    )


def _repeated(what: str, keys: pl.DataFrame) -> list[str]:
    repeated = keys.height - keys.n_unique()
    return [f"{repeated} {what}; their mean is used"] if repeated else []


def _metric_names(numbers: Iterable[tuple[Judgment, float | None]]) -> dict[tuple[str, str | None], str]:
    """Name the metric of every (name, judge): `name`, or `judge:name` if several judges use one name."""
    judges = dict.fromkeys((j.name, j.who) for j, _ in numbers if j.by != HUMAN)
    several = {name for name, n in Counter(name for name, _ in judges).items() if n > 1}
    return {(name, who): f"{who}:{name}" if name in several and who else name for name, who in judges}


def as_numbers(values: Sequence[Any], label_values: Mapping[str, float]) -> tuple[list[float | None] | None, str]:
    """Convert numbers, true/false and labels to floats, and describe how; None where that is not possible.

    >>> as_numbers(["C", "I", None], {"c": 1.0, "i": 0.0})
    ([1.0, 0.0, None], 'c = 1, i = 0')
    >>> as_numbers([0.0, "fail", "pass", 1.0], {})  # annotators gave numbers, a judge labels
    ([0.0, 0.0, 1.0, 1.0], 'pass = 1, fail = 0')
    """
    if all(v is None or isinstance(v, int | float) for v in values):
        return [_finite(v) for v in values], ""
    if any(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        texts, how = as_numbers([v if isinstance(v, str) else None for v in values], label_values)
        if texts is not None:
            return [t if isinstance(v, str) else _finite(v) for t, v in zip(texts, values, strict=True)], how
    labels = [None if v is None else str(v).lower() if isinstance(v, bool) else str(v) for v in values]
    series = pl.Series(labels, dtype=pl.String)
    column = read_numbers(series, label_values)
    if column is None and len(set(labels) - {None}) == 1:  # all labels are the same one of a pair
        column = read_numbers(series, WORTH)
    if column is None or column.wrong is not None or column.doubt:
        return None, ""
    return column.values.to_list(), column.how


def _finite(value: float | None) -> float | None:
    try:
        number = None if value is None else float(value)
    except OverflowError:
        return None
    return number if number is not None and abs(number) < float("inf") else None


def text_of(value: Any) -> str | None:
    """Return the text of a log's input or output: a string, messages, an object with one text, else JSON.

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
    """Return the references in a text or a list of texts; None where all are empty."""
    texts = [str(text_of(v)) for v in (value if isinstance(value, list) else [value]) if v not in (None, "")]
    return texts or None


class LogReader(Reader):
    """Base class of the readers of logs: their options, and folders of several logs."""

    tool: ClassVar[str] = ""
    worth: ClassVar[Mapping[str, float]] = {}  # numbers of the labels that the tool itself writes

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
        log = Log(path, cls.tool, {**cls.worth, **label_values("values", values)})
        try:
            for file in cls.files(path):
                cls.collect(log, file, encoding)
        except RecursionError:
            raise DataError(f"{path}: the log is nested too deeply.") from None
        return log.dataset(human, metrics, repeats)

    @classmethod
    def files(cls, path: Path) -> list[Path]:
        """Return the log, or all logs of a folder."""
        return sorted(path.rglob(cls.pattern)) if cls.pattern and path.is_dir() else [path]

    @classmethod
    def collect(cls, log: Log, path: Path, encoding: str | None) -> None:
        """Add the outputs, scores and labels of one file to the log."""
        raise NotImplementedError
