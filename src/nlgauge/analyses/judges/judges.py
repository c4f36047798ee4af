"""Can this judge stand in for people, and where does it go wrong? One line a judge and aspect (gao2025, Table 6 and
section 1).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.options import call
from nlgauge.stats.agreement.icc import icc
from nlgauge.stats.agreement.kappa import cohen_kappa
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.correlation.ranks import average_ranks
from nlgauge.stats.design.simulate import fit_scores
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array

DRAW = re.compile(r"^(?P<judge>.+)#(?P<number>\d+)$")
AGREEMENT = [
    Measure.parse(m)
    for m in ("global/pearson", "global/spearman", "input/kendall", "system/spearman", "input/acc-eq-calibrated")
]


@analysis(
    "judges",
    paper="gao2025",
    takes="dataset",
    question="Can this judge stand in for people, and where does it go wrong?",
)
def judges(choice: Choice) -> Table:
    """Describe each judge's agreement with human ratings, ties, bias, length preference and consistency.

    Single draws of a judge are columns `name#1`, `name#2` …; they show how consistent it is.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.

    Returns
    -------
    Table
        One row per judge, aspect and quantity. Kappa, exact agreement and bias are given only where judge and
        annotators use one scale; consistency only where there are single draws.

    Notes
    -----
    `length|people` is the partial Spearman correlation of score and number of words with the human rating held
    fixed; `steady` is ICC(1) over the single draws.

    References
    ----------
    Gao et al. (2025).
    """
    data = choice.data
    draws = draws_of(data.metrics)
    single = {d for many in draws.values() for d in many}
    chosen = [m for m in choice.metrics or data.metrics if m not in single]
    if not chosen:
        raise NeedsMissing("no judge scores; `nlgauge judge FILE` makes them.", data=data.name, code="no_scores")
    rows: list[Row] = []
    lengths = _lengths(data)
    choice = replace(choice, metrics=[*chosen, *sorted(single)])
    panels = [choice.panel(a, canonical=True) for a in choice.wanted]
    for panel in panels:
        found = evaluate(panel.oriented(), panel.human, AGREEMENT)
        size = _placed(lengths, panel)
        for judge in (name for name in chosen if name in panel.metrics):
            k = panel.names.index(judge)
            values = {str(m): float(found.value[k, j]) for j, m in enumerate(AGREEMENT)}
            facts = {
                **_counts(panel, judge),
                **values,
                **_same_scale(panel, judge),
                **_length(panel, judge, size),
                **_steadiness(panel, draws.get(judge, [])),
            }
            rows += [{"metric": judge, "aspect": panel.aspect, "quantity": w, "value": v} for w, v in facts.items()]
    there = {r["quantity"] for r in rows if r["value"] == r["value"]}
    return Table(
        title=Title(
            data.name, f"judges beside {data.rated_by}" + (f" on {panels[0].aspect}" if len(panels) == 1 else "")
        ),
        rows=[r for r in rows if r["quantity"] in there],
        layout=Layout("metric" if len(panels) == 1 else ("metric", "aspect"), "quantity", "value", heads=HEADS),
        heads={"metric": "judge"},
        method=f"{panels[0].n_systems} systems × {panels[0].n_inputs} inputs; agreement over outputs that people "
        "rated and the judge scored.",
        definitions=DEFINITIONS,
        notes=_notes(rows, there, panels[0]),
        signature=signature(panels[0], draws=max((len(d) for d in draws.values()), default=1)),
    )


HEADS = {
    "global/pearson": "global r", "global/spearman": "global ρ", "input/kendall": "input τ",
    "system/spearman": "system ρ",
    "input/acc-eq-calibrated": "input acc*", "length|people": "length |people",
}  # fmt: skip
DEFINITIONS = {
    "acc*": "pairwise accuracy with calibrated ties, per input",
    "unscored": "rated outputs without a score of this judge",
    "unique, ties": "distinct values, and the share of tied pairs among all pairs of outputs (gao2025, Table 6)",
    "kappa, exact": "quadratically weighted kappa and share of equal ratings, people's mean and the judge rounded to "
    "whole points, where both use one scale",
    "bias": "mean of the judge minus mean of people, on that scale",
    "length": "Spearman correlation of the judge with the number of words; length|people: the same with people's "
    "rating held fixed (partial correlation of ranks): what is left is the judge's own taste for length",
    "steady": "ICC(1) over the single draws: 1 when every draw says the same; spread: mean SD between draws of "
    "one output",
}


def draws_of(columns: Sequence[str]) -> dict[str, list[str]]:
    """Judge -> its single draws.

    >>> draws_of(["a", "a#1", "a#2", "b#1"])
    {'a': ['a#1', 'a#2']}
    """
    found: dict[str, list[str]] = {}
    for column in columns:
        if (match := DRAW.match(column)) and match["judge"] in columns:
            found.setdefault(match["judge"], []).append(column)
    return found


def _counts(panel: Panel, judge: str) -> Row:
    values, rated = panel.metrics[judge], np.isfinite(panel.human)
    both = rated & np.isfinite(values)
    if not both.any():
        return {"outputs": 0, "unscored": int(rated.sum()), "unique": 0, "ties": np.nan}
    fit = fit_scores(np.where(both, values, np.nan))
    return {
        "outputs": int(both.sum()),
        "unscored": int((rated & ~both).sum()),
        "unique": fit.unique,
        "ties": fit.tie_ratio,
    }


def _same_scale(panel: Panel, judge: str) -> Row:
    """Only where the judge's values lie inside the range of single human ratings can points be compared."""
    values, people = panel.metrics[judge], panel.human
    ratings = panel.raters.get(panel.aspect)
    low, high = _range(people if ratings is None else ratings)
    known = values[np.isfinite(values)]
    fits = (
        known.size > 0
        and known.min() >= low
        and known.max() <= high
        and high - low >= 1
        and known.max() - known.min() > 0.5 * (high - low)
    )
    if not fits:
        return {"kappa": np.nan, "exact": np.nan, "bias": np.nan}
    both = np.isfinite(values) & np.isfinite(people)
    x, z = np.floor(values[both] + 0.5), np.floor(people[both] + 0.5)
    kappa = cohen_kappa(x, z, "quadratic").value
    return {"kappa": kappa, "exact": float((x == z).mean()), "bias": float(values[both].mean() - people[both].mean())}


def _range(values: Array) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def _lengths(data: Dataset) -> pl.DataFrame | None:
    if "output" not in data.samples.columns or data.samples["output"].null_count() == data.samples.height:
        return None
    words = pl.col("output").str.count_matches(r"\S+").cast(pl.Float64).alias("words")
    return data.samples.select(*KEY, words)


def _placed(lengths: pl.DataFrame | None, panel: Panel) -> Array | None:
    if lengths is None:
        return None
    at = {(s, i): w for s, i, w in lengths.iter_rows()}
    return np.array([[at.get((s, i)) or np.nan for i in panel.inputs] for s in panel.systems], float)


def _length(panel: Panel, judge: str, size: Array | None) -> Row:
    if size is None:
        return {"length": np.nan, "length|people": np.nan}
    judged = panel.metrics[judge]
    both = np.isfinite(judged) & np.isfinite(panel.human) & np.isfinite(size)
    length, given = partial_spearman(judged[both], size[both], panel.human[both])
    return {"length": length, "length|people": given}


def partial_spearman(x: Array, y: Array, given: Array) -> tuple[float, float]:
    """Spearman's rho of x and y, and the same with the third held fixed; NaN where a variable is constant."""
    if len(x) < 4 or min(np.ptp(v) for v in (x, y, given)) == 0:
        return np.nan, np.nan
    r = np.corrcoef([average_ranks(v) for v in (x, y, given)])
    xy, xz, yz = float(r[0, 1]), float(r[0, 2]), float(r[1, 2])
    rest = (1 - xz**2) * (1 - yz**2)
    return xy, (xy - xz * yz) / float(np.sqrt(rest)) if rest > 1e-12 else np.nan


def _steadiness(panel: Panel, draws: Sequence[str]) -> Row:
    if len(draws) < 2:
        return {"steady": np.nan, "spread": np.nan}
    table = np.stack([panel.metrics[d].ravel() for d in draws])
    full = table[:, np.isfinite(table).all(axis=0)]
    if full.shape[1] < 2:
        return {"steady": np.nan, "spread": np.nan}
    same = icc(full, persons=False)["ICC(1)"].value
    return {"steady": same, "spread": float(full.std(axis=0, ddof=1).mean())}


def _notes(rows: list[Row], there: set[str], panel: Panel) -> list[str]:
    notes = people_note(panel)
    if "kappa" not in there:
        notes.append("no kappa: judge and people do not use one scale.")
    if "steady" not in there:
        notes.append(
            f"no single draws: how steady the judge is cannot be told ({call('judge FILE', n=10, keep_draws=True)})."
        )
    if lost := sum(r["value"] for r in rows if r["quantity"] == "unscored"):
        notes.append(f"{lost} rated outputs without a score are left out of the agreement, never counted as 0.")
    return notes
