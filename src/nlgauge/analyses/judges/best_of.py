"""Performance of the best of several judges or prompts, corrected for selection on the same outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import flipped_note, human_note, signature
from nlgauge.analyses.verdicts._labeled import human_pass, judge_pass, labeled_scores
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import count, interval, number, some
from nlgauge.stats.agreement.two_by_two import cell_counts, figure_of
from nlgauge.stats.agreement.verdict_changes import VALUES
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.resampling.best_of import BestOf, best_correlation, best_verdicts
from nlgauge.stats.resampling.jackknife import intervals
from nlgauge.table import Row, Table, Title


@analysis("best-of", question="How good is the best of several judges, corrected for selection on the same data?")
def best_of(panel: Panel, *, measure: str | None = None, level: float = 0.95) -> Table:
    """Compute a confidence interval for the best of several judges that accounts for its selection on the same data.

    Parameters
    ----------
    figure : str, optional
        Measure of verdicts, such as kappa or agreement, or of scores, such as global/pearson; by default kappa if
        annotators and judges give pass or fail, else pairwise accuracy (within inputs, if there are several
        systems).

    Returns
    -------
    Table
        One row per judge with its own interval; the best one has `best` and an interval that accounts for the
        selection.

    Notes
    -----
    The lower end is simultaneous over all judges that could have been selected, from the correlation of their values;
    docs/tuning.md reports its coverage.
    """
    if len(panel.names) < 2:
        raise NeedsMissing(
            f"the best of several judges requires at least two judges; found {len(panel.names)}.",
            code="too_few_metrics",
        )
    verdicts = _verdicts(panel) if measure is None or measure in VALUES else None
    if measure is None:
        measure = "kappa" if verdicts else f"{'global' if panel.n_systems == 1 else 'input'}/pairwise-accuracy"
    measure = measure if measure in VALUES else str(Measure.parse(measure))
    if measure in VALUES and verdicts is None:
        raise NeedsMissing(
            f"{measure} requires human labels and verdicts of every judge that are pass or fail.", code="not_binary"
        )
    result, rows = _of_verdicts(panel, verdicts, measure, level) if verdicts else _of_scores(panel, measure, level)
    best = rows[result.chosen.best]
    best |= {"best": True, "low": result.honest.low, "high": result.honest.high}
    rows.sort(key=lambda row: (-np.nan_to_num(row["value"], nan=-np.inf), not row["best"], row["metric"]))
    k, rivals = len(rows), int(result.chosen.contenders.sum()) - 1
    return Table(
        title=Title(panel.name, f"the best of {k} judges on {panel.aspect}, {measure}"),
        rows=rows,
        shown=["metric", "value", "best", "n"],
        heads={"metric": "judge", "value": measure, "best": "selection-adjusted CI"},
        cells={"value": lambda r: interval(r["value"], r["own_low"], r["own_high"], 2), "best": _adjusted},
        answers=[_sentence(best, measure, k, rivals)],
        method=f"{level:.0%} confidence intervals of each judge, and a selection-adjusted one of the best: its lower "
        "end "
        "is simultaneous over all judges that could have been selected, from the correlation of their values "
        "(coverage: docs/tuning.md).",
        notes=[*_excluded(panel), *human_note(panel), *flipped_note(panel)],
        facts={"best": best["metric"]},
        signature=signature(panel, measure=measure, level=number(level, 2)),
    )


class _AllVerdicts(NamedTuple):
    people: np.ndarray
    judges: np.ndarray  # judges × outputs
    clusters: np.ndarray | None


def _verdicts(panel: Panel) -> _AllVerdicts | None:
    """Return labels and verdicts on the outputs that all have; None if one of them has more than two values."""
    try:
        people = human_pass(panel)
        passed = np.full((len(panel.names), *panel.human.shape), np.nan)
        for k, name in enumerate(panel.names):
            labeled = labeled_scores(panel, name, people)
            passed[k][labeled.index] = judge_pass(labeled, people)[0]
    except NeedsMissing:
        return None
    systems, inputs = np.nonzero(np.isfinite(people.passed) & np.isfinite(passed).all(axis=0))
    if not len(inputs):
        raise NeedsMissing("no labeled output has a verdict of every judge.", code="no_scores_of_rated")
    names = np.asarray(panel.units)[inputs]
    alone = len(set(names.tolist())) == len(names)
    return _AllVerdicts(
        people.passed[systems, inputs] > 0.5, passed[:, systems, inputs] > 0.5, None if alone else names
    )


def _of_verdicts(panel: Panel, verdicts: _AllVerdicts, measure: str, level: float) -> tuple[BestOf, list[Row]]:
    result = best_verdicts(verdicts.people, verdicts.judges, measure, verdicts.clusters, level)
    clusters = None if verdicts.clusters is None else verdicts.clusters.tolist()
    own = [
        figure_of(cell_counts(verdicts.people, x, clusters), measure, clustered=clusters is not None, level=level)
        for x in verdicts.judges
    ]
    return result, [
        _row(panel, k, measure, result, (f.low, f.high, len(verdicts.people), f.reason)) for k, f in enumerate(own)
    ]


def _of_scores(panel: Panel, measure: str, level: float) -> tuple[BestOf, list[Row]]:
    x = panel.oriented()
    result = best_correlation(x, panel.human, measure, panel.clusters, level)
    human = np.where(np.isfinite(x).all(axis=0), panel.human, np.nan)
    own = intervals(x, human, [measure], clusters=panel.clusters, level=level)
    return result, [
        _row(panel, k, measure, result, (float(own.low[k, 0]), float(own.high[k, 0]), result.own.n, own.reason[k, 0]))
        for k in range(len(x))
    ]


def _row(panel: Panel, k: int, measure: str, result: BestOf, own: tuple[float, float, int, str]) -> Row:
    low, high, n, reason = own
    return {
        "metric": panel.names[k],
        "aspect": panel.aspect,
        "measure": measure,
        "value": float(result.values[k]),
        "low": low,
        "high": high,
        "n": n,
        "own_low": low,
        "own_high": high,
        "best": False,
        "contender": bool(result.chosen.contenders[k]),
        "reason": reason or None,
    }


def _adjusted(row: Row) -> str:
    return f"{number(row['low'], 2)} to {number(row['high'], 2)}" if row["best"] and not row["reason"] else ""


def _sentence(best: Row, measure: str, k: int, rivals: int) -> str:
    first = f"{best['metric']} is the best of {k} judges ({measure} {number(best['value'], 2)})"
    if best["reason"]:
        return f"{first}; no selection-adjusted interval: {best['reason']}."
    others = (
        f"{count(rivals, 'other judge')} could have been selected by chance"
        if rivals
        else "no other judge is close enough to have been selected by chance"
    )
    return f"{first}; {others}. Selection-adjusted interval: {_adjusted(best)}."


def _excluded(panel: Panel) -> list[str]:
    """State how many rated outputs are excluded because a judge did not score them."""
    rated = np.isfinite(panel.human)
    some_have = rated & np.isfinite(panel.oriented()).any(axis=0)
    lost = int(some_have.sum()) - int((rated & np.isfinite(panel.oriented()).all(axis=0)).sum())
    without = [n for n, x in zip(panel.names, panel.oriented(), strict=True) if (some_have & ~np.isfinite(x)).any()]
    return [f"{lost:,} rated outputs are excluded because {some(without)} did not score them."] if lost else []
