"""Inter-annotator agreement, correlation of metrics with human ratings, and significance tests between metrics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from nlgauge.number import row_interval
from nlgauge.report.effort import MAX_LETTERS, MAX_MATRIX
from nlgauge.report.sections import GATE, Finding, Findings, ReportContext, section
from nlgauge.report.sections.words import missing, percent, some, two
from nlgauge.session import Ask
from nlgauge.stats.correlation.measure import TWELVE
from nlgauge.table import Cell, Layout, Row, Table

FIRM, TENTATIVE, HARDLY = 0.8, 0.667, 0.33  # Krippendorff's customary limits, and what is next to nothing


@section(
    "annotators",
    order=20,
    title="Inter-annotator agreement and human ceiling",
    question="How well do annotators agree, and what could a perfect metric reach against their ratings?",
    cites=("krippendorff2011", "gao2025"),
    limitations="This does not show that the ratings are right: annotators may share an error. Low agreement can also "
    "mean that annotators use the scale differently.",
)
def annotators(run: ReportContext) -> Findings:
    """Report inter-annotator agreement and the human ceiling, per aspect."""
    ceilings = {run.about(t): t for t in run.optional(ceiling_ask(run)[0], **ceiling_ask(run)[1])}
    parts = []
    for table in run.each("agreement", draws=run.draws):
        about = run.about(table)
        row, above = table.rows[0], ceilings.get(about)
        answer = f"{_alpha_words(row)}{_ceiling_words(run, above)}"
        parts.append(Finding(about, answer, [table, *([above] if above else [])]))
    return Findings(parts, ["Customary limits of alpha: 0.80 for firm, 0.67 for tentative conclusions."])


def _alpha_words(row: Row) -> str:
    if missing(row["value"]):
        return f"Inter-annotator agreement is undefined ({row.get('reason') or 'no variation'})."
    low, high = (float("nan") if missing(row.get(end)) else row[end] for end in ("low", "high"))
    words = (
        "Too few outputs to say how well annotators agree"
        if missing(low)
        else "Annotators agree well"
        if low >= FIRM
        else "Annotators agree enough for tentative conclusions"
        if low >= TENTATIVE
        else "Annotators hardly agree"
        if high < HARDLY
        else "Annotators agree too little even for tentative conclusions"
        if high < TENTATIVE
        else "Inconclusive whether annotators agree enough for conclusions"
    )
    return f"{words}: {row['coefficient']} {row_interval(row)}."


def _ceiling_words(run: ReportContext, table: Table | None) -> str:
    top = None if table is None else ceiling_of(table, headline_measure(run))
    if top is None:
        return ""
    return f" Against these ratings a perfect metric could reach about {two(top)} ({headline_measure(run)})."


def ceiling_of(table: Table, gate: str) -> float | None:
    """Return the ceiling of the gate measure; None if it has no ceiling."""
    return next((r["ceiling"] for r in table if r["measure"] == gate and not missing(r["ceiling"])), None)


@section(
    "agrees",
    order=30,
    title="Correlation with human ratings",
    question="Which metric agrees with the human ratings, by each measure?",
    cites=("gao2025",),
    applies=lambda run: not run.one_judge,
    limitations="This does not show that the best metric is good in absolute terms, or that it is the best on other "
    "systems or texts. Average agreement hides the outputs on which a metric fails (see Outputs).",
    prefetch=lambda run: [_spread(run)],
)
def agrees(run: ReportContext) -> Findings:
    """Report metrics × measures with confidence intervals and significance letters, per aspect."""
    intervals = {run.about(t): t for t in run.optional(_spread(run)[0], **_spread(run)[1])}
    ranks = {run.about(t): t for t in run.optional_silent(rank_ask(run)[0], **rank_ask(run)[1])}
    shares = _shares(run)
    groups = _letters(run)
    parts = []
    for table in run.each("correlate", measures=shown_measures(run), sort=headline_measure(run)):
        about = run.about(table)
        own = [*intervals.get(about, ()), *ranks.get(about, ())]  # the latter as on the first screen
        ends = {(r["metric"], r["measure"]): {"low": r["low"], "high": r["high"]} for r in own}
        letters = {measure: by_aspect[about] for measure, by_aspect in groups.items() if about in by_aspect}
        rows = [
            {
                **r,
                **ends.get((r["metric"], r["measure"]), {}),
                "share": shares.get((about, r["metric"])),
                "letters": letters.get(r["measure"], {}).get(r["metric"], ""),
            }
            for r in table
        ]
        spread = intervals.get(about)
        notes = [*table.notes, *([spread.method] if spread is not None else [])]
        answers = _legend(run, spread, letters)  # also in the caption of the LaTeX table
        layout = _with_shares(table, {m: v for (a, m), v in shares.items() if a == about and not missing(v)})
        shown = replace(table, rows=rows, cells={"value": _cell}, notes=notes, answers=answers, layout=layout)
        parts.append(Finding(about, _others(table, headline_measure(run)), [shown], table_first=True))
    return Findings(parts)


def _shares(run: ReportContext) -> dict[tuple[str, str], float]:
    """Return the share of the human ceiling by aspect and metric, for the headline measure."""
    gate = headline_measure(run)
    tables = run.optional(ceiling_ask(run)[0], **ceiling_ask(run)[1])
    return {(run.about(t), r["metric"]): r["share"] for t in tables for r in t if r["measure"] == gate}


def _with_shares(table: Table, shares: dict[str, float]) -> Layout:
    """Return the layout, with the share of the ceiling as its last column if there is one."""
    layout = table.layout or Layout("metric", "measure", "value")
    cells = {m: Cell(percent(v), v) for m, v in shares.items()}
    extra = {"share of ceiling": lambda rows: cells.get(rows[0]["metric"])}
    return replace(layout, extra={**layout.extra, **(extra if cells else {})})


def _cell(row: Row) -> str:
    """Return a value with its interval and significance letters, as in `0.64 [0.47, 0.77] ab`."""
    return f"{row_interval(row)} {row.get('letters') or ''}".rstrip()


def _legend(run: ReportContext, spread: Table | None, known: dict[str, dict[str, str]]) -> list[str]:
    texts = []
    if spread is not None:
        texts.append(f"95% CIs in brackets; those of {headline_measure(run)} are simultaneous.")
    if known:
        texts.append(
            "Metrics that share a letter in a column are not significantly different (all pairwise tests, simultaneous "
            "level 5%)."
        )
    return texts


def _letters(run: ReportContext) -> dict[str, dict[str, dict[str, str]]]:
    """Measure → aspect → metric → letters; only for the headline measure if there are many metrics."""
    if run.metrics < 2 or run.metrics > MAX_MATRIX:
        return {}
    groupings = ("input/", "system/") if run.metrics <= MAX_LETTERS and not run.quick else ()
    measures = [m for m in shown_measures(run) if m.startswith(groupings) or m == headline_measure(run)]
    letters: dict[str, dict[str, dict[str, str]]] = {}
    for measure in measures:
        for table in run.optional_silent("compare-pairs", measure=measure):
            values = {m: r for r in table for m in (r["better"], r["worse"])}
            differ = {frozenset((r["better"], r["worse"])) for r in table if r["significant"]}
            tested = any(not missing(r["p"]) for r in table)
            order = _order(run, measure, run.about(table), list(values))
            if tested:
                letters.setdefault(measure, {})[run.about(table)] = compact_letters(order, differ)
    return letters


def _order(run: ReportContext, measure: str, about: str, names: list[str]) -> list[str]:
    """Return the metrics, sorted by a measure."""
    tables = run.each("correlate", measures=shown_measures(run), sort=headline_measure(run))
    values = {
        r["metric"]: r["value"]
        for t in tables
        if run.about(t) == about
        for r in t
        if r["measure"] == measure and not missing(r["value"])
    }
    return sorted(names, key=lambda n: -values.get(n, float("-inf")))


def compact_letters(names: Sequence[str], differ: Collection[frozenset[str]]) -> dict[str, str]:
    """Return letters such that two names share one if and only if they do not differ (Piepho 2004).

    Parameters
    ----------
    names : sequence of str
        The best first; it gets the letter a.
    differ : collection of frozenset
        The pairs that differ significantly.

    Examples
    --------
    >>> compact_letters(["x", "y", "z"], {frozenset("xz")})
    {'x': 'a', 'y': 'ab', 'z': 'b'}
    """
    columns = [set(names)]
    for pair in sorted(differ, key=sorted):
        first, second = sorted(pair)
        split = [c for c in columns if {first, second} <= c]
        columns = [c for c in columns if c not in split]
        for column in split:  # insert two columns without one of the pair, absorb those inside another one
            for new in (column - {first}, column - {second}):
                if not any(new <= other for other in columns):
                    columns = [c for c in columns if not c <= new]
                    columns.append(new)
    columns.sort(key=lambda c: sorted(names.index(n) for n in c))
    signs = [chr(97 + k) if k < 26 else f"({k + 1})" for k in range(len(columns))]
    return {n: "".join(s for s, c in zip(signs, columns, strict=True) if n in c) for n in names}


def _others(table: Table, gate: str) -> str:
    """State which metrics lead by the other measures."""
    leads: dict[str, Row] = {}
    for row in table:
        if not missing(row["value"]) and (row["measure"] not in leads or row["value"] > leads[row["measure"]]["value"]):
            leads[row["measure"]] = row
    if gate not in leads:
        return f"No metric has a value of {gate} here."
    first = leads.pop(gate)["metric"]
    other = [row["metric"] for row in leads.values() if row["metric"] != first]
    if not leads or len({r["metric"] for r in table}) < 2:
        return ""
    if not other:
        many = f"all {len(leads)} other measures" if len(leads) > 1 else "the other measure"
        return f"{first} has the highest value by {gate} and by {many}."
    names = sorted(dict.fromkeys(other), key=lambda n: -other.count(n))
    return (
        f"{first} has the highest value by {gate}; by {len(other)} of the {len(leads)} other measures another metric "
        f"leads ({some(names)})."
    )


@section(
    "real",
    order=40,
    title="Significance tests between metrics",
    question="Which differences between metrics are significant?",
    cites=("gao2025", "deutsch2021"),
    applies=lambda run: not run.one_judge,
    limitations="A difference that is not significant does not show that two metrics are equal: a larger sample may "
    "show one (`nlgauge plan`).",
    prefetch=lambda run: [rank_ask(run), *_pairs(run)],
)
def real(run: ReportContext) -> Findings:
    """Report the ranks of the metrics and the tests of all pairs, per aspect."""
    matrices = [table for name, options in _pairs(run) for table in run.optional(name, **options)]
    pairs = {run.about(t): t for t in matrices}
    parts = []
    for table in run.each(rank_ask(run)[0], **rank_ask(run)[1]):
        about, tests = run.about(table), pairs.get(run.about(table))
        # The significant pairs come first, because the intervals are in the summary at the top of the report.
        some_differ = any(r["significant"] for r in tests or ())
        shown = (
            [tests, table]
            if tests and some_differ and run.metrics <= MAX_MATRIX
            else [table, *([tests] if tests else [])]
        )
        parts.append(Finding(about, rank_words(table, tests), shown, folded=not some_differ))
    return Findings(parts)


def rank_words(table: Table, tests: Table | None = None) -> str:
    """State the best metric and those that are not significantly worse, or that no test is possible."""
    rows = [r for r in table if not missing(r["value"])]
    if len(rows) < 2:
        return "There is nothing to compare: fewer than two metrics have a value."
    if untested(table):
        return f"Not tested: {untested(table)}."
    first, others = rows[0]["metric"], [r["metric"] for r in rows[1:] if r["may_be_best"]]
    if rows[0]["clearly_best"]:
        head = f"{first} is significantly better than each of the {len(rows) - 1} other metrics."
    elif len(others) == len(rows) - 1:
        head = f"{first} leads, but is not significantly better than any other metric ({some(others)})."
    else:
        worse = [r["metric"] for r in rows[1:] if not r["may_be_best"]]
        head = (
            f"{first} leads, but is not significantly better than {some(others)}. "
            f"Significantly worse than at least one metric: {some(worse)}."
        )
    if tests is None:
        return head
    differ = sum(bool(r["significant"]) for r in tests)
    return f"{head} {differ} of {len(tests)} pairs of metrics differ significantly after correction for all pairs."


def untested(table: Table) -> str:
    """Return the reason why no pair of metrics could be tested; empty if one could."""
    rows = [r for r in table if not missing(r["value"])]
    if any(not missing(r.get("p_to_next")) for r in rows[:-1]) or len(rows) < 2:
        return ""
    return table.facts["untested"] or "no test is defined"


def ceiling_ask(run: ReportContext) -> Ask:
    """Return the analysis of the human ceiling with the options that all sections use."""
    return "ceiling", {"measures": shown_measures(run), "splits": 25 if run.quick else 100}


def rank_ask(run: ReportContext) -> Ask:
    """Return the analysis that orders the metrics, with the measure of the first screen."""
    return "compare", {"measure": headline_measure(run)}


def headline_measure(run: ReportContext) -> str:
    """Return the headline measure; it is global if no input has outputs of two systems."""
    shared = run.data.samples.group_by("input").len()["len"].max()
    if run.gate == GATE and (len(run.data.systems) < 2 or not isinstance(shared, int) or shared < 2):
        return run.gate.replace("input/", "global/")
    return run.gate


def shown_measures(run: ReportContext) -> list[str]:
    """Return the headline measure, followed by the requested ones (the twelve by default)."""
    asked = [str(m) for m in TWELVE] if run.measures is None else run.measures
    return list(dict.fromkeys([headline_measure(run), *asked]))


def _pairs(run: ReportContext) -> list[Ask]:
    """Return the same tests by pair, without computing them again."""
    return [] if run.quick else [("compare-pairs", {"measure": headline_measure(run)})]


def _spread(run: ReportContext) -> Ask:
    return "intervals", {"measures": _sure(run)}


def _sure(run: ReportContext) -> list[str]:
    """Return the measures that get intervals: all shown; in a quick report, those of the headline's grouping."""
    if run.measures is not None or not run.quick:
        return shown_measures(run)
    headline = headline_measure(run)
    grouping = headline.partition("/")[0]
    return list(dict.fromkeys([headline, *(f"{grouping}/{c}" for c in ("pearson", "spearman", "kendall"))]))
