"""Severity and consistency of annotators and judges, and differences between groups of outputs."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.number import count, interval, number, some
from nlgauge.registry import did_you_mean
from nlgauge.stats.estimation.severity import RaterSeverities, rater_severities
from nlgauge.stats.tests.corrections import holm
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Mask

HUMAN, JUDGE = "annotator", "judge"
LOW_CONSISTENCY = 0.2  # raters whose interval lies below are named


class _Raters(NamedTuple):
    """Ratings of annotators and judges on one scale: raters × outputs."""

    names: list[str]
    human: list[bool]
    ratings: Array
    units: list[str] | None
    off_scale: list[str]  # metrics with other values than the ratings

    def fit(self, chosen: Mask | None = None) -> RaterSeverities:
        """Fit the model to all outputs, or to those that are chosen."""
        outputs = np.ones(self.ratings.shape[1], bool) if chosen is None else chosen
        units = None if self.units is None else [u for u, keep in zip(self.units, outputs, strict=True) if keep]
        return rater_severities(self.ratings[:, outputs], reference=self.human, clusters=units)


@analysis("severity", question="How lenient and how consistent are the annotators and judges?")
def severity(panel: Panel, *, group: str | None = None, level: float = 0.95) -> Table:
    """Estimate how lenient and how consistent each annotator and judge is, corrected for the outputs they rated.

    Parameters
    ----------
    group : str, optional
        Column of the outputs, such as a language or a topic: for each of its values, test whether a rater's leniency
        differs there (differential rater functioning).

    Returns
    -------
    Table
        One row per annotator and per judge: leniency in rating points above the mean of the annotators, with its
        confidence interval and p-value, and consistency, the share of the variance of its ratings that the quality of
        the outputs explains. With `group`, one row per rater and group: difference of the leniency in the group from
        that in all other outputs.

    Notes
    -----
    Rating scale model with a slope for each rater (Linacre 1989; Uto and Ueno 2020), see `stats.rater_severities`.
    Judges must rate on the scale of the annotators, with at most 10 different values. Means of ratings confuse leniency
    with the quality of the outputs that a rater happened to get; the model does not. Quality is what all raters have in
    common: several judges that make the same errors look consistent, so compare with the fit of one judge (`metrics`).
    p-values are corrected by Holm's method over all rows.

    Examples
    --------
    $ nlgauge analyze severity ratings.csv --columns rater=annotator

    $ nlgauge analyze severity ratings.csv --group language
    """
    raters = _raters_of(panel)
    try:
        fit = raters.fit()
    except NlgaugeError as error:
        raise NeedsMissing(str(error), data=panel.name, aspect=panel.aspect, code="unsuited_column") from None
    rows = _rows(panel, raters, fit, level) if group is None else _group_rows(panel, raters, group, level)
    named = [row for row in rows if row["kind"] == JUDGE or panel.persons]
    for row, p in zip(named, holm([row["p"] for row in named]), strict=True):
        row["p_corrected"] = float(p)
    notes = [f"{some(raters.off_scale)}: not on the scale of the annotators, left out."] if raters.off_scale else []
    if not panel.persons:
        notes.append(f"Annotators have no rows of their own: {panel.nameless}.")
    return Table(
        title=Title(panel.name, f"leniency and consistency of raters on {panel.aspect}"),
        rows=named,
        shown=[
            "metric",
            "kind",
            *(["group"] if group else []),
            "value",
            "p_corrected",
            *([] if group else ["consistency"]),
            "n",
        ],
        heads={"metric": "rater", "value": "leniency" if group is None else "difference of leniency", "n": "outputs"},
        cells={
            "value": lambda row: interval(row["value"], row["low"], row["high"], 2),
            "consistency": lambda row: interval(row["consistency"], row["consistency_low"], row["consistency_high"], 2),
        },
        answers=_answers(named, group),
        method=f"Rating scale model with rater slopes, {count(fit.outputs, 'output')} with two or more ratings in "
        f"{count(fit.clusters, 'independent unit')}; {level:.0%} confidence intervals: sandwich covariance and "
        "Student's t. Leniency: rating points above the mean of the annotators. Consistency: share of the variance of "
        "the ratings that the quality of the outputs explains. p-values are corrected by Holm's method.",
        notes=[*notes, *human_note(panel), *flipped_note(panel)],
        signature=signature(panel, model="rating-scale", group=group or "none", level=number(level, 2)),
    )


def _raters_of(panel: Panel) -> _Raters:
    """Return the annotators, and the metrics that rate on their scale."""
    cube = ratings_of(panel, "severity", least=1)
    humans = cube.reshape(len(cube), -1)
    levels = np.unique(humans[np.isfinite(humans)])
    present = ~np.isnan(panel.raters[panel.aspect]).all(axis=(1, 2))
    names = [panel.rater_names[k] for k in np.flatnonzero(present)]
    judges: list[str] = []
    off_scale: list[str] = []
    for name, values in panel.metrics.items():
        known = values[np.isfinite(values)]
        on_scale = len(np.unique(known)) > 1 and bool(np.isin(np.round(known, 9), np.round(levels, 9)).all())
        (judges if on_scale else off_scale).append(name)
    if len(humans) + len(judges) < 2:
        raise NeedsMissing(
            "severity needs two raters on one scale; there is one rating per output, and no judge uses its values.",
            data=panel.name,
            aspect=panel.aspect,
            code="too_few_raters",
        )
    ratings = np.concatenate([humans, *(panel.metrics[name].reshape(1, -1) for name in judges)])
    units = panel.row_units(np.arange(ratings.shape[1]) % panel.n_inputs)
    human = [True] * len(humans) + [False] * len(judges)
    return _Raters([*names, *judges], human, ratings, None if units is None else units.tolist(), off_scale)


def _rows(panel: Panel, raters: _Raters, fit: RaterSeverities, level: float) -> list[Row]:
    """Return one row per rater, the most lenient first."""
    errors = np.sqrt(np.diag(fit.covariance))
    rows = []
    for k in range(len(raters.names)):
        logit = math.log(fit.consistency[k] / (1 - fit.consistency[k]))
        low, high = (
            1 / (1 + math.exp(-end)) for end in _ends(logit, fit.consistency_error[k], fit.clusters - 1, level)
        )
        rows.append(
            {
                **_row(panel, raters, k, "leniency"),
                **_tested(fit.leniency[k], errors[k], fit.clusters - 1, level),
                "consistency": float(fit.consistency[k]),
                "consistency_low": low,
                "consistency_high": high,
                "n": int(np.isfinite(raters.ratings[k]).sum()),
            }
        )
    return sorted(rows, key=lambda row: -row["value"])


def _group_rows(panel: Panel, raters: _Raters, group: str, level: float) -> list[Row]:
    """Return one row per rater and group: the leniency in the group minus that on the other outputs."""
    of = _groups(panel, group)
    rows: list[Row] = []
    for name in sorted({each for each in of if each is not None}):
        inside = np.array([each == name for each in of])
        fits, reason = [], None
        try:
            fits = [raters.fit(inside), raters.fit(~inside)]
        except NlgaugeError as refusal:
            reason = str(refusal)
        for k in range(len(raters.names)):
            row = {**_row(panel, raters, k, "leniency difference"), "group": name, "reason": reason}
            if fits:
                error = math.sqrt(sum(fit.covariance[k, k] for fit in fits))
                degrees = min(fit.clusters for fit in fits) - 1
                row |= _tested(fits[0].leniency[k] - fits[1].leniency[k], error, degrees, level)
            else:
                row |= dict.fromkeys(("value", "low", "high", "p"), math.nan)
            rows.append({**row, "n": int(np.isfinite(raters.ratings[k][inside]).sum())})
    return rows


def _groups(panel: Panel, column: str) -> list[str | None]:
    """Return the group of each output, in the order of the ratings."""
    columns = [] if panel.data is None else panel.data.samples.columns
    if panel.data is None or column not in columns:
        raise NameUnknown(f"{panel.name}: no column '{column}'.{did_you_mean(column, columns)}")
    named = {(s, i): g for s, i, g in panel.data.samples.select("system", "input", column).iter_rows()}
    groups = (named.get((s, i)) for s in panel.systems for i in panel.inputs)
    return [None if each is None else str(each) for each in groups]


def _row(panel: Panel, raters: _Raters, k: int, measure: str) -> Row:
    kind = HUMAN if raters.human[k] else JUDGE
    return {"metric": raters.names[k], "kind": kind, "aspect": panel.aspect, "measure": measure, "reason": None}


def _tested(value: float, error: float, degrees: int, level: float) -> Row:
    """Return the value with its interval and the p-value of zero, by Student's t."""
    from scipy.special import stdtr

    low, high = _ends(value, error, degrees, level)
    p = 2 * float(stdtr(degrees, -abs(value) / error)) if error > 0 else math.nan
    return {"value": float(value), "low": low, "high": high, "p": p}


def _ends(value: float, error: float, degrees: int, level: float) -> tuple[float, float]:
    from scipy.special import stdtrit

    margin = float(stdtrit(degrees, (1 + level) / 2)) * error
    return value - margin, value + margin


def _answers(rows: list[Row], group: str | None) -> list[str]:
    """Summarize which raters differ significantly from the mean of the annotators, or between groups."""
    clear = [row for row in rows if row["p_corrected"] < 0.05]
    if group is not None:
        where = [f"{row['metric']} on {row['group']} ({row['value']:+.2f})" for row in clear]
        return [
            f"The leniency depends on `{group}`: {some(where, 5)}."
            if clear
            else f"No leniency is shown to depend on `{group}`."
        ]
    lenient = [f"{row['metric']} ({row['value']:+.2f})" for row in clear if row["value"] > 0]
    severe = [f"{row['metric']} ({row['value']:+.2f})" for row in reversed(clear) if row["value"] < 0]
    words = [f"more lenient: {some(lenient, 5)}" * bool(lenient), f"more severe: {some(severe, 5)}" * bool(severe)]
    shown = "; ".join(text for text in words if text)
    if shown:
        answers = [f"Significantly different from the mean of the annotators: {shown}."]
    else:
        answers = ["No rater is shown to be more lenient or more severe than the mean of the annotators."]
    weak = [f"{row['metric']} ({row['consistency']:.2f})" for row in rows if row["consistency_high"] < LOW_CONSISTENCY]
    return [
        *answers,
        *([f"Ratings that hardly depend on the quality of the outputs: {some(weak, 5)}."] if weak else []),
    ]
