"""The report of a data set: the answers in words, one HTML page, results for machines."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import nlgauge
from nlgauge.api.questions import ChoiceOptions, dataset, select
from nlgauge.data.choice import listed
from nlgauge.data.services import send
from nlgauge.datasets.results import named_alike, write_results
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NlgaugeError, Refusal
from nlgauge.metrics.judge.cost import load_prices
from nlgauge.options import option
from nlgauge.report.answer import answer_of
from nlgauge.report.answer_lines import answer_lines
from nlgauge.report.answer_types import Mark, MetricAnswer, ReportAnswer
from nlgauge.report.page import page_of
from nlgauge.report.results import results_of
from nlgauge.report.sections import Answered, ReportContext, answer_all
from nlgauge.report.sections.evaluated import without_humans
from nlgauge.stats.correlation.measure import Measure
from nlgauge.table import Table
from nlgauge.terminal import wrapped
from nlgauge.types import Names
from nlgauge.writing import write_whole

MAX_COLUMNS = 130  # of the answer on a wide terminal


@dataclass(frozen=True)
class Report:
    """A report: the answer as data and as lines for a terminal, the tables, the page, and its location."""

    lines: list[str]
    tables: list[Table]
    path: Path | None
    results: Path | None
    answer: ReportAnswer
    html: str = field(default="", repr=False)
    not_computed: list[Refusal] = field(default_factory=list)
    sections: list[Answered] = field(default_factory=list, repr=False)
    sent: str = ""  # where the results were written to a service

    @property
    def remarks(self) -> list[str]:
        """Return where the page and the results were written."""
        written = [] if self.path is None else [f"report: {self.path}"]
        return [*written, *([f"results written to {self.sent}"] if self.sent else [])]

    def __str__(self) -> str:
        return "\n".join([*self.lines, *self.remarks])

    def __repr__(self) -> str:
        return f"<Report: {self.answer.evaluated}; {self.path or 'not written: report(..., out=PATH) writes it'}>"

    def _repr_html_(self) -> str:
        """Show the page inside a notebook."""
        framed = self.html.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{framed}" title="NLGauge report" style="width:100%;height:860px;border:0"></iframe>'


@with_shared_parameters
def report(
    data: Any = "example",
    aspect: Names = None,
    metrics: Names = None,
    *,
    out: str | Path | None = None,
    measures: Names = None,
    gate: str = "input/pairwise-accuracy",
    quick: bool = False,
    prices: Mapping[str, Any] | str | Path | None = None,
    against: Any = None,
    to: str | None = None,
    command: Sequence[str] = (),
    tell: Callable[[str], object] | None = None,
    **choice: Unpack[ChoiceOptions],
) -> Report:
    """Run all analyses on a file of scores and human ratings: a summary, an HTML report, and results.json.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session, default 'example'
        CSV, TSV, JSONL, JSON, Parquet (also .gz), Excel or another supported format, the name of a published data
        set, or 'example'.
    aspect, metrics : str or sequence of str, optional
        All by default.
    out : path, optional
        The report, an .html file; next to it stands its results.json. No file is written without it; the command
        writes NAME.report.html.
    measures : str or sequence of str, optional
        Additional measures of agreement in the report. Default: the twelve standard ones.
    gate : str, default 'input/pairwise-accuracy'
        Primary measure: ranks the metrics, and `nlgauge gate` compares it between two results.json files.
    quick : bool, default False
        Use fewer resamples (200 instead of 1000) and skip the optional analyses.
    prices : mapping or path, optional
        JSON file with prices per million tokens for each model, for the costs of judges.
    against : path, data frame, rows or Dataset, optional
        Earlier run of the same judge (data file or results.json), to test for drift.
    to : str, optional
        MLflow experiment (mlflow://EXPERIMENT) that gets a new run: statistics as metrics, the report and
        results.json as artifacts. The address of the server and its key come from the environment
        (MLFLOW_TRACKING_URI …).
    command : sequence of str, optional
        The command that the page names.
    tell : callable, optional
        Called before the start with a sentence about time, memory and cheaper methods, where the data are large.

    Returns
    -------
    Report
        With `answer` (the first screen as data), `lines`, `tables`, `html`, `path`, `results` and `not_computed`;
        a notebook shows the page.

    Examples
    --------
    >>> import nlgauge as ng
    >>> made = ng.report(ng.example(), quick=True)
    >>> made.path is None
    True
    >>> made.answer.aspects[0].sentences["rank systems"].partition(". ")[2]
    'unigram_f1 has the highest pairwise accuracy between systems, 0.95 [0.64, 1.00].'

    $ nlgauge run   (the built-in example)

    $ nlgauge run scores.csv   (writes scores.report.html and scores.report.results.json)

    $ nlgauge run scores.csv --aspect coherence --quick -o coherence.html

    $ nlgauge run mlflow://support --to mlflow://support   (traces of an experiment, and the results written back)

    $ nlgauge run judged.csv --against judged_last_month.csv   (also tests whether the judge has drifted)
    """
    chosen = select(data, aspect, metrics, **choice)
    name = chosen.data.name
    stem = re.sub(r"[^\w-]+", "-", Path(chosen.source or name).name.split(".")[0]).strip("-")[:80]
    path = Path(out) if out is not None else Path(f"{stem}.report.html") if command else None
    if path is not None and path.suffix.lower() not in (".html", ".htm"):
        other = f"use `nlgauge analyze NAME -o` for {path.suffix}" if path.suffix else f"write -o {out}.html"
        raise NlgaugeError(f"-o {out}: the report is one .html file; {other}.")
    if Measure.parse(gate).grouping != "input":
        raise NlgaugeError(f"{option('gate', gate)}: use an input/… measure, which has a value per input to compare.")
    alone = without_humans(chosen.data)  # then only what metrics say of each other can be told
    if chosen.data.aspects or (chosen.data.comparisons.is_empty() and not alone):
        for each in chosen.aspects or chosen.data.aspects[:1] or (None,):
            chosen.data.aspect(each)  # a wrong or missing one is said before anything is computed
    loaded_prices = load_prices(Path(prices)) if isinstance(prices, str | Path) else prices
    earlier = None if against is None else named_alike([dataset(against), chosen.data])[0]
    run = ReportContext(chosen, quick, listed(measures), str(Measure.parse(gate)), loaded_prices, earlier)
    if tell is not None and (statement := run.effort.statement()):
        tell(statement)
    answered = answer_all(run, answer_of)
    command = command or ("run", name)
    answer = run.answer or answer_of(run)
    html = page_of(name, answered, command, answer)
    results = None
    if path is not None:
        write_whole(path, html)
        results = write_results(path.with_suffix(".results.json"), results_of(run, answered, command, answer))
    tables = [t for a in answered for t in a.tables]
    lines = [
        *(answer_lines(answer, _columns()) if chosen.data.aspects else [*answer.failures, *answer.warnings]),
        *answer.choices,
    ]
    if alone:
        of_metrics = [p.answer for a in answered if a.section.key == "metrics-alone" for p in a.found.parts]
        lines = [line for text in (f"{answer.evaluated}.", *lines, *of_metrics) for line in wrapped(text, 80)]
    made = Report(lines, tables, path, results, answer, html, list(chosen.not_computed), answered)
    return made if to is None else replace(made, sent=send_report(to, made, name))


def send_report(to: str, made: Report, name: str) -> str:
    """Write figures and files of a report to a service, and return where they are."""
    figures: dict[str, float] = {}
    for aspect in made.answer.aspects:
        for metric in aspect.metrics:
            marks: list[tuple[str, Mark | MetricAnswer]] = [(aspect.measure, metric), *metric.rates]
            for what, mark in marks:
                start = "/".join(filter(None, (aspect.about, metric.metric, what)))
                figures |= figures_of(start, mark)
    files = [file for file in (made.path, made.results) if file is not None]
    answers = {aspect.about: aspect.sentences.get("", "") for aspect in made.answer.aspects}
    about = {"data": name, "version": nlgauge.__version__} | {
        f"answer.{a}": text for a, text in answers.items() if text
    }
    return send(to, figures, files, about)


def figures_of(what: str, mark: Mark | MetricAnswer) -> dict[str, float]:
    """Return a value and the ends of its interval by name, as far as there are any."""
    ends = (("", mark.value), ("/low", mark.low), ("/high", mark.high))
    return {f"{what}{end}": float(value) for end, value in ends if value is not None and math.isfinite(value)}


def _columns() -> int:
    """Return the width of the terminal within readable limits, or 80 if it is unknown."""
    return min(MAX_COLUMNS, max(80, shutil.get_terminal_size((80, 24)).columns))


report.shows_reading = True  # type: ignore[attr-defined]  # the command shows how the whole file was read
