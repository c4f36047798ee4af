"""From which number on should a judge pass a row? ROC and precision-recall areas, and the threshold of least cost."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.verdicts._labelled import (
    Labelled,
    asked,
    cluster_notes,
    figure_row,
    judge_deviations,
    judges_across,
    labelled,
    missing_notes,
    people_pass,
    share_text,
)
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import number, row_interval
from nlgauge.options import call
from nlgauge.stats.agreement.curves import area_figures, cheapest, halves, sweep
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.two_by_two import Figure, cell_counts, cost_figure, share_figures
from nlgauge.stats.agreement.verdict_changes import compare_with_baseline, may_be_best
from nlgauge.stats.resampling.contrasts import simultaneous_level
from nlgauge.table import Row, Table, Title

WORDS = {
    "roc_area": "a row people passed scores higher than one they failed (ROC area)",
    "average_precision": "average precision of failing rows from the lowest score up",
    "threshold": "threshold of least cost, chosen on one half: pass from",
    "fail_recall": "other half: of those people failed, the threshold fails",
    "pass_recall": "other half: of those people passed, the threshold passes",
    "fail_precision": "other half: of those the threshold fails, people failed",
    "agreement": "other half: threshold and people say the same",
    "cost": "other half: cost of 100 rows",
    "cost_pass_all": "other half: cost of 100 rows if all are passed",
    "cost_fail_all": "other half: cost of 100 rows if all are failed",
}
FIGURES = ("fail_recall", "pass_recall", "fail_precision", "agreement")


@analysis("threshold", question="From which number on should a judge pass a row?")
def threshold(
    panel: Panel,
    *,
    judge: str | None = None,
    miss: float = 1.0,
    alarm: float = 1.0,
    part: Literal["summary", "curve"] = "summary",
    people_pass_from: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Choose the score from which a judge should pass an output, and evaluate it on other labels.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    judge : str, optional
        Metric or judge to look at; all of them by default.
    miss : float, default 1.0
        Cost of passing an output that annotators fail.
    alarm : float, default 1.0
        Cost of failing an output that annotators pass.
    part : {'summary', 'curve'}, default 'summary'
        `summary` of the figures, or `curve`: the shares at every threshold, on all labeled outputs.
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    level : float, default 0.95
        Level of the confidence intervals.
    seed : int, default 0
        Seed of the split into halves; the order of the outputs has no influence.

    Returns
    -------
    Table
        For the summary one row per judge and figure: areas on all labeled outputs; the threshold of least cost
        from one half of them, and recalls, precisions and cost at this threshold on the other half.

    Notes
    -----
    Area under the ROC curve with Newcombe's score interval and DeLong's variance, simultaneous over the judges;
    average precision with a jackknife on the logit.

    Examples
    --------
    $ nlgauge analyze threshold answers.csv --miss 5
    """
    if miss < 0 or alarm < 0 or miss + alarm == 0:
        raise NlgaugeError(f"costs must be 0 or more, one of them above; found miss {miss:g}, alarm {alarm:g}.")
    people = people_pass(panel, people_pass_from)
    rows: list[Row] = []
    notes = list(people.notes)
    two, clustered = [], []
    graded: dict[str, tuple[Labelled, np.ndarray]] = {}
    for name in asked(panel, judge):
        mine = labelled(panel, name, people)
        if len(np.unique(mine.score)) <= 2 and judge is None:
            two.append(name)
            continue
        graded[name] = mine, mine.score
        clustered = cluster_notes(panel, mine.clusters)
    if not graded:
        raise NeedsMissing(
            f"{', '.join(two)} gave two values only, so there is no threshold to choose; "
            f"{call('verdicts FILE')} holds them against people.",
            data=panel.name,
            aspect=panel.aspect,
            code="constant",
        )
    if part == "curve":
        rows = [row for mine, _ in graded.values() for row in _curve(mine, panel.aspect, level)]
    else:
        compared, lengths = judge_deviations(panel, people, graded, "roc_area"), panel.output_lengths()
        together = simultaneous_level(compared.deviations, level)
        for (mine, _), inside in zip(graded.values(), may_be_best(compared, level).tolist(), strict=True):
            area = _area(mine, panel.aspect, together, lengths)
            rows += [{**area, "may_be_best": inside}, *_summary(mine, panel.aspect, miss, alarm, level, seed)]
    if two:
        notes.append(f"two values only, no threshold to choose ({call('verdicts FILE')}): {', '.join(two)}.")
    return Table(
        title=Title(panel.name, f"thresholds of the judge beside {panel.rated_by} on {panel.aspect}"),
        rows=rows,
        layout=judges_across(panel, WORDS) if part == "summary" else None,
        cells={"value": _cell} if part == "summary" else {},
        method=f"{level:.0%} intervals. Area: Newcombe's score interval with DeLong's variance, simultaneous over the "
        f"{len(graded)} judges; average precision: "
        f"logit interval, jackknife variance; shares: {KINDS['lean']}; cost: melded from shares. Cost: {miss:g} for "
        f"passing what people fail, {alarm:g} for failing what they pass. The threshold is chosen on one half of the "
        "labelled rows and reported on the other, which had no part in the choice.",
        notes=[*notes, *clustered, *(missing_notes(rows, WORDS) if part == "summary" else []), *people_note(panel)],
        signature=signature(panel, miss=f"{miss:g}", alarm=f"{alarm:g}", seed=seed),
    )


def _area(mine: Labelled, aspect: str, level: float, lengths: np.ndarray | None) -> Row:
    """The ROC area, and where texts are known its advantage over the length of the output."""
    area = area_figures(mine.score, mine.passed, mine.names, level=level)["roc_area"]
    row = {**figure_row(mine.judge, aspect, "roc_area", area), **mine.label_counts()}
    if lengths is None:
        return row
    gap = compare_with_baseline(mine.passed, mine.score, lengths[mine.at], mine.names, level)
    return {**row, "advantage_low": gap.low, "advantage_high": gap.high}


def _summary(mine: Labelled, aspect: str, miss: float, alarm: float, level: float, seed: int) -> list[Row]:
    names = mine.names
    figure = area_figures(mine.score, mine.passed, names, level=level, seed=seed)["average_precision"]
    first = halves(mine.passed, names, seed)
    swept = sweep(mine.score[first], mine.passed[first])
    chosen = float(swept.thresholds[cheapest(swept, miss, alarm)])
    rest = ~first
    passed, judged = mine.passed[rest], mine.score[rest] >= chosen
    inside = None if mine.clusters is None else mine.clusters[rest].tolist()
    clustered = inside is not None
    counts = cell_counts(passed, judged, inside)
    at = share_figures(counts, clustered=clustered, level=level)
    own = -chosen if mine.turned else chosen
    nothing = "" if np.isfinite(chosen) else "failing every row costs least"
    figures = {"threshold": Figure(own, n=int(first.sum()), reason=nothing), **{name: at[name] for name in FIGURES}}
    figures["cost"] = cost_figure(counts, miss, alarm, clustered=clustered, level=level)
    for name, verdict in (("cost_pass_all", True), ("cost_fail_all", False)):
        all_alike = cell_counts(passed, np.full(len(passed), verdict), inside)
        figures[name] = cost_figure(all_alike, miss, alarm, clustered=clustered, level=level)
    return [
        {**figure_row(mine.judge, aspect, "average_precision", figure), **mine.label_counts()},
        *(figure_row(mine.judge, aspect, measure, each) for measure, each in figures.items()),
    ]


def _curve(mine: Labelled, aspect: str, level: float) -> list[Row]:
    rows: list[Row] = []
    clusters = mine.names
    for value in np.append(np.unique(mine.score), np.inf):
        counts = cell_counts(mine.passed, mine.score >= value, clusters)
        found = share_figures(counts, clustered=clusters is not None, level=level)
        own = float(-value if mine.turned else value)
        rows += [{**figure_row(mine.judge, aspect, name, found[name]), "threshold": own} for name in FIGURES[:3]]
    return rows


def _cell(row: Row) -> str:
    measure = row["measure"]
    if measure == "threshold":
        return number(row["value"], 3).rstrip("0").rstrip(".") if np.isfinite(row["value"]) else "no row passes"
    if measure in ("roc_area", "average_precision"):
        return row_interval(row)
    if measure.startswith("cost"):
        ends = f", between {100 * row['low']:.0f} and {100 * row['high']:.0f}" if np.isfinite(row["low"]) else ""
        return f"{100 * row['value']:.0f}{ends}"
    return share_text(row)
