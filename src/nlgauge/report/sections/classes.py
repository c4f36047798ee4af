"""Agreement on classes: coefficients, figures of each class, and the confusion matrix of the best judge."""

from __future__ import annotations

from nlgauge.report.sections import Finding, Findings, ReportContext, section


@section(
    "classes",
    order=7,
    title="Classes: agreement and confusion matrix",
    question="Which classes does the judge get right, and which does it confuse?",
    limitations="Whether the human classes are right. An output on which annotators split evenly is left out.",
    applies=lambda run: bool(set(run.aspects) & set(run.data.unordered)),
)
def classes(run: ReportContext) -> Findings:
    """Answer how far the classes that judges name agree with the human ones."""
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
