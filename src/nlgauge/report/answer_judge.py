"""Summary of judges with pass and fail verdicts: recall, accuracy and its baseline, and counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from nlgauge.report.answer_types import RELIABLE_FROM, Mark
from nlgauge.report.answer_words import VERDICT_USES
from nlgauge.report.sections.words import missing
from nlgauge.stats.correlation.uses import badge_of
from nlgauge.table import Row

FIGURES = {"agreement": "accuracy", "fail_precision": "precision on failures", "kappa": "Cohen's kappa"}
CELLS = ("both_fail", "only_humans_fail", "only_judge_fails", "both_pass")
Z = 1.96 + 0.8416  # 95% CI, and 80% of such data sets
MOST_LABELS = 2000  # beyond which labels are not said to decide


def as_number(value: Any) -> float:
    """Return a cell as a number; NaN where it is missing."""
    return math.nan if missing(value) else float(value)


def ends(row: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Return value, low and high of a row; None where one is missing."""
    value, low, high = (None if missing(row.get(name)) else row[name] for name in ("value", "low", "high"))
    return value, low, high


def judge_marks(verdicts: list[Row], thresholds: list[Row]) -> dict[str, dict[str, Mark]]:
    """Return the recalls of judges with pass and fail verdicts, and the ROC area of judges with numeric scores.

    A coin or a constant reaches any recall: a badge also needs Youden's J above 0.
    """
    marks: dict[str, dict[str, Mark]] = {}
    youden = {r["metric"]: r for r in verdicts if r["measure"] == "youden"}
    binary = {r["metric"] for r in verdicts}
    for row in [*verdicts, *(r for r in thresholds if r["metric"] not in binary)]:
        use = VERDICT_USES.get(row["measure"])
        if use is None or (use == "tell good from bad") == (row["metric"] in binary):
            continue
        low, high = as_number(row["low"]), as_number(row["high"])
        beyond = youden.get(row["metric"], {})
        gain = as_number(beyond.get("low")), as_number(beyond.get("high"))
        if use == "tell good from bad":  # a constant, and the length of the output where texts are known
            longer = as_number(row.get("advantage_low", 1)), as_number(row.get("advantage_high", 1))
            gain = min(low - 0.5, longer[0]), min(high - 0.5, longer[1])
        badge = None if math.isnan(low) else badge_of(low, high, RELIABLE_FROM, *gain)
        none = not math.isnan(gain[0]) and gain[0] <= 0
        reason = row["reason"] or beyond.get("reason")
        marks.setdefault(row["metric"], {})[use] = Mark(badge, *ends(row), reason, row.get("n"), None, none)
    return marks


def judge_facts(verdicts: list[Row]) -> dict[str, dict[str, Any]]:
    """Return the figures, counts, majority-class verdict and labels still needed of each judge."""
    judges: dict[str, dict[str, Row]] = {}
    for row in verdicts:
        judges.setdefault(row["metric"], {})[row["measure"]] = row
    facts: dict[str, dict[str, Any]] = {}
    for judge, rows in judges.items():
        usual = [r for m in ("always_pass", "always_fail") if (r := rows.get(m)) and not missing(r["value"])]
        best = max(usual, key=lambda r: r["value"], default=None)
        figures = {name: _figure(rows[m]) for m, name in FIGURES.items() if m in rows}
        if best is not None:
            gain = rows.get(f"gain_over_{best['measure']}", {})
            figures["majority-class baseline"] = Mark(None, best["value"], positives=best["n"])
            figures["improvement over the baseline"] = Mark(None, *ends(gain), reason=gain.get("reason"))
        facts[judge] = {
            "figures": figures,
            "counts": {c: int(rows[c]["value"]) for c in CELLS if c in rows},
            "usual": "" if best is None else best["measure"].removeprefix("always_"),
            "more_labels": labels_to_decide(rows.get("fail_recall"), rows.get("agreement")),
        }
    return facts


def _figure(row: Row) -> Mark:
    return Mark(None, *ends(row), row.get("reason"), row.get("n"))


def labels_to_decide(recall: Row | None, accuracy: Row | None) -> int | None:
    """Return about how many more labels would tell whether recall on failures reaches the limit, if it stays as it is.

    None where that many are not realistic or nothing is known; 0 where the interval decides already.

    >>> recall = {"value": 0.6, "low": 0.4, "high": 0.8, "n": 20}
    >>> labels_to_decide(recall, {"n": 100})
    320
    """
    if recall is None or accuracy is None or missing(recall["value"]) or missing(recall["low"]):
        return None
    if recall["low"] >= RELIABLE_FROM or recall["high"] < RELIABLE_FROM:
        return 0
    value, failures, labels = recall["value"], recall["n"], accuracy["n"]
    spread = max(value * (1 - value), 0.25 / max(failures, 1))
    distance = abs(value - RELIABLE_FROM)
    if distance < 0.02:
        return None
    needed = math.ceil(Z**2 * spread / distance**2 * labels / failures)
    more = needed - labels
    if not 0 < more <= MOST_LABELS:
        return None
    unit = 10 ** max(0, len(str(more)) - 2)  # two digits are enough for a plan
    return int(-(-more // unit) * unit)
