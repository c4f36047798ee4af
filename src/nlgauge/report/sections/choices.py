"""Which system is best by choices between two outputs? The first question where people or judges chose."""

from __future__ import annotations

from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.table import Table


@section(
    "rank",
    order=6,
    title="System ranking from pairwise comparisons",
    question="Which system is best by pairwise comparisons, and which systems are statistically indistinguishable?",
    cites=("bradley1952",),
    limitations="Whether the inputs and the annotators stand for the ones you have in mind. Votes on one input, and "
    "those of one annotator where annotator IDs are known, are treated as dependent.",
    applies=lambda run: run.data.comparisons.height > 0,
    of_choices=True,
)
def rank(run: ReportContext) -> Findings:
    """Rank the systems by pairwise comparisons, per aspect."""
    tables, more = run.each("rank"), [*run.optional_silent("rank-sides"), *run.optional_silent("rank-effects")]
    parts = []
    for table in tables:
        beside = [t for t in more if run.about(t) == run.about(table)]
        parts.append(Finding(run.about(table), " ".join(choice_lines([table, *beside])), [table, *beside]))
    return Findings(parts)


def choice_lines(tables: list[Table]) -> list[str]:
    """Who is first, and where a judge differs; place and style where they clearly move the choices."""
    lines = [answer for t in tables for answer in t.answers]
    for table in tables:
        if table.kind == "rank-effects":
            lines += [
                f"By {table.text(row, 'side')} the output {table.text(row, 'measure')} beats an equal one in "
                f"{table.text(row, 'win_chance')} (p {table.text(row, 'p')})."
                for row in table
                if row["p"] < 0.05
            ]
    return lines
