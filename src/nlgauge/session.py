"""Session: a Dataset with a selection of its contents. Commands, report and Python run analyses through it.

It computes each answer once, keeps what could not be computed as data, and reports progress to a callback.
"""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from nlgauge import registry
from nlgauge.data.choice import Choice, Group
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError, Refusal
from nlgauge.table import Table, joined

if TYPE_CHECKING:
    from nlgauge.analyses import Analysis
    from nlgauge.data.dataset import Dataset
    from nlgauge.types import Progress

Ask = tuple[str, dict[str, Any]]  # an analysis and its options
Answer = tuple[list[Table], list[Refusal]]  # what was computed, and why the rest was not
# Group, aspect ("" for all together), function that returns the data, and options of this part.
Part = tuple[Group, str, Callable[[], Any], dict[str, Any]]


@dataclass(frozen=True)
class Session(Choice):
    """A Dataset with a selection of its contents. It runs analyses and caches their results.

    Attributes
    ----------
    data, aspects, metrics, by, keep_human, aggregate, seed, others
        As in `Choice`.
    progress : callable, optional
        Called with the analysis, the number of steps done, and of how many.
    source : str
        File or published set that the data were read from, where it is known.
    not_computed : list of Refusal
        Why parts of the data were left out, of all analyses so far; `str` of one is its sentence.

    Examples
    --------
    >>> import nlgauge as ng
    >>> chosen = Session(ng.example(), metrics=["unigram_f1", "random"])
    >>> [round(row["value"], 2) for row in chosen.analyze("correlate", measures=["input/kendall"])]
    [0.78, -0.08]
    """

    progress: Progress | None = None
    source: str = ""
    not_computed: list[Refusal] = field(default_factory=list, init=False, repr=False)
    _lock: Any = field(default_factory=threading.Lock, init=False, repr=False, compare=False)
    _answers: dict[str, Future[Answer]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def card(self) -> list[str]:
        """Return how the data were interpreted, in a few lines."""
        # Imported late: `nlgauge --help` needs neither numpy nor polars.
        from nlgauge.data.card import card

        return card(self.data, self.keep_human)

    @cached_property
    def _choices(self) -> list[Choice]:
        """Return the selection for every data set, with the others as context."""
        return [
            Choice(
                data,
                self.aspects,
                self.metrics,
                self.by,
                self.keep_human,
                self.aggregate,
                self.seed,
                [*self.datasets[:k], *self.datasets[k + 1 :]],
            )
            for k, data in enumerate(self.datasets)
        ]

    def declared(self) -> Session:
        """Return this session if no rating is only assumed to be human; otherwise raise an error that says what to
        declare.
        """
        # Imported late: `nlgauge --help` needs neither numpy nor polars.
        from nlgauge.data.provenance import require_human

        for data in self.datasets:
            require_human(data.name, data.sources, self.aspects or data.aspects)
        return self

    def clustered(self, column: str | None) -> Session:
        """Return the session with data whose outputs with equal values of this column are dependent; unchanged for
        None.
        """
        return self._with_data(lambda data: data.clustered(column)) if column else self

    def with_family(self, family: str | None) -> Session:
        """Return the session with data whose systems of one family are dependent; unchanged for None."""
        return self._with_data(lambda data: data.with_family(family)) if family else self

    def _with_data(self, change: Callable[[Dataset], Dataset]) -> Session:
        """Return the session with changed data. Both share `not_computed`, so that the holder of the first one prints
        it.
        """
        chosen = replace(self, data=change(self.data), others=[change(data) for data in self.others])
        object.__setattr__(chosen, "not_computed", self.not_computed)
        return chosen

    # --- analyses ---

    def analyze(self, name: str, **options: Any) -> Table:
        """Return the answer as one table: groups (`by`) and several aspects are concatenated."""
        return joined(self.each(name, **options), self.by or ())

    def each(self, name: str, **options: Any) -> list[Table]:
        """Return one table per data set, group and aspect; rows contain the group's values.

        See `ask`, which also returns why groups or aspects were left out.
        """
        return self.ask(name, **options)[0]

    def ask(self, name: str, **options: Any) -> Answer:
        """Return one table per data set, group and aspect, and a refusal for each one without a table.

        Groups to which the analysis does not apply are listed in `not_computed`; if no group is left, an error is
        raised. Each request is computed once: concurrent callers wait for the first result.
        """
        key = _key(name, options)
        with self._lock:
            known = None if key is None else self._answers.get(key)
            mine = known is None
            future: Future[Answer] = Future() if known is None else known
            if mine and key is not None:
                self._answers[key] = future
        if mine:
            try:
                future.set_result(self._computed(name, options))
            except BaseException as error:
                if key is not None and not isinstance(error, NlgaugeError):
                    del self._answers[key]  # an interrupted request can be repeated
                future.set_exception(error)
        return future.result()

    @contextmanager
    def prefetch(self, asked: Sequence[Ask]) -> Iterator[None]:
        """Compute requests in turn in a thread while the block runs; those not started by its end are
        dropped.

        Resampling kernels release the GIL, so a second core can work on what is done inside the block.
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

    def _computed(self, name: str, options: dict[str, Any]) -> Answer:
        run: Analysis = registry.get("analysis", name, allow_code=True)
        check_options(run, options)
        own = {p.name for p in run.parameters}
        if "seed" in own:
            options = {"seed": self.seed, **options}
        if self.progress is not None and "progress" in own:
            options = {**options, "progress": partial(self.progress, run.name)}
        sets = self._choices[:1] if run.takes == "datasets" else self._choices
        answers = [self._answer_of(choice, run, options, len(sets) > 1) for choice in sets]
        return [table for tables, _ in answers for table in tables], [r for _, refused in answers for r in refused]

    def _answer_of(self, choice: Choice, run: Analysis, options: dict[str, Any], several: bool) -> Answer:
        tables: list[Table] = []
        refused: list[Refusal] = []
        for group, aspect, made, own in _parts(choice, run, options):
            try:
                table = run(made(), **{**own, **options})
            except (NeedsMissing, DataError) as error:
                refused += [
                    replace(r, analysis=run.name, data=choice.data.name, group=dict(group), aspect=r.aspect or aspect)
                    for r in error.refusals
                ]
                continue
            where = {"data": choice.data.name, **group} if several else group
            table.data, table.rows = choice.data.name, [{**where, **row} for row in table.rows]
            tables.append(table)
        if not tables:
            raise NeedsMissing("nothing to compute.", refusals=refused)
        self.not_computed.extend(refused)
        return tables, refused


def _parts(choice: Choice, run: Analysis, options: dict[str, Any]) -> Iterator[Part]:
    """Yield the parts of the data on which an analysis is run."""
    if run.takes in ("groups", "datasets"):
        yield {}, "", lambda: choice, {}
    elif run.takes == "panel":
        # Imported late: `nlgauge --help` needs neither numpy nor polars.
        from nlgauge.stats.correlation.profiles import profile_of

        if not choice.data.aspects:
            choice.data.aspect()  # says what is missing
        canonical = not profile_of(options.get("profile", "nlgauge")).legacy
        for part in choice.parts:
            for aspect in choice.aspects or part.data.aspects:
                yield part.group, aspect, partial(part.panel, choice.data.aspect(aspect), canonical), {}
    else:
        # Imported late: `nlgauge --help` needs neither numpy nor polars.
        from nlgauge.data.comparisons import judged_aspects

        single = any(p.name == "aspect" for p in run.parameters)
        for part in choice.parts:
            aspects = (choice.aspects or judged_aspects(part.data)) if single else []
            for own in [{"aspect": aspect} for aspect in aspects] or [{}]:
                yield part.group, own.get("aspect", ""), partial(lambda part: part, part), own


def check_options(run: Analysis, options: dict[str, Any]) -> None:
    """Raise an error for an option that the analysis does not have; the message lists its options."""
    theirs = [name for name in run.options if name != "progress"]
    if any(p.kind is p.VAR_KEYWORD for p in run.parameters):
        return
    for option in options:
        if option not in (*theirs, "progress"):
            hint = registry.did_you_mean(option, theirs)
            raise NameUnknown(f"{run.name}: no option '{option}'.{hint} Options: {', '.join(theirs)}.")


def _key(name: str, options: dict[str, Any]) -> str | None:
    """Return a cache key for a request; None if an option is not a plain value."""
    try:
        return json.dumps([name, options], sort_keys=True)
    except TypeError:
        return None
