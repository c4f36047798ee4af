"""Confidence intervals of the agreement of each metric with the human ratings, by measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from nlgauge.analyses import Progress, analysis
from nlgauge.analyses._common import Named, defined_measures, flipped_note, human_note, ratings_of, signature
from nlgauge.analyses.agreement.correlate import measures_across
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing, RowNote
from nlgauge.number import percent, row_interval
from nlgauge.options import option
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.resampling.bootstrap import Unit, bootstrap
from nlgauge.stats.resampling.jackknife import SYSTEMS, Over, generalizes_to
from nlgauge.stats.resampling.jackknife import intervals as jackknife_intervals
from nlgauge.stats.tests.fisher import fisher_interval
from nlgauge.table import Row, Table, Title

Kind = Literal["jackknife", "percentile", "bca", "fisher"]


@analysis("intervals", paper="gao2025", question="What are the confidence intervals of the agreement?")
def intervals(
    panel: Panel,
    *,
    measures: Sequence[Named] | None = None,
    over: Unit | Literal["auto"] = "auto",
    kind: Kind | None = None,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> Table:
    """Compute the confidence interval of each metric's agreement with the human ratings.

    Parameters
    ----------
    over : {'inputs', 'systems', 'both', 'raters', 'auto'}, default 'auto'
        Population to which the interval generalizes: `inputs`, `systems`, `both`, or `raters` (annotators). `auto`
        means both, or inputs only if there are fewer than six systems.
    kind : {'jackknife', 'percentile', 'bca', 'fisher'}, optional
        Method: `jackknife`; the bootstrap intervals `percentile` and `bca` (required for annotators or systems alone);
        or `fisher`, the textbook interval of a single correlation, which assumes independent outputs.
    draws : int, default 1000
        Number of bootstrap samples.

    Returns
    -------
    Table
        One row per metric and measure: value and both ends of the interval. If there is none, the ends are NaN and
        `reason` explains it.

    Notes
    -----
    The jackknife leaves out systems and inputs in turn (two-way standard error, Student's t on Fisher's scale).
    docs/trust.md reports its coverage.
    """
    chosen, notes = defined_measures(panel, measures)
    stacked = panel.oriented()
    kind = kind or ("percentile" if over in ("raters", "systems") else "jackknife")
    reasons = np.full((len(stacked), len(chosen)), None, object)
    if kind == "fisher":
        chosen, value, low, high, method = _fisher(panel, chosen, level, notes)
        reasons = reasons[:, : len(chosen)]
    elif kind == "jackknife":
        if over in ("raters", "systems"):
            raise NameUnknown(f"the jackknife does not support {over} alone; use {option('kind', 'percentile')}.")
        scope: Over = "both" if over == "both" else "inputs" if over == "inputs" else "auto"
        ends = jackknife_intervals(
            stacked,
            panel.human,
            chosen,
            over=scope,
            clusters=panel.clusters,
            families=panel.families,
            level=level,
            progress=progress,
        )
        value, low, high, reasons, method = ends.value, ends.low, ends.high, ends.reason, ends.method
        notes += scope_notes(panel, ends.over)
        notes += [RowNote(f"no confidence interval: {why}.") for why in dict.fromkeys(r for r in reasons.flat if r)]
    else:
        over = "both" if over == "auto" else over
        human = panel.human
        if over == "raters":
            human = ratings_of(panel, "resampling annotators")
            if panel.aggregate != "mean":
                notes.append(
                    f"Resampled ratings are averaged, while the ratings of the panel are the {panel.aggregate}."
                )
        samples = bootstrap(stacked, human, chosen, how=over, draws=draws, seed=seed, progress=progress)
        low, high = samples.interval(kind, level)
        value, method = samples.value, f"{'BCa' if kind == 'bca' else 'Percentile'} {samples.method}"
        notes += undefined_note(int(samples.undefined.sum()), samples.samples.size)
    signed = {"interval": kind, "over": over, **({} if kind == "jackknife" else {"draws": draws, "seed": seed})}
    of_all = IntervalEnds(list(panel.metrics), chosen, value, low, high, reasons)
    return interval_table(panel, of_all, level, method, notes, signed)


class IntervalEnds(NamedTuple):
    """Values and the ends of their intervals, metrics × measures; `reasons` explain missing intervals."""

    metrics: list[str]
    measures: list[Measure]
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reasons: np.ndarray

    def rows(self, aspect: str) -> list[Row]:
        """Return the rows, metrics ordered by their mean value, those without any value last."""
        mean = [np.inf if np.isnan(values).all() else -float(np.nanmean(values)) for values in self.value]
        return [
            {
                "metric": self.metrics[k],
                "aspect": aspect,
                "measure": str(m),
                "value": float(self.value[k, j]),
                "low": float(self.low[k, j]),
                "high": float(self.high[k, j]),
                "reason": self.reasons[k, j],
            }
            for k in sorted(range(len(mean)), key=mean.__getitem__)
            for j, m in enumerate(self.measures)
        ]


def interval_table(
    panel: Panel, ends: IntervalEnds, level: float, method: str, notes: list[str], signed: dict[str, Any]
) -> Table:
    """Return the table of intervals; `signed` are the options that its signature names."""
    return Table(
        title=Title(panel.name, f"{percent(level)} confidence intervals of the agreement on {panel.aspect}"),
        rows=ends.rows(panel.aspect),
        layout=measures_across(ends.measures, line=panel.label),
        cells={"value": row_interval},
        method=method + ".",
        notes=[*notes, *human_note(panel), *flipped_note(panel)],
        signature=signature(panel, **signed),
        kind="intervals",
    )


def limited_to_these_systems(panel: Panel) -> bool:
    """Return whether there are several systems, but too few to generalize to others."""
    return panel.n_systems > 1 and generalizes_to("auto", len(set(panel.families or panel.systems))) != "both"


def scope_notes(panel: Panel, over: str) -> list[str]:
    """Name the clusters and families that an interval or test uses, and what it does not generalize to."""
    whole = []
    if panel.clusters:
        whole.append(
            f"Inputs with the same '{panel.cluster_column}' are not independent; the jackknife leaves them out "
            "together "
            f"({len(set(panel.cluster_names))} clusters)."
        )
    if panel.families:
        whole.append(
            f"Systems of one family ({panel.family_column}) are not independent; the jackknife leaves them out "
            "together "
            f"({len(set(panel.family_names))} families)."
        )
    if over == "both" or panel.n_systems == 1:
        return whole
    units = "families of systems" if panel.families else "systems"
    return [*whole, f"With fewer than {SYSTEMS} {units}, results do not generalize to other systems."]


def undefined_note(lost: int, draws: int) -> list[str]:
    """State how many draws are left out because their correlation is undefined; empty if there are none."""
    return [f"{lost} of {draws} draws are left out because their correlation is undefined."] if lost else []


def _fisher(
    panel: Panel, measures: list[Measure], level: float, notes: list[str]
) -> tuple[list[Measure], np.ndarray, np.ndarray, np.ndarray, str]:
    """Compute Fisher's interval of the measures that are a single correlation."""
    single = [
        m
        for m in measures
        if m.grouping in ("global", "system") and m.coefficient in ("pearson", "spearman", "kendall")
    ]
    if not single:
        raise NeedsMissing(
            "Fisher's interval is for a single correlation: use global/… or system/… measures, or the bootstrap.",
            code="unsuited_option",
        )
    if len(single) < len(measures):
        means = ", ".join(str(m) for m in measures if m not in single)
        notes.append(RowNote(f"not available: {means} (Fisher's interval does not apply to means of correlations)."))
    value = evaluate(panel.oriented(), panel.human, single).value
    shared = np.isfinite(panel.stacked()) & np.isfinite(panel.human)
    low, high = np.empty_like(value), np.empty_like(value)
    for j, m in enumerate(single):
        points = shared.sum(axis=(1, 2)) if m.grouping == "global" else shared.any(axis=2).sum(axis=1)
        low[:, j], high[:, j] = fisher_interval(value[:, j], points, coefficient=m.coefficient, level=level)
    return single, value, low, high, "Fisher's z interval; assumes independent points"
