"""The limits of a gate: how they are written, and what an interval says beside one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from nlgauge.analyses.verdicts.verdicts import ALSO, CELLS, WORDS
from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean
from nlgauge.table import Row

if TYPE_CHECKING:
    from nlgauge.stats.agreement.two_by_two import Figure

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
Limits = Mapping[str, float] | str
FIGURES = [m for m in WORDS if m not in CELLS and not m.startswith(("people_", "always_")) and m != "judge_pass"]
ESTIMATES = {"pass_rate": "the share that people would pass", "mean": "the mean rating that people would give"}
# An interval that only just left the limit would still hold it in half of such data sets: four of five need it
# shorter, (1.96 + .84) / 1.96 times.
FOUR_OF_FIVE = 1.43
SEVERAL = "systems and inputs"  # both are samples: only the intervals of more of both are shorter
MOST = 1000  # times the labels at hand, beyond which a value lies at the limit


def read_limits(given: Limits, example: str) -> dict[str, float]:
    from nlgauge.stats.correlation.measure import Measure

    pairs = (
        [part.partition("=")[::2] for part in given.split(",") if part.strip()]
        if isinstance(given, str)
        else [(name, str(limit)) for name, limit in given.items()]
    )
    found: dict[str, float] = {}
    for words, text in pairs:
        name = ALSO.get(words.strip(), words.strip())
        if name not in FIGURES and name not in ESTIMATES:
            try:
                name = str(Measure.parse(name))
            except NameUnknown:
                known = [*FIGURES, *ALSO, *ESTIMATES]
                raise NameUnknown(
                    f"no figure '{name}'.{did_you_mean(name, known)} Figures: {', '.join(known)}, or a measure such as "
                    "input/kendall."
                ) from None
        try:
            limit = float(text)
        except ValueError:
            limit = math.nan
        given = f"limit '{words.strip()}={text.strip()}'"
        if not math.isfinite(limit):
            raise NameUnknown(f"{given}: write a number, as in {example}.")
        if name != "mean" and abs(limit) > 1:
            raise NameUnknown(f"{given}: {name} is never above 1; write shares as .6, not 60.")
        if name in found:
            raise NameUnknown(f"{given}: {name} has a limit already; give each figure one.")
        found[name] = limit
    return found


def decided(value: float, low: float, high: float, limit: float) -> str:
    """By the interval; without one nothing is decided."""
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return UNDECIDED
    return PASSED if low >= limit else FAILED if high < limit else UNDECIDED


def held_row(row: Row, limit: float, n: int | None, grows: str = "labels") -> Row:
    """`n`: labelled rows behind all figures of this judge; `grows`: of what there must be more for a decision."""
    value, low, high = (math.nan if row[c] is None else float(row[c]) for c in ("value", "low", "high"))
    known = not (math.isnan(value) or math.isnan(low) or math.isnan(high))
    verdict = decided(value, low, high, limit)
    times = _times(value, low, high, limit) if verdict == UNDECIDED else None
    without = "not defined on these rows" if math.isnan(value) else "no interval"
    return {
        "metric": row["metric"], "aspect": row["aspect"], "measure": row["measure"], "system": None, "against": None,
        "limit": limit, "value": value, "low": low, "high": high,
        "n": n, "verdict": verdict, "times": times,
        "labels": math.ceil(n * times) if times and n and grows == "labels" else None,
        "reason": row.get("reason") or (None if known else without),
    }  # fmt: skip


def _times(value: float, low: float, high: float, limit: float) -> float | None:
    """How many times the labels at hand would decide in four of five data sets whose true value is this one."""
    if math.isnan(low + high + value) or value == limit:
        return None
    half = value - low if value > limit else high - value
    times = (FOUR_OF_FIVE * half / abs(value - limit)) ** 2
    return times if times <= MOST else None


def labels_to_decide(found: Figure, limit: float, n: int) -> int | None:
    """Of an undecided figure of n labels; None where it is decided, has no interval, or lies at the limit."""
    times = _times(found.value, found.low, found.high, limit)
    undecided = decided(found.value, found.low, found.high, limit) == UNDECIDED
    return math.ceil(n * times) if undecided and times else None
