"""Which column means what: found by name and content, or said by the user.

The words stand in `vocabulary`; `Roles.why` keeps the reason of every choice, for `nlgauge check` and the card.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from nlgauge.data.tables.judge_columns import judge_columns, judge_guesses
from nlgauge.data.tables.rating_columns import Columns, people_columns
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import is_number_list, numbers_in
from nlgauge.data.tables.vocabulary import (
    ABOUT,
    ASIDE,
    METRIC_PREFIX,
    NAMES,
    NUMBERED,
    PROGRAMS,
    REFERENCES,
    SCORES_PREFIX,
    SETS,
    SOFT,
    plain,
    tokens,
)
from nlgauge.errors import DataError
from nlgauge.registry import did_you_mean

SAID = "said by you"
NAMED = "by its name"
LABEL = 60  # letters that a name has at most


@dataclass(frozen=True)
class Roles:
    """The understanding of a table. `human` maps an aspect to its columns: (rater or None, column)."""

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
    human: Mapping[str, tuple[tuple[str | None, str], ...]] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    aside: tuple[str, ...] = ()
    persons: bool = False  # raters in columns have names
    elsewhere: bool = False  # people's labels stand in another file
    why: Mapping[str, str] = field(default_factory=dict)  # of each column
    guesses: tuple[str, ...] = ()  # lines for the card


def find_roles(
    table: RawTable,
    said: Mapping[str, str | None],
    human: Mapping[str, Columns] | Sequence[str] | None = None,
    metrics: Mapping[str, str] | Sequence[str] | None = None,
    elsewhere: bool = False,
) -> Roles:
    """Roles of the columns; `said`, `human` and `metrics` are the user's words and win over names.

    `elsewhere`: people's labels stand in another file, so that only what is plainly people's is so here.
    """
    columns = table.frame.columns
    human, more_human = _asked(human, columns)
    found_metrics, more_metrics = _asked(metrics, columns)
    metrics = None if found_metrics is None else _single(found_metrics)
    asked = [c for cs in [*(human or {}).values(), *(metrics or {}).values()] for c in _several(cs)]
    known = set(columns)
    for name in [*said.values(), *asked]:
        if name is not None and name not in known:
            raise DataError(
                f"{table.where.source}: no column '{name}'.{did_you_mean(name, columns)} "
                f"Columns found: {listed(columns)}."
            )
    many = {c for c, t in table.frame.schema.items() if t.is_nested()}
    numbers = {c for c in columns if c in asked or is_number(table, c)}
    taken: dict[str, str] = {role: name for role, name in said.items() if name}
    used = {*taken.values(), *asked}
    why = dict.fromkeys(used, SAID)
    names = _Names(columns)
    for role in ("system", "input", "output", "source", "context", "control", "rater", "aspect", "metric"):
        if role in said:
            continue
        # A number can name a system, an input or a rater, but not be a text; a list can be a text, but not a name.
        key = role in ("system", "input", "rater", "aspect", "metric")
        for column in names.of([*NAMES[role], *SOFT.get(role, ()), *(NUMBERED if role == "input" else ())]):
            if column in used or column in (many if key else numbers):
                continue
            if column in numbers and role not in ("system", "input", "rater"):
                continue
            if role == "rater" and column in numbers and _says(table, column):
                continue
            if role == "input" and plain(column) in NUMBERED and column not in numbers:
                continue
            if plain(column) in SOFT.get(role, ()) and not is_label(table.frame[column]):
                continue
            taken[role] = column
            used.add(column)
            why[column] = NAMED
            break
    dialogue = _dialogue(names, taken, said, used, numbers)
    why |= dict.fromkeys((taken[r] for r in ("source", "context") if dialogue), NAMED)
    if "system" not in said and "system" not in taken:  # "Which system wrote this?"
        free = [c for c in columns if c not in used and c not in numbers | many]
        if found := next((c for c in free if _about(c, "system") and is_label(table.frame[c])), None):
            taken["system"] = found
            used.add(found)
            why[found] = NAMED
    long_ratings = "aspect" in taken or said.get("rating") is not None
    for role, on in (
        ("rating", long_ratings and human is None),
        ("score", "metric" in taken and not long_ratings),
    ):
        found = next((c for c in names.of(NAMES[role]) if c not in used), None)
        if on and role not in said and found:
            taken[role] = found
            used.add(found)
            why[found] = NAMED
    if "score" not in taken:
        used.discard(taken.pop("metric", ""))
    if "rating" not in taken:
        used.discard(taken.pop("aspect", ""))
    references = tuple(c for c in columns if c not in used and c not in numbers and REFERENCES.match(c))
    if "references" in taken:
        references = (taken.pop("references"),)
    used.update(references)
    sets = tuple(c for c in columns if c not in used and c not in many and plain(c) in SETS)
    used.update(sets)
    why.update({c: NAMED for c in (*references, *sets) if c not in why})
    free = [c for c in columns if c in numbers and c not in used]
    by_name = "rating" not in taken and (human is None or more_human)
    judges = judge_columns(table, free, elsewhere) if by_name else {}
    people = people_columns(table, [c for c in free if c not in judges], "rating" in taken, human, more_human)
    why |= people.why
    of_people = {c for pairs in people.human.values() for _, c in pairs}
    if metrics is None or more_metrics:
        rest = [
            c
            for c in free
            if c not in of_people
            and c not in people.aside
            and (c in judges or not _unfit(table, c, c in many))
        ]
        why |= dict.fromkeys(rest, "a number, and of no other role") | judges
        metrics = {**_metric_names(rest), **(metrics or {})}
    why |= {c: SAID for c in metrics.values() if c in asked}
    used |= of_people | set(metrics.values())
    aside = tuple(c for c in columns if c not in used)
    for column in aside:
        reason = people.aside.get(column) or _unfit(table, column, column in many)
        why[column] = reason or (
            "not among those you named" if column in numbers else "a text without a role"
        )
    return Roles(
        **taken, references=references, sets=sets, human=people.human, metrics=metrics, aside=aside, persons=people.persons,
        why=why, guesses=(*people.guesses, *judge_guesses(judges), *dialogue), elsewhere=elsewhere,
    )  # fmt: skip


def _says(table: RawTable, column: str) -> bool:
    """A rater's column that holds what the rater says, and no names: a judge's numbers, an expert's pass and fail in some rows."""
    found = numbers_in(table, column)
    return plain(column) == "judge" or (found is not None and bool(found.how or found.values.null_count()))


def _dialogue(
    names: _Names, taken: dict[str, str], said: Mapping[str, str | None], used: set[str], numbers: set[str]
) -> list[str]:
    """`context` beside `fact` is the dialogue so far: what the response answers; the fact is what it may use. Said, as a guess is."""
    first = taken.get("context", "")
    if "source" in taken or "context" in said or plain(first) != "context":
        return []
    fact = next(
        (c for c in names.of(["fact", "facts", "knowledge", "persona"]) if c not in used | numbers), None
    )
    if fact is None:
        return []
    taken["source"], taken["context"] = first, fact
    used.add(fact)
    return [
        f"'{first}' beside '{fact}' is read as what was said before, '{fact}' as the knowledge (else: --source '{fact}' --context '{first}')"
    ]


def _about(column: str, role: str) -> bool:
    return any(word.lower() in ABOUT[role] for word in tokens(column))


def _metric_names(columns: Sequence[str]) -> dict[str, str]:
    names = {METRIC_PREFIX.sub("", SCORES_PREFIX.sub("", c)): c for c in columns}
    if len(names) < len(columns):  # two prefixes, one name: keep them apart
        return {c: c for c in columns}
    return names


def is_number(table: RawTable, column: str) -> bool:
    return is_number_list(table.frame[column]) or numbers_in(table, column) is not None


def _unfit(table: RawTable, column: str, nested: bool) -> str:
    """Why a column of numbers is taken for no metric; empty when it may be one."""
    if nested:
        return "lists of numbers" if is_number_list(table.frame[column]) else "lists"
    found = numbers_in(table, column)
    if found is None:
        return ""
    if found.answers and not any(PROGRAMS.match(word) for word in tokens(column)):
        return f"{found.how}; of what?"
    return "looks like an index, a count, a time or a setting" if ASIDE.match(column) else ""


def is_label(series: pl.Series) -> bool:
    """Names recur and are short; texts do not and are not."""
    if series.dtype.is_nested():
        return False
    text = series.cast(pl.String, strict=False).drop_nulls()
    distinct = text.n_unique()
    longest = text.str.len_chars().max()
    return 0 < distinct < len(text) and isinstance(longest, int) and longest <= LABEL


class _Names:
    """Columns by their plain names; made once, because a table may have many columns and there are many words."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.whole: dict[str, list[str]] = {}
        self.part: dict[
            str, list[str]
        ] = {}  # the last of a dotted name, or without what stands in parentheses
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


def _asked(
    names: Mapping[str, Columns] | Sequence[str] | None, columns: Sequence[str]
) -> tuple[dict[str, Columns] | None, bool]:
    """The user's columns as name → column or columns, and whether they come to those that are found (`+x`).

    A text may be a column, `name=column`, or `name=column+column` for the raters of one aspect.
    """
    if names is None:
        return None, False
    if isinstance(names, Mapping):
        return dict(names), False
    known = set(columns)
    found: dict[str, Columns] = {}
    more = [name for name in names if name not in known and name.startswith("+")]
    if more and len(more) < len(names):
        raise DataError(f"{listed(names)}: put a + before all (they come to what is found) or before none.")
    for name in names:
        bare = name[1:] if more else name
        label, equals, rest = bare.partition("=")
        if bare in known or not equals:
            found[bare] = bare
        else:
            found[label.strip()] = rest if rest in known else tuple(part.strip() for part in rest.split("+"))
    return found, bool(more)


def _single(names: Mapping[str, Columns]) -> dict[str, str]:
    for name, columns in names.items():
        if len(_several(columns)) != 1:
            raise DataError(f"--metric {name}: is one column; several can only be the raters of one aspect.")
    return {name: _several(columns)[0] for name, columns in names.items()}


def _several(columns: Columns) -> Sequence[str]:
    return [columns] if isinstance(columns, str) else columns


def listed(names: Sequence[str], most: int = 40) -> str:
    """
    >>> listed(["a", "b", "c"], 2)
    'a, b, … (3 in all)'
    """
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names):,} in all)" if len(names) > most else shown
