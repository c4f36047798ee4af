"""load(): read a file or data frame as a Dataset. Published sets by name: `nlgauge.datasets.load`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from nlgauge import registry
from nlgauge.data.dataset import Dataset
from nlgauge.data.declared import ColumnNames, Declared, Repeats
from nlgauge.data.files import check_regular
from nlgauge.data.labels import DESIGN, current_labels, joined_labels, labels_of_dataset, labels_of_table, with_labels
from nlgauge.data.names import look_alikes
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import BY_LABELS, UNKNOWN, separate_model_ratings
from nlgauge.data.readers._unsupported import unsupported
from nlgauge.data.readers.tracing._tool_tables import declare_tool
from nlgauge.data.records import label_values
from nlgauge.data.services import fetch, is_address
from nlgauge.data.tables._classes import share_classes, with_classes
from nlgauge.data.tables.build import build, scales_of_table
from nlgauge.data.tables.columns import Roles, find_roles
from nlgauge.data.tables.directions import lower_of
from nlgauge.data.tables.keys import read_names, with_input
from nlgauge.data.tables.raw import RawTable, from_object, read_table
from nlgauge.data.tables.side_by_side import explode_outputs
from nlgauge.data.tables.understanding import lines, with_lists_of_words
from nlgauge.errors import DataError, NameUnknown, NoSuchFile
from nlgauge.options import ROLES, option
from nlgauge.spec import parse_spec


def load(
    data: Any,
    /,
    *,
    columns: Mapping[str, Any] | str | None = None,
    system: str | None = None,
    input: str | None = None,
    output: str | None = None,
    human: ColumnNames = None,
    rater: str | None = None,
    metrics: ColumnNames = None,
    ignore: ColumnNames = None,
    source: str | None = None,
    context: str | None = None,
    references: Sequence[str] | str | None = None,
    control: str | None = None,
    part: str | None = None,
    ordinal: ColumnNames = (),
    nominal: ColumnNames = (),
    multilabel: ColumnNames = (),
    lower: Iterable[str] = (),
    higher: Iterable[str] = (),
    human_systems: Iterable[str] | None = None,
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

    The role of each column is inferred from its name and content; declare it where that fails, in `columns` or by the
    argument of the same name.

    Parameters
    ----------
    data : path, data frame, rows or name of a published set
    columns : str or mapping, optional
        Role of each column, as in "system=model,input=doc,human=coherence+fluency,lower=ter", or a mapping of the same
        roles. "human.quality=r1+r2" names the annotators' columns of one aspect, and a value that begins with + adds to
        what is inferred. All options below except `labels` and `name` can be given there, too. A file nlgauge.toml
        next to the data can have the same roles in a table [columns].
    system, input, output, source, context, control, rater : str, optional
        Column with the system, the input, the output text, and so on.
    references : str or sequence of str, optional
        Columns with reference texts.
    human, metrics : str, sequence of str or mapping, optional
        Columns with human ratings, and with metric scores. A mapping gives them names, and `human` several columns of
        one aspect; "+x" adds a column to those that are inferred; "Rouge*" is every column that matches.
    ignore : str or sequence of str, optional
        Columns that are not read; patterns, too.
    part : str, optional
        Column that names the part of an output that a row is about: a step, turn, claim or rubric item. Parts of one
        output are not independent.
    ordinal, nominal, multilabel : str or sequence of str, optional
        Columns with ordered levels, with classes without an order, and with sets of labels.
    lower, higher : sequence of str, optional
        Metrics for which lower is better, and for which higher is better; inferred from their names by default.
    human_systems : sequence of str, optional
        Systems whose outputs were written by humans; inferred from their names by default.
    person_raters, model_raters : sequence of str, optional
        Annotators who are human, and annotators that are models; inferred from their names by default.
    repeats : {'auto', 'number', 'mean'}, default 'auto'
        Rows with the same system and input: different outputs are trials ('number'), or their values are averaged.
    values : mapping or str, optional
        Numbers of labels, as in {"good": 3, "bad": 1}.
    sheet, encoding, reader : str, optional
        Sheet of an Excel file, text encoding when it is not UTF-8, and the format when it is not recognized.
    labels : path, list of paths, data frame or Dataset, optional
        Human labels of these outputs in another file, joined by ID; `human`, `rater`, `input` and `system` can name
        its columns.
    name : str, optional
        Name of the data set.
    **options
        Options of the reader of a known layout, as in lp="en-de" (docs/formats.md).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"system": s, "doc": d, "coherence": c, "bleu": b}
    ...         for s, d, c, b in [("A", 1, 4, .3), ("A", 2, 5, .5), ("B", 1, 2, .1), ("B", 2, 3, .4)]]
    >>> ng.load(rows, name="mine")
    Dataset('mine': 2 systems × 2 inputs, 4 outputs, aspects ['coherence'], 0 annotators, 1 metric)
    """
    declarations = {role: value for role, value in locals().items() if role in ROLES}
    return read_data(data, Declared.of(columns, declarations, data), labels, name, options)


def read_data(
    data: Any, declared: Declared, labels: Any = None, name: str | None = None, options: Mapping[str, Any] | None = None
) -> Dataset:
    """Read a file or frame with these declarations, without looking for nlgauge.toml."""
    label_file = None if labels is None else LabelFile.of(labels, declared)
    opened = open_data(data, declared, label_file, options or {})
    if label_file is not None and isinstance(label_file.given, RawTable) and opened.raw is not None:
        raw, given = share_classes(opened.raw, label_file.given, declared, DESIGN)
        opened = replace(opened, raw=raw, labels=replace(label_file, given=given))
    return opened.dataset(name) if opened.reader else dataset_of_table(opened, resolve_roles(opened), name)


@dataclass(frozen=True)
class Opened:
    """An opened file or frame: the reader of its format, or a plain table."""

    data: Any
    declared: Declared  # without columns that only the file of labels has
    labels: LabelFile | None = None
    reader: Any = None
    reader_name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)  # of the reader
    raw: RawTable | None = None

    @property
    def table(self) -> RawTable:
        """The plain table."""
        assert self.raw is not None
        return self.raw

    def dataset(self, name: str | None) -> Dataset:
        """Read with the reader of the format."""
        declared = self.declared
        if isinstance(self.data, RawTable):  # comparisons in memory
            votes = self.reader.of(self.data, name or self.data.where.source, **self.options)
            votes = separate_model_ratings(votes, declared.person_raters, declared.model_raters)
            return finish_whole(votes, declared, name, directed=False)
        requested = {
            "encoding": declared.encoding,
            "repeats": None if declared.repeats == "auto" else declared.repeats,
            "values": declared.values,
            "sheet": declared.sheet,
            "human": declared.human or None,
            "metrics": declared.metrics or None,
            "ignore": declared.ignore or None,
        }
        options = {**self.options, **{k: v for k, v in requested.items() if v is not None}}
        accepted = [name for name in inspect.signature(self.reader.read).parameters if name != "path"]
        for each in options:
            if each not in accepted:
                raise NameUnknown(
                    f"{self.data}: the reader {self.reader_name} has no option '{each}'."
                    f"{registry.did_you_mean(each, accepted)} Options: {', '.join(accepted) or 'none'}."
                )
        data: Dataset = self.reader.read(self.data, **options)
        data = separate_model_ratings(join_labels(data, self.labels), declared.person_raters, declared.model_raters)
        return finish_whole(data, declared, name, directed=getattr(self.reader, "whole", False))


def open_data(data: Any, declared: Declared, labels: LabelFile | None, options: Mapping[str, Any]) -> Opened:
    """Find the reader of a file's format, or read it as a plain table."""
    own_columns = declared if labels is None else labels.rest_of(declared)
    if isinstance(data, str | Path):
        path, reader = _path(data), own_columns.reader
        if reader is not None and "(" in reader:  # mt-metrics-eval(lp='en-de')
            reader, more = parse_spec(reader)
            options = {**options, **more}
        own = {role for role in own_columns.columns if labels is None or role not in labels.roles}
        peek = Peek(path)
        if detected := detect_reader(peek, reader, bool(own), own_columns.names_columns):
            name, thing = detected
            if own or ((own_columns.human or own_columns.metrics) and not _knows_judges(thing)):
                raise DataError(
                    f"{path}: columns cannot be declared for the format '{name}'. Leave them out, or read the file as "
                    f"a plain table with {option('reader', 'table')}."
                )
            return Opened(path, own_columns, labels, thing, name, options)
        _refuse_options(options)
        if not path.suffix and not path.exists():
            raise NoSuchFile(f"{path}: no such file.")
        table = read_table(path, own_columns.encoding, own_columns.sheet, own_columns.mentioned, peek.whole)
    else:
        table = from_object(data, own_columns.mentioned)
        if not (own_columns.names_columns or labels) and (votes := _votes(table)):
            return Opened(table, own_columns, labels, votes, "pairwise", options)
        _refuse_options(options)
    own_columns = declare_tool(own_columns, table.frame.columns)
    table.worth, table.in_settings = label_values("values", own_columns.values), own_columns.in_settings
    table = explode_outputs(with_lists_of_words(without(table, own_columns.ignore)), own_columns.mentioned)
    table = with_classes(table, own_columns, labels is not None)
    return Opened(data, own_columns, labels, raw=table)


def resolve_roles(opened: Opened) -> Roles:
    """Return the role of every column of a plain table."""
    table, declared = opened.table, opened.declared
    human = _declare_nested(table, declared.human)
    roles = with_input(table, find_roles(table, declared.columns, human, declared.metrics, opened.labels is not None))
    read_names(table, roles)
    return roles


def dataset_of_table(opened: Opened, roles: Roles, name: str | None = None) -> Dataset:
    """Return the Dataset of a plain table, with labels of another file and notes."""
    table, declared, labels = opened.table, opened.declared, opened.labels
    source = Path(opened.data).name if isinstance(opened.data, str | Path) else table.where.source
    data = build(table, roles, name or source, declared.repeats)
    data = replace(data, **scales_of_table(table, roles, data, declared.ordinal))
    data = join_labels(data, labels, ids=roles.input is not None)
    data = separate_model_ratings(data, declared.person_raters, declared.model_raters)
    data = data if declared.human_systems is None else data.with_human_systems(declared.human_systems)
    return replace(
        data,
        lower=lower_of(data.metrics, declared.lower, declared.higher, data.name),
        notes=(*([declared.note] if declared.note else []), *lines(table, roles), *data.notes, *_look_alikes(data)),
        sources={a: data.sources.get(a, BY_LABELS if labels else UNKNOWN) for a in data.aspects},
    )


def finish_whole(data: Dataset, declared: Declared, name: str | None, directed: bool) -> Dataset:
    """Apply the user's declarations to data of a known format; `directed`: the format defines `lower`."""
    lower = lower_of(data.metrics, declared.lower, declared.higher, data.name, data.lower if directed else None)
    data = data if declared.human_systems is None else data.with_human_systems(declared.human_systems)
    notes = (declared.note, *data.notes) if declared.note else data.notes
    notes = (*notes, *_look_alikes(data))
    return replace(data, name=name or data.name, lower=lower | (data.lower - set(declared.higher)), notes=notes)


def _look_alikes(data: Dataset) -> list[str]:
    """Return notes on different names that look alike."""
    kinds = ("systems", "inputs", "raters", "aspects", "metrics")
    return [note for kind in kinds for note in look_alikes(kind, getattr(data, kind))]


def _declare_nested(table: RawTable, human: ColumnNames) -> ColumnNames:
    """Mark columns of nested records named in `human`, or with such an aspect, as human; return the other names."""
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
    nested_names = set().union(*(inside[column] for column in table.declared)) - set(table.frame.columns)
    return [name for name in names if name not in nested_names] or None


def without(table: RawTable, patterns: Sequence[str]) -> RawTable:
    """Return the table without the columns that match these names or patterns."""
    columns = [c for c in table.frame.columns if any(fnmatchcase(c, pattern) for pattern in patterns)]
    for pattern in patterns:
        if not any(fnmatchcase(c, pattern) for c in table.frame.columns):
            raise DataError(f"{table.where.source}: {option('ignore', pattern)}: no column matches.")
    return replace(table, frame=table.frame.drop(columns)) if columns else table


@dataclass(frozen=True)
class LabelFile:
    """The file with human labels, and the user's declarations about its columns."""

    given: Dataset | RawTable
    roles: Mapping[str, str]
    human: ColumnNames

    @classmethod
    def of(cls, labels: Any, declared: Declared) -> LabelFile:
        """Read the labels of one file or of several."""
        if isinstance(labels, list | tuple) and labels and all(isinstance(name, str | Path) for name in labels):
            given = joined_labels([cls._read(name, declared.values) for name in labels])
        else:
            given = cls._read(labels, declared.values)
        if isinstance(given, Dataset):
            return cls(given, {}, None)
        columns = set(given.frame.columns)
        roles = {role: c for role in ("system", "input", "rater") if (c := declared.columns.get(role)) in columns}
        named = Declared(human=declared.human).mentioned & columns
        return cls(given, roles, declared.human if named else None)

    @staticmethod
    def _read(labels: Any, values: Any) -> Dataset | RawTable:
        if isinstance(labels, Dataset):
            return labels
        opened = open_data(labels, Declared(values=values), None, {})
        return opened.dataset(None) if opened.reader else current_labels(opened.table)

    def rest_of(self, declared: Declared) -> Declared:
        """Return the declarations without those about columns of the labels only."""
        return declared.without(rater="rater" in self.roles, human=bool(self.human))


def join_labels(data: Dataset, labels: LabelFile | None, ids: bool = True) -> Dataset:
    """Return the data with the labels of another file; `ids` as for `with_labels`."""
    if labels is None:
        return data
    given = labels.given
    if isinstance(given, Dataset):
        return with_labels(data, labels_of_dataset(given), ids)
    roles = find_roles(given, labels.roles, labels.human)
    return with_labels(data, labels_of_table(given, roles, data.metrics, chosen=bool(labels.human)), ids)


def _path(source: str | Path) -> Path:
    if is_address(source):
        return fetch(str(source))
    try:
        path = Path(source)
        path.exists()
        if "\0" in str(source):
            raise ValueError("a NUL byte in its name")
    except (OSError, ValueError) as error:  # too long, a NUL byte, no permission
        raise DataError(f"{source}: cannot be opened ({getattr(error, 'strerror', None) or error}).") from None
    check_regular(path)
    return path


def detect_reader(peek: Peek, reader: str | None, columns: bool, judges: bool) -> tuple[str, Any] | None:
    """Return the reader of this file's format, with its name; None for a plain table, or if columns are declared.

    `judges`: the user names columns that may be judgments in a log of an evaluation tool; only its reader is tried.
    """
    if reader == "table" or (columns and reader is None):
        return None
    if reader is not None:
        return reader, registry.get("reader", reader, allow_code=True)
    if not judges and (reason := unsupported(peek)):
        raise DataError(f"{peek.path}: {reason}")
    able = ((name, thing) for name, thing in peek.readers() if not judges or _knows_judges(thing))
    detected = [(name, thing) for name, thing in able if thing.recognizes(peek)]
    if len(detected) > 1:
        names = " or ".join(name for name, _ in detected)
        raise DataError(f"{peek.path}: the format may be {names}; choose with {option('reader')}.")
    return detected[0] if detected else None


def _votes(table: RawTable) -> Any:
    """Return the reader of pairwise comparisons if a table in memory contains them, else None."""
    reader: Any = registry.get("reader", "pairwise")
    row = next(table.frame.head(1).iter_rows(named=True), {}) | {n: v[0] for n, v in table.nested.items() if v}
    return reader if reader.holds(row) else None


def _knows_judges(reader: Any) -> bool:
    return "human" in inspect.signature(reader.read).parameters


def _refuse_options(options: Mapping[str, Any]) -> None:
    """Refuse options of readers for a plain table."""
    if options:
        accepted = [name for name in inspect.signature(load).parameters if name != "options"]
        raise NameUnknown(
            f"load has no option '{(name := next(iter(options)))}'.{registry.did_you_mean(name, accepted)}"
        )
