"""How good is the best of several judges or prompts, once it was chosen as the best on these very rows?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature, turned_note
from nlgauge.analyses.verdicts._labelled import judge_pass, labelled, people_pass
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import interval, number, some
from nlgauge.stats.agreement.two_by_two import cell_counts, figure_of
from nlgauge.stats.agreement.verdict_changes import VALUES
from nlgauge.stats.correlation.measure import Measure
from nlgauge.stats.resampling.best_of import BestOf, best_correlation, best_verdicts
from nlgauge.stats.resampling.jackknife import intervals
from nlgauge.table import Row, Table, Title


@analysis("best-of", question="How good is the best of several judges, once it was chosen as the best?")
def best_of(panel: Panel, *, figure: str | None = None, level: float = 0.95) -> Table:
    """Compute an interval for the best of several judges that accounts for choosing it on the same data.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect.
    figure : str, optional
        Figure of pass and fail, such as kappa or agreement, or a measure, such as global/pearson; by default
        kappa where annotators and judges say pass or fail, else pairwise accuracy (within inputs, if there are
        several systems).
    level : float, default 0.95
        Level of the confidence intervals.

    Returns
    -------
    Table
        One row per judge with its own interval; the best one has `best` and an interval that holds after the
        choice.

    Notes
    -----
    The lower end is made for all judges that could have been chosen at once, from the correlation of their values;
    docs/tuning.md shows its coverage.
    """
    if len(panel.names) < 2:
        raise NeedsMissing(
            "the best of one needs no choice; name at least two judges.",
            data=panel.name,
            aspect=panel.aspect,
            code="too_few_metrics",
        )
    verdicts = _verdicts(panel) if figure is None or figure in VALUES else None
    if figure is None:
        figure = "kappa" if verdicts else f"{'global' if panel.n_systems == 1 else 'input'}/pairwise-accuracy"
    figure = figure if figure in VALUES else str(Measure.parse(figure))
    if figure in VALUES and verdicts is None:
        raise NeedsMissing(
            f"people and every judge must say pass or fail for {figure}.",
            data=panel.name,
            aspect=panel.aspect,
            code="not_binary",
        )
    found, rows = _of_verdicts(panel, verdicts, figure, level) if verdicts else _of_scores(panel, figure, level)
    best = rows[found.chosen.best]
    best |= {"best": True, "low": found.honest.low, "high": found.honest.high}
    rows.sort(key=lambda row: (-np.nan_to_num(row["value"], nan=-np.inf), not row["best"], row["metric"]))
    k, rivals = len(rows), int(found.chosen.contenders.sum()) - 1
    return Table(
        title=Title(panel.name, f"the best of {k} on {panel.aspect}, {figure}"),
        rows=rows,
        shown=["metric", "value", "best", "n"],
        heads={"metric": "judge", "value": figure, "best": "honest interval"},
        cells={"value": lambda r: interval(r["value"], r["own_low"], r["own_high"], 2), "best": _honest},
        answers=[_sentence(best, figure, k, rivals)],
        method=f"Own intervals, {level:.0%}. The honest one holds for the best after it was chosen on these rows: its "
        "lower end is made for all that could have been chosen at once, from the correlation of their values "
        "(docs/tuning.md shows how often it holds).",
        notes=[*_lacking(panel, best), *people_note(panel), *turned_note(panel)],
        facts={"best": best["metric"]},
        signature=signature(panel, figure=figure, level=number(level, 2)),
    )


class _AllVerdicts(NamedTuple):
    people: np.ndarray
    judges: np.ndarray  # judges × rows
    clusters: np.ndarray | None


def _verdicts(panel: Panel) -> _AllVerdicts | None:
    """Pass and fail of people and all judges on the rows that all have; None where one has more than two values."""
    try:
        people = people_pass(panel)
        passed = np.full((len(panel.names), *panel.human.shape), np.nan)
        for k, name in enumerate(panel.names):
            mine = labelled(panel, name, people)
            passed[k][mine.at] = judge_pass(mine, people)[0]
    except NeedsMissing:
        return None
    systems, inputs = np.nonzero(np.isfinite(people.passed) & np.isfinite(passed).all(axis=0))
    if not len(inputs):
        raise NeedsMissing(
            "no labelled row has a verdict of every judge.",
            data=panel.name,
            aspect=panel.aspect,
            code="no_scores_of_rated",
        )
    names = np.asarray(panel.units)[inputs]
    alone = len(set(names.tolist())) == len(names)
    return _AllVerdicts(
        people.passed[systems, inputs] > 0.5, passed[:, systems, inputs] > 0.5, None if alone else names
    )


def _of_verdicts(panel: Panel, given: _AllVerdicts, figure: str, level: float) -> tuple[BestOf, list[Row]]:
    found = best_verdicts(given.people, given.judges, figure, given.clusters, level)
    clusters = None if given.clusters is None else given.clusters.tolist()
    own = [
        figure_of(cell_counts(given.people, x, clusters), figure, clustered=clusters is not None, level=level)
        for x in given.judges
    ]
    return found, [
        _row(panel, k, figure, found, (f.low, f.high, len(given.people), f.reason)) for k, f in enumerate(own)
    ]


def _of_scores(panel: Panel, measure: str, level: float) -> tuple[BestOf, list[Row]]:
    x = panel.oriented()
    found = best_correlation(x, panel.human, measure, panel.clusters, level)
    human = np.where(np.isfinite(x).all(axis=0), panel.human, np.nan)
    own = intervals(x, human, [measure], clusters=panel.clusters, level=level)
    return found, [
        _row(panel, k, measure, found, (float(own.low[k, 0]), float(own.high[k, 0]), found.own.n, own.reason[k, 0]))
        for k in range(len(x))
    ]


def _row(panel: Panel, k: int, measure: str, found: BestOf, own: tuple[float, float, int, str]) -> Row:
    low, high, n, reason = own
    return {
        "metric": panel.names[k],
        "aspect": panel.aspect,
        "measure": measure,
        "value": float(found.values[k]),
        "low": low,
        "high": high,
        "n": n,
        "own_low": low,
        "own_high": high,
        "best": False,
        "contender": bool(found.chosen.contenders[k]),
        "reason": reason or None,
    }


def _honest(row: Row) -> str:
    return f"{number(row['low'], 2)} to {number(row['high'], 2)}" if row["best"] and not row["reason"] else ""


def _sentence(best: Row, figure: str, k: int, rivals: int) -> str:
    name, seen = best["metric"], number(best["value"], 2)
    if best["reason"]:
        return f"{name} is the best of {k} here with {figure} {seen}; how good it is cannot be said: {best['reason']}."
    among = (
        "no other could have been it"
        if not rivals
        else f"{rivals} other{'s' * (rivals > 1)} could have been it by luck"
    )
    return (
        f"{name} is the best of {k} here with {figure} {seen}, and {among}. On new rows expect between "
        f"{number(best['low'], 2)} and {number(best['high'], 2)}."
    )


def _lacking(panel: Panel, best: Row) -> list[str]:
    """Rated outputs that do not count, as a judge has nothing for them."""
    rated = np.isfinite(panel.human)
    some_have = rated & np.isfinite(panel.oriented()).any(axis=0)
    left = int(some_have.sum()) - int((rated & np.isfinite(panel.oriented()).all(axis=0)).sum())
    without = [n for n, x in zip(panel.names, panel.oriented(), strict=True) if (some_have & ~np.isfinite(x)).any()]
    return [f"{left:,} rated rows are left out, which {some(without)} did not judge."] if left else []
