"""The report of a data set: the answers in words, one HTML page, results for machines. Its sections, figures and
explorer.

`nlgauge.report` is this package and, as people expect, a function: calling it is calling `report` below.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.errors import Refusal
    from nlgauge.metrics.judge.cost import Price
    from nlgauge.report.answer import ReportAnswer
    from nlgauge.report.sections import Answered
    from nlgauge.table import Table


@dataclass(frozen=True)
class Report:
    """A written report: the answer as data and as lines for a terminal, the tables, and where page and results are."""

    lines: list[str]
    tables: list[Table]
    path: Path
    results: Path
    answer: ReportAnswer
    not_computed: list[Refusal] = field(default_factory=list)
    sections: list[Answered] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        return "\n".join([*self.lines, f"report: {self.path}"])


def report(
    data: Any,
    out: str | Path | None = None,
    *,
    measures: str | Sequence[str] | None = None,
    gate: str = "input/pairwise-accuracy",
    quick: bool = False,
    prices: Mapping[str, Price] | str | Path | None = None,
    against: Any = None,
    command: Sequence[str] = (),
) -> Report:
    """Answer every question about the metrics, and write the page and the results.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        `nlgauge.select` chooses aspects, metrics, groups and the seed.
    out : path, optional
        The .html file; NAME.report.html by default. Beside it stands NAME.report.results.json.
    measures : str or sequence of str, optional
        Measures to show next to the gate; the twelve by default.
    gate : str, default 'input/pairwise-accuracy'
        Measure that ranks the metrics and that `nlgauge.diff` compares.
    quick : bool, default False
        200 draws instead of 1000, and no extras.
    prices : mapping or path, optional
        Prices of a million tokens by model: what judges cost.
    against : path, data frame, rows or Dataset, optional
        An earlier run of the same judge, its data or its results.json: has it drifted since?
    command : sequence of str, optional
        The command that the page names.

    Returns
    -------
    Report
        With `answer` (the first screen as data), `lines`, `tables`, `path`, `results` and `not_computed`.

    Examples
    --------
    >>> import nlgauge as ng, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = ng.report(ng.example(), pathlib.Path(folder) / "page.html", quick=True)
    >>> made.path.name, made.results.name
    ('page.html', 'page.results.json')
    >>> made.answer.aspects[0].sentences["rank systems"].partition(". ")[2]
    'unigram_f1 has the highest pairwise accuracy between systems, 0.95 [0.64, 1.00].'
    """
    from nlgauge.api.guarding import run_of_judge
    from nlgauge.api.questions import select
    from nlgauge.data.choice import listed
    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics.judge.cost import load_prices
    from nlgauge.report.answer import answer_of
    from nlgauge.report.answer_lines import answer_lines
    from nlgauge.report.page import packing_plotly, write_page
    from nlgauge.report.results import results_of
    from nlgauge.report.sections import Run, answer_all
    from nlgauge.report.sections.evaluated import without_humans
    from nlgauge.report.views import Views
    from nlgauge.results_file import write_results
    from nlgauge.stats.correlation.measure import Measure
    from nlgauge.terminal import wrapped

    chosen = select(data)
    name = chosen.data.name
    stem = re.sub(r"[^\w-]+", "-", Path(name).stem).strip("-")
    path = Path(f"{stem}.report.html" if out is None else out)
    if path.suffix.lower() not in (".html", ".htm"):
        raise NlgaugeError(f"-o {out}: the report is one .html file; use `nlgauge meta -o` for {path.suffix}.")
    if Measure.parse(gate).grouping != "input":
        raise NlgaugeError(f"--gate {gate}: use an input/… measure, which has a value per input to compare.")
    alone = without_humans(chosen.data)  # then only what metrics say of each other can be told
    if chosen.data.aspects or (chosen.data.comparisons.is_empty() and not alone):
        for aspect in chosen.aspects or chosen.data.aspects[:1] or (None,):
            chosen.data.aspect(aspect)  # a wrong or missing one is said before anything is computed
    known = load_prices(Path(prices)) if isinstance(prices, str | Path) else prices
    packing_plotly()
    one = chosen.data.systems if len(chosen.data.systems) == 1 else ()
    earlier = None if against is None else run_of_judge(against, *one)
    run = Run(chosen, quick, listed(measures), str(Measure.parse(gate)), known, earlier)
    views = Views(name)
    answered = answer_all(run, views.draw)
    command = command or ("run", name)
    answer = answer_of(run, answered)
    write_page(path, name, answered, command, answer, views)
    results = write_results(path.with_suffix(".results.json"), results_of(run, answered, command, answer))
    tables = [t for a in answered for t in a.tables]
    lines = [*(answer_lines(answer) if chosen.data.aspects else [*answer.failures, *answer.warnings]), *answer.choices]
    if alone:
        said = [p.answer for a in answered if a.section.key == "metrics-alone" for p in a.found.parts]
        lines = [line for text in (f"{answer.evaluated}.", *lines, *said) for line in wrapped(text, 80)]
    return Report(lines, tables, path, results, answer, list(chosen.not_computed), answered)


class _CallableModule(ModuleType):
    """Importing any module of this package sets `nlgauge.report` to the package; it can be called all the same."""

    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _CallableModule
