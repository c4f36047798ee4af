"""Report sections on judge bias, drift since an earlier run, and panels of judges."""

from __future__ import annotations

from dataclasses import replace

from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.data.provenance import is_judge
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.table import Table


def judges_of(run: ReportContext) -> list[str]:
    """Return the columns with judge scores, recognized by signature, by name, or because they score one of several
    aspects.
    """
    columns = judge_columns(run.source.metrics or run.data.metrics, run.aspects)
    return [
        c.metric
        for c in columns
        if is_judge(c.metric, run.data.signatures.get(c.metric, "")) or len(c.aspects) == 1 < len(run.aspects)
    ]


@section(
    "bias",
    order=47,
    title="Judge bias: position, length, formatting, self-preference",
    question="Which biases does the judge have that human annotators do not have?",
    cites=("zheng2023",),
    limitations="The effects are associations on these systems and inputs; they do not show causes. To test causes, "
    "perturb the texts with `nlgauge analyze robustness`. A bias that was not found may still exist; the table gives "
    "the minimum detectable bias.",
    applies=lambda run: bool(judges_of(run)),
)
def bias(run: ReportContext) -> Findings:
    """Show the biases of the judges, with one line per finding."""
    return _a_line_each(run.each("bias", metrics=judges_of(run)))


def _a_line_each(tables: list[Table]) -> Findings:
    """Show each answer on its own line, with the table below the first answer."""
    return Findings(
        [Finding("", line, [t] if k == 0 else []) for t in tables for k, line in enumerate(t.answers or [""])]
    )


@section(
    "drift",
    order=48,
    title="Judge and data drift since the earlier run",
    question="Has the judge or the data changed since the earlier run?",
    limitations="This does not show that the anchors represent all outputs: a judge may have shifted on other outputs.",
    applies=lambda run: run.earlier is not None,
)
def drift(run: ReportContext) -> Findings:
    """Show whether the judge or the data changed since the earlier run."""
    assert run.earlier is not None
    both = replace(run.source, data=run.earlier, others=[run.data], metrics=judges_of(run) or run.source.metrics)
    tables = both.each("drift")
    run.tables |= {id(t): t for t in tables}
    return _a_line_each(tables)


def panels(run: ReportContext) -> bool:
    """Return whether an aspect has at least two judges, counting judges that apply to all aspects."""
    columns = judge_columns(judges_of(run), run.aspects)
    return any(sum(aspect in c.aspects for c in columns) > 1 for aspect in run.aspects)


@section(
    "jury",
    order=49,
    title="Panels of judges",
    question="Is a panel of judges better than the best single judge?",
    cites=("verga2024",),
    limitations="This does not show the performance of panels of other judges or prompts. The cost of a judge "
    "is assumed to be 1 unless the data or the cache contain it.",
    applies=panels,
)
def jury(run: ReportContext) -> Findings:
    """Show whether a panel of judges is better than the best single judge, and how correlated their errors are."""
    judged = replace(run.source, metrics=judges_of(run))
    tables, alike = judged.each("jury"), {run.about(t): t for t in judged.each("jury-errors")}
    run.tables |= {id(t): t for t in (*tables, *alike.values())}
    parts = []
    for table in tables:
        errors = alike[run.about(table)]
        parts.append(Finding(run.about(table), " ".join([*table.answers, *errors.answers]), [table, errors]))
    return Findings(parts)
