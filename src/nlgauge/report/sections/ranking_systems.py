"""Systems: ranking from pairwise comparisons, win fractions of pairs, and complementarity of metrics."""

from __future__ import annotations

import math
from dataclasses import replace

from nlgauge.report.effort import MAX_SYSTEMS
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.outputs import best_metrics
from nlgauge.report.sections.words import missing, two
from nlgauge.table import Table, grouped


@section(
    "rank",
    order=6,
    title="System ranking from pairwise comparisons",
    question="Which system is best by pairwise comparisons, and which systems are statistically indistinguishable?",
    cites=("bradley1952",),
    limitations="This does not show that the inputs and annotators represent those of your application. Votes on the "
    "same input, and votes of the same annotator if annotator IDs are known, are treated as dependent.",
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
    """Return the best systems, differences between judges and humans, and significant effects of order and style."""
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


@section(
    "wins",
    order=80,
    title="Pairwise comparison of systems",
    question="Which system beats which, by human ratings and by the best metric?",
    cites=("nimah2023",),
    limitations="This does not show by how much a system is better: a narrow win counts as much as a clear one. Win "
    "rates from few comparisons are uncertain.",
    of_choices=True,
    applies=lambda run: len(run.data.systems) > 1,
)
def wins(run: ReportContext) -> Findings:
    """Show the win fractions of pairs of systems, by human ratings and by the best metric of each aspect."""
    if run.data.comparisons.height or not run.answer or not run.metrics:
        return Findings([Finding(run.about(t), win_words(t), [_of_the_first(t)]) for t in run.each("wins")])
    best = best_metrics(run)
    sources = [replace(run.source, aspects=[a], metrics=m and [m]) for a, m in best.items()]
    tables = [t for source in sources for t in source.each("wins")]
    run.tables |= {id(t): t for t in tables}
    return Findings([Finding(run.about(t), win_words(t, run.ratings), [_of_the_first(t)]) for t in tables])


def _of_the_first(table: Table) -> Table:
    """Return the table of the highest-ranked systems only where there are more than a page can show."""
    systems = list(dict.fromkeys(row["first"] for row in table))  # from best to worst
    if len(systems) <= MAX_SYSTEMS:
        return table
    shown = set(systems[:MAX_SYSTEMS])
    rows = [row for row in table if row["first"] in shown and row["second"] in shown]
    note = f"The {MAX_SYSTEMS} systems with the highest win rates of {len(systems)}; `nlgauge analyze wins` has all."
    return replace(table, rows=rows, notes=[*table.notes, note])


def win_words(table: Table, rated_by: str = "human comparisons") -> str:
    """State which system wins most by the ratings and by the metric."""
    words = []
    for side in dict.fromkeys(r["side"] for r in table):
        rows = (row for row in table if row["side"] == side and not missing(row["value"]))
        rates = {s: sum(r["value"] for r in own) / len(own) for s, own in grouped(rows, "first").items()}
        if rates:
            best = max(rates, key=rates.__getitem__)
            who = rated_by if side == "Human" else side
            words.append(f"{best} by {who} ({two(rates[best])})")
    if words and not any(r["side"] == "Human" for r in table):
        return f"No human comparisons. Highest win rate: {', '.join(words)}. {table.answers[0]}"
    return f"Highest win rate: {', '.join(words)}." if words else "There are no comparisons."


@section(
    "complementarity",
    order=90,
    title="Complementarity of metrics",
    question="Do metrics measure something else than human annotators, and which few together cover most?",
    cites=("colombo2023",),
    limitations="This does not show that a set of metrics works on other data: it was selected and evaluated on these "
    "inputs, by cross-validation.",
    prefetch=lambda run: [("portfolio", {})],
    applies=lambda run: len(run.data.systems) > 1,
)
def complementarity(run: ReportContext) -> Findings:
    """Show how differently metrics and human aspects rank systems, and the best portfolio of metrics."""
    tables = list(run.each("complementarity"))
    sets = run.optional("portfolio")
    return Findings([Finding("", " ".join(distance_words(t, run.ratings) for t in tables), [*tables, *sets])])


def distance_words(table: Table, ratings: str = "human ratings") -> str:
    """State how far metrics are from the ratings and from each other, and which is nearest."""
    metrics = [r for r in table if r["kind"] != "human"]
    to_human = [r["to_human"] for r in metrics if not missing(r["to_human"])]
    to_metrics = [r["to_metrics"] for r in metrics if not missing(r["to_metrics"])]
    if not to_human:
        return ""
    far = sum(to_human) / len(to_human)
    among = sum(to_metrics) / len(to_metrics) if to_metrics else math.nan
    nearest = min((r for r in metrics if not missing(r["to_human"])), key=lambda r: r["to_human"])
    own = "" if missing(among) else f", between metrics {two(among)}"
    return (
        f"The mean distance between the rankings of systems by metrics and by {ratings} is {two(far)}{own} (0: the "
        f"same order, 0.5: unrelated). The closest metric is {nearest['metric']} ({two(nearest['to_human'])})."
    )
