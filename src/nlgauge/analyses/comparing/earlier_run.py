"""Change of the agreement of a judge or metric with human ratings since an earlier run, on shared outputs.

The earlier run is data, or results.json of `nlgauge run`, which keeps pass and fail row by row, the scores of a single
system, and of several systems one measure per input.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.analyses.verdicts.verdict_rows import paired_verdicts, verdict_rows
from nlgauge.data.choice import Choice
from nlgauge.data.panel import Panel
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.options import call
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.agreement.verdict_changes import VALUES, change_of, eight_cells
from nlgauge.stats.correlation.measure import Measure, group_values
from nlgauge.stats.resampling.jackknife import change_intervals
from nlgauge.table import Row
from nlgauge.types import Array

SELECTION_LEVEL = 0.05  # level of the test that more outputs lost a value than gained one


@dataclass(frozen=True)
class EarlierRun:
    """Verdicts and scores of an earlier run by aspect. `one_system` and `per_input` are as in results.json."""

    name: str
    verdicts: Mapping[str, Any]  # aspect → verdict_rows
    one_system: Mapping[str, Any] = field(default_factory=dict)
    per_input: Mapping[str, Any] = field(default_factory=dict)
    panels: Mapping[str, Panel] = field(default_factory=dict)

    @classmethod
    def of_results(cls, name: str, found: Mapping[str, Any]) -> EarlierRun:
        """Return the earlier run from its results.json."""
        return cls(name, found["verdicts"], found["one_system"], found["per_input"])

    @classmethod
    def of_data(cls, choice: Choice) -> EarlierRun:
        """Return the earlier run from its data."""
        panels = {aspect: choice.panel(aspect) for aspect in choice.wanted}
        rows = {aspect: verdict_rows(panel) for aspect, panel in panels.items()}
        return cls(choice.data.name, {a: r for a, r in rows.items() if r is not None}, panels=panels)

    def changes(self, panel: Panel, figures: Sequence[str], level: float = 0.95) -> list[Row]:
        """Return a row per metric and measure: new minus old, with its interval."""
        rows: list[Row] = []
        new = verdict_rows(panel) if any(f in VALUES for f in figures) else None
        for figure in figures:
            names = panel.names if figure not in VALUES else [] if new is None else list(new["judges"])
            for name in names:
                if figure in VALUES:
                    made = self._of_verdicts(panel, new or {}, name, figure, level)
                else:
                    made = self._of_scores(panel, name, figure, level)
                rows.append({"metric": name, "aspect": panel.aspect, "measure": figure, "p": math.nan, **made})
        if new is None and any(f in VALUES for f in figures):
            raise NeedsMissing(
                "no judge has verdicts on labeled outputs.", data=panel.name, aspect=panel.aspect, code="not_binary"
            )
        return rows

    def _of_verdicts(self, panel: Panel, new: Mapping[str, Any], metric: str, figure: str, level: float) -> Row:
        old = self.verdicts.get(panel.aspect)
        if old is None or metric not in old["judges"]:
            return _row(Figure(math.nan, reason=f"{self.name} has no verdicts of '{metric}' on '{panel.aspect}'"))
        found = paired_verdicts(old, new, metric)
        if not found.pairs:
            return _row(Figure(math.nan, reason=f"no labeled output has a verdict in both {self.name} and the new run"))
        cluster = dict(zip(panel.inputs, panel.units, strict=True))
        names = [cluster[p.input] for p in found.pairs]
        clustered = len(set(names)) < len(names)
        _, people, before, after = zip(*found.pairs, strict=True)
        counts = eight_cells(people, before, after, names if clustered else None)
        change = change_of(counts, figure, clustered=clustered, level=level)
        return _row(change, found.lost, found.gained, found.relabeled)

    def _of_scores(self, panel: Panel, metric: str, measure: str, level: float) -> Row:
        new = panel.oriented()[panel.names.index(metric)]
        old = self._scores(panel, metric)
        if old is None:
            return self._of_inputs(panel, metric, new, measure, level)
        people, scores = old
        same = np.isclose(people, panel.human, rtol=0, atol=1e-5)
        before = np.where(same, scores, np.nan)
        found = change_intervals(before, new, panel.human, [measure], clusters=panel.clusters, level=level)
        value, low, high = (float(a[0, 0]) for a in (found.value, found.low, found.high))
        there = np.isfinite(before) & np.isfinite(panel.human)
        lost, gained = int((there & ~np.isfinite(new)).sum()), int((same & np.isnan(scores) & np.isfinite(new)).sum())
        relabeled = int((np.isfinite(people) & np.isfinite(panel.human) & ~same).sum())
        change = Figure(value, low, high, n=int((there & np.isfinite(new)).sum()), reason=found.reason[0, 0] or "")
        return _row(change, lost, gained, relabeled)

    def _scores(self, panel: Panel, metric: str) -> tuple[Array, Array] | None:
        """Return the earlier human ratings and scores in the order of the panel; None if they were not recorded."""
        people, scores = np.full(panel.human.shape, np.nan), np.full(panel.human.shape, np.nan)
        place = {name: k for k, name in enumerate(panel.inputs)}
        if (old := self.panels.get(panel.aspect)) is not None:
            if metric not in old.metrics:
                raise DataError(
                    f"'{metric}' not found; the data have {', '.join(old.names) or 'no scores'}.",
                    data=self.name,
                    code="no_scores",
                )
            theirs = old.oriented()[old.names.index(metric)]
            for s, system in enumerate(panel.systems):
                if system in old.systems:
                    k = old.systems.index(system)
                    at = [(place[i], j) for j, i in enumerate(old.inputs) if i in place]
                    here, there = np.array(at, np.int64).reshape(-1, 2).T
                    people[s, here], scores[s, here] = old.human[k, there], theirs[k, there]
            return people, scores
        kept = self.one_system.get(panel.aspect)
        if kept is None or panel.n_systems != 1 or metric not in kept["metrics"]:
            return None
        for given, rating, score in zip(kept["inputs"], kept["human"], kept["metrics"][metric], strict=True):
            if str(given) in place:
                people[0, place[str(given)]] = rating
                scores[0, place[str(given)]] = math.nan if score is None else score
        return people, scores

    def _of_inputs(self, panel: Panel, metric: str, new: Array, measure: str, level: float) -> Row:
        """Compare the values per input, which results.json has for one measure."""
        values = self.per_input.get("values", {}).get(panel.aspect, {}).get(metric)
        if values is None:
            return _row(Figure(math.nan, reason=f"{self.name} has no values of '{metric}' on '{panel.aspect}'"))
        if self.per_input["measure"] != measure:
            why = (
                f"{self.name} has values per input of {self.per_input['measure']} only: use it, "
                f"{call('run FILE', gate=measure)} for the earlier run, or the earlier data in its place"
            )
            return _row(Figure(math.nan, reason=why))
        then = dict(zip(map(str, self.per_input["inputs"]), values, strict=True))
        old = np.array([math.nan if (v := then.get(i)) is None else v for i in panel.inputs], np.float64)
        now = group_values(new[None], panel.human, Measure.parse(measure))[0].round(6)  # rounded as in results.json
        both = np.isfinite(old) & np.isfinite(now)
        known = np.array([i in then for i in panel.inputs])
        lost = int((np.isfinite(old) & ~np.isfinite(now)).sum())
        gained = int((known & ~np.isfinite(old) & np.isfinite(now)).sum())
        n, unit = int(both.sum()), np.unique(np.array(panel.units)[both], return_inverse=True)[1]
        units = len(set(unit.tolist()))
        if units < 10:
            return _row(
                Figure(math.nan, n=n, reason=f"requires at least 10 inputs with a value in both runs; found {units}")
            )
        from scipy.special import stdtrit

        gap = now[both] - old[both]
        mean = float(gap.mean())
        error = math.sqrt(float((np.bincount(unit, gap - mean) ** 2).sum()) * units / (units - 1)) / n
        half = float(stdtrit(units - 1, (1 + level) / 2)) * error
        return {**_row(Figure(mean, mean - half, mean + half, n=n), lost, gained), "unit": "inputs"}


def _row(change: Figure, lost: int = 0, gained: int = 0, relabeled: int = 0) -> Row:
    """Return the row; without an interval if significantly more outputs lost a value than gained one."""
    low, high, reason = change.low, change.high, change.reason
    total = lost + gained
    if lost and sum(math.comb(total, k) for k in range(lost, total + 1)) / 2**total < SELECTION_LEVEL:
        low, high = math.nan, math.nan
        reason = f"{lost} outputs lost their value and {gained} gained one, so the others are not representative"
    return {
        "value": change.value,
        "low": low,
        "high": high,
        "n": change.n,
        "lost": lost,
        "gained": gained,
        "relabeled": relabeled,
        "unit": "rows",
        "reason": reason or None,
    }
