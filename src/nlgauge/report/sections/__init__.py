"""Sections of the report: each answers one question from the tables, and states the limitations of the answer.

A section is registered with `@section(key, order=, question=, limitations=)`; the first access imports all modules of
this folder. A section that does not apply to the data raises NeedsMissing, and the report gives the reason in one
line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nlgauge import registry
from nlgauge.analyses.verdicts.sentences import two_valued_aspects
from nlgauge.data.card import rating_source
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError, Refusal
from nlgauge.report.effort import FULL, MANY_METRICS, MAX_WORK, QUICK, Effort
from nlgauge.report.sections.words import missing, name_of
from nlgauge.session import Ask, Session
from nlgauge.table import Table
from nlgauge.terminal import REPORT

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.metrics.judge.cost import Price
    from nlgauge.report.answer_types import ReportAnswer
    from nlgauge.report.sections.outputs import OutputTable

GATE = "input/pairwise-accuracy"


@dataclass
class ReportContext:
    """Context of a section: the data, analyses on demand, and the amount of computation."""

    source: Session
    quick: bool = False
    measures: Sequence[str] | None = None
    gate: str = GATE
    prices: Mapping[str, Price] | None = None  # of a million tokens, by model
    earlier: Dataset | None = None  # what the same judge scored before
    tables: dict[int, Table] = field(default_factory=dict)  # all that sections asked for, in that order
    warnings: list[str] = field(default_factory=list)  # what the section at work had to go without
    refused: list[Refusal] = field(default_factory=list)  # why its analyses left out groups or aspects
    answer: ReportAnswer | None = None  # the first screen, which sections quote and do not compute again

    @property
    def one_judge(self) -> bool:
        """Return whether the report is about one judge: pass/fail human labels, and one column of verdicts."""
        return self.metrics == 1 and two_valued_aspects(self.data, self.aspects) == self.aspects != []

    @property
    def data(self) -> Dataset:
        """Return the data of the report."""
        return self.source.data

    @property
    def ratings(self) -> str:
        """Return the name of the ratings; they are called human only if they are."""
        return rating_source(self.data)

    @property
    def draws(self) -> int:
        """Return the number of draws, reduced for many metrics: the work grows with the square of their number."""
        return QUICK if self.quick or self.metrics > MANY_METRICS else FULL

    @property
    def effort(self) -> Effort:
        """Return the estimated computational cost of the report."""
        return Effort(len(self.data), len(self.data.systems), self.metrics, len(self.aspects), self.quick)

    @property
    def metrics(self) -> int:
        """Return the number of metrics."""
        return len(self.source.metrics or self.data.metrics)

    @property
    def pairs(self) -> int:
        """Return the number of pairs of metrics, at least 1."""
        return max(1, self.metrics * (self.metrics - 1) // 2)

    def cap_draws(self, wanted: int, times: float, least: int = 50) -> int:
        """Return the number of draws that one section can afford; a note states if it is reduced."""
        made = min(wanted, max(least, int(MAX_WORK / (times * max(1, len(self.data))))))
        if made < wanted:
            self.warnings.append(
                f"The number of draws was reduced from {wanted:,} to {made:,} because there are {self.metrics} "
                f"metrics and {len(self.data):,} outputs. To use more draws, select fewer metrics."
            )
        return made

    @property
    def aspects(self) -> list[str]:
        """Return the aspects of the report."""
        return list(self.source.aspects or self.data.aspects)

    def each(self, analysis: str, **options: Any) -> list[Table]:
        """Return the tables of an analysis, one per group and aspect; raise an error if there are none."""
        try:
            tables, refused = self.source.ask(analysis, **options)
        except NlgaugeError as error:
            self.refused += error.refusals
            raise
        self.refused += refused
        self.tables |= {id(table): table for table in tables}
        return tables

    def optional(self, analysis: str, **options: Any) -> list[Table]:
        """Return optional tables; if they are not available, add a line that gives the reason."""
        try:
            return self.each(analysis, **options)
        except NameUnknown:
            raise
        except NlgaugeError as error:
            self.warnings.append(f"{analysis} left out: {error}")
            return []

    def optional_silent(self, analysis: str, **options: Any) -> list[Table]:
        """Return optional tables, without a remark if they are not available."""
        try:
            return self.each(analysis, **options)
        except NeedsMissing:
            return []

    def about(self, table: Table) -> str:
        """Return the part of the data to which a table refers: its group and its aspect."""
        return name_of(table, self.source.by or ())

    def about_refusal(self, refusal: Refusal) -> str:
        """Return the part of the data (group and aspect) to which an error refers, formatted as by `about`."""
        data = [refusal.data] if len(self.source.datasets) > 1 else []
        names = [*data, *refusal.group.values(), refusal.aspect or None]
        return ", ".join(str(name) for name in names if not missing(name))


@dataclass
class Finding:
    """Answer of a section for one aspect, and the tables that support it. If `about` is empty, it applies to all
    aspects.

    The page shows the first figure or, if there is none, the first table if it is short. With `table_first`, it shows
    the first table instead. With `folded`, figures and tables are collapsed; with `hidden`, they are only in the
    results file.
    """

    about: str
    answer: str
    tables: list[Table]
    folded: bool = False
    table_first: bool = False
    hidden: bool = False  # only in the results file


@dataclass
class Findings:
    """Results of a section: answers with their tables, lines, outputs and citations."""

    parts: list[Finding] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    outputs: OutputTable | None = None  # texts on the page: see sections/outputs.py
    cites: list[str] = field(default_factory=list)  # citation keys in addition to those of the section


@dataclass(frozen=True)
class Section:
    """A section of the report: its topic, the question that it answers, and the papers on which it is based."""

    key: str
    order: int
    title: str
    question: str
    limitations: str
    function: Callable[[ReportContext], Findings]
    prefetch: Callable[[ReportContext], Sequence[Ask]] | None = None  # slow analyses, started before all sections
    last: bool = False  # computed last: it uses the results of the other sections
    applies: Callable[[ReportContext], bool] | None = None  # whether the section applies to the data
    of_choices: bool = False  # it requires no ratings: pairwise comparisons suffice
    cites: tuple[str, ...] = ()  # keys of the bibliography
    order_for_judge: int | None = None  # its position in a report on one judge, if different

    def place(self, run: ReportContext) -> int:
        """Return the position of the section on the page."""
        return self.order_for_judge if run.one_judge and self.order_for_judge is not None else self.order


@dataclass
class Answered:
    """A section with its results, or with the reason why they are missing."""

    section: Section
    found: Findings
    missing: str = ""
    refused: list[Refusal] = field(default_factory=list)  # errors of the analyses of this section

    @property
    def tables(self) -> Iterator[Table]:
        """Return an iterator over the tables of the answer."""
        return (table for part in self.found.parts for table in part.tables)


def section(
    key: str, *, order: int, title: str, question: str, limitations: str, **more: Any
) -> Callable[[Callable[[ReportContext], Findings]], Callable[[ReportContext], Findings]]:
    """Register a function as a section of the report.

    Parameters
    ----------
    key : str
        Name of the section, also in links.
    order : int
        Position on the page.
    title, question, limitations : str
        Topic, question, and limitations of the answer.
    **more
        Other fields of `Section`: prefetch, last, applies, of_choices, cites, order_for_judge.

    Returns
    -------
    callable
        The decorator, which returns the function unchanged.
    """

    def keep(function: Callable[[ReportContext], Findings]) -> Callable[[ReportContext], Findings]:
        registry.register("section", key)(Section(key, order, title, question, limitations, function, **more))
        return function

    return keep


def sections() -> list[Section]:
    """Return all sections in the order of the report."""
    return sorted((registry.get("section", key) for key in registry.names("section")), key=lambda s: s.order)


def answer_all(run: ReportContext, first: Callable[[ReportContext], ReportAnswer] | None = None) -> list[Answered]:
    """Compute every section. An unknown name is an error; a section without results gets a line in the report.

    Slow analyses are started before `first` computes the answer of the first screen, and collected last.
    """
    able = [each for each in sections() if each.of_choices or run.data.aspects]
    answered, asked = [], [each for each in able if each.applies is None or each.applies(run)]
    progress = run.source.progress or (lambda what, done, total: None)
    with run.source.prefetch([ask for each in asked if each.prefetch for ask in each.prefetch(run)]):
        progress(REPORT, 0, len(asked) + 1)
        if first is not None:
            run.answer = first(run)
        for done, each in enumerate(sorted(asked, key=lambda s: (s.last, s.prefetch is not None, s.order)), 1):
            progress(REPORT, done, len(asked) + 1)
            answered.append(_answer(run, each))
        progress(REPORT, len(asked) + 1, len(asked) + 1)
    _name_missing(run, answered)
    return sorted(answered, key=lambda a: a.section.place(run))


def _name_missing(run: ReportContext, answered: Sequence[Answered]) -> None:
    """State the aspects for which a section has no result, and the reasons."""
    every = [p.about for a in answered for p in a.found.parts if p.about and p.answer]
    every = list(dict.fromkeys([*(() if run.source.by or len(run.source.datasets) > 1 else run.aspects), *every]))
    for each in answered:
        parts = each.found.parts
        answered_aspects = {p.about for p in parts if p.answer}
        if "" in answered_aspects or not answered_aspects:
            continue
        for about in (a for a in every if a not in answered_aspects):
            refusal = _own_refusal([r for r in each.refused if run.about_refusal(r) == about], parts)
            reason = "the data hold too little for it." if refusal is None else refusal.reason
            parts.append(Finding(about, f"Not computed: {reason}", []))


def _own_refusal(refused: Sequence[Refusal], parts: Sequence[Finding]) -> Refusal | None:
    """Return the error of the analysis that provides the first table of the section, or None if there is none."""
    kinds = list(dict.fromkeys(table.kind for part in parts for table in part.tables))
    return min(refused, key=lambda r: kinds.index(r.analysis) if r.analysis in kinds else len(kinds), default=None)


def _answer(run: ReportContext, asked: Section) -> Answered:
    run.warnings, run.refused = [], []
    try:
        found = asked.function(run)
    except NameUnknown:
        raise
    except NlgaugeError as error:
        return Answered(asked, Findings(), str(error), run.refused)
    found.lines = [*found.lines, *dict.fromkeys(run.warnings)]
    return Answered(asked, found, refused=run.refused)
