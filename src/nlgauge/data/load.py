"""load(): a file or frame that people already have, as a Dataset. Published sets by name: `nlgauge.datasets.load`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.data.labels import joined_labels, labels_of_dataset, labels_of_table, with_labels
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import BY_LABELS, UNKNOWN, parted
from nlgauge.data.readers._unsupported import unsupported
from nlgauge.data.records import option_worth
from nlgauge.data.tables.build import Repeats, build
from nlgauge.data.tables.columns import Roles, find_roles
from nlgauge.data.tables.directions import lower_of
from nlgauge.data.tables.keys import with_input
from nlgauge.data.tables.raw import RawTable, from_object, read_table
from nlgauge.data.tables.side_by_side import one_row_an_output
from nlgauge.data.tables.understanding import lines, with_lists_of_words
from nlgauge.errors import DataError, NameUnknown, NoSuchFile
from nlgauge.spec import parse_spec

ROLES = ("system", "input", "output", "source", "context", "references", "control", "rater")
ColumnNames = Mapping[str, Any] | Sequence[str] | str | None


def load(
    data: Any,
    /,
    *,
    system: str | None = None,
    input: str | None = None,
    output: str | None = None,
    human: ColumnNames = None,
    rater: str | None = None,
    metrics: ColumnNames = None,
    ignore: ColumnNames = None,
    source: str | None = None,
    context: str | None = None,
    references: str | None = None,
    control: str | None = None,
    lower: Iterable[str] = (),
    higher: Iterable[str] = (),
    people: Iterable[str] | None = None,
    person_raters: Iterable[str] = (),
    model_raters: Iterable[str] = (),
    repeats: Repeats = "auto",
    values: Mapping[str, float] | str | None = None,
    sheet: str | None = None,
    encoding: str | None = None,
    reader: str | None = None,
    labels: Any = None,
    name: str | None = None,
    **options: Any,
) -> Dataset:
    """Read a file (CSV, TSV, JSONL, JSON, Parquet, also gzipped), a frame, a known layout or a published set by name.

    Columns are found by their names; say which is which where that fails. `human` and `metrics` are lists of columns,
    or mappings from the name to use to the column (`human` also to several: the raters of an aspect); "+x" adds a
    column to those that are found; `Rouge*` stands for all columns that match. `ignore` names columns that are not
    read. `lower` names metrics of which less is better, `higher` those of which it is not,
    whatever their names say (ter, wer, perplexity … are known). `values` says what words are worth ({"good": 3, "bad":
    1}), `sheet` names one of an Excel file. Raters whose names are those of language models are no people:
    `person_raters` and `model_raters` say what a rater is. `labels` is another file (or a list of files), frame or
    Dataset with people's labels of these outputs, joined by id; a column of it may be named with `human`, `rater`,
    `input` and `system`.
    Further options belong to the reader of a known layout, e.g. lp="en-de" (docs/formats.md).

    >>> import nlgauge as ng
    >>> rows = [{"system": s, "doc": d, "coherence": c, "bleu": b}
    ...         for s, d, c, b in [("A", 1, 4, .3), ("A", 2, 5, .5), ("B", 1, 2, .1), ("B", 2, 3, .4)]]
    >>> ng.load(rows, name="mine")
    Dataset('mine': 2 systems × 2 inputs, 4 outputs, aspects ['coherence'], 0 raters, 1 metrics)
    """
    said = {
        "system": system, "input": input, "output": output, "source": source, "context": context,
        "references": references, "control": control, "rater": rater,
    }  # fmt: skip
    said = {role: column for role, column in said.items() if column is not None}
    theirs = None if labels is None else LabelFile.of(labels, said, human, values)
    if theirs is not None:  # words about its columns are not about those of the data
        human = None if theirs.human else human
        said = {role: column for role, column in said.items() if role != "rater" or role not in theirs.said}
    if isinstance(data, str | Path):
        path = _path(data)
        if reader is not None and "(" in reader:  # mt-metrics-eval(lp='en-de')
            reader, more = parse_spec(reader)
            options |= more
        own = {role: column for role, column in said.items() if theirs is None or role not in theirs.said}
        if special := _special(path, reader, own, judges=bool(human or metrics or said)):
            known_as, special = special
            if own or ((human or metrics) and not _knows_judges(special)):
                raise DataError(
                    f"{path}: the reader '{known_as}' finds the columns itself; name none, or use --reader table."
                )
            asked = {
                "encoding": encoding,
                "repeats": None if repeats == "auto" else repeats,
                "values": values,
                "sheet": sheet,
                "human": human or None,
                "metrics": metrics or None,
                "ignore": ignore or None,
            }
            found = _read(known_as, special, path, options | {k: v for k, v in asked.items() if v is not None})
            found = parted(labelled(found, theirs), person_raters, model_raters)
            return finished(found, name, lower, higher, people, known=getattr(special, "whole", False))
        _read_no(options)
        if not path.suffix and not path.exists():
            raise NoSuchFile(f"{path}: no such file.")
        table = read_table(path, encoding, sheet, _words(said, human, metrics))
        name = name or path.name
    else:
        table = from_object(data, _words(said, human, metrics))
        name = name or table.where.source
        if not (said or human or metrics or labels is not None) and (votes := _votes(table)):
            found = parted(votes.of(table, name, **options), person_raters, model_raters)
            return finished(found, name, lower, higher, people, known=False)
        _read_no(options)
    table.worth = option_worth("values", values)
    table = one_row_an_output(with_lists_of_words(without(table, ignore)), _words(said, human, metrics))
    human = _declare_nested(table, human)
    roles = understood(table, human=human, metrics=metrics, labels=labels, **said)
    found = labelled(build(table, roles, name, repeats), theirs, ids=roles.input is not None)
    found = parted(found, person_raters, model_raters)
    sources = {a: found.sources.get(a, BY_LABELS if theirs else UNKNOWN) for a in found.aspects}
    return Dataset.of(
        name, found.samples, ratings=found.ratings, scores=found.scores, persons=found.persons, people=people,
        lower=lower_of(found.metrics, lower, higher, name), notes=[*lines(table, roles), *found.notes],
        models=found.models, sources=sources, metric_aspects=found.metric_aspects,
    )  # fmt: skip


def _declare_nested(table: RawTable, human: ColumnNames) -> ColumnNames:
    """Mark columns of nested records as human that `human` names, or an aspect in them; return the other names."""
    if not table.nested or human is None or isinstance(human, Mapping):
        return human
    names = [human] if isinstance(human, str) else list(human)
    inside = {
        column: {
            column,
            *(key for records in rows for record in records or () if isinstance(record, dict) for key in record),
        }
        for column, rows in table.nested.items()
    }
    table.declared = frozenset(column for column, keys in inside.items() if not keys.isdisjoint(names))
    known = set().union(*(inside[column] for column in table.declared)) - set(table.frame.columns)
    return [name for name in names if name not in known] or None


def without(table: RawTable, ignore: ColumnNames) -> RawTable:
    """The table without the columns that match these names or patterns."""
    patterns = _listed(ignore) or []
    columns = [c for c in table.frame.columns if any(fnmatchcase(c, pattern) for pattern in patterns)]
    for pattern in patterns:
        if not any(fnmatchcase(c, pattern) for c in table.frame.columns):
            raise DataError(f"{table.where.source}: --ignore {pattern}: no column matches.")
    return replace(table, frame=table.frame.drop(columns)) if columns else table


@dataclass(frozen=True)
class LabelFile:
    """What holds people's labels, and the user's words that speak of its columns."""

    given: Dataset | RawTable
    said: Mapping[str, str | None]
    human: ColumnNames

    @classmethod
    def of(
        cls, labels: Any, said: Mapping[str, str | None], human: ColumnNames = None, values: Any = None
    ) -> LabelFile:
        if isinstance(labels, list | tuple) and labels and all(isinstance(name, str | Path) for name in labels):
            given = joined_labels([cls._read(name, values) for name in labels])
        else:
            given = cls._read(labels, values)
        if isinstance(given, Dataset):
            return cls(given, {}, None)
        columns = set(given.frame.columns)
        theirs = {role: said[role] for role in ("system", "input", "rater") if said.get(role) in columns}
        return cls(given, theirs, human if _words({}, human, None) & columns else None)

    @staticmethod
    def _read(labels: Any, values: Any) -> Dataset | RawTable:
        given = labels if isinstance(labels, Dataset) else plain_table(labels, values=values)[0]
        return given or load(labels, values=values)


def labelled(data: Dataset, labels: LabelFile | None, ids: bool = True) -> Dataset:
    """The data with the labels of another file; `ids` as for `with_labels`."""
    if labels is None:
        return data
    given = labels.given
    if isinstance(given, Dataset):
        return with_labels(data, labels_of_dataset(given), ids)
    roles = find_roles(given, labels.said, _listed(labels.human))
    return with_labels(data, labels_of_table(given, roles, data.metrics, chosen=bool(labels.human)), ids)


def _path(source: str | Path) -> Path:
    try:
        path = Path(source)
        path.exists()
        if "\0" in str(source):
            raise ValueError("a NUL byte in its name")
    except (OSError, ValueError) as error:  # too long, a NUL byte, a folder that may not be looked into
        raise DataError(f"{source}: cannot be opened ({getattr(error, 'strerror', None) or error}).") from None
    return path


def finished(
    data: Dataset, name: str | None, lower: Iterable[str], higher: Iterable[str], people: Iterable[str] | None,
    known: bool
) -> Dataset:  # fmt: skip
    """What the user says about a Dataset that a reader made. `known`: it says of which metrics less is better."""
    return replace(
        data, name=name or data.name,
        lower=lower_of(data.metrics, lower, higher, data.name,
                       data.lower if known else None) | (data.lower - set(higher)),
        people=data.people if people is None else frozenset(people),
    )  # fmt: skip


def _special(path: Path, reader: str | None, said: Mapping[str, Any], judges: bool) -> tuple[str, Any] | None:
    """The reader that knows this file, with its name, or None for a plain table. Columns named by the user mean a
    table.

    judges: the user names what may be judgements in a log of an evaluation tool (or columns of the labels), so only its
    reader is asked.
    """
    if reader == "table" or (said and reader is None):
        return None
    if reader is not None:
        return reader, registry.get("reader", reader, allow_code=True)
    peek = Peek(path)  # a path that does not exist may still name something, such as wmt23/en-de
    if not judges and (why := unsupported(peek)):
        raise DataError(f"{path}: {why}")
    able = ((name, thing) for name, thing in peek.readers() if not judges or _knows_judges(thing))
    found = [(name, thing) for name, thing in able if thing.recognises(peek)]
    if len(found) > 1:
        raise DataError(f"{path}: could be {' or '.join(name for name, _ in found)}; choose with --reader.")
    return found[0] if found else None


def _votes(table: RawTable) -> Any:
    """The reader of votes where a table in memory holds them; a file is recognised by its beginning."""
    reader: Any = registry.get("reader", "pairwise")
    row = next(table.frame.head(1).iter_rows(named=True), {}) | {n: v[0] for n, v in table.nested.items() if v}
    return reader if reader.holds(row) else None


def _knows_judges(reader: Any) -> bool:
    return "human" in inspect.signature(reader.read).parameters


def _read(name: str, reader: Any, path: Path, options: Mapping[str, Any]) -> Dataset:
    known = [name for name in inspect.signature(reader.read).parameters if name != "path"]
    for option in options:
        if option not in known:
            raise NameUnknown(
                f"{path}: the reader {name} has no option '{option}'.{registry.did_you_mean(option, known)} "
                f"Its options: {', '.join(known) or 'none'}."
            )
    data: Dataset = reader.read(path, **options)
    return data


def _read_no(options: Mapping[str, Any]) -> None:
    """A plain table has no reader, so options are slips of the pen."""
    if options:
        known = [name for name in inspect.signature(load).parameters if name != "options"]
        raise NameUnknown(f"load has no option '{(name := next(iter(options)))}'.{registry.did_you_mean(name, known)}")


def plain_table(
    data: Any, *, reader: str | None = None, human: ColumnNames = None, metrics: ColumnNames = None,
    encoding: str | None = None, sheet: str | None = None, values: Mapping[str, float] | str | None = None,
    **options: Any,
) -> tuple[RawTable | None, str]:  # fmt: skip
    """What is read column by column, as a raw table; None and the name of the reader where one knows the whole."""
    said = {role: options[role] for role in ROLES if options.get(role) is not None}
    if isinstance(data, str | Path):
        path = _path(data)
        name = None if reader is None else reader.partition("(")[0]
        special = _special(path, name, said, judges=bool(human or metrics))
        if special:
            return None, special[0]
        table = read_table(path, encoding, sheet, _words(said, human, metrics))
    else:
        table = from_object(data, _words(said, human, metrics))
        if not (said or human or metrics) and _votes(table):
            return None, "pairwise"
    table.worth = option_worth("values", values)
    table = one_row_an_output(with_lists_of_words(table), _words(said, human, metrics))
    return table, ""


def understood(table: RawTable, *, human: ColumnNames = None, metrics: ColumnNames = None, **options: Any) -> Roles:
    said = {role: options[role] for role in ROLES if options.get(role) is not None}
    elsewhere = options.get("labels") is not None
    return with_input(table, find_roles(table, said, _listed(human), _listed(metrics), elsewhere))


def _words(said: Mapping[str, str | None], human: ColumnNames, metrics: ColumnNames) -> set[str]:
    """All that the user may mean by names of columns; of a table with very many columns only these are read."""
    words = {name for name in said.values() if name}
    for names in (_listed(human), _listed(metrics)):
        for name in names or ():
            columns = names[name] if isinstance(names, Mapping) else name
            for part in [columns] if isinstance(columns, str) else columns:
                bare = part.removeprefix("+")
                words |= {part, bare, *bare.partition("=")[2].split("+")}
    return words


def _listed(names: ColumnNames) -> Any:
    return [names] if isinstance(names, str) else names
