"""Verbs that read data: one decorator gives them FILE and the column options, another the choice and the output as
well.

@with_data
def command(pick: Selection, measure: o.Measure = "input/kendall") -> list[Table]:
    return pick.each("ranking", measure=measure)

@with_columns
def command(columns: Columns, format: o.Format = "table") -> None:
    data = columns.load()
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.api.questions import dataset
from nlgauge.cli import _options as o
from nlgauge.errors import NlgaugeError, merge_refusals
from nlgauge.registry import names_code
from nlgauge.session import Selection

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.table import Table

Command = Callable[..., Any]
LONGEST = 400  # letters of a reason
LISTS = {
    "ignore": "ignore",
    "lower": "lower",
    "higher": "higher",
    "person_rater": "person_raters",
    "model_rater": "model_raters",
}


def _file(file: o.File) -> None: ...


def _chosen(
    aspect: o.Aspects = None, metrics: o.Metrics = None, by: o.By = None, keep_people: o.KeepPeople = False,
    aggregate: o.Aggregate = "mean",
) -> None: ...  # fmt: skip


def _columns(
    system: o.System = None, input: o.Input = None, output: o.Output = None, source: o.Source = None,
    context: o.Context = None, references: o.References = None, control: o.Control = None, human: o.Human = None,
    metric: o.MetricColumns = None, ignore: o.Ignore = None, rater: o.Rater = None, person_rater: o.PersonRaters = None,
    model_rater: o.ModelRaters = None, lower: o.Lower = None, higher: o.Higher = None, repeats: o.Repeats = "auto",
    values: o.Values = None, sheet: o.Sheet = None, encoding: o.Encoding = None, reader: o.Reader = None,
    labels: o.Labels = None,
) -> None: ...  # fmt: skip


def _ending(seed: o.Seed = 0, format: o.Format = "table", out: o.Out = None) -> None: ...


@dataclass(frozen=True)
class Columns:
    """The file, and what the user says about its columns: options of `nlgauge.load`."""

    file: str
    given: dict[str, Any]

    @property
    def words(self) -> dict[str, Any]:
        given = self.given
        if given["repeats"] not in ("auto", "number", "mean"):
            raise NlgaugeError(f"--repeats {given['repeats']}: use auto, number or mean.")
        lists = {theirs: o.listed(given.get(ours)) or () for ours, theirs in LISTS.items()}
        plain = {k: v for k, v in given.items() if v is not None and k not in (*LISTS, "human", "metric")}
        return {
            **lists, **plain, "human": o.listed(given.get("human")), "metrics": o.listed(given.get("metric"))
        }  # fmt: skip

    def said(self, *names: str) -> dict[str, Any]:
        """Those of these options that were given."""
        return {n: v for n in names if (v := self.given.get(n)) and (n, v) != ("repeats", "auto")}

    def load(self, **options: Any) -> Dataset:
        """The file as a Dataset; `options` are those of its reader."""
        import nlgauge as ng

        words = self.words
        if self.file == "example" and not Path(self.file).exists():
            if self.given.get("labels"):
                raise NlgaugeError("--labels: the example holds people's ratings already.")
            return dataset(self.file)
        return ng.load(self.file, **words, **options)

    def load_and_tell(self, **options: Any) -> Dataset:
        """The data of a verb that looks at all outputs, those of people too; what was understood goes to stderr."""
        from nlgauge.data.card import card

        data = self.load(**options)
        o.tell(card(data, keep_people=True))
        return data


def with_columns(function: Command) -> Command:
    """Make a verb of a function of `columns`; an option of its own hides the column option of that name."""
    parameters, mine = _parameters(function, "columns", _file, _columns)
    theirs = [p.name for p in _of(_columns) if p.name not in mine]

    def command(**given: Any) -> Any:
        columns = Columns(given["file"], {name: given[name] for name in theirs})
        return function(columns, **{name: given[name] for name in mine})

    return _typed(function, command, parameters)


def with_data(function: Command) -> Command:
    """Make a verb of a function of a Selection; its own options stand between the choice and the columns."""
    parameters, mine = _parameters(function, "pick", _file, _chosen, _columns, _ending)
    theirs = [p.name for p in _of(_columns)]

    def command(**given: Any) -> None:
        from nlgauge.data.card import card

        files = given.get("files") or [given["file"]]
        columns = {name: given.get(name) for name in theirs}
        first, *others = [Columns(file, columns).load() for file in files]
        pick = Selection(
            first, o.listed(given.get("aspect")), o.listed(given.get("metrics")), o.listed(given.get("by")),
            given["keep_people"], given["aggregate"], given["seed"], others, o.bar,
        )  # fmt: skip
        for data in pick.datasets:
            o.tell(card(data, pick.keep_people))
        try:
            tables: list[Table] | None = function(pick, **{name: given[name] for name in mine})
        finally:
            if pick.not_computed:
                o.tell(["not computed:", *map(_shorten, merge_refusals(pick.not_computed))])
        if tables is not None:
            o.show(tables, given["format"], given["out"], given.get("figure"), pick.by or ())

    return _typed(function, command, parameters)


def _shorten(line: str) -> str:
    """Return a reason in a few lines of a terminal at most."""
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rpartition(' ')[0]} …"


def _of(function: Command) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())


def _parameters(function: Command, first: str, *shared: Command) -> tuple[list[inspect.Parameter], set[str]]:
    """All parameters of a verb, its own before the columns, and the names of its own."""
    own = [p for p in _of(function) if p.name != first]
    mine = {p.name for p in own}
    hidden = mine | ({"file"} if "files" in mine else set())  # several instead of one
    before = [p for part in shared for p in _of(part) if part in (_file, _chosen) and p.name not in hidden]
    after = [p for part in shared for p in _of(part) if part not in (_file, _chosen) and p.name not in hidden]
    found = [*before, *own, *after]
    return sorted(found, key=lambda p: p.default is not inspect.Parameter.empty), mine


def _typed(function: Command, command: Command, parameters: list[inspect.Parameter]) -> Command:
    """The command with the signature that typer reads."""
    command = functools.update_wrapper(command, function)
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


WORDS = {"true": "True", "false": "False"}  # as JSON and shells spell them: as a text, false would be true


def settings(pairs: Sequence[str] | None) -> dict[str, Any]:
    """`--set draws=200 --set test=williams` as {"draws": 200, "test": "williams"}; `groups=@file.json` reads it."""
    import ast

    found: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise NlgaugeError(f"--set {pair}: write name=value.")
        if value.startswith("@"):
            found[name.strip()] = _from_file(Path(value[1:]))
            continue
        try:
            found[name.strip()] = ast.literal_eval(WORDS.get(value.strip().lower(), value))
        except (ValueError, SyntaxError):
            found[name.strip()] = value  # a bare word is a text
    return found


def _from_file(path: Path) -> Any:
    """What a JSON file holds, or the rows of a CSV file."""
    from nlgauge.data.files import decode, read_bytes
    from nlgauge.data.records import parse_json
    from nlgauge.data.tables.separated import text_rows

    text = decode(path, read_bytes(path))
    found = parse_json(str(path), text) if path.suffix.lower() == ".json" else text_rows(path)
    if names_code(text):  # an option that takes metrics would run it
        raise NlgaugeError(f"--set @{path}: names a Python file (….py@name); type it, as a file's word runs no code.")
    return found
