"""Calibration of a judge's scores: reliability curve, Brier score, expected calibration error, isotonic map."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.analyses.verdicts._labeled import (
    LabeledScores,
    cluster_notes,
    figure_row,
    human_pass,
    judges_across,
    labeled_scores,
    missing_notes,
    requested_judges,
)
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import row_interval
from nlgauge.stats.agreement.curves import halves
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.reliability import calibration_figures, isotonic_map, probabilities, reliability_bins
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.table import Row, Table, Title

LABELS = {
    "ece": "expected calibration error (ECE)",
    "ece_by_chance": "ECE of a calibrated judge on as many outputs",
    "brier": "Brier score",
    "brier_base": "Brier score of the constant human pass rate",
    "ece_mapped": "ECE after isotonic calibration (cross-fitted)",
    "brier_mapped": "Brier score after isotonic calibration (cross-fitted)",
}


@analysis("calibration", question="Are a judge's scores calibrated probabilities of a human pass?")
def calibration(
    panel: Panel,
    *,
    judge: str | None = None,
    part: Literal["summary", "curve", "map"] = "summary",
    bins: int = 10,
    human_pass_from: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Assess a judge's score as the probability that annotators pass an output (Brier score, ECE).

    Scores outside 0 to 1 are not probabilities. For these, only the isotonic map and the statistics of the mapped
    scores are computed.

    Parameters
    ----------
    part : {'summary', 'curve', 'map'}, default 'summary'
        What to return: the `summary` statistics; the `curve` (mean score and human pass rate per bin of the score); or
        the `map`, the knots of the isotonic map from scores to probabilities, between which you interpolate linearly.
    bins : int, default 10
        Number of bins of equal width for ECE and the curve.

    Returns
    -------
    Table
        For the summary one row per judge and measure, each with its confidence interval.

    Notes
    -----
    Brier score: mean of (score − human label)². Expected calibration error: mean over outputs of |mean score − human
    pass rate| of their bin. Figures after isotonic calibration are cross-fitted: each half of the outputs is mapped by
    the map that was fitted on the other half.

    Examples
    --------
    $ nlgauge analyze calibration answers.csv --part map -o map.csv
    """
    if bins < 1:
        raise NlgaugeError(f"bins must be at least 1; got {bins}.")
    people = human_pass(panel, human_pass_from)
    rows: list[Row] = []
    notes, excluded, clustered = list(people.notes), [], []
    for name in requested_judges(panel, judge):
        labeled = labeled_scores(panel, name, people)
        if judge is None and len(np.unique(labeled.score)) <= 2:
            excluded.append(f"{name} (two values only)")
            continue
        fits = probabilities(labeled.score)
        if not fits and part != "map":
            notes.append(
                f"{name}: scores from {labeled.score.min():g} to {labeled.score.max():g} are not probabilities; only "
                "figures "
                "after isotonic calibration are given."
            )
        if part == "summary":
            rows += _summary(labeled, panel.aspect, fits, bins, level, seed)
        elif part == "map":
            rows += _map(labeled, panel.aspect)
        elif fits:
            rows += _curve(labeled, panel.aspect, bins, level)
        else:
            excluded.append(f"{name} (not a probability)")
        clustered = cluster_notes(panel, labeled.clusters)
    if not rows:
        raise NeedsMissing(
            f"no judge has scores that are probabilities; excluded: {', '.join(excluded)}.", code="not_binary"
        )
    if excluded:
        notes.append(f"excluded: {', '.join(excluded)}.")
    return Table(
        title=Title(panel.name, f"calibration of the judge against {reference(panel, 'labels')}, {panel.aspect}"),
        rows=rows,
        layout=judges_across(panel, LABELS) if part == "summary" else None,
        cells={"value": partial(row_interval, decimals=3)} if part == "summary" else {},
        method=f"{level:.0%} confidence intervals. Brier score: melded from the pass rate and the mean squared "
        "errors of "
        f"both labels. ECE: {bins} bins of equal width, Student's t; its lower end allows for the bias of ECE in small "
        "samples, so its coverage is above the nominal level when scores are nearly calibrated. Pass rates in bins: "
        f"{KINDS['lean']}. Isotonic calibration is cross-fitted on two halves.",
        notes=[*notes, *clustered, *(missing_notes(rows, LABELS) if part == "summary" else []), *human_note(panel)],
        signature=signature(panel, bins=bins, seed=seed),
    )


def _summary(labeled: LabeledScores, aspect: str, fits: bool, bins: int, level: float, seed: int) -> list[Row]:
    figures: dict[str, Figure] = {}
    if fits:
        figures |= calibration_figures(labeled.score, labeled.passed, labeled.names, bins=bins, level=level)
    share = float(labeled.passed.mean())
    figures["brier_base"] = Figure(share * (1 - share), n=len(labeled.passed))
    first = halves(labeled.passed, labeled.names, seed)
    if first.all() or not first.any():
        reason = "requires outputs in both halves"
        figures |= {name: Figure(np.nan, reason=reason) for name in ("ece_mapped", "brier_mapped")}
    else:
        mapped = np.empty(len(labeled.score))
        for here in (first, ~first):
            mapped[here] = isotonic_map(labeled.score[~here], labeled.passed[~here]).of(labeled.score[here])
        after = calibration_figures(mapped, labeled.passed, labeled.names, bins=bins, level=level)
        figures |= {f"{name}_mapped": after[name] for name in ("ece", "brier")}
    return [figure_row(labeled.judge, aspect, name, figures[name]) for name in LABELS if name in figures]


def _curve(labeled: LabeledScores, aspect: str, bins: int, level: float) -> list[Row]:
    return [
        {
            **figure_row(labeled.judge, aspect, "share_passed", b.passed),
            "score": b.score,
            "score_low": b.low,
            "score_high": b.high,
        }
        for b in reliability_bins(labeled.score, labeled.passed, labeled.names, bins=bins, level=level)
    ]


def _map(labeled: LabeledScores, aspect: str) -> list[Row]:
    knots = isotonic_map(labeled.score, labeled.passed)
    sign = -1.0 if labeled.flipped else 1.0
    return [
        {
            "metric": labeled.judge,
            "aspect": aspect,
            "measure": "probability",
            "score": float(sign * x),
            "value": float(p),
            "n": len(labeled.passed),
        }
        for x, p in zip(knots.scores, knots.probabilities, strict=True)
    ]
