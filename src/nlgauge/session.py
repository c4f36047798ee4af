"""Selection: a Dataset and what of it was asked for. Commands, report and Python run analyses through it.

It computes each answer once, keeps what could not be computed as data, and reports progress to a callback.
"""

from __future__ import annotations

import contextvars
import inspect
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from nlgauge import registry
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.table import Table, joined

if TYPE_CHECKING:
    from nlgauge.analyses import Analysis
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.panel import Aggregate, Panel
    from nlgauge.types import Names, Progress

Ask = tuple[str, dict[str, Any]]  # an analysis and its options
Group = dict[str, Any]  # the value of each column of `by`
Part = tuple[Group, Callable[[], Any], dict[str, Any]]  # where, the data (made when asked for), own options


@dataclass
class Selection:
    """A Dataset and what of it was asked for; it runs analyses and remembers what it computed.

    Attributes
    ----------
    data : Dataset
    aspects, metrics : sequence of str, optional
        Those to use; all by default.
    by : sequence of str, optional
        Columns: each combination of their values is analysed by itself.
    keep_people : bool
        Keep outputs written by people among the systems.
    aggregate : {'mean', 'median', 'mace'}
        How the ratings of one output become one.
    seed : int
        Of everything random.
    others : sequence of Dataset
        Further data sets, each analysed like the first; an analysis that takes several gets all at once.
    progress : callable, optional
        Called with the analysis, the number of steps done, and of how many.
    not_computed : list of str
        Why parts of the data were left out, of all analyses so far.

    Examples
    --------
    >>> import nlgauge as ng
    >>> chosen = ng.Selection(ng.example(), metrics=["unigram_f1", "random"])
    >>> [round(row["value"], 2) for row in chosen.analyse("correlation", measures=["input/kendall"])]
    [0.78, -0.08]
    """

    data: Dataset
    aspects: Sequence[str] | None = None
    metrics: Sequence[str] | None = None
    by: Sequence[str] | None = None
    keep_people: bool = False
    aggregate: Aggregate = "mean"
    seed: int = 0
    others: Sequence[Dataset] = ()
    progress: Progress | None = None
    not_computed: list[str] = field(default_factory=list, init=False, repr=False)
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    _tables: dict[str, Future[list[Table]]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _panels: dict[Any, Panel] = field(default_factory=dict, init=False, repr=False, compare=False)
    _groups: dict[int, list[tuple[Group, Dataset]]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def card(self) -> list[str]:
        """What was understood of the data, in a few lines."""
        from nlgauge.data.card import card

        return card(self.data, self.keep_people)

    @property
    def datasets(self) -> list[Dataset]:
        return [self.data, *self.others]

    # --- analyses ---

    def analyse(self, name: str, **options: Any) -> Table:
        """The answer in one table; groups (`by`) print as one, several aspects one after the other."""
        return joined(self.each(name, **options), self.by or ())

    def each(self, name: str, **options: Any) -> list[Table]:
        """One table per data set, group and aspect; rows carry the group's values.

        A group where the analysis means nothing stands in `not_computed`; where no group is left, that is an error.
        The same question is computed once: who asks while another thread computes it waits for that answer.
        """
        key = _key(name, options)
        with self._lock:
            known = None if key is None else self._tables.get(key)
            mine = known is None
            future: Future[list[Table]] = Future() if known is None else known
            if mine and key is not None:
                self._tables[key] = future
        if mine:
            try:
                future.set_result(self._computed(name, options))
            except BaseException as error:
                if key is not None and not isinstance(error, NlgaugeError):
                    del self._tables[key]  # an interrupted question may be asked again
                future.set_exception(error)
        return future.result()

    @contextmanager
    def ahead(self, asked: Sequence[Ask]) -> Iterator[None]:
        """Compute these one after the other in a thread while the block runs; what was not begun by its end is left.

        Resampling leaves Python to its kernels, so a second core has time for what is done inside the block.
        """
        ended = threading.Event()

        def work() -> None:
            for name, options in asked:
                if ended.is_set():
                    return
                with suppress(Exception):  # whoever asks for it gets the error
                    self.each(name, **options)

        threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True).start()
        try:
            yield
        finally:
            ended.set()

    def _computed(self, name: str, options: dict[str, Any]) -> list[Table]:
        run: Analysis = registry.get("analysis", name, allow_code=True)
        known = inspect.signature(run.function).parameters
        check_options(run, options)
        if "seed" in known:
            options = {"seed": self.seed, **options}
        if run.takes == "datasets":
            return self._tables_of(self.data, run, options, several=False)
        sets = self.datasets
        return [table for data in sets for table in self._tables_of(data, run, options, len(sets) > 1)]

    def _tables_of(self, data: Dataset, run: Analysis, options: dict[str, Any], several: bool) -> list[Table]:
        known = inspect.signature(run.function).parameters
        if run.takes != "panel":
            chosen = {
                "aspects": self.aspects, "metrics": self.metrics, "by": self.by, "keep_people": self.keep_people,
                "aggregate": self.aggregate, "others": [d for d in self.datasets if d is not data],
            }  # fmt: skip
            options = {**{name: value for name, value in chosen.items() if name in known}, **options}
        if self.progress is not None and "progress" in known:
            options = {**options, "progress": partial(self.progress, run.name)}
        tables: list[Table] = []
        refused: dict[str, None] = {}
        for group, made, own in self._parts(data, run, options):
            try:
                table = run(made(), **{**own, **options})
            except (NeedsMissing, DataError) as error:
                refused[str(error)] = None
                continue
            where = {"data": data.name, **group} if several else group
            table.rows = [{**where, **row} for row in table.rows]
            tables.append(table)
        if not tables:
            raise NeedsMissing("; ".join(refused) or "nothing to compute.")
        self.not_computed += refused
        return tables

    # --- parts of the data ---

    def _parts(self, data: Dataset, run: Analysis, options: dict[str, Any]) -> Iterator[Part]:
        """What an analysis is run on, one after the other."""
        if run.takes == "datasets":
            yield {}, lambda: self.datasets, {}
            return
        if run.takes == "panel":
            from nlgauge.stats.correlation.profiles import profile_of

            if not data.aspects:
                data.aspect()  # says what is missing
            canonical = not profile_of(options.get("profile", "nlgauge")).legacy
            for at, (group, part) in enumerate(self.groups(data)):
                for aspect in self.aspects or part.aspects:
                    yield group, partial(self._panel, data, at, data.aspect(aspect), canonical), {}
            return
        from nlgauge.data.comparisons import judged_aspects

        names = inspect.signature(run.function).parameters
        for group, part in [({}, data)] if "by" in names else self.groups(data):
            aspects = (self.aspects or judged_aspects(part)) if "aspect" in names else []
            for own in [{"aspect": aspect} for aspect in aspects] or [{}]:
                yield group, partial(lambda part: part, part), own

    def groups(self, data: Dataset | None = None) -> list[tuple[Group, Dataset]]:
        """The data sets by the values of the columns `by`; the whole data set where there are none."""
        data = self.data if data is None else data
        if id(data) not in self._groups:
            self._groups[id(data)] = list(data.by(*self.by)) if self.by else [({}, data)]
        return self._groups[id(data)]

    def panel(self, aspect: str | None = None) -> Panel:
        """The panel of one aspect, of the whole data set, in the order of the file."""
        return self._panel(self.data, None, self.data.aspect(aspect), canonical=False)

    def _panel(self, data: Dataset, at: int | None, aspect: str, canonical: bool) -> Panel:
        key = id(data), at, aspect, canonical
        if key not in self._panels:
            group, part = ({}, data) if at is None else self.groups(data)[at]
            self._panels[key] = part.panel(
                aspect, canonical=canonical, metrics=self.metrics, keep_people=self.keep_people or "system" in group,
                aggregate=self.aggregate, seed=self.seed,
            )  # fmt: skip
        return self._panels[key]


def listed(names: Names) -> list[str] | None:
    """One name or several, as a list.

    >>> listed("bleu"), listed(("a", "b")), listed(None)
    (['bleu'], ['a', 'b'], None)
    """
    return None if names is None else [names] if isinstance(names, str) else list(names)


def check_options(run: Analysis, options: dict[str, Any]) -> None:
    """An option that the analysis does not have is answered with those it has."""
    known = inspect.signature(run.function).parameters
    theirs = [n for n in list(known)[1:] if n != "progress"]
    for option in options:
        if option not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
            hint = registry.did_you_mean(option, theirs)
            raise NameUnknown(f"{run.name}: no option '{option}'.{hint} Options: {', '.join(theirs)}.")


def _key(name: str, options: dict[str, Any]) -> str | None:
    """What makes two questions the same one; None where an option is no plain value."""
    try:
        return json.dumps([name, options], sort_keys=True)
    except TypeError:
        return None
