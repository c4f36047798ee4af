"""Verbs that work on a data set: one decorator gives them FILE, the column options, the choice and the output options.

@with_data
def command(pick: Selection, measure: Annotated[...] = "input/kendall") -> list[Table]:
    \"\"\"Help text with examples.\"\"\"
    return pick.each("ranking", measure=measure)
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nlgauge.cli import _options as o
from nlgauge.errors import DataError, NeedsMissing, NlgaugeError
from nlgauge.registry import names_code

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Panel
    from nlgauge.table import Table


def _before(
    file: o.File,
    aspect: o.Aspects = None,
    metrics: o.Metrics = None,
    by: o.By = None,
    keep_people: o.KeepPeople = False,
    aggregate: o.Aggregate = "mean",
) -> None: ...


def _after(
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    source: o.Source = None,
    context: o.Context = None,
    references: o.References = None,
    control: o.Control = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    person_rater: o.PersonRaters = None,
    model_rater: o.ModelRaters = None,
    lower: o.Lower = None,
    higher: o.Higher = None,
    repeats: o.Repeats = "auto",
    values: o.Values = None,
    sheet: o.Sheet = None,
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None: ...


@dataclass
class Selection:
    """The data and what of it was asked for."""

    file: str
    data: Dataset
    aspects: Sequence[str] | None
    metrics: Sequence[str] | None
    by: Sequence[str] | None
    keep_people: bool
    seed: int
    card: list[str] = field(default_factory=list)
    out: Path | None = None
    aggregate: str = "mean"
    everything: Sequence[Dataset] = ()  # all files named on the command line

    def panels(self) -> Iterator[tuple[dict[str, Any], Callable[[], Panel]]]:
        """One panel per group and aspect, made when asked for."""
        if not self.data.aspects:
            self.data.aspect()
        for group, part in self.data.by(*self.by) if self.by else [({}, self.data)]:
            for aspect in self.aspects or part.aspects:
                keep = self.keep_people or "system" in group
                yield group, functools.partial(
                    part.panel, self.data.aspect(aspect), metrics=self.metrics, keep_people=keep,
                    aggregate=self.aggregate, seed=self.seed,
                )  # fmt: skip

    @property
    def others(self) -> list[Dataset]:
        return [data for data in self.everything if data is not self.data]

    def parts(
        self, takes: str, names: Collection[str]
    ) -> Iterator[tuple[dict[str, Any], Callable[[], Any], dict[str, Any]]]:
        """What an analysis is run on, one after the other: the group's values, the data (made when asked for), its own options."""
        if takes == "panel":
            yield from ((group, panel, {}) for group, panel in self.panels())
            return
        if takes == "datasets":
            yield {}, lambda: list(self.everything or [self.data]), {}
            return
        from nlgauge.data.comparisons import judged_aspects

        for group, part in self.data.by(*self.by) if self.by and "by" not in names else [({}, self.data)]:
            aspects = (self.aspects or judged_aspects(part)) if "aspect" in names else []
            for own in [{"aspect": aspect} for aspect in aspects] or [{}]:
                yield group, functools.partial(lambda part: part, part), own

    def each(self, analysis: str, **options: Any) -> list[Table]:
        """The analysis of every panel; rows carry the group's values. A group where it means nothing is said, not fatal."""
        from nlgauge import registry

        run = registry.get("analysis", analysis, allow_code=True)
        names = inspect.signature(run.function).parameters
        if "seed" in names:
            options.setdefault("seed", self.seed)
        if run.takes != "panel":
            chosen = ("aspects", "metrics", "by", "keep_people", "aggregate", "others")
            options = {**{n: getattr(self, n) for n in chosen if n in names}, **options}
        tables: list[Table] = []
        refused: list[str] = []
        for group, data, own in self.parts(run.takes, names):
            try:
                with progress(f"{analysis}", "progress" in names) as more:
                    table = run(data(), **{**own, **options}, **more)
            except (NeedsMissing, DataError) as error:
                refused.append(str(error))
                continue
            several = len(self.everything) > 1 and run.takes != "datasets"
            where = {"data": self.data.name, **group} if several else group
            table.rows = [{**where, **row} for row in table.rows]
            tables.append(table)
        if not tables:
            raise NeedsMissing("; ".join(dict.fromkeys(refused)) or "nothing to compute.")
        if refused:
            o.tell(["not computed:", *dict.fromkeys(refused)])
        return tables


@contextmanager
def progress(words: str, wanted: bool = True) -> Iterator[dict[str, Any]]:
    """A bar on stderr for functions that report (done, all); nothing when stderr is no terminal."""
    if not wanted:
        yield {}
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        *columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(words, total=None)
        yield {"progress": lambda done, total: bar.update(task, completed=done, total=total)}


def with_data(function: Callable[..., list[Table] | None]) -> Callable[..., None]:
    """Make a verb of a function of a Selection; its own options stand between the choice and the columns."""
    own = [p for p in inspect.signature(function, eval_str=True).parameters.values() if p.name != "pick"]
    first, last = (list(inspect.signature(f, eval_str=True).parameters.values()) for f in (_before, _after))
    mine = {p.name for p in own}
    if "files" in mine:  # several instead of one
        first = [p for p in first if p.name != "file"]
    parameters = [*(p for p in first if p.name not in mine), *own, *(p for p in last if p.name not in mine)]
    parameters.sort(key=lambda p: p.default is not inspect.Parameter.empty)

    @functools.wraps(function)
    def command(**given: Any) -> None:
        from nlgauge.data.card import card

        files = given.get("files") or [given["file"]]
        everything = [load({**given, "file": file}) for file in files]
        data = everything[0]
        pick = Selection(
            files[0], data, o.listed(given.get("aspect")), o.listed(given.get("metrics")), o.listed(given.get("by")),
            given["keep_people"], given["seed"], card(data, given["keep_people"]), given["out"],
            given["aggregate"], everything,
        )  # fmt: skip
        for each in everything:
            o.tell(card(each, given["keep_people"]))
        tables = function(pick, **{name: given[name] for name in mine})
        if tables is not None:
            o.show(tables, given["format"], given["out"])

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def load(given: dict[str, Any]) -> Dataset:
    """The file with the user's words about its columns, or the built-in example."""
    import nlgauge as ng

    file = given["file"]
    if file == "example" and not Path(file).exists():
        return ng.example()
    return ng.load(file, **words(given))


def words(given: dict[str, Any]) -> dict[str, Any]:
    """What the user says about the file, as options of `nlgauge.load`."""
    if given["repeats"] not in ("auto", "number", "mean"):
        raise NlgaugeError(f"--repeats {given['repeats']}: use auto, number or mean.")
    columns = ("system", "input", "output", "source", "context", "references", "control", "rater")
    said = {
        k: given[k] for k in (*columns, "values", "sheet", "encoding", "reader") if given.get(k) is not None
    }
    return {
        "lower": o.listed(given["lower"]) or (), "higher": o.listed(given["higher"]) or (),
        "human": o.listed(given["human"]), "metrics": o.listed(given["metric"]), "repeats": given["repeats"],
        "person_raters": o.listed(given.get("person_rater")) or (),
        "model_raters": o.listed(given.get("model_rater")) or (), **said,
    }  # fmt: skip


def settings(pairs: Sequence[str] | None) -> dict[str, Any]:
    """`--set draws=200 --set test=williams` as {"draws": 200, "test": "williams"}; `--set groups=@file.json` reads it."""
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
            found[name.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name.strip()] = value  # a bare word is a text
    return found


def _from_file(path: Path) -> Any:
    """What a JSON file holds, or the rows of a CSV file."""
    import csv
    import json

    try:
        text = path.read_text(encoding="utf-8-sig")
        found = (
            json.loads(text) if path.suffix.lower() == ".json" else list(csv.DictReader(text.splitlines()))
        )
    except OSError as error:
        raise NlgaugeError(f"--set @{path}: {error.strerror}.") from None
    except json.JSONDecodeError as error:
        raise NlgaugeError(f"--set @{path}, line {error.lineno}: {error.msg}.") from None
    if names_code(text):  # an option that takes metrics would run it
        raise NlgaugeError(
            f"--set @{path}: names a Python file (….py@name); type it, as a file's word runs no code."
        )
    return found
