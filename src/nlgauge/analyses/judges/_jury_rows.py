"""Rows that people labelled and every judge judged, as pass and fail or as numbers, and figures of votes on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.analyses.verdicts._labelled import Labelled, judge_pass, people_pass
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import some
from nlgauge.options import option
from nlgauge.stats.agreement.two_by_two import Figure, cell_counts, figures_of
from nlgauge.stats.agreement.verdict_changes import VALUES, change_of, eight_cells
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.resampling.jackknife import change_intervals, intervals
from nlgauge.types import Array

MIN_ROWS = 30  # rows with which choosing is tried


@dataclass
class JuryRows:
    """Rows × one label and one score a judge (more is better). `verdict`: labels and scores are 0 and 1."""

    judges: list[str]
    labels: Array
    scores: Array  # judges × rows
    clusters: NDArray[np.int64]
    at: tuple[NDArray[np.int64], NDArray[np.int64]]
    shape: tuple[int, int]
    verdict: bool
    measure: str
    clustered: bool
    notes: list[str] = field(default_factory=list)

    def grid(self, values: Array) -> Array:
        """Values of the rows (… × rows) in a grid of systems × inputs, NaN elsewhere."""
        found = np.full((*values.shape[:-1], *self.shape), np.nan)
        found[(..., *self.at)] = values
        return found

    def size_text(self, panel: Panel) -> str:
        """'480 rows in 80 inputs'."""
        return f"{len(self.labels):,} rows in {int(self.clusters.max()) + 1:,} {panel.cluster_column or 'input'}s"

    @property
    def units(self) -> list[str] | None:
        """Return the cluster of each row; None where every row is a cluster of its own."""
        return self.clusters.astype(str).tolist() if self.clustered else None

    @property
    def columns(self) -> list[str]:
        """Cluster of each input, as the jackknife takes it."""
        names = np.array([f"input {k}" for k in range(self.shape[1])])
        names[self.at[1]] = self.clusters.astype(str)
        return [str(name) for name in names]

    def values(self, votes: Array) -> Callable[[NDArray[np.bool_]], Array]:
        """The figure of every jury (juries × rows) on the clusters that are kept."""
        groups = int(self.clusters.max()) + 1
        if self.verdict:
            code = 4 * self.clusters + 2 * (self.labels > 0.5)
            counts = np.stack([np.bincount(code + (v > 0.5), minlength=4 * groups) for v in votes])
            cells = counts.reshape(len(votes), groups, 4).astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):
                return lambda kept: np.asarray(VALUES[self.measure](cells[:, kept].sum(axis=1)))
        found, measure = self.grid(votes), Measure.parse(self.measure)

        def of(kept: NDArray[np.bool_]) -> Array:
            labels = np.where(kept[self.clusters], self.labels, np.nan)
            return evaluate(found, self.grid(labels), [measure]).value[:, 0]

        return of

    def figure(self, votes: Array, level: float) -> Figure:
        """The figure of one column of votes, with its interval."""
        if self.verdict:
            counts = cell_counts(self.labels > 0.5, votes > 0.5, self.units)
            return figures_of(counts, clustered=self.clustered, level=level)[self.measure]
        found = intervals(
            self.grid(votes)[None], self.grid(self.labels), [self.measure], clusters=self.columns, level=level
        )
        ends = (float(found.value[0, 0]), float(found.low[0, 0]), float(found.high[0, 0]))
        return Figure(*ends, n=len(votes), reason=found.reason[0, 0] or "")

    def change(self, old: Array, new: Array, level: float) -> Figure:
        """New less old, on the same rows."""
        if self.verdict:
            cells = eight_cells(self.labels > 0.5, old > 0.5, new > 0.5, self.units)
            return change_of(cells, self.measure, clustered=self.clustered, level=level)
        found = change_intervals(
            self.grid(old), self.grid(new), self.grid(self.labels), [self.measure], clusters=self.columns, level=level
        )
        ends = (float(found.value[0, 0]), float(found.low[0, 0]), float(found.high[0, 0]))
        return Figure(*ends, n=len(old), reason=found.reason[0, 0] or "")


def jury_rows(
    panel: Panel, measure: str | None, people_pass_from: float | None, judge_pass_from: float | None
) -> JuryRows:
    """Return the rows, as pass and fail where both sides gave two values (or limits are given), else as numbers."""
    scores, notes = panel.oriented(), list[str]()
    rated = np.isfinite(panel.human)
    many, there = _usable_judges(panel, scores, rated, notes)
    verdict = _as_verdicts(panel, [panel.names[k] for k in many], people_pass_from, judge_pass_from)
    if verdict is not None:
        human, values, said = verdict
        there &= np.isfinite(human)
        labels, kept, names = human[there], values[:, there], [panel.names[k] for k in many]
        notes += said
    else:
        labels, kept, names = panel.human[there], scores[many][:, there], [panel.names[k] for k in many]
    if same := [names[k] for k in range(len(names)) if np.ptp(kept[k]) == 0]:
        notes.append(f"left out, as the value is always the same: {some(same, 6)}.")
        kept, names = kept[np.ptp(kept, axis=1) > 0], [n for n in names if n not in same]
    if len(names) < 2:
        raise NeedsMissing(
            "a jury needs at least two judges whose values differ.",
            data=panel.name,
            aspect=panel.aspect,
            code="too_few_metrics",
        )
    if lost := int(rated.sum() - there.sum()):
        notes.append(f"{lost:,} labelled rows without a value of every judge are left out.")
    systems, inputs = np.nonzero(there)
    clusters = _cluster_codes(panel, there)
    rows = JuryRows(
        names,
        labels,
        kept,
        clusters,
        (systems.astype(np.int64), inputs.astype(np.int64)),
        panel.human.shape,
        verdict is not None,
        _measure(measure, verdict is not None, panel),
        bool(len(clusters) > clusters.max() + 1),
        notes,
    )
    # Best first: neither names nor the order of the columns decide anything.
    value = np.nan_to_num(rows.values(kept)(np.ones(int(clusters.max()) + 1, bool)), nan=-2.0)
    order = sorted(range(len(names)), key=lambda k: (-value[k], kept[k].tolist()))
    return replace(rows, judges=[names[k] for k in order], scores=kept[order])


def _usable_judges(
    panel: Panel, scores: Array, rated: NDArray[np.bool_], notes: list[str]
) -> tuple[list[int], NDArray[np.bool_]]:
    """Return the judges of this aspect that scored at least half of the labeled outputs, and the outputs of all."""
    ours = _of_this_aspect(panel, notes)
    many = [k for k in ours if (np.isfinite(scores[k]) & rated).sum() * 2 >= rated.sum()]
    if left := [panel.names[k] for k in ours if k not in many]:
        notes.append(f"left out, as they judged less than half of the labelled rows: {some(left, 6)}.")
    there = rated & np.isfinite(scores[many]).all(axis=0) if many else np.zeros_like(rated)
    if len(many) < 2 or there.sum() < MIN_ROWS:
        raise NeedsMissing(
            f"a jury needs at least two judges and {MIN_ROWS} rows that people labelled and "
            f"all of them judged; judges found: {len(many)}, rows: {int(there.sum())} ({option('metrics')} "
            "names judges).",
            data=panel.name,
            aspect=panel.aspect,
            code="too_few_metrics",
        )
    return many, there


def _cluster_codes(panel: Panel, there: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the clusters of the outputs: those of one document or input are not independent."""
    units = [panel.units[k] for k in range(panel.n_inputs) if there[:, k].any()]
    code = {unit: number for number, unit in enumerate(dict.fromkeys(units))}  # in the panel's order, not the names'
    return np.array([code[panel.units[k]] for k in np.nonzero(there)[1]], np.int64)


def _of_this_aspect(panel: Panel, notes: list[str]) -> list[int]:
    """Columns that do not name another aspect ('gpt-4-fluency'); all of them where fewer than two are left."""
    columns = judge_columns(panel.names, [panel.aspect] if panel.data is None else panel.data.aspects)
    ours = [k for k, column in enumerate(columns) if panel.aspect in column.aspects]
    if len(ours) < 2:
        return list(range(len(columns)))
    if others := [c.metric for c in columns if panel.aspect not in c.aspects]:
        notes.append(f"left out, as their names are of other aspects: {some(others, 6)}.")
    return ours


def _measure(measure: str | None, verdict: bool, panel: Panel) -> str:
    if measure is None:
        return "kappa" if verdict else "input/kendall" if panel.n_systems > 1 else "global/pearson"
    if verdict and measure not in VALUES:
        raise NameUnknown(f"measure {measure}: of pass and fail use {', '.join(VALUES)}.")
    return measure if verdict else str(Measure.parse(measure))


def _as_verdicts(
    panel: Panel, names: list[str], people_cut: float | None, judge_cut: float | None
) -> tuple[Array, Array, list[str]] | None:
    """Pass and fail of people and of every judge; None where they gave numbers and no limit was named."""
    try:
        people = people_pass(panel, people_cut)
        found, notes, said_of = [], list(people.notes), dict[str, list[str]]()
        nothing = np.zeros(0, np.int64)
        for name in names:
            turned = name in panel.lower
            own = -panel.metrics[name] if turned else panel.metrics[name]
            there = np.isfinite(own)
            rows = Labelled(name, np.zeros(0, bool), own[there], None, (nothing, nothing), turned)
            passed, said = judge_pass(rows, people, judge_cut)
            values = np.full(own.shape, np.nan)
            values[there] = passed
            found.append(values)
            said_of.setdefault(said, []).append(name)
    except NeedsMissing:
        if people_cut is not None or judge_cut is not None:
            raise
        return None
    notes += [f"{some(who, 6)}: {said}" for said, who in said_of.items()]
    return people.passed, np.stack(found), notes
