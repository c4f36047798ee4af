"""Is a judge's number the probability that people pass? Reliability curve, Brier's score, ECE, and the map to it."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.verdicts._labelled import (
    Labelled,
    asked,
    cluster_notes,
    figure_row,
    judges_across,
    labelled,
    missing_notes,
    people_pass,
)
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import row_interval
from nlgauge.stats.agreement.curves import halves
from nlgauge.stats.agreement.reliability import calibration_figures, isotonic_map, probabilities, reliability_bins
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.table import Row, Table, Title

WORDS = {
    "ece": "the score is off the share that people pass by, on average (ECE)",
    "ece_by_chance": "a judge whose scores are right would show, on so few rows",
    "brier": "mean squared distance of score and verdict (Brier)",
    "brier_base": "Brier of always giving the share that people pass",
    "ece_mapped": "after the map, on rows that did not make it: off by (ECE)",
    "brier_mapped": "after the map, on rows that did not make it: Brier",
}


@analysis("calibration", question="Is a judge's number the probability that people pass a row?")
def calibration(
    panel: Panel,
    *,
    judge: str | None = None,
    part: Literal["summary", "curve", "map"] = "summary",
    bins: int = 10,
    people_pass_from: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Assess a judge's score as the probability that annotators pass an output (Brier score, ECE).

    Scores outside 0 to 1 are not probabilities: only the map, and the figures after it, are given for them.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    judge : str, optional
        Metric or judge to look at; all of them by default.
    part : {'summary', 'curve', 'map'}, default 'summary'
        `summary` of the figures; `curve`, the mean score and share passed in bins of the score; or `map`, the
        corners of the isotonic map from scores to probabilities (apply it by straight lines between the
        corners).
    bins : int, default 10
        Bins of equal width for ECE and the curve.
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    level : float, default 0.95
        Level of the confidence intervals.
    seed : int, default 0
        Seed of the random draws: the same seed gives the same numbers on any machine.

    Returns
    -------
    Table
        For the summary one row per judge and figure, each with its interval.

    Notes
    -----
    Brier score: mean of (score − verdict)². Expected calibration error: mean over outputs of |mean score − share
    passed| of their bin. Figures after the map are from outputs that had no part in making it (two halves, each
    mapped by the other).

    Examples
    --------
    $ nlgauge analyze calibration answers.csv --part map -o map.csv
    """
    if bins < 1:
        raise NlgaugeError(f"bins must be 1 or more; found {bins}.")
    people = people_pass(panel, people_pass_from)
    rows: list[Row] = []
    notes, left, clustered = list(people.notes), [], []
    for name in asked(panel, judge):
        mine = labelled(panel, name, people)
        if judge is None and len(np.unique(mine.score)) <= 2:
            left.append(f"{name} (two values only)")
            continue
        fits = probabilities(mine.score)
        if not fits and part != "map":
            notes.append(
                f"{name}: {mine.score.min():g} to {mine.score.max():g} is no probability; only figures after the "
                "map are given."
            )
        if part == "summary":
            rows += _summary(mine, panel.aspect, fits, bins, level, seed)
        elif part == "map":
            rows += _map(mine, panel.aspect)
        elif fits:
            rows += _curve(mine, panel.aspect, bins, level)
        else:
            left.append(f"{name} (no probability)")
        clustered = cluster_notes(panel, mine.clusters)
    if not rows:
        raise NeedsMissing(
            f"no judge with numbers to read as probabilities; left out: {', '.join(left)}.",
            data=panel.name,
            aspect=panel.aspect,
            code="not_binary",
        )
    if left:
        notes.append(f"left out: {', '.join(left)}.")
    return Table(
        title=Title(panel.name, f"scores of the judge as probabilities that {panel.rated_by} pass, on {panel.aspect}"),
        rows=rows,
        layout=judges_across(panel, WORDS) if part == "summary" else None,
        cells={"value": partial(row_interval, decimals=3)} if part == "summary" else {},
        method=f"{level:.0%} intervals. Brier: melded from the share passed and the mean squared distances of both "
        f"verdicts. ECE: {bins} bins of equal width, Student's t; its lower end allows for what chance adds, so it "
        "holds the truth more often than stated where scores are nearly right. Shares in bins: Clopper-Pearson with "
        ".7 of the count's own probability in each tail. The map is isotonic; figures after it are of rows that had "
        "no part in making it (two halves, each mapped by the other).",
        notes=[*notes, *clustered, *(missing_notes(rows, WORDS) if part == "summary" else []), *people_note(panel)],
        signature=signature(panel, bins=bins, seed=seed),
    )


def _summary(mine: Labelled, aspect: str, fits: bool, bins: int, level: float, seed: int) -> list[Row]:
    found: dict[str, Figure] = {}
    if fits:
        found |= calibration_figures(mine.score, mine.passed, mine.names, bins=bins, level=level)
    share = float(mine.passed.mean())
    found["brier_base"] = Figure(share * (1 - share), n=len(mine.passed))
    first = halves(mine.passed, mine.names, seed)
    if first.all() or not first.any():
        reason = "needs rows in two halves"
        found |= {name: Figure(np.nan, reason=reason) for name in ("ece_mapped", "brier_mapped")}
    else:
        mapped = np.empty(len(mine.score))
        for here in (first, ~first):
            mapped[here] = isotonic_map(mine.score[~here], mine.passed[~here]).of(mine.score[here])
        after = calibration_figures(mapped, mine.passed, mine.names, bins=bins, level=level)
        found |= {f"{name}_mapped": after[name] for name in ("ece", "brier")}
    return [figure_row(mine.judge, aspect, name, found[name]) for name in WORDS if name in found]


def _curve(mine: Labelled, aspect: str, bins: int, level: float) -> list[Row]:
    return [
        {
            **figure_row(mine.judge, aspect, "share_passed", b.passed),
            "score": b.score,
            "score_low": b.low,
            "score_high": b.high,
        }
        for b in reliability_bins(mine.score, mine.passed, mine.names, bins=bins, level=level)
    ]


def _map(mine: Labelled, aspect: str) -> list[Row]:
    found = isotonic_map(mine.score, mine.passed)
    sign = -1.0 if mine.turned else 1.0
    return [
        {
            "metric": mine.judge,
            "aspect": aspect,
            "measure": "probability",
            "score": float(sign * x),
            "value": float(p),
            "n": len(mine.passed),
        }
        for x, p in zip(found.scores, found.probabilities, strict=True)
    ]
