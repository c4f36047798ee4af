"""Limits of a gate: their grammar, their verdicts, and the number of labels for a decision.

A gate passes where every limit is passed, which needs no correction for their number (intersection-union test). It
fails where one limit is failed, so failures are corrected over the limits that are checked together (Holm 1979).
Planned looks share the error rate of both decisions evenly (Bonferroni), which holds whatever the looks have in common.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.analyses.verdicts.class_verdicts import CLASS_LABELS, OF_CLASS
from nlgauge.analyses.verdicts.verdicts import CELLS, LABELS, SYNONYMS
from nlgauge.errors import NameUnknown, NeedsMissing, Refusal
from nlgauge.number import percent, some
from nlgauge.options import option
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.measure import Measure
from nlgauge.table import Row
from nlgauge.types import Mask

PASSED, FAILED, UNDECIDED = "passed", "failed", "undecided"
Limits = Mapping[str, float] | str
FIGURES = [m for m in LABELS if m not in CELLS and not m.startswith(("human_", "always_")) and m != "judge_pass"]
FIGURES += [m for m in CLASS_LABELS if m not in FIGURES and not m.startswith(("human_", "majority_"))]
ESTIMATES = {"pass_rate": "human pass rate", "mean": "mean human rating"}
LEVEL = 0.95  # of the interval of a single limit in a single test
# If an interval only just excludes the limit, it would include the limit in half of all replications. For 80% power,
# the limit must be farther away by this number of standard errors.
FOUR_OF_FIVE = 0.8416
SEVERAL = "systems and inputs"  # both are samples: only the intervals of more of both are shorter
MAX_TIMES = 1000  # times the existing labels, beyond which a value lies at the limit


def read_limits(given: Limits, example: str) -> dict[str, float]:
    """Return limits by figure, given as a mapping or as text such as `kappa=.6,tnr=.8`."""
    pairs = (
        [part.partition("=")[::2] for part in given.split(",") if part.strip()]
        if isinstance(given, str)
        else [(name, str(limit)) for name, limit in given.items()]
    )
    found: dict[str, float] = {}
    for words, text in pairs:
        name = SYNONYMS.get(words.strip(), words.strip())
        name = name.replace("macro-", "macro_").replace("micro-", "micro_")
        if not is_figure(name) and name not in ESTIMATES:
            try:
                name = str(Measure.parse(name))
            except NameUnknown:
                names = [*FIGURES, *SYNONYMS, *ESTIMATES]
                raise NameUnknown(
                    f"measure '{name}' not found.{did_you_mean(name, names)} Expected one of {', '.join(names)}, a "
                    "per-class statistic such as recall:unsafe, or a correlation such as input/kendall."
                ) from None
        try:
            limit = float(text)
        except ValueError:
            limit = math.nan
        given = f"limit '{words.strip()}={text.strip()}'"
        if not math.isfinite(limit):
            raise NameUnknown(f"{given}: expected a number, as in {example}.")
        if name != "mean" and abs(limit) > 1:
            raise NameUnknown(f"{given}: {name} must be at most 1; write a share as .6, not 60.")
        if name in found:
            raise NameUnknown(f"{given}: {name} has two limits; give one per measure.")
        found[name] = limit
    return found


def is_figure(name: str) -> bool:
    """Return whether `verdicts` has this figure: of pass and fail, of classes, or of one class (`recall:unsafe`)."""
    return name in FIGURES or (":" in name and name.partition(":")[0] in OF_CLASS)


def check_figures(
    limits: Mapping[str, float], held: Collection[str], labels: Sequence[str], refused: Sequence[Refusal]
) -> None:
    """Raise an error for a limit on a figure that no aspect has: a class that nobody named, or one of other scales.

    `held`: the figures that were computed; `labels`: all classes.
    """
    for name in limits:
        if is_figure(name) and name not in held:
            kind, _, label = name.partition(":")
            if label and label not in labels:
                known = some(list(dict.fromkeys(labels)), 12) if labels else "none: no aspect has classes"
                raise NameUnknown(f"limit '{name}': class '{label}' not found. Classes: {known}.")
            reasons = "".join(f" {r.reason}" for r in refused[:1])
            raise NeedsMissing(f"limit '{name}': no aspect has this measure ({kind}).{reasons}")


def check_request(limits: Mapping[str, float], against: Any, drops: Mapping[str, float], looks: int | None) -> None:
    """Raise an error if no limit is given, or if options that belong together are not."""
    if not limits and not drops:
        raise NameUnknown("no limit found; expected one limit such as kappa=.6, or several such as kappa=.6,tnr=.8.")
    if bool(drops) != (against is not None):
        raise NeedsMissing(
            "an earlier run and a maximum drop must be given together, for example "
            f"{option('against', 'old.results.json')} and {option('max_drop', 'kappa=.05')}."
        )
    if looks is not None and (isinstance(looks, bool) or not isinstance(looks, int) or looks < 1):
        raise NameUnknown(f"looks must be a whole number of planned looks, 1 or more; got {looks!r}.")


def level_of_look(looks: int) -> float:
    """Return the confidence level at each of so many planned looks, so that LEVEL holds over all of them.

    >>> level_of_look(1), level_of_look(5)
    (0.95, 0.99)
    """
    return LEVEL if looks == 1 else 1 - (1 - LEVEL) / looks


def decided(value: float, low: float, high: float, limit: float) -> str:
    """Return the verdict on a single limit by its interval; without an interval nothing is decided."""
    if math.isnan(value) or math.isnan(low) or math.isnan(high):
        return UNDECIDED
    return PASSED if low >= limit else FAILED if high < limit else UNDECIDED


def correct_failures(lies_below: Callable[[float], Mask], tested: int, level: float) -> tuple[Mask, float]:
    """Return which limits are failed after Holm's correction over all of them, and the confidence level that shows it.

    Parameters
    ----------
    lies_below : callable
        For a confidence level, whether the interval of each figure lies below its limit.
    tested : int
        Number of limits whose figure has an interval.
    level : float
        Confidence level for a single limit.

    Notes
    -----
    An interval at level 1 - 2a lies below the limit where the one-sided p-value is under a. Holm's steps compare the
    p-values with the error rate divided by the number of limits that are not failed yet. A limit is failed if and only
    if the interval at the last step's level lies below it.

    Examples
    --------
    >>> p = np.array([0.001, 0.012, 0.02])
    >>> failed, last = correct_failures(lambda level: p < (1 - level) / 2, tested=3, level=0.95)
    >>> failed.tolist(), round(last, 3)
    ([True, True, True], 0.95)
    """
    alone = lies_below(level)
    failed = np.zeros_like(alone)
    while True:
        remaining = tested - int(failed.sum())
        step = level if remaining <= 1 else 1 - (1 - level) / remaining
        added = alone & ~failed
        if added.any() and step != level:
            added &= lies_below(step)
        if not added.any():
            return failed, step
        failed |= added


def describe_method(level: float, looks: int | None, tested: int, level_failed: float) -> str:
    """Return when a limit is passed, failed or undecided."""
    over_looks = f" ({percent(LEVEL)} over {looks} planned looks)" if looks is not None and looks > 1 else ""
    below = "it lies below the limit"
    if tested > 1:
        below = f"the {_level_text(level_failed)} CI lies below it (Holm correction over {tested} limits)"
    return (
        f"Passed: the {_level_text(level)} CI{over_looks} lies at or above the limit; failed: {below}; otherwise "
        "undecided (error rates: docs/gate.md)."
    )


def _level_text(level: float) -> str:
    """Return a confidence level in percent, with two digits of its distance from 100%."""
    text = f"{100 * level:.{math.ceil(-math.log10(1 - level)) - 1}f}"
    return f"{text.rstrip('0').rstrip('.')}%"


def correction_notes(uncorrected: int, tested: int, looks: int | None) -> list[str]:
    """Return what the corrections for several limits and several looks do to this gate."""
    notes = []
    if uncorrected:
        which = "1 figure lies" if uncorrected == 1 else f"{uncorrected} figures lie"
        notes.append(
            f"{which} below the limit if taken alone, but not after Holm correction over {tested} limits: undecided."
        )
    if looks is None:
        notes.append(
            f"The error rate holds for one look; use {option('looks')} if the gate runs repeatedly on a "
            "growing label set."
        )
    return notes


def limit_row(row: Row, limit: float, n: int | None, grows: str = "labels") -> Row:
    """Return a figure alongside its limit, without a verdict.

    `n`: labeled rows behind all figures of this judge; `grows`: what there must be more of for a decision.
    """
    value, low, high = (math.nan if row[c] is None else float(row[c]) for c in ("value", "low", "high"))
    without = "undefined on these outputs" if math.isnan(value) else "no confidence interval"
    return {
        "metric": row["metric"],
        "aspect": row["aspect"],
        "measure": row["measure"],
        "system": None,
        "against": None,
        "limit": limit,
        "value": value,
        "low": low,
        "high": high,
        "n": n,
        "grows": grows,
        "reason": row.get("reason") or (None if math.isfinite(value + low + high) else without),
    }


def verdict_row(row: Row, failed: bool, level: float, level_failed: float, high_failed: float | None = None) -> Row:
    """Return a row of `limit_row` with its verdict and, where it is undecided, what would decide.

    `failed`: after the correction; `level`: of the row's interval; `level_failed`: of the interval that shows a
    failure, and `high_failed` its upper end where it was computed.
    """
    verdict = decided(row["value"], row["low"], row["high"], row["limit"])
    if verdict == FAILED and not failed:
        verdict = UNDECIDED
    n, times, labels = row["n"], None, None
    if verdict == UNDECIDED and row["value"] > row["limit"]:
        times = _times(row["value"] - row["low"], level, row["value"] - row["limit"], level)
    elif verdict == UNDECIDED:
        high, high_level = (row["high"], level) if high_failed is None else (high_failed, level_failed)
        times = _times(high - row["value"], high_level, row["limit"] - row["value"], level_failed)
    if times and n and row["grows"] == "labels":
        labels = math.ceil(n * times)
    return {k: v for k, v in row.items() if k != "grows"} | {"verdict": verdict, "times": times, "labels": labels}


def _times(half: float, level: float, distance: float, needed: float) -> float | None:
    """Return how many times the existing labels would decide in four of five data sets whose true value is this one.

    `half`: between the value and the end of its interval at this level; `distance`: between the value and the limit;
    `needed`: level at which the interval must exclude the limit.
    """
    from scipy.special import ndtri

    if math.isnan(half + distance) or distance == 0:
        return None
    error = half / float(ndtri((1 + level) / 2))
    times = (error * (float(ndtri((1 + needed) / 2)) + FOUR_OF_FIVE) / distance) ** 2
    return times if times <= MAX_TIMES else None
