"""Threshold of a judge's scores: areas under the ROC and precision-recall curves, and the threshold of least cost."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.analyses.verdicts._labeled import (
    LabeledScores,
    cluster_notes,
    figure_row,
    human_pass,
    judge_deviations,
    judges_across,
    labeled_scores,
    missing_notes,
    requested_judges,
)
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import number, row_interval, share_text
from nlgauge.options import call, option
from nlgauge.stats.agreement.curves import area_figures, cheapest, halves, sweep
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.two_by_two import Figure, cell_counts, cost_figure, share_figures
from nlgauge.stats.agreement.verdict_changes import compare_with_baseline, may_be_best
from nlgauge.stats.resampling.contrasts import simultaneous_level
from nlgauge.table import Row, Table, Title

LABELS = {
    "roc_area": "area under the ROC curve",
    "average_precision": "average precision on failures",
    "threshold": "threshold of least cost (lowest score that passes)",
    "fail_recall": "held out: recall on failures (TNR)",
    "pass_recall": "held out: recall on passes (TPR)",
    "fail_precision": "held out: precision on failures",
    "agreement": "held out: accuracy",
    "cost": "held out: cost per 100 outputs",
    "cost_pass_all": "held out: cost per 100 outputs if all pass",
    "cost_fail_all": "held out: cost per 100 outputs if all fail",
}
FIGURES = ("fail_recall", "pass_recall", "fail_precision", "agreement")


@analysis("threshold", question="From which score on should a judge pass an output?")
def threshold(
    panel: Panel,
    *,
    judge: str | None = None,
    miss: float = 1.0,
    alarm: float = 1.0,
    part: Literal["summary", "curve"] = "summary",
    human_pass_from: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Choose the pass threshold of a judge's score, and evaluate it on held-out labels.

    Parameters
    ----------
    miss : float, default 1.0
        Cost of passing an output that annotators fail.
    alarm : float, default 1.0
        Cost of failing an output that annotators pass.
    part : {'summary', 'curve'}, default 'summary'
        What to return: the `summary` statistics, or the `curve` (recall and precision at every threshold, on all
        labeled outputs).

    Returns
    -------
    Table
        For the summary one row per judge and measure: areas on all labeled outputs; the threshold of least cost
        from one half of them, and recall, precision and cost at this threshold on the other half.

    Notes
    -----
    Area under the ROC curve with Newcombe's score interval and DeLong's variance, simultaneous over the judges;
    average precision with a jackknife on the logit.

    Examples
    --------
    $ nlgauge analyze threshold answers.csv --miss 5
    """
    if miss < 0 or alarm < 0 or miss + alarm == 0:
        costs = f"{option('miss')} and {option('alarm')}"
        raise NlgaugeError(f"{costs} must be 0 or more, and one of them above 0; got {miss:g} and {alarm:g}.")
    people = human_pass(panel, human_pass_from)
    rows: list[Row] = []
    notes, two, clustered = list(people.notes), [], []
    graded: dict[str, tuple[LabeledScores, np.ndarray]] = {}
    for name in requested_judges(panel, judge):
        labeled = labeled_scores(panel, name, people)
        if len(np.unique(labeled.score)) <= 2 and judge is None:
            two.append(name)
            continue
        graded[name] = labeled, labeled.score
        clustered = cluster_notes(panel, labeled.clusters)
    if not graded:
        raise NeedsMissing(
            f"{', '.join(two)} gave two values only, so there is no threshold to choose; use "
            f"{call('analyze verdicts FILE')}.",
            code="constant",
        )
    if part == "curve":
        rows = [row for labeled, _ in graded.values() for row in _curve(labeled, panel.aspect, level)]
    else:
        compared, lengths = judge_deviations(panel, people, graded, "roc_area"), panel.output_lengths()
        together = simultaneous_level(compared.deviations, level)
        for (labeled, _), inside in zip(graded.values(), may_be_best(compared, level).tolist(), strict=True):
            area = _area(labeled, panel.aspect, together, lengths)
            rows += [{**area, "may_be_best": inside}, *_summary(labeled, panel.aspect, miss, alarm, level, seed)]
    if two:
        notes.append(f"excluded because they gave two values only ({call('analyze verdicts FILE')}): {', '.join(two)}.")
    return Table(
        title=Title(panel.name, f"thresholds of the judge against {reference(panel, 'labels')}, {panel.aspect}"),
        rows=rows,
        layout=judges_across(panel, LABELS) if part == "summary" else None,
        cells={"value": _cell} if part == "summary" else {},
        method=f"{level:.0%} confidence intervals. Area: Newcombe's score interval with DeLong's variance, "
        "simultaneous "
        f"over the {len(graded)} judges; average precision: logit interval, jackknife variance; recall, precision and "
        f"accuracy: {KINDS['lean']}; cost: melded. Costs: {miss:g} for passing an output that annotators fail, "
        f"{alarm:g} "
        "for failing one that they pass. The threshold is chosen on one half of the labeled outputs and evaluated on "
        "the other (held out).",
        notes=[*notes, *clustered, *(missing_notes(rows, LABELS) if part == "summary" else []), *human_note(panel)],
        signature=signature(panel, miss=f"{miss:g}", alarm=f"{alarm:g}", seed=seed),
    )


def _area(labeled: LabeledScores, aspect: str, level: float, lengths: np.ndarray | None) -> Row:
    """Return the area under the ROC curve and, if there are texts, its advantage over the length of the output."""
    area = area_figures(labeled.score, labeled.passed, labeled.names, level=level)["roc_area"]
    row = {**figure_row(labeled.judge, aspect, "roc_area", area), **labeled.label_counts()}
    if lengths is None:
        return row
    gap = compare_with_baseline(labeled.passed, labeled.score, lengths[labeled.index], labeled.names, level)
    return {**row, "advantage_low": gap.low, "advantage_high": gap.high}


def _summary(labeled: LabeledScores, aspect: str, miss: float, alarm: float, level: float, seed: int) -> list[Row]:
    names = labeled.names
    figure = area_figures(labeled.score, labeled.passed, names, level=level, seed=seed)["average_precision"]
    first = halves(labeled.passed, names, seed)
    swept = sweep(labeled.score[first], labeled.passed[first])
    chosen = float(swept.thresholds[cheapest(swept, miss, alarm)])
    rest = ~first
    passed, judged = labeled.passed[rest], labeled.score[rest] >= chosen
    inside = None if labeled.clusters is None else labeled.clusters[rest].tolist()
    clustered = inside is not None
    counts = cell_counts(passed, judged, inside)
    shares = share_figures(counts, clustered=clustered, level=level)
    own = -chosen if labeled.flipped else chosen
    reason = "" if np.isfinite(chosen) else "failing every output costs least"
    figures = {"threshold": Figure(own, n=int(first.sum()), reason=reason), **{name: shares[name] for name in FIGURES}}
    figures["cost"] = cost_figure(counts, miss, alarm, clustered=clustered, level=level)
    for name, verdict in (("cost_pass_all", True), ("cost_fail_all", False)):
        all_alike = cell_counts(passed, np.full(len(passed), verdict), inside)
        figures[name] = cost_figure(all_alike, miss, alarm, clustered=clustered, level=level)
    return [
        {**figure_row(labeled.judge, aspect, "average_precision", figure), **labeled.label_counts()},
        *(figure_row(labeled.judge, aspect, measure, each) for measure, each in figures.items()),
    ]


def _curve(labeled: LabeledScores, aspect: str, level: float) -> list[Row]:
    rows: list[Row] = []
    clusters = labeled.names
    for value in np.append(np.unique(labeled.score), np.inf):
        counts = cell_counts(labeled.passed, labeled.score >= value, clusters)
        figures = share_figures(counts, clustered=clusters is not None, level=level)
        own = float(-value if labeled.flipped else value)
        rows += [{**figure_row(labeled.judge, aspect, name, figures[name]), "threshold": own} for name in FIGURES[:3]]
    return rows


def _cell(row: Row) -> str:
    measure = row["measure"]
    if measure == "threshold":
        return number(row["value"], 3).rstrip("0").rstrip(".") if np.isfinite(row["value"]) else "no output passes"
    if measure in ("roc_area", "average_precision"):
        return row_interval(row)
    if measure.startswith("cost"):
        ends = f" [{100 * row['low']:.0f}, {100 * row['high']:.0f}]" if np.isfinite(row["low"]) else ""
        return f"{100 * row['value']:.0f}{ends}"
    return share_text(row)
