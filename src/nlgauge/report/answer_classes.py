"""Summary of aspects with classes or sets of labels: the judge that agrees best, and the baselines."""

from __future__ import annotations

from dataclasses import replace

from nlgauge.analyses.verdicts.class_verdicts import MAIN
from nlgauge.report.answer_judge import ends
from nlgauge.report.answer_types import AspectAnswer, Mark, MetricAnswer
from nlgauge.report.sections import ReportContext
from nlgauge.report.sections.words import missing
from nlgauge.table import Row, Table


def class_answers(run: ReportContext) -> list[AspectAnswer]:
    """Return the answer for each aspect of classes; the judges are ordered by one chance-corrected coefficient."""
    if not run.data.unordered:
        return []
    left = len(run.warnings)
    tables = [t for t in run.optional("verdicts") if "classes" in t.facts]
    del run.warnings[left:]  # the section says why others are missing
    return [_answer(run, table) for table in tables]


def _answer(run: ReportContext, table: Table) -> AspectAnswer:
    measure = MAIN[table.facts["scale"]]
    judges: dict[str, dict[str, Row]] = {}
    for row in table:
        judges.setdefault(row["metric"], {})[row["measure"]] = row
    rows = [(name, of) for name, of in judges.items() if measure in of]
    rows.sort(key=lambda pair: -2.0 if missing(pair[1][measure]["value"]) else -pair[1][measure]["value"])
    metrics = [
        MetricAnswer(
            name, *ends(of[measure]), bool(of[measure].get("may_be_best")), False, False, {}, figures=_figures(of)
        )
        for name, of in rows
    ]
    several = sum(m.may_be_best for m in metrics) > 1
    metrics = [m if several or not m.may_be_best else replace(m, clearly_best=len(metrics) > 1) for m in metrics]
    reason = next((of[measure]["reason"] for _, of in rows if of[measure]["reason"]), "there is nothing to count")
    sure = any(m.low is not None for m in metrics)
    about = run.about(table)
    human = "the ratings (assumed human)" if run.data.assumed else "the human ratings"
    answer = AspectAnswer(
        about, measure, True, len(metrics) > 1, {}, {}, "", metrics, [], None if sure else reason, human, 0.0
    )
    prefix = f"{about[:1].upper()}{about[1:]}: " if about else ""
    words = " ".join(table.answers) if sure else f"too few data for a conclusion: {reason}."
    answer.sentences[""] = prefix + words
    return answer


def _figures(of: dict[str, Row]) -> dict[str, Mark]:
    """Return the accuracy and the majority-class baseline."""
    names = {
        "agreement": "accuracy",
        "majority_baseline": "majority-class baseline",
        "gain_over_majority": "improvement over the baseline",
        "macro_f1": "macro F1",
    }
    return {words: Mark(None, *ends(of[m]), of[m]["reason"]) for m, words in names.items() if m in of}
