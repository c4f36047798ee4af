"""The answer as data: sentences per aspect and use, a badge per metric and use, and the rows of a forest plot.

The page's first screen, the terminal and results.json read this one object, so that they cannot disagree. The same
statistic ranks the metrics, is tested, and is quoted: pairwise accuracy, balanced accuracy of verdicts, or ROC AUC.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from nlgauge.analyses.agreement.dependence import dependence_hints
from nlgauge.analyses.estimates.system_labels import panel_labels
from nlgauge.data.card import headlines
from nlgauge.data.provenance import assumption
from nlgauge.errors import NlgaugeError, Refusal
from nlgauge.number import sentence
from nlgauge.options import option
from nlgauge.report.answer_classes import class_answers
from nlgauge.report.answer_judge import ends, judge_facts, judge_marks
from nlgauge.report.answer_types import AspectAnswer, Mark, MetricAnswer, ReportAnswer
from nlgauge.report.answer_words import USES, sentences_of
from nlgauge.report.sections import ReportContext
from nlgauge.report.sections.agreeing import rank_ask
from nlgauge.report.sections.evaluated import judged_words, raters, size_text, without_humans
from nlgauge.report.sections.judging import flipped_verdicts
from nlgauge.report.sections.ranking_systems import choice_lines
from nlgauge.report.sections.ranking_systems import rank as rank_findings
from nlgauge.report.sections.verdicts import pass_or_fail
from nlgauge.report.sections.words import ci, count, missing, some
from nlgauge.session import Ask
from nlgauge.stats.correlation.coefficients import COEFFICIENTS
from nlgauge.table import Row, Table

MAX_CHOICE_ASPECTS = 6
OTHER_MEASURES = {"kendall": "tau-b", "acc-eq-cross-fitted": "acc_eq with cross-fitted ties"}
TIES_COEFFICIENT = "acc-eq-cross-fitted"  # a second column where many pairs have equal human ratings
MANY_TIES = 0.3
Rows = dict[str, list[Row]]  # of one aspect, by what they answer


def answer_of(run: ReportContext) -> ReportAnswer:
    """Return the answer from the tables of the sections; a warning names the aspects that have none."""
    judged = bool(pass_or_fail(run)) and pass_or_fail(run) == run.aspects  # as the section of verdicts asks
    asks: dict[str, Ask] = {"said": ("verdicts", {}), "scored": ("threshold", {})}
    if judged and run.metrics > 1:
        asks["best"] = ("best-of", {"measure": "balanced_accuracy"})
    classes = class_answers(run)
    if not judged and classes and set(run.aspects) <= set(run.data.unordered):
        asks = {}
    elif not judged:
        asks = {"uses": ("uses", {}), "ranks": rank_ask(run), "rater": ("replacement", {})}
        grouping = rank_ask(run)[1]["measure"].partition("/")[0]
        others = [c for c in OTHER_MEASURES if grouping in COEFFICIENTS[c].groupings]
        asks["other"] = ("correlate", {"measures": [f"{grouping}/{c}" for c in others]})
    run.refused = []  # those of the first table come first
    tables = {key: _tables(run, ask) for key, ask in asks.items()}
    facts = {a: t.facts for a, t in tables.get("uses", {}).items()}
    about = dict.fromkeys(a for key in list(asks)[:2] for a in tables[key])
    if not judged:
        about = {a: None for a in about if a not in {c.about for c in classes}}
    aspects = [
        _aspect(run, a, {key: list(t[a]) if a in t else [] for key, t in tables.items()}, judged, facts.get(a, {}))
        for a in about
    ] + classes
    answered_aspects = {row["aspect"] for key in list(asks)[:2] for table in tables[key].values() for row in table}
    answered_aspects |= set(run.data.unordered) if classes else set()
    lost = [name for name in run.aspects if name not in answered_aspects]
    warnings = [*_warnings(run, aspects, lost), *_hints(run)]
    changes = [text for _, text, _ in flipped_verdicts(run)] if judged else []
    return ReportAnswer(_evaluated(run), list(headlines(run.data)), warnings, aspects, _choices(run), changes)


def _hints(run: ReportContext) -> list[str]:
    """Return hints that systems or inputs may not be independent."""
    if not run.data.aspects or not run.data.metrics:
        return []
    return dependence_hints(run.source.panel(run.data.aspect(run.aspects[0])))


def _tables(run: ReportContext, ask: Ask) -> dict[str, Table]:
    left = len(run.warnings)
    tables = {run.about(t): t for t in run.optional(ask[0], **ask[1])}
    del run.warnings[left:]  # its section says why it is missing
    return tables


def _aspect(run: ReportContext, about: str, tables: Rows, judged: bool, facts: dict[str, Any]) -> AspectAnswer:
    marks = judge_marks(tables["said"], tables["scored"]) if judged else _metric_marks(tables)
    rows, measure = _ordered(tables, judged, rank_ask(run)[1]["measure"])
    by_name = {r["metric"]: r for r in rows}
    names = [*dict.fromkeys([*by_name, *marks])]
    uses = [use for use in USES if any(use in each for each in marks.values())]
    of_judge = judge_facts(tables["said"]) if judged else {}
    second = _second(tables) if facts.get("human_ties", 0.0) >= MANY_TIES else {}
    metrics = [
        MetricAnswer(
            name,
            *ends(by_name.get(name, {})),
            bool(by_name.get(name, {}).get("may_be_best")),
            bool(by_name.get(name, {}).get("clearly_best")),
            name in run.data.lower,
            marks.get(name, {}),
            second.get(name),
            **of_judge.get(name, {}),
        )
        for name in names
    ]
    reasons = Counter(m.reason for each in metrics for m in each.marks.values() if m.reason)
    sure = any(each.low is not None or any(m.low is not None for m in each.marks.values()) for each in metrics)
    warning = None if sure else (reasons.most_common(1)[0][0] if reasons else "there is nothing to count")
    tested = len(rows) > 1 if judged else any(not missing(r.get("p_to_next")) for r in rows)
    answer = AspectAnswer(
        about,
        measure,
        judged,
        tested,
        _baselines(tables, judged),
        _leaders(tables),
        _influence(tables, names[:1], facts.get("outlying", [])),
        metrics,
        uses,
        warning,
        f"the {run.ratings}",
        0.5,
    )
    alone = judged and len(run.aspects) == 1
    answer.sentences.update(sentences_of(answer, "" if alone else about))
    return answer


def _influence(tables: Rows, best: Sequence[str], outlying: Sequence[str]) -> str:
    """Return the agreement of the best metric without the systems whose mean rating is an outlier."""
    use = next((r for r in tables.get("uses", []) if r["metric"] in best and r["use"] == "pairwise"), None)
    if not outlying or use is None or missing(use["without_outliers"]):
        return ""
    return f"Without {some(outlying, 4)} (outlying mean ratings): {use['without_outliers']:.2f}."


def _metric_marks(tables: Rows) -> dict[str, dict[str, Mark]]:
    marks: dict[str, dict[str, Mark]] = {}
    for row in tables["uses"]:
        counted = (row["positives"], row["positive_systems"])
        none = not missing(row["advantage_high"]) and row["advantage_high"] <= 0
        mark = Mark(row["badge"], *ends(row), row["reason"], *counted, none)
        marks.setdefault(row["metric"], {})[row["use"]] = mark
    for row in tables["rater"]:
        rate = None if missing(row["winning_rate"]) else row["winning_rate"]
        badge = {"passes": "reliable", "fails": "not reliable"}.get(row["verdict"], "inconclusive")
        marks.setdefault(row["metric"], {})["replace an annotator"] = Mark(badge, rate, None, None, row["reason"])
    return marks


def _ordered(tables: Rows, judged: bool, gate: str) -> tuple[list[Row], str]:
    """Return the rows of the forest plot, best first, and their measure."""
    if not judged:
        return [r for r in tables["ranks"] if not missing(r["value"])], gate
    rows = [r for r in tables["said"] if r["measure"] == "balanced_accuracy" and not missing(r["value"])]
    measure = "balanced_accuracy"
    if not rows:
        rows = [r for r in tables["scored"] if r["measure"] == "roc_area" and not missing(r["value"])]
        measure = "roc_area"
    chosen = {r["metric"]: r for r in tables.get("best", []) if r["best"] and measure == "balanced_accuracy"}
    rows = [{**r, "low": chosen[r["metric"]]["low"]} if r["metric"] in chosen else r for r in rows]
    return sorted(rows, key=lambda r: -r["value"]), measure


def _baselines(tables: Rows, judged: bool) -> dict[str, float]:
    """Return the values of trivial baselines, such as chance and the majority class."""
    same = [r for r in tables.get("said", []) if r["measure"] in ("always_pass", "always_fail")]
    if judged:
        return {r["measure"].replace("_", " "): r["value"] for r in same if not missing(r["value"])}
    row = next((r for r in tables["uses"] if r["use"] == "pairwise"), None)
    length = row is not None and row["baseline"] != "constant" and not missing(row["baseline_value"])
    return {"constant": 0.5, **({row["baseline"]: row["baseline_value"]} if length and row is not None else {})}


def _leaders(tables: Rows) -> dict[str, str]:
    """Return the metric with the highest agreement by each other measure."""
    leaders: dict[str, Row] = {}
    for row in tables.get("other", []):
        name = OTHER_MEASURES.get(str(row["measure"]).partition("/")[2])
        if name and not missing(row["value"]) and (name not in leaders or row["value"] > leaders[name]["value"]):
            leaders[name] = row
    return {name: row["metric"] for name, row in leaders.items()}


def _second(tables: Rows) -> dict[str, float]:
    """Return acc_eq of each metric, with the tie threshold chosen on other inputs."""
    rows = [r for r in tables.get("other", []) if str(r["measure"]).endswith(f"/{TIES_COEFFICIENT}")]
    return {r["metric"]: r["value"] for r in rows if not missing(r["value"])}


# --- words ---


def _evaluated(run: ReportContext) -> str:
    data = run.data
    metrics = count(run.metrics, "metric") if run.metrics else "no metric"
    return f"{size_text(data)}, " + (
        f"rated by {raters(data)} on {count(len(run.aspects), 'aspect')}, scored by {metrics}"
        if data.aspects
        else judged_words(run)
    )


def _choices(run: ReportContext) -> list[str]:
    """Return the conclusions from pairwise comparisons; empty if there are none."""
    if not run.data.comparisons.height:
        return []
    try:
        parts = rank_findings(run).parts[:MAX_CHOICE_ASPECTS]
    except NlgaugeError as error:
        return [f"Pairwise comparisons were not evaluated: {error}"]
    return [f"{p.about}: {line}" if len(parts) > 1 else line for p in parts for line in choice_lines(p.tables)]


def _warnings(run: ReportContext, aspects: Sequence[AspectAnswer], lost: Sequence[str]) -> Iterator[str]:
    if run.data.assumed:
        yield assumption(run.data.assumed)
    if without_humans(run.data):
        yield (
            "No column is known to be a human judgment, so nothing can be said about how far any metric is right. "
            f"Declare human columns with {option('human')}, or pass their file with {option('labels')}."
        )
        return
    small = [a for a in aspects if a.warning]
    if small and len(small) == len(aspects):
        yield f"Too few data for any conclusion: {small[0].warning}."
    elif small:
        yield f"Too few data for {some([a.about for a in small], 4)}: {small[0].warning}."
    if lost and not run.data.metrics and "output" in run.data.samples.columns:
        yield (
            f"No metric has scored these outputs: `nlgauge score {shlex.quote(run.data.name)} -o scored.jsonl`, then "
            "`nlgauge run scored.jsonl`."
        )
    elif lost and not run.data.metrics:
        yield (
            "There are no metric scores to compare with the human ratings; name their columns with "
            f"{option('metrics')}."
        )
    elif lost:
        yield f"No answer for {some(lost, 6)}: {_not_answered(run, lost[0], run.refused)}"
    yield from _annotators_agree(run, lost)
    yield from _against(aspects)
    yield from _unequal_labels(run)
    systems = len([s for s in run.data.systems if run.source.keep_human or s not in run.data.human_systems])
    if 1 < systems < 6 and len(small) < len(aspects):
        yield f"With fewer than 6 systems (here {systems}), results do not generalize to other systems."


def _annotators_agree(run: ReportContext, lost: Sequence[str]) -> Iterator[str]:
    """Yield the inter-annotator agreement on the aspects about which nothing else can be said."""
    if not lost:
        return
    for table in run.optional_silent("agreement"):
        row = next((r for r in table if not missing(r["value"])), None)
        if row is not None and row["aspect"] in lost:
            figure = ci(row["value"], row["low"], row["high"])
            yield f"{run.about(table)}: inter-annotator agreement, {row['coefficient']}: {figure}."


def _unequal_labels(run: ReportContext) -> Iterator[str]:
    """Yield which systems the labels leave out, or how many each has where some have less than half the share."""
    aspects_of: dict[str, list[str]] = {}
    for aspect in run.aspects:
        with suppress(NlgaugeError):  # an aspect without a panel is answered elsewhere
            counts = panel_labels(run.source.panel(aspect))
            if counts.left_out or counts.unequal:
                aspects_of.setdefault(sentence(counts.notes("results")[0]), []).append(aspect)
    for text, names in aspects_of.items():
        yield text if len(names) == len(run.aspects) else f"{some(names, 4)}: {text}"


def _against(aspects: Sequence[AspectAnswer]) -> Iterator[str]:
    """Yield a warning for metrics whose interval is below chance on every aspect: their direction may be declared
    wrongly.
    """
    every: dict[str, list[tuple[AspectAnswer, MetricAnswer]]] = {}
    for aspect in aspects:
        for m in aspect.metrics:
            every.setdefault(m.metric, []).append((aspect, m))
    below = {n: p for n, p in every.items() if all(m.high is not None and m.high < a.chance for a, m in p)}
    for lower in (False, True):
        names = [n for n, places in below.items() if places[0][1].lower_is_better == lower]
        if not names:
            continue
        one = len(names) == 1
        now = (
            f"if lower is better: {option('lower', names)}"
            if not lower
            else (
                f"{'it counts' if one else 'they count'} as lower-is-better; if higher is better: "
                f"{option('higher', names)}"
            )
        )
        yield (
            f"{some(names, 3)} {'disagrees' if one else 'disagree'} with {below[names[0]][0][0].rated_by} (below "
            f"chance); {now}."
        )


def _not_answered(run: ReportContext, aspect: str, refused: Sequence[Refusal]) -> str:
    """Return the reason why there is no answer for a rated aspect."""
    given = run.data.ratings.filter(pl.col("aspect") == aspect)["value"]
    if given.n_unique() == 1:
        return (
            f"all human ratings have one value ({given[0]:g}; {count(len(given), 'rating')}); good and bad outputs are "
            "needed."
        )
    reasons = (each.reason for each in refused if each.aspect == aspect)
    return next(reasons, "no output has both a human rating and a metric score.")
