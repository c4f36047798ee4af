"""How far can the judge's pass and fail be relied on? The first question where people said pass or fail."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.report.sections import Finding, Findings, Run, section
from nlgauge.report.sections.words import missing, percent, two
from nlgauge.session import Selection
from nlgauge.table import Row, Table

FEW = 10  # rows of one kind of which no share is put into words
MOST = 3  # judges that get a line of their own; the table has all


def pass_or_fail(run: Run) -> list[str]:
    """Aspects on which people gave two values."""
    seen = run.data.ratings.group_by("aspect").agg(pl.col("value").n_unique()).rows()
    two_valued = {aspect for aspect, values in seen if values == 2}
    return [aspect for aspect in run.aspects if aspect in two_valued]


@section(
    "verdicts", order=5, question="How far can I rely on the judge's pass and fail?",
    not_said="Whether people are right, and whether rows that nobody labelled are like those that were: label "
             "rows drawn at random.",
    applies=lambda run: pass_or_fail(run) == run.aspects,  # beside other ratings it is no first question
)  # fmt: skip
def verdicts(run: Run) -> Findings:
    said, scored = run.also("verdicts"), run.also("threshold")
    if not said and not scored:
        raise NeedsMissing("; ".join(run.left))
    run.left = []
    about = dict.fromkeys(run.about(t) for t in (*said, *scored))
    parts = []
    for name in about:
        tables = [t for t in (*said, *scored) if run.about(t) == name]
        parts.append(Finding(name, " ".join(line for t in tables for line in lines_of(t)), tables))
    return Findings(parts)


def answers_about(data: Dataset, metrics: Sequence[str]) -> list[str]:
    """How far these judges can be relied on, a line for each aspect on which people said pass or fail; else none."""
    if not (aspects := pass_or_fail(Run(Selection(data)))):
        return []
    run = Run(Selection(data, aspects, metrics, keep_people=True))
    tables = [*run.also("verdicts"), *run.also("threshold")]
    return [f"{run.about(t)}: {line}" for t in tables for line in lines_of(t)]


def lines_of(table: Table) -> list[str]:
    """One line a judge, in rates that need no statistics to be read."""
    judges: dict[str, dict[str, Row]] = {}
    for row in table:
        judges.setdefault(row["metric"], {})[row["measure"]] = row
    speak, by = (judge_words, "agreement") if table.kind == "verdicts" else (threshold_words, "roc_area")
    order = sorted((n for n in judges if by in judges[n]), key=lambda n: -_known(judges[n][by]["value"]))
    said = [text for name in order[:MOST] if (text := speak(name, judges[name]))]
    return [*said, *([f"{len(order) - MOST} more judges stand in the table."] if len(order) > MOST else [])]


def _known(value: float) -> float:
    return -1.0 if missing(value) else value


def judge_words(name: str, rows: dict[str, Row]) -> str:
    if "fail_recall" not in rows:
        return ""
    failed, passed, same = rows["fail_recall"], rows["pass_recall"], rows["agreement"]
    usual = max((rows[k] for k in ("always_pass", "always_fail") if k in rows), key=lambda r: r["value"])
    lead = rows.get(f"gain_over_{usual['measure']}")
    one = (
        f"Of {failed['n']:,} answers that people failed, {name} failed {_share(failed)}; of {passed['n']:,} "
        f"that they passed, it passed {_share(passed)}."
    )
    other = (
        f"It agrees with people on {_share(same)}; always saying {usual['measure'].removeprefix('always_')} would on "
        f"{percent(usual['value'])}, so {_lead(lead)}."
    )
    few = [kind for kind, row in (("failed", failed), ("passed", passed)) if row["n"] < FEW]
    need = f" Fewer than {FEW} labelled answers that people {few[0]}: label more of them." if few else ""
    return f"{one} {other}{need}"


def threshold_words(name: str, rows: dict[str, Row]) -> str:
    area, cut = rows.get("roc_area"), rows.get("threshold")
    if area is None or missing(area["value"]):
        return ""
    if missing(area["low"]):
        return f"Too few labelled answers to say how well {name} tells passed from failed ones: {area['reason']}."
    text = (
        f"Of two answers, one passed and one failed by people, {name} scores the passed one higher in "
        f"{percent(area['value'])}, between {percent(area['low'])} and {percent(area['high'])}."
    )
    costs = [rows[k]["value"] for k in ("cost", "cost_pass_all", "cost_fail_all") if k in rows]
    if cut is None or missing(cut["value"]) or len(costs) < 3 or any(missing(c) for c in costs):
        return text
    if costs[0] >= min(costs[1:]):
        return f"{text} No threshold costs less than one verdict for all, on labels that did not choose it."
    return (
        f"{text} It costs least to pass from {two(cut['value'])} on, and then fails {_share(rows['fail_recall'])} of "
        "those that people failed (threshold from one half of the labels, shares from the other)."
    )


def _share(row: Row) -> str:
    if missing(row["value"]):
        return "–"
    ends = "" if missing(row["low"]) else f" (between {percent(row['low'])} and {percent(row['high'])})"
    return percent(row["value"]) + ends


def _lead(row: Row | None) -> str:
    """Whether the judge knows more than the more common verdict: an interval that leaves out 0."""
    if row is None or missing(row["value"]) or missing(row["low"]):
        return "too few labels tell whether the judge knows more"
    if row["low"] > 0:
        return f"the judge knows more ({100 * row['value']:+.0f} points)"
    if row["high"] < 0:
        return f"the judge is worse than that ({100 * row['value']:+.0f} points)"
    return "these labels do not show that the judge knows more"
