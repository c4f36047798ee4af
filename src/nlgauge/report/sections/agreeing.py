"""Can people agree, which metric agrees with them, and is the difference real?"""

from __future__ import annotations

from dataclasses import replace

from nlgauge.report.sections import GATE, Finding, Findings, ReportContext, section
from nlgauge.report.sections.words import interval, missing, percent, some, two
from nlgauge.session import Ask
from nlgauge.stats.correlation.measure import TWELVE, Measure
from nlgauge.table import Cell, Layout, Row, Table

MAX_MATRIX = 25  # metrics whose pairs can be read in a picture
FIRM, TENTATIVE, HARDLY = 0.8, 0.667, 0.33  # Krippendorff's customary limits, and what is next to nothing


@section(
    "people",
    order=20,
    question="Can people agree?",
    limitations="That people are right: raters may share a mistake. A low agreement may also come from raters who "
    "use the scale differently.",
)
def people(run: ReportContext) -> Findings:
    """Answer with inter-annotator agreement and the human ceiling, per aspect."""
    ceilings = {run.about(t): t for t in run.optional(ceiling_ask(run)[0], **ceiling_ask(run)[1])}
    parts = []
    for table in run.each("agreement", draws=run.draws):
        about = run.about(table)
        row, above = table.rows[0], ceilings.get(about)
        answer = f"{_alpha_words(row)}{_ceiling_words(run, above)}"
        parts.append(Finding(about, answer, [table, *([above] if above else [])]))
    return Findings(parts, ["Customary limits of alpha: .80 for firm, .67 for tentative conclusions."])


def _alpha_words(row: Row) -> str:
    if missing(row["value"]):
        return f"Agreement cannot be told ({row.get('reason') or 'undefined'})."
    low, high = (float("nan") if missing(row.get(end)) else row[end] for end in ("low", "high"))
    words = (
        "How well raters agree cannot be told from so few outputs"
        if missing(low)
        else "Raters agree well"
        if low >= FIRM
        else "Raters agree enough for tentative conclusions"
        if low >= TENTATIVE
        else "Raters hardly agree"
        if high < HARDLY
        else "Raters agree too little even for tentative conclusions"
        if high < TENTATIVE
        else "Whether raters agree enough for conclusions cannot be told"
    )
    return f"{words}: {row['coefficient']} {interval(row)}."


def _ceiling_words(run: ReportContext, table: Table | None) -> str:
    top = None if table is None else ceiling_of(table, headline_measure(run))
    if top is None:
        return ""
    return f" Against these ratings a perfect metric could reach about {two(top)} ({headline_measure(run)})."


def ceiling_of(table: Table, gate: str) -> float | None:
    """That of the gate measure itself; None where it has no ceiling, never another measure's."""
    return next((r["ceiling"] for r in table if r["measure"] == gate and not missing(r["ceiling"])), None)


@section(
    "agrees",
    order=30,
    question="Which metric agrees with people?",
    limitations="That the best metric is good, or that it would be best on other systems or texts. Agreement on "
    "average hides where a metric fails: see the outputs below.",
    prefetch=lambda run: [_spread(run)],
)
def agrees(run: ReportContext) -> Findings:
    """Answer with the metrics × measures table, intervals and shares of the ceiling, per aspect."""
    shares = {
        (run.about(t), r["metric"], r["measure"]): r["share"]
        for t in run.optional(ceiling_ask(run)[0], **ceiling_ask(run)[1])
        for r in t
    }
    intervals = {run.about(t): t for t in run.optional(_spread(run)[0], **_spread(run)[1])}
    ranks = {run.about(t): t for t in run.optional_silent(rank_ask(run)[0], **rank_ask(run)[1])}
    parts = []
    for table in run.each("correlate", measures=shown_measures(run), sort=headline_measure(run)):
        about = run.about(table)
        gate = table.facts["sorted_by"]
        sure = {(r["metric"], r["measure"]): r for r in intervals.get(about, ())}
        sure |= {(r["metric"], r["measure"]): r for r in ranks.get(about, ())}  # as on the first screen
        joined = _joined(table, sure, {k[1]: v for k, v in shares.items() if k[0] == about and k[2] == gate}, gate)
        under = {
            (r["metric"], r["measure"]): f"{two(r['low'])} {two(r['high'])}"
            for r in joined
            if not missing(r.get("low"))
        }
        if about in intervals:
            joint = f"; those of {gate} hold for all metrics together" if about in ranks else ""
            joined.notes.append(f"Small print: 95% intervals{joint}. {intervals[about].method}")
        parts.append(Finding(about, _best_words(joined, gate), [joined], under, folded=run.metrics < 2))
    return Findings(parts)


def _joined(table: Table, sure: dict[tuple[str, str], Row], shares: dict[str, float], gate: str) -> Table:
    """The correlations with their intervals and the share of the ceiling, best by the gate measure first."""
    ends = {k: {"low": r["low"], "high": r["high"]} for k, r in sure.items()}
    rows = [{**r, **ends.get((r["metric"], r["measure"]), {}), "share": shares.get(r["metric"])} for r in table]
    known = {m: v for m, v in shares.items() if not missing(v)}
    cells = {m: Cell(percent(v), v) for m, v in known.items()}
    extra = {"share of ceiling": lambda mine: cells.get(mine[0]["metric"])}
    layout = table.layout or Layout("metric", "measure", "value")
    notes = [*table.notes]
    if known:
        above = ", both above chance" if Measure.parse(gate).chance else ""
        notes.append(f"share of ceiling: {gate} as a share of its human ceiling{above}.")
    return replace(
        table,
        rows=rows,
        notes=notes,
        layout=replace(layout, extra={**layout.extra, **extra} if known else layout.extra),
    )


def _best_words(table: Table, gate: str) -> str:
    rows = [r for r in table if r["measure"] == gate and not missing(r["value"])]
    if not rows:
        return f"No metric has a value of {gate} here."
    best = rows[0]
    if len({r["metric"] for r in table}) == 1:
        return f"{best['metric']} is the only metric: {gate} {interval(best)} on these outputs."
    chance = Measure.parse(gate).chance
    if best["value"] <= chance:
        return f"None on these outputs: the first, {best['metric']}, reaches {gate} {interval(best)}."
    above = ", both above chance" if chance else ""
    share = "" if missing(best["share"]) else f" ({percent(best['share'])} of the human ceiling{above})"
    unsure = "; its interval includes chance" if not missing(best.get("low")) and best["low"] <= chance else ""
    return (
        f"On these outputs {best['metric']} agrees most: {gate} {interval(best)}{share}{unsure}.{_others(table, gate)}"
    )


def _others(table: Table, gate: str) -> str:
    """Which metrics lead by the other measures."""
    leads: dict[str, Row] = {}
    for row in table:
        if not missing(row["value"]) and (row["measure"] not in leads or row["value"] > leads[row["measure"]]["value"]):
            leads[row["measure"]] = row
    first = leads.pop(gate)["metric"]
    other = [row["metric"] for row in leads.values() if row["metric"] != first]
    if not leads:
        return ""
    if not other:
        return f" So it does by {'each' if len(leads) > 1 else 'the one'} of the {len(leads)} other measures."
    names = sorted(dict.fromkeys(other), key=lambda n: -other.count(n))
    return f" By {len(other)} of the {len(leads)} other measures another one leads: {some(names)}."


@section(
    "real",
    order=40,
    question="Is the difference between metrics real?",
    limitations="That metrics without a significant difference are equal: more inputs or systems may tell them "
    "apart (`nlgauge plan`).",
    prefetch=lambda run: [rank_ask(run), *_pairs(run)],
)
def real(run: ReportContext) -> Findings:
    """Answer with the ranks of the metrics and the tests of all pairs, per aspect."""
    matrices = [table for name, options in _pairs(run) for table in run.optional(name, **options)]
    pairs = {run.about(t): t for t in matrices}
    parts = []
    for table in run.each(rank_ask(run)[0], **rank_ask(run)[1]):
        about, tests = run.about(table), pairs.get(run.about(table))
        # Which pairs differ comes first: the intervals stand on the first screen.
        some_differ = any(r["significant"] for r in tests or ())
        shown = (
            [tests, table]
            if tests and some_differ and run.metrics <= MAX_MATRIX
            else [table, *([tests] if tests else [])]
        )
        parts.append(Finding(about, rank_words(table, tests), shown, folded=not some_differ))
    return Findings(parts)


def rank_words(table: Table, tests: Table | None = None) -> str:
    """What the tests support: the best one, those that are not significantly worse, or that nothing can be tested."""
    rows = [r for r in table if not missing(r["value"])]
    if len(rows) < 2:
        return "There is nothing to compare: fewer than two metrics have a value."
    if untested(table):
        return f"It cannot be told here: {untested(table)}."
    first, others = rows[0]["metric"], [r["metric"] for r in rows[1:] if r["may_be_best"]]
    if rows[0]["clearly_best"]:
        head = f"Yes at the top: {first} is significantly better than each of the {len(rows) - 1} other metrics."
    elif len(others) == len(rows) - 1:
        head = f"Not at the top: {first} leads, but is not significantly better than any other metric ({some(others)})."
    else:
        worse = [r["metric"] for r in rows[1:] if not r["may_be_best"]]
        head = (
            f"Not at the top: {first} leads, but is not significantly better than {some(others)}. "
            f"Significantly worse than at least one metric: {some(worse)}."
        )
    if tests is None:
        return head
    differ = sum(bool(r["significant"]) for r in tests)
    return f"{head} {differ} of {len(tests)} pairs of metrics differ significantly after correction for all pairs."


def untested(table: Table) -> str:
    """Why no pair of metrics could be tested; empty where one could."""
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
    """The measure of the headline; over all outputs where no input has outputs of two systems."""
    shared = run.data.samples.group_by("input").len()["len"].max()
    if run.gate == GATE and (len(run.data.systems) < 2 or not isinstance(shared, int) or shared < 2):
        return run.gate.replace("input/", "global/")
    return run.gate


def shown_measures(run: ReportContext) -> list[str]:
    """The measure of the headline first, then those asked for (the twelve by default)."""
    asked = [str(m) for m in TWELVE] if run.measures is None else run.measures
    return list(dict.fromkeys([headline_measure(run), *asked]))


def _pairs(run: ReportContext) -> list[Ask]:
    """The same tests pair by pair, which are not made again."""
    return [] if run.quick else [("compare-pairs", {"measure": headline_measure(run)})]


def _spread(run: ReportContext) -> Ask:
    return "intervals", {"measures": _sure(run)}


def _sure(run: ReportContext) -> list[str]:
    """Measures that get intervals: all shown; in a hurry those of the headline's grouping."""
    if run.measures is not None or not run.quick:
        return shown_measures(run)
    headline = headline_measure(run)
    grouping = headline.partition("/")[0]
    return list(dict.fromkeys([headline, *(f"{grouping}/{c}" for c in ("pearson", "spearman", "kendall"))]))
