"""What the tables of verdicts and thresholds say, in rates that need no statistics to be read."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from nlgauge.data.dataset import Dataset
from nlgauge.number import missing, number, percent
from nlgauge.table import Row, Table

FEW = 10  # rows of one kind of which no share is put into words
MOST = 3  # judges that get a line of their own; the table has all


def two_valued_aspects(data: Dataset, aspects: Sequence[str]) -> list[str]:
    """Return those aspects on which humans gave two values."""
    values = dict(data.ratings.group_by("aspect").agg(pl.col("value").n_unique()).rows())
    return [aspect for aspect in aspects if values.get(aspect) == 2 and aspect not in data.unordered]


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
    """State a judge's recalls, and its accuracy next to always giving one verdict; nothing without its verdicts."""
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
    """State a judge's ROC area, and what its threshold saves; nothing where there is no area."""
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
        f"{text} It costs least to pass from {number(cut['value'], 2)} on, and then fails "
        f"{_share(rows['fail_recall'])} of those that people failed (threshold from one half of the labels, shares "
        "from the other)."
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
