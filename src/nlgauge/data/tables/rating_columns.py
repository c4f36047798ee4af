"""Numeric columns that are human ratings, inferred from their names and, if these are ambiguous, from their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nlgauge.data.provenance import HUMAN_WORDS, SIBLINGS, is_model
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import parse_column
from nlgauge.data.tables.vocabulary import (
    ASPECTS,
    DOUBTFUL,
    FILLERS,
    HUMAN_PREFIX,
    LABELS,
    METRIC_PREFIX,
    PERSONS,
    PROGRAMS,
    SCALE,
    SCORES_PREFIX,
    SPREADS,
    STRONG,
    WEAK,
    WHO,
    ZSCORES,
    plain,
    quoted,
    tokens,
    words_of,
)
from nlgauge.errors import Note
from nlgauge.options import option

NAMED: str = Note("column name", "named")  # why a column has its role
Columns = str | Sequence[str]  # a name, or several: one column per annotator
NUMBERED = re.compile(
    r"^(?P<aspect>.*?[^\W\d_])(?:[ _.-]+(?:(?P<who>rater|annotator|anno|expert|worker|reviewer|coder)|judge|r|a|ann))?"
    r"[ _.-]*(?P<rater>\d{1,2})$",
    re.I,
)
SLOT = re.compile(r"^(rater|annotator|expert|worker|coder|reviewer|r|a|ann)?[ _.-]*\d+$", re.I)
RATERS = frozenset("rater annotator expert worker coder reviewer participant evaluator".split())
# Names that tell neither who annotated nor, for means, what was rated.
ANNOTATED = re.compile(r"^annotations?[._ ]", re.I)
AVERAGES = frozenset("avg average mean median majority".split())
MAX_LEVELS = 101  # of a rating scale, 0 to 100


@dataclass
class HumanColumns:
    """Aspect → (annotator or None, column), the reasons for using or not using each column, and notes."""

    human: dict[str, tuple[tuple[str | None, str], ...]] = field(default_factory=dict)
    persons: bool = False
    why: dict[str, str] = field(default_factory=dict)
    aside: dict[str, str] = field(default_factory=dict)
    single: dict[str, str] = field(default_factory=dict)  # column → its inferred content
    several: list[str] = field(default_factory=list)  # notes on one column per annotator

    @property
    def guesses(self) -> list[str]:
        """Notes for the summary, each with the option that changes the role."""
        lines = []
        for what in dict.fromkeys(self.single.values()):
            columns = [c for c, kind in self.single.items() if kind == what]
            more = [f"+{c}" for c in columns]
            are, metrics = ("is", "it is a metric") if len(columns) == 1 else ("are", "they are metrics")
            line = f"{quoted(columns)} {are} read as human {what}; if {metrics}: {option('metrics', more)}"
            lines.append(Note(line, "read_as_human"))
        return [*lines, *self.several]


def human_columns(
    table: RawTable, columns: Sequence[str], long: bool, declared: Mapping[str, Columns] | None, more: bool
) -> HumanColumns:
    """Return columns such as `coherence`, `human.fluency`, `avg_fluency_rating`, `coherence_1`, `Your rating (1-5)`."""
    people = HumanColumns()
    if declared is not None:
        _take_declared(people, declared)
        if not more:
            return people
    if long:
        return people
    names = _named(table, columns, people)
    raters = raters_in_columns(table, columns, names, people)
    by_annotator = {c for pairs in raters.values() for _, c in pairs}
    people.single = {c: what for c, what in people.single.items() if c not in by_annotator}
    for column, name in names.items():
        if column in by_annotator or column in people.aside:
            continue
        if name in raters:
            people.aside[column] = f"a rating of '{name}', which has a column per annotator"
        else:
            people.human[name] = (*people.human.get(name, ()), (None, column))
    people.human |= raters
    return people


def _take_declared(people: HumanColumns, declared: Mapping[str, Columns]) -> None:
    """Add declared columns; single columns of one aspect are annotators if their names say so."""
    split = {
        c: parts
        for name, c in declared.items()
        if name == c and isinstance(c, str) and (parts := _split(HUMAN_PREFIX.sub("", c)))
    }
    several = _with_several(split)
    for name, columns in declared.items():
        if isinstance(columns, str) and columns in several:
            aspect, who = several[columns]
            people.human[aspect] = (*people.human.get(aspect, ()), (who, columns))
        elif isinstance(columns, str) or len(columns) == 1:
            people.human[name] = ((None, columns if isinstance(columns, str) else columns[0]),)
        else:
            people.human[name] = tuple(zip(_rater_names(columns), columns, strict=True))
    people.persons = _have_names(people.human)


def _rater_names(columns: Sequence[str]) -> list[str]:
    parts = [_split(HUMAN_PREFIX.sub("", c)) for c in columns]
    names = [f[1] if f else c for f, c in zip(parts, columns, strict=True)]
    return names if len(set(names)) == len(names) else list(columns)


def _have_names(human: Mapping[str, tuple[tuple[str | None, str], ...]]) -> bool:
    names = [who for pairs in human.values() for who, _ in pairs if who is not None]
    return bool(names) and not any(SLOT.match(name) for name in names)


# --- columns of one rating --------------------------------------------------------------------------------------------


def _named(table: RawTable, columns: Sequence[str], people: HumanColumns) -> dict[str, str]:
    """Map each rating column to the aspect in its name."""
    names: dict[str, str] = {}
    inside = _aspects_inside(columns)
    for column in columns:
        of_classes = table.classes[column].human_aspect if column in table.classes else ""
        if name := of_classes or plainly(column) or inside.get(column):
            names[column] = name
            people.why[column] = NAMED
            if plain(name) in DOUBTFUL or (ANNOTATED.match(column) and not HUMAN_WORDS.search(column)):
                people.single[column] = "ratings"
        elif (scale := SCALE.search(column)) and _within(table, column, scale):
            names[column] = column[: scale.start()].strip() or column
            people.why[column] = "whole numbers on the scale in its name"
            people.single[column] = "ratings"
    kinds = {c: kind_of(c) for c in columns if c not in names and not METRIC_PREFIX.match(c)}
    plain_names = {plain(name) for name in names.values()}
    for column, (kind, aspect) in kinds.items():
        if kind == "strong" and aspect and plain(aspect) in plain_names:
            people.aside[column] = f"there are other ratings of {aspect}"
        elif kind == "strong" and (aspect or not plain_names):
            names[column] = aspect or column
            people.why[column] = NAMED
            people.single[column] = "ratings"
    plain_names |= {plain(name) for name in names.values()}
    if "raw" in plain_names:  # raw and standardized human scores, as in direct assessment
        kinds |= {c: ("z", "") for c in kinds if plain(c) == "score"}
    for column, (kind, aspect) in kinds.items():
        if kind == "z" and (plain(aspect) in plain_names or (not aspect and plain_names)):
            people.aside[column] = f"z-scores; the ratings{f' of {aspect}' if aspect else ''} have a column, too"
        elif kind == "z":
            names[column] = column
            people.why[column] = "column name: z-scores"
            people.single[column] = "z-scores"
        elif kind == "spread":
            people.aside[column] = "column name: a spread or a count of ratings"
    if not names and not raters_in_columns(table, columns, {}, HumanColumns()):
        for column in columns:
            kind, aspect = kinds.get(column, ("", ""))
            if kind == "weak":
                names[column] = aspect or column
                people.why[column] = "column name; no other column is more likely a rating"
                people.single[column] = "ratings"
    return names


def plainly(column: str) -> str | None:
    """Return the aspect of a column whose name marks it as a human rating, or None."""
    column = from_human_marker(column)
    rest = HUMAN_PREFIX.sub("", column)
    if rest != column and is_model(column):
        return None  # rating_gpt4: by a model
    if rest != column and AVERAGES.issuperset(words_of(rest)):
        return column  # human_avg: the aspect is unknown
    whole = plain(column) in ("human", "humanscore", "humanrating")
    if rest != column or whole or is_aspect(column):
        *parts, last = SCORES_PREFIX.sub("", rest).split(".")
        return ".".join(parts if parts and (STRONG | WEAK | FILLERS).issuperset(words_of(last)) else [*parts, last])
    return None


def from_human_marker(column: str) -> str:
    """Return a dotted name from its human marker on.

    >>> from_human_marker("eval.human.label"), from_human_marker("judge.human_agreement")
    ('human.label', 'judge.human_agreement')
    """
    parts = column.split(".")
    for k, part in enumerate(parts):
        if is_model(part) or "judge" in words_of(part):
            break
        if PERSONS.intersection(words_of(part)):
            return ".".join(parts[k:])
    return column


def _aspects_inside(columns: Sequence[str]) -> dict[str, str]:
    """Map dotted columns to an aspect if their last part is an aspect of no other column: `summary.axes.overall`."""
    last = {c: c.rpartition(".")[2] for c in columns if "." in c and not METRIC_PREFIX.match(c)}
    return {
        c: aspect
        for c, aspect in last.items()
        if is_aspect(aspect)
        and list(last.values()).count(aspect) == 1
        and not any(PROGRAMS.match(word) for word in words_of(c.rpartition(".")[0]))
        and not is_model(c)
    }


def is_aspect(column: str) -> bool:
    """Return whether a column has the name of a commonly rated aspect."""
    if METRIC_PREFIX.match(column):
        return False
    return plain(SCORES_PREFIX.sub("", column)) in ASPECTS


def called_rating(column: str) -> bool:
    """Return whether the name of a column is, or may be, that of a rating."""
    return not METRIC_PREFIX.match(column) and (bool(plainly(column)) or kind_of(column)[0] in ("strong", "weak"))


def kind_of(column: str) -> tuple[str, str]:
    """Return the meaning of the words around an aspect (z, spread, strong, weak or none), and the aspect."""
    words = [w.lower() for w in tokens(from_human_marker(column)) if not w.isdigit()]
    z = [w for w in words if w in ZSCORES]
    spread = [w for w in words if w in SPREADS]
    last = words[-1:] if words[-1:] == ["a"] else []  # A of A and B, not an article
    rest = [w for w in words if w not in (STRONG | WEAK | FILLERS | ZSCORES | SPREADS)] + last
    if len(rest) == len(words) or (rest and plain("".join(rest)) not in ASPECTS):
        return "", ""
    aspect = "_".join(rest)
    if z:
        return "z", aspect
    if spread:
        return ("spread", aspect) if rest or any(w in STRONG | WEAK for w in words) else ("", "")
    if any(w in STRONG for w in words):
        return "strong", aspect
    return ("weak", aspect) if any(w in WEAK for w in words) else ("", "")


def _within(table: RawTable, column: str, scale: re.Match[str]) -> bool:
    if any(PROGRAMS.match(word) for word in tokens(column[: scale.start()])):
        return False
    values = levels(table, column)
    low, high = sorted((int(scale[1]), int(scale[2])))
    return values is not None and all(low <= value <= high for value in values)


def levels(table: RawTable, column: str) -> list[float] | None:
    """Return the different values of a column if they are a scale: whole or half numbers, at most 101."""
    numbers = parse_column(table, column)
    if numbers is None or numbers.wrong is not None:
        return None
    values = numbers.values.drop_nulls().unique()
    halves = len(values) <= MAX_LEVELS and bool((values * 2 == (values * 2).round()).all())
    return values.to_list() if halves else None


# --- one column per annotator -----------------------------------------------------------------------------------------


def raters_in_columns(
    table: RawTable, columns: Sequence[str], names: Mapping[str, str], people: HumanColumns
) -> dict[str, tuple[tuple[str | None, str], ...]]:
    """Return aspect → (annotator, column): `coherence_1`, `coherence_ann`, `coherence (Bob)`, `ann_coherence`."""
    stems: dict[str, list[tuple[str, str]]] = {}
    split: dict[str, tuple[str, str]] = {}
    for column in columns:
        if METRIC_PREFIX.match(column):
            continue
        name = names.get(column, HUMAN_PREFIX.sub("", column))
        if (match := NUMBERED.match(name)) and (
            column in names or match["who"] or plain(match["aspect"]) in ASPECTS or match["aspect"].lower() in LABELS
        ):
            aspect = "rating" if plain(match["aspect"]) in WHO | {"human"} else match["aspect"]
            stems.setdefault(aspect, []).append((match["rater"], column))
            continue
        if plain(name) not in ASPECTS and (parts := _split(name)) and not scores_too(column, columns):
            split[column] = parts
    several = {stem: pairs for stem, pairs in stems.items() if len(pairs) > 1}
    named = _with_several(split)
    named = {c: raters for c, raters in named.items() if raters[0] not in _of_systems(columns, named, people)}
    doubtful: dict[str, list[str]] = {}
    for column, (aspect, who) in named.items():
        if levels(table, column) is None:
            doubtful.setdefault(aspect, []).append(column)
        else:
            several.setdefault(aspect, []).append((who, column))
    for aspect, cs in doubtful.items():
        if aspect in several:  # all columns of one aspect or none
            cs += [c for _, c in several.pop(aspect)]
        people.several.append(
            f"{quoted(cs, len(cs))} are read as metrics; if they are annotators of {aspect}: "
            f"{option(f'human.{aspect}', cs)}"
        )
    for aspect, pairs in several.items():
        cs = [c for _, c in pairs]
        people.why.update(dict.fromkeys(cs, "column name: an annotator of the aspect"))
        if any(c in named for c in cs):
            who = ", ".join(who for who, _ in pairs)
            line = f"{quoted(cs, len(cs))} are read as the annotators {who} of {aspect}; if they are metrics: "
            people.several.append(Note(line + option("metrics", [f"+{c}" for c in cs]), "read_as_human"))
    raters: dict[str, tuple[tuple[str | None, str], ...]] = {a: tuple(pairs) for a, pairs in several.items()}
    people.persons = people.persons or _have_names(raters)
    return raters


def _of_systems(columns: Sequence[str], named: Mapping[str, tuple[str, str]], people: HumanColumns) -> set[str]:
    """Return aspects whose "annotators" also have metrics: `a_coherence`, `b_coherence`, `a_bleu`, `b_bleu` name
    systems.
    """
    others = {word for c in columns if c not in named for word in tokens(c)}
    by_stem: dict[str, list[str]] = {}
    for column, (aspect, who) in named.items():
        by_stem.setdefault(aspect, [])
        if who in others:
            by_stem[aspect].append(column)
    systems = {aspect: cs for aspect, cs in by_stem.items() if len(cs) > 1}
    for cs in systems.values():
        people.several.append(
            f"{quoted(cs, len(cs))} look like one column per system, which is not supported; write one row per output "
            "with columns system and input"
        )
    return set(systems)


def scores_too(column: str, columns: Sequence[str]) -> bool:
    """Return whether a label has a score, too (`DAE_label`, `DAE_score`): a program gave both."""
    stem = re.sub(r"labels?$", "", column, flags=re.I)
    return stem != column and any(c != column and c.lower() == f"{stem}score".lower() for c in columns)


def _split(name: str) -> tuple[str, str] | None:
    """Split a name such as `coherence_ann`, `ann_coherence` or `content preservation (Bob)` into
    aspect and annotator.
    """
    words = tokens(name)
    if len(words) == 2 and words[0].lower() in RATERS and _may_be_person(words[1:]):
        return "rating", words[1]  # `Rater A`
    for k in range(len(words) - 1, 0, -1):
        for stem, rest in ((words[:k], words[k:]), (words[-k:], words[:-k])):
            if (plain("".join(stem)) in ASPECTS or stem[0].lower() in LABELS) and _may_be_person(rest):
                who = [w for w in rest if w.lower() not in WHO] or rest
                return "_".join(stem), " ".join(who)
    return None


def _may_be_person(words: Sequence[str]) -> bool:
    common = STRONG | WEAK | FILLERS | ZSCORES | SPREADS
    return not any(w.lower() in (common | SIBLINGS) - WHO or PROGRAMS.match(w) or plain(w) in ASPECTS for w in words)


def _with_several(split: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the columns whose aspect has at least two annotators."""
    whos: dict[str, set[str]] = {}
    for aspect, who in split.values():
        whos.setdefault(aspect, set()).add(who)
    return {column: parts for column, parts in split.items() if len(whos[parts[0]]) > 1}
