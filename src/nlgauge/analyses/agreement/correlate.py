"""Agreement of metrics with human ratings under each measure (Gao et al. 2025; Novikova et al. 2017, Tables 9-11)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from nlgauge.analyses import analysis
from nlgauge.analyses._common import Named, flipped_note, human_note, measures_of, reference, signature, undefined_notes
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.stats.correlation.groups import GROUPINGS
from nlgauge.stats.correlation.measure import Estimates, Measure, evaluate
from nlgauge.table import Cell, Layout, Row, Table, Title


@analysis("correlate", paper="gao2025", question="How well does each metric agree with the human ratings?")
def correlate(
    panel: Panel, *, measures: Sequence[Named] | None = None, sort: Named | None = None, seed: int = 0
) -> Table:
    """Compute the agreement of every metric with the human ratings under each measure.

    A measure that is undefined on these data (for example, because there is only one system) is skipped with a note
    that gives the reason. It is an error if no measure remains.

    Parameters
    ----------
    sort : str or Measure, optional
        Measure by which the metrics are sorted. Default: the mean over all measures.
    seed : int, default 0
        Seed of the tie calibration and of measures that draw at random, such as `system/spa`.

    Returns
    -------
    Table
        One row per metric and measure, the best metric first: value, number of outputs, number of groups that are
        averaged, and number of groups that are left out because their correlation is undefined.

    Notes
    -----
    A measure `level/coefficient` correlates scores and ratings at a level: `input` (over the systems of each
    input, then the mean over inputs), `item` (over the inputs of each system, then the mean over systems),
    `system` (over system means) or `global` (over all outputs at once). The sign of metrics for which lower is
    better is flipped.

    References
    ----------
    Gao et al. (2025), Analyzing and Evaluating Correlation Measures in NLG Meta-Evaluation, section 2.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.correlate(ng.example(), measures=["input/kendall", "system/pearson"])
    >>> [(row["metric"], row["measure"], round(row["value"], 2)) for row in table][:2]
    [('unigram_f1', 'input/kendall', 0.78), ('unigram_f1', 'system/pearson', 0.94)]
    >>> round(ng.correlate([0.1, 0.4, 0.3, 0.9], [1, 3, 2, 5], measures="global/kendall").rows[0]["value"], 2)
    1.0

    $ nlgauge analyze correlate scores.csv

    $ nlgauge analyze correlate scores.csv --aspect coherence --measures input/kendall,system/pearson -o table.tex

    $ nlgauge analyze correlate all.csv --by dataset,system --measures global/spearman --format csv
    """
    chosen = measures_of(measures)
    estimates = evaluate(panel.oriented(), panel.human, chosen, seed=seed)
    refused = _refused(estimates, chosen, panel)
    defined = [m for m in chosen if m not in refused]
    if not defined:
        by_reason: dict[str, list[str]] = {}
        for measure, why in refused.items():
            by_reason.setdefault(why, []).append(str(measure))
        raise NeedsMissing(
            "; ".join(f"{', '.join(names)}: {why}" for why, names in by_reason.items()), code="undefined"
        )
    rows = _rows(panel, estimates, chosen, defined)
    by = defined if sort is None else [_sorting(measures_of(sort)[0], defined)]
    order = _order(rows, panel, [str(m) for m in by])
    rows.sort(key=lambda row: (order[row["metric"]], [str(m) for m in defined].index(row["measure"])))
    return Table(
        title=Title(panel.name, f"agreement of metrics with {reference(panel)} of {panel.aspect}"),
        rows=rows,
        layout=measures_across(defined, best=lambda row: float(row["value"]), extra=_counts(rows), line=panel.label),
        definitions={m.grouping: GROUPINGS[m.grouping] for m in defined},
        method=_method(panel, rows, by),
        notes=_notes(panel, rows, refused),
        facts={"sorted_by": str(by[0]) if len(by) == 1 else None},
        signature=signature(panel, seed=seed),
    )


def measures_across(
    measures: Sequence[Measure], lines: str | tuple[str, ...] = "metric", value: str = "value", **more: Any
) -> Layout:
    """Return a layout with one column per measure under a short heading."""
    return Layout(lines, "measure", value, heads={str(m): short(m) for m in measures}, **more)


def short(measure: Measure) -> str:
    """Return a short heading: `input τ`."""
    symbol = {"pearson": "r", "spearman": "ρ", "kendall": "τ"}.get(
        measure.coefficient, measure.facts.label.removeprefix("Kendall ")
    )
    return f"{measure.grouping} {symbol}"


def _rows(panel: Panel, estimates: Estimates, chosen: list[Measure], defined: list[Measure]) -> list[Row]:
    rows = []
    for k, metric in enumerate(panel.metrics):
        for measure in defined:
            e = estimates.at(k, chosen.index(measure))
            rows.append(
                {
                    "metric": metric,
                    "aspect": panel.aspect,
                    "measure": str(measure),
                    "value": e.value,
                    "n": e.n,
                    "groups": e.groups,
                    "dropped": e.dropped,
                    "reason": e.reason,
                }
            )
    return rows


def _sorting(requested: Measure, defined: list[Measure]) -> Measure:
    return requested if requested in defined else next((m for m in defined if m.grouping == "global"), defined[0])


def _refused(estimates: Estimates, chosen: list[Measure], panel: Panel) -> dict[Measure, str]:
    """Return the measures without a value for any metric, each with its most frequent reason."""
    refused = {}
    for place, measure in enumerate(chosen):
        reasons = [estimates.at(k, place).reason for k in range(len(panel.metrics))]
        if all(reasons):
            refused[measure] = Counter(r for r in reasons if r).most_common(1)[0][0]
    return refused


def _order(rows: list[Row], panel: Panel, by: list[str]) -> dict[str, float]:
    """Return the sort key of each metric: its mean over the measures, undefined ones last."""
    mean = {}
    for metric in panel.metrics:
        values = [r["value"] for r in rows if r["metric"] == metric and r["measure"] in by]
        values = [v for v in values if not math.isnan(v)]
        mean[metric] = -sum(values) / len(values) if values else math.inf
    return mean


def _counts(rows: list[Row]) -> dict[str, Callable[[list[Row]], Any]]:
    """Return the columns n and dropped, if they differ between the metrics."""
    columns: dict[str, Callable[[list[Row]], Any]] = {}
    if len({r["n"] for r in rows}) > 1:
        columns["n"] = lambda of_metric: _span([r["n"] for r in of_metric])
    if any(r["dropped"] for r in rows):
        columns["dropped"] = lambda of_metric: max(r["dropped"] for r in of_metric)
    return columns


def _span(numbers: list[int]) -> Cell:
    low, high = min(numbers), max(numbers)
    return Cell(str(high) if low == high else f"{low}–{high}", high)


def _method(panel: Panel, rows: list[Row], by: list[Measure]) -> str:
    order = str(by[0]) if len(by) == 1 else "the mean of the columns"
    dropped = max(r["dropped"] for r in rows)
    return (
        f"{panel.n_systems} systems × {panel.n_inputs} inputs, metrics sorted by {order}. "
        f"n = {_span([r['n'] for r in rows]).text} outputs with a rating and a score. "
        + (f"dropped = groups with an undefined coefficient: up to {dropped}." if dropped else "No group is dropped.")
    )


def _notes(panel: Panel, rows: list[Row], refused: dict[Measure, str]) -> list[str]:
    notes = undefined_notes(refused)
    for grouping, word in (("input", "inputs"), ("item", "systems")):
        most = max(
            (r for r in rows if r["measure"].startswith(f"{grouping}/")), key=lambda r: r["dropped"], default=None
        )
        if most and most["dropped"]:
            notes.append(
                f"{grouping} level: up to {most['dropped']} of {most['dropped'] + most['groups']} {word} are dropped "
                f"because all values are equal or there are fewer than 2 outputs (most for {most['metric']})."
            )
    for grouping, size, word in (("input", panel.n_systems, "systems"), ("item", panel.n_inputs, "inputs")):
        if size == 2 and any(r["measure"].startswith(f"{grouping}/") for r in rows):
            notes.append(
                f"{grouping} level: with two {word} each correlation is +1 or -1, so the mean is the share of "
                "concordant "
                "minus discordant pairs."
            )
    notes += human_note(panel)
    return [*notes, *flipped_note(panel), *upside_down(panel, rows)]


def upside_down(panel: Panel, rows: list[Row]) -> list[str]:
    """Return the metrics whose agreement is negative under every measure: their direction may be wrong."""
    negative = [m for m in panel.metrics if all(r["value"] < -0.1 for r in rows if r["metric"] == m)]
    notes = []
    for names, direction in (
        ([m for m in negative if m not in panel.lower], "lower"),
        ([m for m in negative if m in panel.lower], "higher"),
    ):
        if names:
            notes.append(
                f"negative under every measure: {', '.join(names)}. If {direction} is better, set "
                f"{option(direction, names)}."
            )
    return notes
