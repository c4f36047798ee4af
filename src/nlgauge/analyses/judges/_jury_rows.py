"""Outputs with a human label and a value of every judge, as verdicts or scores, and the measures of votes on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.analyses.verdicts._labeled import LabeledScores, human_pass, judge_pass
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.stats.agreement.two_by_two import Figure, cell_counts, figures_of
from nlgauge.stats.agreement.verdict_changes import VALUES, change_of, eight_cells
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.resampling.jackknife import Intervals, change_intervals, intervals
from nlgauge.types import Array

MIN_OUTPUTS = 30  # labeled outputs that the choice of a panel requires


@dataclass
class JuryRows:
    """Labels and scores of each judge per output (higher is better). `verdict`: labels and scores are 0 and 1."""

    judges: list[str]
    labels: Array
    scores: Array  # judges × rows
    clusters: NDArray[np.int64]
    index: tuple[NDArray[np.int64], NDArray[np.int64]]  # system and input of each output
    shape: tuple[int, int]
    verdict: bool
    measure: str
    clustered: bool
    notes: list[str] = field(default_factory=list)

    def grid(self, values: Array) -> Array:
        """Place values of the outputs (… × outputs) in a grid of systems × inputs, NaN elsewhere."""
        grid = np.full((*values.shape[:-1], *self.shape), np.nan)
        grid[(..., *self.index)] = values
        return grid

    def size_text(self, panel: Panel) -> str:
        """Return the size in words: '480 outputs of 80 inputs'."""
        return f"{len(self.labels):,} outputs of {int(self.clusters.max()) + 1:,} {panel.cluster_column or 'input'}s"

    @property
    def units(self) -> list[str] | None:
        """Return the cluster of each output; None if every output is its own cluster."""
        return self.clusters.astype(str).tolist() if self.clustered else None

    @property
    def columns(self) -> list[str]:
        """Return the cluster of each input for the jackknife."""
        names = np.array([f"input {k}" for k in range(self.shape[1])])
        names[self.index[1]] = self.clusters.astype(str)
        return [str(name) for name in names]

    def values(self, votes: Array) -> Callable[[NDArray[np.bool_]], Array]:
        """Return a function that evaluates every jury (juries × outputs) on a subset of the clusters."""
        groups = int(self.clusters.max()) + 1
        if self.verdict:
            code = 4 * self.clusters + 2 * (self.labels > 0.5)
            counts = np.stack([np.bincount(code + (v > 0.5), minlength=4 * groups) for v in votes])
            cells = counts.reshape(len(votes), groups, 4).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                return lambda subset: np.asarray(VALUES[self.measure](cells[:, subset].sum(axis=1)))
        scores, measure = self.grid(votes), Measure.parse(self.measure)

        def on_subset(subset: NDArray[np.bool_]) -> Array:
            labels = np.where(subset[self.clusters], self.labels, np.nan)
            return evaluate(scores, self.grid(labels), [measure]).value[:, 0]

        return on_subset

    def figure(self, votes: Array, level: float) -> Figure:
        """Return the measure of one column of votes with its confidence interval."""
        if self.verdict:
            counts = cell_counts(self.labels > 0.5, votes > 0.5, self.units)
            return figures_of(counts, clustered=self.clustered, level=level)[self.measure]
        ends = intervals(
            self.grid(votes)[None], self.grid(self.labels), [self.measure], clusters=self.columns, level=level
        )
        return _figure(ends, len(votes))

    def change(self, old: Array, new: Array, level: float) -> Figure:
        """Return the difference new − old on the same outputs with its confidence interval."""
        if self.verdict:
            cells = eight_cells(self.labels > 0.5, old > 0.5, new > 0.5, self.units)
            return change_of(cells, self.measure, clustered=self.clustered, level=level)
        ends = change_intervals(
            self.grid(old), self.grid(new), self.grid(self.labels), [self.measure], clusters=self.columns, level=level
        )
        return _figure(ends, len(old))


def _figure(ends: Intervals, n: int) -> Figure:
    """Return the only entry of intervals as a figure."""
    values = (float(ends.value[0, 0]), float(ends.low[0, 0]), float(ends.high[0, 0]))
    return Figure(*values, n=n, reason=ends.reason[0, 0] or "")


def jury_rows(
    panel: Panel, measure: str | None, human_pass_from: float | None, judge_pass_from: float | None
) -> JuryRows:
    """Return the outputs, as verdicts if labels and judges have two values (or limits are given), else as scores."""
    scores, notes = panel.oriented(), list[str]()
    rated = np.isfinite(panel.human)
    usable, complete = _usable_judges(panel, scores, rated, notes)
    names = [panel.names[k] for k in usable]
    verdict = _as_verdicts(panel, names, human_pass_from, judge_pass_from)
    if verdict is not None:
        human, verdicts, verdict_notes = verdict
        complete &= np.isfinite(human)
        labels, values = human[complete], verdicts[:, complete]
        notes += verdict_notes
    else:
        labels, values = panel.human[complete], scores[usable][:, complete]
    if constant := [names[k] for k in range(len(names)) if np.ptp(values[k]) == 0]:
        notes.append(f"excluded because their values are constant: {some(constant, 6)}.")
        values, names = values[np.ptp(values, axis=1) > 0], [n for n in names if n not in constant]
    if len(names) < 2:
        raise NeedsMissing(
            "a panel of judges needs at least two judges whose values are not constant.", code="too_few_metrics"
        )
    if lost := int(rated.sum() - complete.sum()):
        notes.append(f"{lost:,} labeled outputs without a value of every judge are excluded.")
    systems, inputs = np.nonzero(complete)
    clusters = _cluster_codes(panel, complete)
    rows = JuryRows(
        names,
        labels,
        values,
        clusters,
        (systems.astype(np.int64), inputs.astype(np.int64)),
        panel.human.shape,
        verdict is not None,
        _measure(measure, verdict is not None, panel),
        bool(len(clusters) > clusters.max() + 1),
        notes,
    )
    # Best first: results depend neither on names nor on the order of the columns.
    measured = np.nan_to_num(rows.values(values)(np.ones(int(clusters.max()) + 1, bool)), nan=-2.0)
    order = sorted(range(len(names)), key=lambda k: (-measured[k], values[k].tolist()))
    return replace(rows, judges=[names[k] for k in order], scores=values[order])


def _usable_judges(
    panel: Panel, scores: Array, rated: NDArray[np.bool_], notes: list[str]
) -> tuple[list[int], NDArray[np.bool_]]:
    """Return the judges of this aspect that scored at least half of the labeled outputs, and the outputs of all."""
    of_aspect = _of_this_aspect(panel, notes)
    usable = [k for k in of_aspect if (np.isfinite(scores[k]) & rated).sum() * 2 >= rated.sum()]
    if sparse := [panel.names[k] for k in of_aspect if k not in usable]:
        notes.append(f"excluded because they scored less than half of the labeled outputs: {some(sparse, 6)}.")
    complete = rated & np.isfinite(scores[usable]).all(axis=0) if usable else np.zeros_like(rated)
    if len(usable) < 2 or complete.sum() < MIN_OUTPUTS:
        raise NeedsMissing(
            f"a panel of judges needs at least two judges and {MIN_OUTPUTS} labeled outputs that all of them scored; "
            f"found {len(usable)} judges and {int(complete.sum())} outputs (select judges with "
            f"{option('metrics', choice=True)}).",
            code="too_few_metrics",
        )
    return usable, complete


def _cluster_codes(panel: Panel, complete: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the clusters of the outputs: those of one document or input are not independent."""
    units = [panel.units[k] for k in range(panel.n_inputs) if complete[:, k].any()]
    code = {unit: number for number, unit in enumerate(dict.fromkeys(units))}  # in the panel's order, not the names'
    return np.array([code[panel.units[k]] for k in np.nonzero(complete)[1]], np.int64)


def _of_this_aspect(panel: Panel, notes: list[str]) -> list[int]:
    """Return the columns that do not name another aspect ('gpt-4-fluency'); all of them if fewer than two remain."""
    columns = judge_columns(panel.names, [panel.aspect] if panel.data is None else panel.data.aspects)
    of_aspect = [k for k, column in enumerate(columns) if panel.aspect in column.aspects]
    if len(of_aspect) < 2:
        return list(range(len(columns)))
    if others := [c.metric for c in columns if panel.aspect not in c.aspects]:
        notes.append(f"excluded because their names refer to other aspects: {some(others, 6)}.")
    return of_aspect


def _measure(measure: str | None, verdict: bool, panel: Panel) -> str:
    if measure is None:
        return "kappa" if verdict else "input/kendall" if panel.n_systems > 1 else "global/pearson"
    if verdict and measure not in VALUES:
        raise NameUnknown(f"{option('measure')} of verdicts must be one of {', '.join(VALUES)}; got '{measure}'.")
    return measure if verdict else str(Measure.parse(measure))


def _as_verdicts(
    panel: Panel, names: list[str], human_cut: float | None, judge_cut: float | None
) -> tuple[Array, Array, list[str]] | None:
    """Return human labels and verdicts of every judge; None if they are scores and no limit is given."""
    try:
        people = human_pass(panel, human_cut)
        verdicts, notes, by_coding = [], list(people.notes), dict[str, list[str]]()
        empty = np.zeros(0, np.int64)
        for name in names:
            flipped = name in panel.lower
            own = -panel.metrics[name] if flipped else panel.metrics[name]
            scored = np.isfinite(own)
            rows = LabeledScores(name, np.zeros(0, bool), own[scored], None, (empty, empty), flipped)
            passed, coding = judge_pass(rows, people, judge_cut)
            values = np.full(own.shape, np.nan)
            values[scored] = passed
            verdicts.append(values)
            by_coding.setdefault(coding, []).append(name)
    except NeedsMissing:
        if human_cut is not None or judge_cut is not None:
            raise
        return None
    notes += [f"{some(judges, 6)}: {coding}" for coding, judges in by_coding.items()]
    return people.passed, np.stack(verdicts), notes
