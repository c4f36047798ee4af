"""Verdicts and classes: confusion matrix, recall and precision of a judge, and statistics of each class."""

from __future__ import annotations

from nlgauge.analyses.verdicts.sentences import two_valued_aspects
from nlgauge.errors import NeedsMissing
from nlgauge.report.answer_types import AspectAnswer
from nlgauge.report.sections import Finding, Findings, ReportContext, section


def pass_or_fail(run: ReportContext) -> list[str]:
    """Return the aspects on which humans gave two values."""
    return two_valued_aspects(run.data, run.aspects)


@section(
    "verdicts",
    order=5,
    title="Confusion matrix, recall and precision",
    question="How accurate are the judge's pass and fail verdicts?",
    limitations="This does not show that the human labels are right, or that unlabeled outputs are similar to the "
    "labeled ones: label a random sample.",
    applies=lambda run: pass_or_fail(run) == run.aspects,  # next to other ratings it is not the first question
)
def verdicts(run: ReportContext) -> Findings:
    """Report the accuracy of the judge's verdicts, or of its scores at a threshold."""
    verdict_tables, scored = run.optional("verdicts"), run.optional("threshold")
    if not verdict_tables and not scored:
        raise NeedsMissing("; ".join(run.warnings))
    run.warnings = []
    about = dict.fromkeys(run.about(t) for t in (*verdict_tables, *scored))
    parts = []
    for name in about:
        tables = [t for t in (*verdict_tables, *scored) if run.about(t) == name]
        answer = None if run.answer is None else run.answer.of(name)
        parts.append(Finding(name, _words(answer), tables))
    return Findings(parts)


def _words(answer: AspectAnswer | None) -> str:
    """Return a sentence with the counts of the best judge."""
    best = None if answer is None else answer.best
    if best is None or not best.counts:
        return ""
    cells = best.counts
    failed, passed = cells["both_fail"] + cells["only_humans_fail"], cells["only_judge_fails"] + cells["both_pass"]
    return (
        f"{best.metric} fails {cells['both_fail']:,} of the {failed:,} outputs that humans failed, and passes "
        f"{cells['both_pass']:,} of the {passed:,} that humans passed."
    )


@section(
    "classes",
    order=7,
    title="Classes: agreement and confusion matrix",
    question="Which classes does the judge get right, and which does it confuse?",
    limitations="This does not show that the human classes are right. Outputs on which annotators are evenly split "
    "are excluded.",
    applies=lambda run: bool(set(run.aspects) & set(run.data.unordered)),
)
def classes(run: ReportContext) -> Findings:
    """Report the agreement of the judges' classes with the human classes."""
    parts = []
    for table in run.each("verdicts"):
        if "classes" not in table.facts:
            continue
        name = run.about(table)
        answer = None if run.answer is None else run.answer.of(name)
        best = None if answer is None else answer.best
        matrices = run.optional_silent("confusion", judge=best.metric) if best is not None else []
        matrices = [t for t in matrices if run.about(t) == name]
        parts.append(Finding(name, " ".join(table.answers), [*matrices, table], table_first=True))
    return Findings(parts)
