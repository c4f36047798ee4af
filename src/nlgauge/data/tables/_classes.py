"""Columns of unordered classes and of sets of labels: their detection, and their values as codes of one code book per
group.

A column holds classes if the user declares it (`nominal`, `multilabel`), or if its words are unknown, recur, and also
occur in another column, such as those of a human and a judge, or of two annotators. Such columns share one code book.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from nlgauge.data.declared import Declared
from nlgauge.data.tables.rating_columns import RATERS, called_rating
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import BLANKS, Numbers, blank_to_null
from nlgauge.data.tables.vocabulary import NAMES, PERSONS, SETS, SOFT, plain, tokens, words_of
from nlgauge.data.tables.words import bare_words, worth_of
from nlgauge.errors import DataError, Note
from nlgauge.options import option
from nlgauge.types import BETWEEN, AspectScale, ScaleKind

MOST_CLASSES = 60  # of a column that nobody declares; more different words are names or texts
LONGEST = 60  # characters of a class
HUMAN_WORDS = PERSONS | {"gold", "truth", "annotation", "annotations"}
KEYS = ("system", "input", "source", "context", "aspect", "metric", "control")
KEY_WORDS = frozenset(word for role in KEYS for word in (*NAMES[role], *SOFT.get(role, ())))
TRUTH_VALUES = frozenset(("true", "false"))
MARKS = ";|,"  # between the labels of a set, the first that occurs


@dataclass(frozen=True)
class ClassColumn:
    """A column of classes: its scale and whether its name says that humans gave them."""

    scale: AspectScale
    human_aspect: str = ""


def with_classes(table: RawTable, declared: Declared, elsewhere: bool = False) -> RawTable:
    """Return the table with its columns of classes as codes (`RawTable.classes`), numbers to all that follows.

    `elsewhere`: a declared column may be in another file, that of the labels.

    Raises
    ------
    DataError
        If a declared column does not exist.
    """
    named: dict[str, ScaleKind] = {}
    for kind, columns in (("nominal", declared.nominal), ("multilabel", declared.multilabel)):
        named |= dict.fromkeys(columns, kind)  # type: ignore[arg-type]
    for column in list(named):
        if column not in table.frame.columns and not elsewhere:
            raise DataError(f"{table.where.source}: no column '{column}' ({option(named[column])}).")
    named = {column: kind for column, kind in named.items() if column in table.frame.columns}
    sets = {c for c in _lists(table, declared) if c not in named}
    named |= dict.fromkeys(sets, "multilabel")
    texts = {c: _texts(table.frame[c], kind == "multilabel") for c, kind in named.items()}
    words = {c: _words(texts[c]) for c in texts}
    free = [c for c in table.frame.columns if c not in named and _may_hold_classes(table.frame[c], c)]
    texts |= {c: blank_to_null(table.frame[c]) for c in free}
    words |= {c: _words(texts[c]) for c in free}
    explicit = [c for c in named if c not in sets]
    groups = _groups(table, declared, named, words, [c for c in named if c in explicit], free)
    if not groups:
        return table
    for group in groups:
        of_group: ScaleKind = next((named[c] for c in group if c in named), "nominal")
        scale = AspectScale(of_group, _book([texts[c] for c in group]), any(c in explicit for c in group))
        for column in group:
            aspect = human_aspect(column) if _human(column, declared) else ""
            table = _coded(table, column, texts[column], ClassColumn(scale, aspect))
    return table


def _coded(table: RawTable, column: str, texts: pl.Series, found: ClassColumn) -> RawTable:
    """Return the table with a column of classes replaced by their codes."""
    codes = {name.lower(): float(k) for k, name in enumerate(found.scale.names)}
    values = texts.str.to_lowercase().replace_strict(codes, default=None, return_dtype=pl.Float64)
    return replace(
        table,
        frame=table.frame.with_columns(texts.alias(column)),
        known={**table.known, column: Numbers(values)},
        classes={**table.classes, column: found},
    )


def share_classes(
    table: RawTable, labels: RawTable, declared: Declared, no_labels: Collection[str] = ()
) -> tuple[RawTable, RawTable]:
    """Return the outputs and the labels of another file with one book for columns of both that share classes.

    Words that are known, such as pass and fail, stay numbers. `no_labels`: columns of the labels' file that hold none,
    such as the strata of the sample.
    """
    sides = [
        {c: blank_to_null(t.frame[c]) for c in t.frame.columns if c in t.classes or _may_hold_classes(t.frame[c], c)}
        for t in (table, labels)
    ]
    words = [{c: _words(texts) for c, texts in side.items()} for side in sides]
    for seed, seeds in words[1].items():
        if seed in no_labels:
            continue
        partners = [c for c, w in words[0].items() if len(w & seeds) >= max(len(w) / 2, min(2, len(w)))]
        declared_here = bool(set(declared.nominal) & {seed, *partners})
        every = pl.Series(sorted(seeds.union(*(words[0][c] for c in partners))), dtype=pl.String)
        known = worth_of(list(bare_words(every))) is not None and not declared_here
        if not partners or known or (seed in labels.classes and labels.classes[seed].scale.kind == "multilabel"):
            continue
        book = _book([sides[1][seed], *(sides[0][c] for c in partners)])
        scale = AspectScale("nominal", book, declared_here)
        labels = _coded(labels, seed, sides[1][seed], ClassColumn(scale, human_aspect(seed)))
        for column in partners:
            table = _coded(table, column, sides[0][column], ClassColumn(scale))
    return table, labels


def class_lines(table: RawTable) -> Iterable[str]:
    """Return lines for the summary: the names of the classes, and how to declare their order if they have one."""
    books: dict[AspectScale, list[str]] = {}
    for column, found in table.classes.items():
        books.setdefault(found.scale, []).append(column)
    for scale, columns in books.items():
        names = ", ".join(f"'{c}'" for c in columns)
        what = "sets of labels" if scale.kind == "multilabel" else "classes without an order"
        labels = scale.labels
        shown = ", ".join(labels[:8]) + (f", … ({len(labels)} in all)" if len(labels) > 8 else "")
        says = "declared" if scale.declared else "inferred"
        order = "" if scale.kind == "multilabel" else f"; if they have an order: {option('values', {labels[0]: '…'})}"
        yield Note(f"read in {names}: {what} ({says}): {shown}{'' if scale.declared else order}", "classes")


def human_aspect(column: str) -> str:
    """Return what a human column of classes is about: its name without the words that say who gave them; empty where it
    may name an annotator.

    >>> human_aspect("human_intent"), human_aspect("gold_label"), human_aspect("annotator_1"), human_aspect("expert B")
    ('intent', 'label', '', '')
    """
    words = tokens(column)
    rest = [word for word in words if word.lower() not in HUMAN_WORDS]
    who = bool(RATERS.intersection(word.lower() for word in words))
    return "" if who or not any(len(word) > 1 and word.isalpha() for word in rest) else "_".join(rest)


def _human(column: str, declared: Declared) -> bool:
    """Return whether the name of a column suggests human labels, and the user declares no human columns."""
    return declared.human is None and bool(HUMAN_WORDS.intersection(words_of(column)))


# --- which columns ----------------------------------------------------------------------------------------------------


def _groups(
    table: RawTable,
    declared: Declared,
    named: Mapping[str, ScaleKind],
    words: Mapping[str, frozenset[str]],
    explicit: Sequence[str],
    free: Sequence[str],
) -> list[list[str]]:
    """Group the columns that share a vocabulary.

    Without a declaration, one column of a group must be human and contain unknown words.
    """
    asked = {name.removeprefix("+") for name in declared.mentioned}
    inferred = [c for c in (*free, *(n for n in named if n not in explicit)) if c in words]
    seeds = [*explicit, *(c for c in inferred if c in asked or called_rating(c) or _human(c, declared))]
    groups: list[list[str]] = []
    taken: set[str] = set()
    for seed in seeds:
        if seed in taken:
            continue
        group = [seed]
        book = set(words[seed])
        for column in [*explicit, *inferred]:
            same_kind = (named.get(column) == "multilabel") == (named.get(seed) == "multilabel")
            if column not in (*taken, seed) and same_kind and _share(words[column], book, table, column, seed, named):
                group.append(column)
                book |= words[column]
        unknown = worth_of(list(_plain_words(table, group))) is None if not named.keys() & set(group) else True
        several = len(group) > 1 or _has_raters(table, declared, seed)
        if seed in explicit or (unknown and several and len(book) <= MOST_CLASSES):
            groups.append(group)
            taken.update(group)
    return groups


def _plain_words(table: RawTable, group: Sequence[str]) -> set[str]:
    return {word for c in group for word in bare_words(blank_to_null(table.frame[c]).drop_nulls().unique())}


def _share(
    words: frozenset[str], book: set[str], table: RawTable, column: str, seed: str, named: Mapping[str, ScaleKind]
) -> bool:
    """Return whether a column has the same classes: most of its words, and at least two if it has several."""
    if named.get(column) == "multilabel":
        words, book = _labels(words), _labels(frozenset(book))  # type: ignore[assignment]
    common = len(words & book)
    return bool(words) and common >= len(words) / 2 and common >= min(2, len(words))


def _labels(names: frozenset[str]) -> frozenset[str]:
    return frozenset(label for name in names for label in name.split(BETWEEN) if label)


def _has_raters(table: RawTable, declared: Declared, seed: str) -> bool:
    """Return whether each row belongs to an annotator, so that annotators can be compared with each other."""
    column = declared.columns.get("rater") or next(
        (
            c
            for c, kind in table.frame.schema.items()
            if plain(c) in NAMES["rater"] and plain(c) != "judge" and kind == pl.String and c != seed
        ),
        None,
    )
    return column in table.frame.columns and 1 < table.frame[column].n_unique() < table.frame.height


def _may_hold_classes(series: pl.Series, column: str) -> bool:
    """Return whether an undeclared text column has few short values that recur, and not the name of a key."""
    if series.dtype != pl.String or plain(column) in KEY_WORDS or plain(column) in SETS:
        return False
    counts = blank_to_null(series).drop_nulls().value_counts()
    if TRUTH_VALUES.issuperset(counts[:, 0].str.to_lowercase()):  # Booleans, as the same column in other formats
        return False
    if not 0 < counts.height <= MOST_CLASSES or counts.height > 0.75 * float(counts["count"].sum()):
        return False
    longest = counts[:, 0].str.len_chars().max()
    numeric = counts[:, 0].cast(pl.Float64, strict=False).is_not_null().any()
    letters = counts[:, 0].str.contains(r"\p{L}").all()
    return isinstance(longest, int) and longest <= LONGEST and not numeric and bool(letters)


def _lists(table: RawTable, declared: Declared) -> list[str]:
    """Return the columns with lists of different words, if two columns have such lists or one is named like a label."""
    found: dict[str, tuple[set[str], bool]] = {}
    for column, kind in table.frame.schema.items():
        if kind != pl.List(pl.String) or plain(column) in KEY_WORDS:
            continue
        lists = table.frame[column].drop_nulls()
        lengths = lists.list.len()
        labels = lists.explode().drop_nulls()
        different = bool((lists.list.n_unique() == lengths).all())
        longest = labels.str.len_chars().max()
        if different and labels.n_unique() <= MOST_CLASSES and isinstance(longest, int) and longest <= LONGEST:
            found[column] = (set(labels), lengths.n_unique() > 1)
    named = {name.removeprefix("+") for name in declared.mentioned}

    def partner(column: str, other: str) -> bool:
        """Return whether two columns share labels and one has sets of different sizes, unlike lists of annotators."""
        (labels, varied), (others, varied_too) = found[column], found[other]
        return other != column and len(labels & others) > 1 and (varied or varied_too)

    return [c for c, (_, varied) in found.items() if (c in named and varied) or any(partner(c, o) for o in found)]


# --- values -----------------------------------------------------------------------------------------------------------


def _words(series: pl.Series) -> frozenset[str]:
    return frozenset(series.drop_nulls().str.to_lowercase().unique())


def _texts(series: pl.Series, sets: bool) -> pl.Series:
    """Return the values as names: classes as they are written, sets as their sorted labels."""
    if not sets:
        if series.dtype.is_float():
            series = series.cast(pl.Int64, strict=False) if bool((series.drop_nulls() % 1 == 0).all()) else series
        return blank_to_null(series.cast(pl.String))
    return pl.Series(series.name, [set_name(value) for value in series.to_list()], pl.String)


def set_name(value: Any) -> str | None:
    """Return the name of a set of labels that is given as a list or as one text; None if there is no value.

    >>> set_name(["b", "a"]), set_name("b|a"), set_name('["b", "a"]'), set_name([]), set_name("")
    ('a; b', 'a; b', 'a; b', '', None)
    """
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in BLANKS:
            return None
        if text[:1] == "[" and text[-1:] == "]":
            try:
                value = json.loads(text)
            except ValueError:
                value = [part.strip(" '\"") for part in text[1:-1].split(",")]
        else:
            mark = next((m for m in MARKS if m in text), "\0")
            value = text.split(mark)
    if value is None:
        return None
    labels = {re.sub(r"\s*;\s*", ", ", str(label).strip()) for label in value if label is not None}
    return BETWEEN.join(sorted(label for label in labels if label))


def _book(columns: Sequence[pl.Series]) -> tuple[str, ...]:
    """Return all classes in alphabetical order.

    Words that differ only in case are one class, in the more frequent spelling.
    """
    counts = pl.concat([c.drop_nulls().alias("name") for c in columns]).value_counts()
    counts = counts.sort(["count", "name"], descending=[True, False])
    spelling: dict[str, str] = {}
    for name in counts["name"]:
        spelling.setdefault(name.lower(), name)
    return tuple(spelling[key] for key in sorted(spelling))
