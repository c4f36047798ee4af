"""Roles of the columns of a table: inferred from names and contents, or declared by the user.

`vocabulary` lists the names; `Roles.why` has the reason for every role, for `nlgauge data check` and the summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import polars as pl

from nlgauge.data.provenance import Provenance, column_source
from nlgauge.data.tables.judge_columns import (
    annotators,
    judge_columns,
    judge_guesses,
    likely_annotations,
    not_human_lines,
    without_programs,
)
from nlgauge.data.tables.pairs import find_pair
from nlgauge.data.tables.rating_columns import NAMED, Columns, human_columns
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import few_words, has_blanks, is_label, is_number_list, is_text, parse_column
from nlgauge.data.tables.vocabulary import (
    ABOUT,
    ASIDE,
    METRIC_PREFIX,
    NAMES,
    NUMBERED,
    POINTS,
    PROGRAMS,
    REFERENCES,
    REMARKS,
    SETS,
    SHARED,
    SOFT,
    TELEMETRY,
    TEXTS,
    is_trial_value,
    listed,
    metric_names,
    names_part,
    names_trial,
    plain,
    tokens,
)
from nlgauge.data.units import has_unique_keys
from nlgauge.errors import DataError, Note, code_of
from nlgauge.options import option
from nlgauge.registry import did_you_mean

DECLARED: str = Note("declared", "said")
TRIAL = "column name: numbers the trials of one input"


@dataclass(frozen=True)
class Roles:
    """The roles of the columns of a table. `human` maps an aspect to its columns: (annotator or None, column)."""

    system: str | None = None
    input: str | None = None
    output: str | None = None
    source: str | None = None
    context: str | None = None
    control: str | None = None
    references: tuple[str, ...] = ()
    rater: str | None = None
    aspect: str | None = None
    rating: str | None = None
    metric: str | None = None
    score: str | None = None
    sets: tuple[str, ...] = ()
    part: str | None = None  # names the part of an output that a row is about
    trials: tuple[str, ...] = ()  # number the outputs of one system for one input
    human: Mapping[str, tuple[tuple[str | None, str], ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    persons: bool = False  # annotators with a column each have names
    labels_external: bool = False  # human labels are in another file
    why: Mapping[str, str] = field(default_factory=dict)  # reason for the role of each column, a Note with a code
    guesses: tuple[str, ...] = ()  # notes for the summary
    sources: Mapping[str, Provenance] = field(default_factory=dict)  # aspect -> who gave the judgments


def find_roles(
    table: RawTable,
    overrides: Mapping[str, Any],
    human: Mapping[str, Columns] | Sequence[str] | str | None = None,
    metrics: Mapping[str, Columns] | Sequence[str] | str | None = None,
    labels_external: bool = False,
) -> Roles:
    """Return the roles of the columns; `overrides` (role -> column), `human` and `metrics` override inferred roles.

    `labels_external`: human labels are in another file, so that only columns with a human marker are human here.
    """
    columns = table.frame.columns
    human, more_human = _requested(human, columns)
    found_metrics, more_metrics = _requested(metrics, columns)
    scored = None if found_metrics is None else _single(found_metrics)
    requested = [c for cs in [*(human or {}).values(), *(scored or {}).values()] for c in _several(cs)]
    _check_columns(table, [*(c for cs in overrides.values() for c in _several(cs or ())), *requested])
    search = _RoleSearch(table, overrides, requested)
    search.keys_and_texts()
    dialogue = search.dialogue()
    search.system_in_words()
    search.long_table(ratings_named=human is not None)
    references, sets = search.references_and_sets()
    trials = search.trials()
    search.parts(trials)
    taken, used, why, numbers, many = search.taken, search.used, search.why, search.numbers, search.many
    free = [c for c in columns if c in numbers and c not in used]
    by_name = "rating" not in taken and (human is None or more_human)
    judges = judge_columns(table, free, labels_external) if by_name else {}
    people = human_columns(table, [c for c in free if c not in judges], "rating" in taken, human, more_human)
    sources, not_human = without_programs(table, people, requested, taken.get("rater"))
    if "rating" in taken:
        declared, who = overrides.get("rating") is not None, annotators(taken.get("rater"))
        sources = {"": column_source(taken["rating"], columns, None, declared=declared, annotators=who)}
    why |= people.why
    human_named = {c for pairs in people.human.values() for _, c in pairs}
    if scored is None or more_metrics:
        rest = [c for c in free if c not in human_named and c not in people.aside]
        rest = [c for c in rest if c in judges or c in not_human or not _unfit(table, c, c in many)]
        why |= dict.fromkeys(rest, "numeric, no other role") | judges | not_human
        scored = {**metric_names(rest), **(scored or {})}
    leaks = likely_annotations(table, people.human, [c for c in scored.values() if c not in requested])
    scored = {name: c for name, c in scored.items() if c not in leaks}
    people.aside |= {
        c: f"likely a human annotation or derived from the rating: {reason}" for c, reason in leaks.items()
    }
    why |= {c: DECLARED for c in scored.values() if c in requested}
    used |= human_named | set(scored.values())
    aside = tuple(c for c in columns if c not in used or c in search.points)
    for column in aside:
        if column in search.points:
            continue
        reason = people.aside.get(column) or _unfit(table, column, column in many)
        why[column] = reason or ("not among the declared columns" if column in numbers else "text, no role")
    guesses = [*people.guesses, *judge_guesses(judges), *not_human_lines(not_human)]
    return Roles(
        **taken,
        references=references,
        sets=sets,
        trials=trials,
        human=people.human,
        metrics=scored,
        aside=aside,
        persons=people.persons,
        why=why,
        guesses=(*(g if code_of(g) else Note(g, "declare") for g in guesses), *dialogue),
        labels_external=labels_external,
        sources=sources,
    )


def _check_columns(table: RawTable, names: Sequence[str]) -> None:
    """Raise an error for the first name that is not a column."""
    columns = table.frame.columns
    existing = set(columns)
    for name in names:
        if name not in existing:
            raise DataError(
                f"{table.where.source}: no column '{name}'{table.who_names(name)}.{did_you_mean(name, columns)} "
                f"Columns: {listed(columns)}."
            )


def _has_judgments(table: RawTable, column: str) -> bool:
    """Return whether a column whose name suggests annotator IDs contains judgments instead."""
    numbers = parse_column(table, column)
    return plain(column) == "judge" or (numbers is not None and bool(numbers.how or numbers.values.null_count()))


class _RoleSearch:
    """Assign roles to columns one after the other, one role per column; declared roles first."""

    def __init__(self, table: RawTable, overrides: Mapping[str, Any], requested: Sequence[str]) -> None:
        self.table, self.overrides, self.columns = table, overrides, table.frame.columns
        self.many = {c for c, t in table.frame.schema.items() if t.is_nested()}
        self.numbers = {c for c in self.columns if c in requested or is_number(table, c)}
        self.taken: dict[str, str] = {role: name for role, name in overrides.items() if name and role != "references"}
        self.used = {*self.taken.values(), *_several(overrides.get("references") or ()), *requested}
        self.why = dict.fromkeys(self.used, DECLARED)
        self.points: tuple[str, ...] = ()
        self.names = _Names(self.columns)

    def take(self, role: str, column: str | None) -> None:
        if column is not None:
            self.taken[role] = column
            self.used.add(column)
            self.why[column] = NAMED

    def keys_and_texts(self) -> None:
        roles = ("system", "input", "output", "source", "context", "control", "rater", "aspect", "metric")
        for role in (role for role in roles if role not in self.overrides):
            words = [*NAMES[role], *SOFT.get(role, ()), *(NUMBERED if role == "input" else ())]
            fitting = [c for c in self.names.of(words) if self._fits(role, c)]
            if role == "source":  # columns of texts before columns of one word, which name the origin of a text
                fitting.sort(key=lambda c: not has_blanks(self.table.frame[c]))
            self.take(role, next(iter(fitting), None))

    def system_in_words(self) -> None:
        """Infer the system from a column whose name is a question, such as `Which system wrote this?`."""
        if "system" not in self.overrides and "system" not in self.taken:
            two = set(find_pair(self.columns).systems or ())  # the systems of a comparison, not of the row
            free = [c for c in self.columns if c not in self.used | self.numbers | self.many | two]
            labels = (c for c in free if _about(c, "system") and is_label(self.table.frame[c]))
            self.take("system", next(labels, None))

    def _fits(self, role: str, column: str) -> bool:
        """Return whether the content of a column fits the role that its name suggests."""
        # Numbers can name a system, an input or an annotator, but are not texts; lists can be texts, but not names.
        if column in self.table.classes:
            return False
        key = role in ("system", "input", "rater", "aspect", "metric")
        number, name = column in self.numbers, plain(column)
        if column in self.used or (key and column in self.many):
            return False
        if number and role not in ("system", "input", "rater"):
            return False
        if number and role == "rater" and (name == "annotators" or _has_judgments(self.table, column)):
            return False  # judgments, or the number of annotators
        if not number and role == "input" and name in NUMBERED:
            return False
        if name in TEXTS and role in ("input", "source") and (role == "source") != is_text(self.table.frame[column]):
            return False
        if role == "source" and name in SHARED and "input" in self.taken and not has_blanks(self.table.frame[column]):
            return False
        if role == "rater" and self._gives_verdicts(column):
            return False
        return name not in SOFT.get(role, ()) or is_label(self.table.frame[column])

    def _gives_verdicts(self, column: str) -> bool:
        """Return whether a column whose name suggests annotator IDs shares values with another column, and thus holds
        judgments.
        """
        words = {word for word in few_words(self.table.frame[column]) if not word.isdigit()}
        others = (c for c in self.columns if c not in (column, *self.used, *self.many))
        return len(words) > 1 and any(words & set(few_words(self.table.frame[c])) for c in others)

    def dialogue(self) -> list[str]:
        """Infer that the column `context` is the dialogue history and `fact` the knowledge, if both exist."""
        first = self.taken.get("context", "")
        if "source" in self.taken or "context" in self.overrides or plain(first) != "context":
            return []
        facts = self.names.of(["fact", "facts", "knowledge", "persona"])
        fact = next((c for c in facts if c not in self.used | self.numbers), None)
        if fact is None:
            return []
        self.take("source", first)
        self.take("context", fact)
        return [
            f"'{first}' is read as the dialogue history, '{fact}' as the knowledge (change with "
            f"{option('source', fact)} and {option('context', first)})"
        ]

    def long_table(self, ratings_named: bool) -> None:
        """Infer the column with the values of a column of aspects or of metrics, which needs one."""
        ratings = "aspect" in self.taken or self.overrides.get("rating") is not None
        scores = "metric" in self.taken and not ratings
        for role, on in (("rating", ratings and not ratings_named), ("score", scores)):
            if on and role not in self.overrides:
                self.take(role, next((c for c in self.names.of(NAMES[role]) if c not in self.used), None))
        for value, name in (("score", "metric"), ("rating", "aspect")):
            if value not in self.taken:
                self.used.discard(self.taken.pop(name, ""))

    def references_and_sets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        free = [c for c in self.columns if c not in self.used]
        references = tuple(c for c in free if c not in self.numbers and REFERENCES.match(c))
        if named := self.overrides.get("references"):
            references = tuple(_several(named))
        sets = tuple(c for c in free if c not in (*references, *self.many) and plain(c) in SETS)
        self.used.update(references, sets)
        self.why.update({c: NAMED for c in (*references, *sets) if c not in self.why})
        return references, sets

    def trials(self) -> tuple[str, ...]:
        """Return the columns that number the outputs of one system for one input, such as `epoch` and `run`.

        Such a column is the system only if it has names like 'bm25' and no other column is the system. It is the input
        only if no other column is.

        Such a column is the system only if it has names like 'bm25' and no other column is the system, and the input
        only if no other column is.
        """
        declared = {c for c, why in self.why.items() if code_of(why) == "said"}
        called = [c for c in self.columns if names_trial(c) and c not in self.many | declared]
        if self.taken.get("system") in called:
            values = self.table.frame[self.taken["system"]].cast(pl.String).drop_nulls().unique()
            if all(map(is_trial_value, values)):
                self._release("system")
        if self.taken.get("input") in called:
            inputs = [*self.names.of(NAMES["input"]), *self.names.of(NUMBERED)]
            other = next((c for c in inputs if c not in called and c not in self.used | self.many), None)
            if other is not None and _recurs(self.table.frame, [other], self.taken["input"]):
                self._release("input")
                self.take("input", other)
        base = [self.taken[role] for role in ("input", "source", "context") if role in self.taken][:1]
        if not base:
            return ()
        keys = [*base, *([self.taken["system"]] if "system" in self.taken else [])]
        trials = tuple(c for c in called if c not in self.used and _recurs(self.table.frame, keys, c))
        self.used.update(trials)
        self.why.update(dict.fromkeys(trials, TRIAL))
        return trials

    def parts(self, trials: tuple[str, ...]) -> None:
        """Find the column that numbers or names the steps, turns, claims or rubric items of each output."""
        frame = self.table.frame
        if "part" not in self.overrides and "input" in self.taken and "aspect" not in self.taken:
            rubric = any(plain(c) in POINTS for c in self.columns)
            if rubric and "input" not in self.overrides and names_part(self.taken["input"]):
                others = (c for c in self.names.of(NAMES["input"]) if c not in self.used and not names_part(c))
                if other := next(others, None):  # the item of a rubric is a part of what another column names
                    self._release("input")
                    self.take("input", other)
            roles = [self.taken[role] for role in ("system", "input", "rater") if role in self.taken]
            keys = [*roles, *trials]
            # Without points, an item or segment of a document is an input of its own.
            called = [
                c
                for c in self.columns
                if names_part(c) and c not in self.used | self.many and (rubric or plain(c) not in NAMES["input"])
            ]
            nested = any(frame[c].dtype.is_nested() for c in keys)
            if called and not nested and not has_unique_keys(frame, keys):
                fitting = (c for c in called if has_unique_keys(frame, [*keys, c]))
                self.take("part", next(fitting, None))
        if "part" in self.taken:
            points = [c for c in self.columns if plain(c) in POINTS and c not in self.used]
            self.used.update(points)
            self.why.update(dict.fromkeys(points, "points of a rubric item (inferred from its name)"))
            self.points = tuple(points)

    def _release(self, role: str) -> None:
        """Remove a role from its column."""
        column = self.taken.pop(role)
        self.used.discard(column)
        self.why.pop(column, None)


def _recurs(frame: pl.DataFrame, keys: Sequence[str], column: str) -> bool:
    """Return whether a column has several values for one key."""
    if any(frame[c].dtype.is_nested() for c in (*keys, column)):
        return False
    return bool(frame.select([*keys, column]).n_unique() > frame.select(keys).n_unique())


def _about(column: str, role: str) -> bool:
    return any(word.lower() in ABOUT[role] for word in tokens(column))


def is_number(table: RawTable, column: str) -> bool:
    """Return whether a column is numeric."""
    if is_number_list(table.frame[column]):
        return True
    numbers = parse_column(table, column)
    return numbers is not None and not (numbers.how and any(word.lower() in REMARKS for word in tokens(column)))


def _unfit(table: RawTable, column: str, nested: bool) -> str:
    """Explain why a numeric column is not read as a metric; empty if it may be one."""
    if nested:
        return "lists of numbers" if is_number_list(table.frame[column]) else "lists"
    numbers = parse_column(table, column)
    if numbers is None:
        return ""
    if numbers.answers and not any(PROGRAMS.match(word) for word in tokens(column)):
        return Note(f"{numbers.how}; the name does not tell what is judged", "answers")
    inside = column.rstrip(".").rpartition(".")[2]  # response.usage.tokens
    if TELEMETRY.match(inside):
        return "telemetry: a count, a time, a cost or a setting of the run"
    if METRIC_PREFIX.match(column):
        return ""
    if names_trial(column):
        return "column name: numbers trials"
    return "looks like an index, a count, a time or a setting" if ASIDE.match(column) or ASIDE.match(inside) else ""


class _Names:
    """Columns by their normalized names, built once for fast lookup in tables with many columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.whole: dict[str, list[str]] = {}
        self.part: dict[str, list[str]] = {}  # the last part of a dotted name, or the name without parentheses
        for column in columns:
            self.whole.setdefault(plain(column), []).append(column)
            if "." in column:
                self.part.setdefault(plain(column.rsplit(".", 1)[-1]), []).append(column)
            if "(" in column and (bare := plain(re.sub(r"\(.*?\)", "", column))):
                self.part.setdefault(bare, []).append(column)

    def of(self, words: Iterable[str]) -> Iterable[str]:
        for word in words:
            yield from self.whole.get(word, ())
            yield from self.part.get(word, ())


def _requested(
    names: Mapping[str, Columns] | Sequence[str] | str | None, columns: Sequence[str]
) -> tuple[dict[str, Columns] | None, bool]:
    """Return the declared columns by name, and whether they add to the inferred ones (`+x`).

    A mapping gives columns by name; columns under the name "" are not renamed.

    A mapping has name -> columns; columns under the name "" are not renamed.
    """
    if names is None:
        return None, False
    groups = names if isinstance(names, Mapping) else {"": names}
    existing = set(columns)
    named = [column for group in groups.values() for column in _several(group)]
    more = [name for name in named if name not in existing and name.startswith("+")]
    if more and len(more) < len(named):
        raise DataError(f"{listed(named)}: put + before all of them (to add to the inferred columns) or before none.")
    by_label: dict[str, Columns] = {}
    for label, group in groups.items():
        matching = list(_matching([c.removeprefix("+") if more else c for c in _several(group)], columns))
        if not label:
            by_label |= {column: column for column in matching}
        elif matching:
            by_label[label] = matching[0] if len(matching) == 1 else tuple(matching)
        else:
            raise DataError(f"{option(f'human.{label}')}: expected at least one column.")
    return by_label, bool(more)


def _matching(names: Sequence[str], columns: Sequence[str]) -> Iterable[str]:
    """Yield the names; a pattern such as `Rouge*` is replaced by the columns that match it."""
    for pattern in names:
        if pattern in columns or not any(sign in pattern for sign in "*?["):
            yield pattern
            continue
        hits = [c for c in columns if fnmatchcase(c, pattern)]
        if not hits:
            raise DataError(f"no column matches '{pattern}'. Columns: {listed(columns)}.")
        yield from hits


def _single(names: Mapping[str, Columns]) -> dict[str, str]:
    for name, columns in names.items():
        if len(_several(columns)) != 1:
            raise DataError(f"{option('metrics', name)}: expected one column; only ratings can have several columns.")
    return {name: _several(columns)[0] for name, columns in names.items()}


def _several(columns: Columns) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns
