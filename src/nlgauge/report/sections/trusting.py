"""Choice of the measure, reliability by use, the checklist, and rating scale and ties."""

from __future__ import annotations

import re
from dataclasses import replace

from nlgauge.data.provenance import is_judge
from nlgauge.errors import NeedsMissing
from nlgauge.options import call
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.agreeing import headline_measure
from nlgauge.report.sections.verdicts import pass_or_fail
from nlgauge.report.sections.words import missing, percent, sentence, some, two
from nlgauge.session import Ask
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.stats.design.stability import AVERAGED
from nlgauge.table import Table


@section(
    "trust",
    order=50,
    title="Choice of the correlation measure",
    question="Which measure is reliable on these data?",
    cites=("gao2025",),
    applies=lambda run: not run.one_judge,
    limitations="This does not show which measure answers your question: a reliable measure may answer another one. "
    "Choose the grouping by the intended use first.",
    prefetch=lambda run: [_trusted(run)],
)
def trust(run: ReportContext) -> Findings:
    """Report which measure of agreement is reliable on these data, per aspect."""
    parts = []
    name, options = _trusted(run)
    tables = run.each(name, **options)
    if run.quick:
        return Findings([Finding(run.about(t), trust_words(t, run), [t]) for t in tables])
    for table in tables:
        # These rows contain the results of `stability`: its figure comes first, and the four sides are collapsed.
        first = replace(
            table,
            kind="stability",
            title=table.facts["stability_title"],
            answers=table.answers[:1],
            notes=[],
            shown=["measure", *(c for c in table.heads if c in table.rows[0])],
        )
        parts.append(Finding(run.about(table), trust_words(table, run), [first, table]))
    return Findings(parts)


def trust_words(table: Table, run: ReportContext) -> str:
    """State whether the headline measure is reliable, whether another one is, and what would help."""
    gate = headline_measure(run)
    own = next((r for r in table if r["measure"] == gate), None)
    best = table.rows[0]
    if not table.facts["reliable"]:
        row = own or best
        return (
            f"No measure is reliable on this sample: by {row['measure']}, two halves of the inputs rank the metrics "
            f"with an agreement of {two(row['rc'])} (ranking consistency; 1: the same order, 0: chance), and the mean "
            f"p of a pair of metrics is {two(row['dp'])} (discriminative power). More systems (now "
            f"{len(run.data.systems)}) and inputs (now {len(run.data.inputs):,}) would help, or metrics that differ "
            f"more: {call('plan FILE', metrics=['A', 'B'], axis='systems')} estimates how many."
        )
    if own is not None and (own["reliable"] or own is best):
        return (
            f"{gate}, by which this page ranks the metrics, is reliable: two halves of the inputs rank them with an "
            f"agreement of {two(own['rc'])} (ranking consistency; 1: the same order, 0: chance)."
        )
    reliable = [r["measure"] for r in table if r["reliable"]]
    less = f"the data do not show how reliable {gate} is"
    if own is not None:
        shown = "is not shown to be less reliable" if gate in table.facts["alike"] else "is less reliable"
        less = f"{gate} {shown} ({two(own['rc'])} and {two(own['dp'])})"
    return (
        f"{some(reliable)} {'is' if len(reliable) == 1 else 'are'} reliable (ranking consistency {two(best['rc'])}, "
        f"mean p of a pair {two(best['dp'])}). This page ranks by {gate}, which compares outputs for the same input; "
        f"{less}."
    )


def _trusted(run: ReportContext) -> Ask:
    # All twelve measures and all pairs of metrics are tested; the mean over many pairs requires few draws.
    draws = run.cap_draws(run.draws // 2 if run.quick else min(run.draws, AVERAGED), 2 * run.pairs)
    options = {"measures": _compared(run), "draws": draws, "ranked_by": headline_measure(run)}
    if run.quick:
        return "stability", {**options, "trials": draws}
    return "measures", {**options, "trials": min(run.draws, AVERAGED)}


def _compared(run: ReportContext) -> list[str]:
    """Return the twelve measures and the headline measure."""
    return list(dict.fromkeys([*(str(m) for m in TWELVE), headline_measure(run)]))


@section(
    "uses",
    order=60,
    title="Reliability by use",
    question="For what use is a metric reliable?",
    limitations="This does not show how serious the errors are: a wrong choice between two nearly equal outputs "
    "counts as much as one between a good and a bad output.",
    applies=lambda run: pass_or_fail(run) != run.aspects,  # of verdicts the first section says it, in other words
)
def uses(run: ReportContext) -> Findings:
    """Report which metrics are reliable for which use, per aspect."""
    parts = []
    for table in run.each("uses"):
        answer = None if run.answer is None else run.answer.of(run.about(table))
        sentences = {} if answer is None else answer.sentences
        parts.append(Finding(run.about(table), " ".join(s for use, s in sentences.items() if use), [table]))
    return Findings(parts)


@section(
    "checklist",
    order=70,
    title="Metric preference checklist",
    question="Which assessments of the checklist does a metric pass?",
    cites=("nimah2023",),
    applies=lambda run: not run.one_judge,
    limitations="This does not show that a passed assessment is sufficient for your use: the limits are conventions, "
    "stated below the table.",
)
def checklist(run: ReportContext) -> Findings:
    """Show the metric preference checklist, and the assessments behind it."""
    draws = {"draws": 99 if run.quick else 499}
    tables = list(run.each("checklist", **draws))
    answer = " ".join(sentence(text) for t in tables for text in [*t.answers, *t.notes[:1]])
    more = ["aspect-preference", "inter-aspect"]
    if not run.quick:
        more += ["system-preference", "discrimination", "system-discrimination"]
    behind = [table for name in more for table in run.optional(name)]
    own = dict.fromkeys(about for table in behind if (about := run.about(table)) in run.aspects)
    parts = [Finding(about, "", [t for t in behind if run.about(t) == about], folded=True) for about in own]
    return Findings([Finding("", answer, [*tables, *(t for t in behind if run.about(t) not in own)]), *parts])


@section(
    "scale",
    order=100,
    title="Rating scale, granularity and ties",
    question="What do rating scale and ties do to the coefficients?",
    cites=("gao2025",),
    applies=lambda run: not run.one_judge,
    limitations="This does not show that a finer scale is better: ties lower some coefficients and not others, so "
    "compare only scores of the same granularity.",
)
def scale(run: ReportContext) -> Findings:
    """Show spread, ties and scale of ratings and scores, and compare judges at equal granularity."""
    parts = []
    for table in run.each("parameters"):
        parts.append(Finding(run.about(table), tie_words(table, run.ratings), [table], folded=True))
    named = [m for m in run.source.metrics or run.data.metrics if is_judge(m) and not re.search(r"#\d+$", m)]
    lines = []
    if named:
        try:
            fine = [replace(t, rows=[r for r in t if r["metric"] in named]) for t in run.optional("fineness")]
            tables = [*run.each("judges", metrics=named), *fine]
            parts.append(Finding("", _judge_words(tables), tables))
        except NeedsMissing as error:
            lines.append(f"judges: {error}")
    else:
        lines.append("No column name looks like an LLM judge, so judge granularity was not analyzed.")
    return Findings(parts, lines)


def tie_words(table: Table, ratings: str = "human ratings") -> str:
    """State how many values and ties the ratings and the metrics have."""
    people = next((r for r in table if r["variable"] == "human"), None)
    others = [r for r in table if r["variable"] != "human" and not missing(r["tie_ratio"])]
    words = []
    if people is not None:
        words.append(
            f"{sentence(ratings)} take {people['unique']:.0f} distinct values; {percent(people['tie_ratio'])} of all "
            "pairs are tied."
        )
    if others:
        most = max(others, key=lambda r: r["tie_ratio"])
        words.append(
            f"Among the metrics, {most['variable']} has the most ties ({percent(most['tie_ratio'])})."
            if most["tie_ratio"] > 0.005
            else "The metrics have almost no ties."
        )
    return " ".join(words)


def _judge_words(tables: list[Table]) -> str:
    leads = [text for t in tables if t.kind == "fineness" for text in t.answers]
    if leads:
        return "The granularity of the scores decides which judge leads: " + " ".join(dict.fromkeys(leads[:2]))
    values = [
        (r["value"], t.line_name(r))
        for t in tables
        if t.kind == "judges"
        for r in t
        if r["quantity"] == "input/kendall" and not missing(r["value"])
    ]
    if not values:
        return "The tables compare the judges with the human ratings."
    value, best = max(values, key=lambda pair: pair[0])
    return f"The judge with the highest agreement is {best} (input/kendall {two(value)})."
