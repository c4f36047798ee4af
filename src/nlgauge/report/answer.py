"""The answer as data: what was evaluated, a sentence per aspect and use, a mark per metric and use, rows of a forest.

The page's first screen, the terminal and results.json read this one object, and it reads the tables of the sections:
nothing is computed here but words, so that they cannot disagree.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import polars as pl

from nlgauge.data.failed_scores import headlines
from nlgauge.report.answer_words import NONE, USES, VERDICT_USES, overall_words, use_sentence
from nlgauge.report.sections import Answered, Run
from nlgauge.report.sections.agreeing import ceiling_ask, rank_ask
from nlgauge.report.sections.choices import choice_lines
from nlgauge.report.sections.evaluated import judged_words
from nlgauge.report.sections.verdicts import pass_or_fail
from nlgauge.report.sections.words import count, missing, some
from nlgauge.session import Ask
from nlgauge.stats.correlation.uses import verdict_of
from nlgauge.table import Row, Table

USABLE, GOOD = 0.6, 0.75  # limits of every share; an interval must lie above or below as a whole
CHANCE = {"roc_area": 0.5}  # and 0 of what correlates; agreement of verdicts is never below 0
MOST = 6  # aspects whose choices get lines
Rows = dict[str, list[Row]]  # of one aspect, by what they answer


@dataclass(frozen=True)
class Mark:
    """What one metric is for one use: the verdict, and the share with its interval behind it."""

    verdict: str = NONE
    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class MetricAnswer:
    """One line of the first screen: agreement with people (more is better, also where less is better) and marks."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    share: float | None  # of what people's agreement allows
    may_be_best: bool
    clearly_best: bool
    less_is_better: bool
    marks: dict[str, Mark]  # of the uses that can be asked of it


@dataclass(frozen=True)
class HumanCeiling:
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class AspectAnswer:
    """The answer for one aspect (and group); `sentences` has one per use, and the answer over all uses under ""."""

    about: str
    measure: str  # what `value` of the metrics is, and what orders them
    ceiling: HumanCeiling | None
    # What says the same for every output, and its agreement, where the measure is agreement of verdicts.
    baseline: tuple[str, float] | None
    metrics: list[MetricAnswer]
    uses: list[str]
    warning: str | None
    rated_by: str  # "people", or "the raters" where they are not (only) people
    sentences: dict[str, str] = field(default_factory=dict)

    @property
    def chance(self) -> float:
        """The value of a metric that knows nothing."""
        return CHANCE.get(self.measure, 0.0)


@dataclass(frozen=True)
class ReportAnswer:
    evaluated: str
    failures: list[str]  # metrics without a value on more than 1 % of the outputs: stand before everything else
    warnings: list[str]
    aspects: list[AspectAnswer]
    choices: list[str]  # what choices between two outputs say, where there are any
    limits: dict[str, float] = field(default_factory=lambda: {"usable": USABLE, "good": GOOD})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def answer_of(run: Run, answered: Sequence[Answered] = ()) -> ReportAnswer:
    """The answer from the tables that the sections use; an aspect without any of them is named in a warning."""
    judged = bool(pass_or_fail(run)) and pass_or_fail(run) == run.aspects  # as the section of verdicts asks
    asks: dict[str, Ask] = {"said": ("verdicts", {}), "scored": ("threshold", {})}
    if not judged:
        asks = {"uses": ("uses", {}), "ranks": rank_ask(run), "top": ceiling_ask(run), "rater": ("replacement", {})}
    why: list[str] = []  # for what is not there, that of the first table first
    tables = {key: _tables(run, ask, why) for key, ask in asks.items()}
    about = dict.fromkeys(a for key in list(asks)[:2] for a in tables[key])
    aspects = [_aspect(run, a, {key: list(t[a]) if a in t else [] for key, t in tables.items()}, judged) for a in about]
    failures = list(headlines(run.data))
    return ReportAnswer(_evaluated(run), failures, list(_warnings(run, aspects, why)), aspects, _choices(answered))


def _tables(run: Run, ask: Ask, why: list[str]) -> dict[str, Table]:
    left = len(run.left)
    tables = {run.about(t): t for t in run.also(ask[0], **ask[1])}
    why += run.left[left:]
    del run.left[left:]  # its section says why it is missing
    return tables


def _aspect(run: Run, about: str, tables: Rows, judged: bool) -> AspectAnswer:
    marks = _judge_marks(tables) if judged else _metric_marks(tables)
    rows, measure, ceiling = _agreement(tables, judged, run.gate)
    names = [*dict.fromkeys([*(r["metric"] for r in rows), *marks])]
    of, shares = {r["metric"]: r for r in rows}, _shares(tables.get("top", []), measure)
    uses = [use for use in USES if any(use in mine for mine in marks.values())]
    metrics = [
        MetricAnswer(
            name, *_ends(of.get(name, {})), shares.get(name), bool(of.get(name, {}).get("may_be_best")),
            bool(of.get(name, {}).get("clearly_best")), name in run.data.lower, marks.get(name, {}),
        )
        for name in names
    ]  # fmt: skip
    reasons = Counter(m.reason for each in metrics for m in each.marks.values() if m.reason)
    sure = any(m.low is not None for each in metrics for m in each.marks.values()) or any(
        each.low is not None for each in metrics
    )
    warning = None if sure else (reasons.most_common(1)[0][0] if reasons else "nothing here can be counted")
    found = AspectAnswer(about, measure, ceiling, _baseline(tables), metrics, uses, warning, _raters(run))
    found.sentences.update({"": overall_words(found), **{use: use_sentence(found, use) for use in uses}})
    return found


def _metric_marks(tables: Rows) -> dict[str, dict[str, Mark]]:
    marks: dict[str, dict[str, Mark]] = {}
    for row in tables["uses"]:
        known = _ends(row)
        marks.setdefault(row["metric"], {})[row["use"]] = Mark(row["verdict"] or NONE, *known, row["reason"])
    for row in tables["rater"]:
        rate = None if missing(row["winning_rate"]) else row["winning_rate"]
        mark = Mark(row["verdict"] or NONE, rate, None, None, row["reason"])
        marks.setdefault(row["metric"], {})["replace a rater"] = mark
    return marks


def _judge_marks(tables: Rows) -> dict[str, dict[str, Mark]]:
    """Verdicts of judges that say pass and fail, and how well the numbers of the others tell the two apart."""
    marks: dict[str, dict[str, Mark]] = {}
    binary = {r["metric"] for r in tables["said"]}
    for row in [*tables["said"], *(r for r in tables["scored"] if r["metric"] not in binary)]:
        if (use := VERDICT_USES.get(row["measure"])) is None or (use == "tell good from bad") == (
            row["metric"] in binary
        ):
            continue
        low, high = (math.nan if missing(row[end]) else row[end] for end in ("low", "high"))
        verdict = verdict_of(low, high, USABLE, GOOD)
        marks.setdefault(row["metric"], {})[use] = Mark(verdict, *_ends(row), row["reason"])
    return marks


def _agreement(tables: Rows, judged: bool, gate: str) -> tuple[list[Row], str, HumanCeiling | None]:
    """Rows of the forest, best first, what they measure, and how far people agree among themselves."""
    if not judged:
        rows = [r for r in tables["ranks"] if not missing(r["value"])]
        top = next((r for r in tables["top"] if r["measure"] == gate and not missing(r["ceiling"])), None)
        found = None if top is None else HumanCeiling(*_ends(top, "ceiling", "ceiling_low", "ceiling_high"))  # type: ignore[arg-type]
        return rows, gate, found
    said = tables["said"]
    rows = sorted(
        (r for r in said if r["measure"] == "agreement" and not missing(r["value"])), key=lambda r: -r["value"]
    )
    people = next((r for r in said if r["measure"] == "people_agreement" and not missing(r["value"])), None)
    if rows:
        return rows, "agreement", None if people is None else HumanCeiling(*_ends(people))  # type: ignore[arg-type]
    areas = [r for r in tables["scored"] if r["measure"] == "roc_area" and not missing(r["value"])]
    return sorted(areas, key=lambda r: -r["value"]), "roc_area", None


def _baseline(tables: Rows) -> tuple[str, float] | None:
    same = [
        r for r in tables.get("said", []) if r["measure"] in ("always_pass", "always_fail") and not missing(r["value"])
    ]
    best = max(same, key=lambda r: r["value"], default=None)
    return None if best is None else (best["measure"].replace("_", " "), best["value"])


def _shares(rows: list[Row], measure: str) -> dict[str, float]:
    return {r["metric"]: r["share"] for r in rows if r["measure"] == measure and not missing(r["share"])}


def _ends(row: Row, *names: str) -> tuple[float | None, float | None, float | None]:
    value, low, high = (None if missing(row.get(name)) else row[name] for name in names or ("value", "low", "high"))
    return value, low, high


# --- words ---


def _evaluated(run: Run) -> str:
    data = run.data
    raters = count(len(data.raters), "rater") if data.raters and data.rated_by == "people" else data.rated_by
    metrics = count(run.metrics, "metric") if run.metrics else "no metric"
    return (
        f"{count(len(data), 'output')} of {count(len(data.systems), 'system')} for {count(len(data.inputs), 'input')}, "
        + (
            f"rated by {raters} on {count(len(run.aspects), 'aspect')}, scored by {metrics}"
            if data.aspects
            else judged_words(run)
        )
    )


def _choices(answered: Sequence[Answered]) -> list[str]:
    found = next((a for a in answered if a.section.key == "rank"), None)
    if found is None:
        return []
    parts = found.found.parts[:MOST]
    lines = [f"{p.about}: {line}" if len(parts) > 1 else line for p in parts for line in choice_lines(p.tables)]
    return [*lines, *([f"not answered: {found.section.question} {found.missing}"] if found.missing else [])]


def _raters(run: Run) -> str:
    return "people" if run.data.rated_by == "people" else "the raters"


def _warnings(run: Run, aspects: Sequence[AspectAnswer], why: Sequence[str]) -> Iterator[str]:
    small = [a for a in aspects if a.warning]
    if small and len(small) == len(aspects):
        yield f"Too few data for any verdict: {small[0].warning}."
    elif small:
        yield f"Too few data for {some([a.about for a in small], 4)}: {small[0].warning}."
    lost = [name for name in run.aspects if not any(name in a.about for a in aspects)]
    if lost and not run.data.metrics and "output" in run.data.samples.columns:
        yield (
            f"No metric has scored these outputs: `nlgauge score {shlex.quote(run.data.name)} -o scored.jsonl`, then "
            "`nlgauge run scored.jsonl`."
        )
    elif lost and not run.data.metrics:
        yield "No metric scores here, so nothing can be held against people: --metric names their columns."
    elif lost:
        yield f"No answer for {some(lost, 6)}: {_not_answered(run, lost[0], why)}"
    yield from _against(aspects)
    systems = len([s for s in run.data.systems if run.source.keep_people or s not in run.data.people])
    if 1 < systems < 6 and len(small) < len(aspects):
        yield f"Only {systems} systems: all that is said here is about these systems, not about others like them."


def _against(aspects: Sequence[AspectAnswer]) -> Iterator[str]:
    """Metrics whose interval is below chance on every aspect: is less of them better, or not less?"""
    every: dict[str, list[tuple[AspectAnswer, MetricAnswer]]] = {}
    for found in aspects:
        for m in found.metrics:
            every.setdefault(m.metric, []).append((found, m))
    for name, places in every.items():
        if all(m.high is not None and m.high < a.chance for a, m in places):
            found, metric = places[0]
            now, say = ("less of it counts as better; if more is", "higher") if metric.less_is_better else (
                "if less of it is better", "lower")  # fmt: skip
            yield f"{name} goes against {found.rated_by}; {now}: --{say} {shlex.quote(name)}."


def _not_answered(run: Run, aspect: str, why: Sequence[str]) -> str:
    """Why nothing can be said about an aspect that people rated."""
    given = run.data.ratings.filter(pl.col("aspect") == aspect)["value"]
    if given.n_unique() == 1:
        return (
            f"people gave one value only ({given[0]:g}; {count(len(given), 'rating')}); it takes good and bad outputs."
        )
    reasons = [each.partition(f"{aspect}: ")[2] for each in why if f", {aspect}: " in each]
    return reasons[0] if reasons else "nothing there that both people and metrics have judged."
