"""How far can the judge's pass and fail be relied on? The first question where people said pass or fail."""

from __future__ import annotations

from nlgauge.analyses.verdicts.sentences import lines_of, two_valued_aspects
from nlgauge.errors import NeedsMissing
from nlgauge.report.sections import Finding, Findings, ReportContext, section


def pass_or_fail(run: ReportContext) -> list[str]:
    """Return the aspects on which humans gave two values."""
    return two_valued_aspects(run.data, run.aspects)


@section(
    "verdicts",
    order=5,
    question="How far can I rely on the judge's pass and fail?",
    limitations="Whether people are right, and whether rows that nobody labelled are like those that were: label "
    "rows drawn at random.",
    applies=lambda run: pass_or_fail(run) == run.aspects,  # beside other ratings it is no first question
)
def verdicts(run: ReportContext) -> Findings:
    """Answer how far the judge's pass and fail, or its threshold, can be relied on."""
    said, scored = run.optional("verdicts"), run.optional("threshold")
    if not said and not scored:
        raise NeedsMissing("; ".join(run.warnings))
    run.warnings = []
    about = dict.fromkeys(run.about(t) for t in (*said, *scored))
    parts = []
    for name in about:
        tables = [t for t in (*said, *scored) if run.about(t) == name]
        parts.append(Finding(name, " ".join(line for t in tables for line in lines_of(t)), tables))
    return Findings(parts)
