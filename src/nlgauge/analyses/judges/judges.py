"""Overview of each judge: agreement with human ratings, ties, bias, length preference, consistency (Gao et al. "
"2025)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
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
    question="How does each judge compare with human ratings: agreement, ties, bias, consistency?",
)
def judges(choice: Choice) -> Table:
    """Describe each judge's agreement with human ratings, ties, bias, length preference and consistency.

    The columns `name#1`, `name#2` … hold repeated replies of the judge `name`, from which its consistency is estimated.

    Returns
    -------
    Table
        One row per judge, aspect and quantity. Kappa, exact agreement and bias require that judge and annotators use
        the same scale; consistency requires single draws.

    Notes
    -----
    `length|human` is the partial Spearman correlation of score and number of words, controlling for the human rating;
    `consistency` is ICC(1) over the single draws.

    References
    ----------
    Gao et al. (2025).
    """
    data = choice.data
    draws = draws_of(data.metrics)
    single = {d for many in draws.values() for d in many}
    chosen = [m for m in choice.metrics or data.metrics if m not in single]
    if not chosen:
        raise NeedsMissing(f"there are no scores of a judge; {call('judge FILE')} computes them.", code="no_scores")
    rows: list[Row] = []
    lengths = _lengths(data)
    choice = replace(choice, metrics=[*chosen, *sorted(single)])
    panels = [choice.panel(a, canonical=True) for a in choice.wanted]
    for panel in panels:
        estimates = evaluate(panel.oriented(), panel.human, AGREEMENT)
        size = _placed(lengths, panel)
        for judge in (name for name in chosen if name in panel.metrics):
            k = panel.names.index(judge)
            values = {str(m): float(estimates.value[k, j]) for j, m in enumerate(AGREEMENT)}
            facts = {
                **_counts(panel, judge),
                **values,
                **_same_scale(panel, judge),
                **_length(panel, judge, size),
                **_consistency(panel, draws.get(judge, [])),
            }
            rows += [{"metric": judge, "aspect": panel.aspect, "quantity": w, "value": v} for w, v in facts.items()]
    defined = {r["quantity"] for r in rows if r["value"] == r["value"]}
    of_aspect = f", {panels[0].aspect}" if len(panels) == 1 else ""
    return Table(
        title=Title(data.name, f"judges compared with {reference(data)}{of_aspect}"),
        rows=[r for r in rows if r["quantity"] in defined],
        layout=Layout("metric" if len(panels) == 1 else ("metric", "aspect"), "quantity", "value", heads=HEADS),
        heads={"metric": "judge"},
        method=f"{panels[0].n_systems} systems × {panels[0].n_inputs} inputs; outputs with a human rating and a score.",
        definitions=DEFINITIONS,
        notes=_notes(rows, defined, panels[0]),
        signature=signature(panels[0], draws=max((len(d) for d in draws.values()), default=1)),
    )


HEADS = {
    "global/pearson": "global r", "global/spearman": "global ρ", "input/kendall": "input τ",
    "system/spearman": "system ρ",
    "input/acc-eq-calibrated": "input acc*", "length|human": "length | human",
}  # fmt: skip
DEFINITIONS = {
    "acc*": "pairwise accuracy with calibrated ties, per input",
    "unscored": "rated outputs without a score of this judge",
    "unique, ties": "distinct values, and the share of tied pairs among all pairs of outputs (Gao et al. 2025, Table "
    "6)",
    "kappa, exact": "quadratically weighted kappa and exact agreement of the mean human rating and the judge, "
    "rounded to "
    "whole points, if both use the same scale",
    "bias": "mean of the judge minus mean of the annotators, on that scale",
    "length": "Spearman correlation of the judge with the number of words; length | human: partial correlation, "
    "controlling for the human rating: the judge's own preference for length",
    "consistency": "ICC(1) over the single draws; spread: mean SD between draws of an output",
}


def draws_of(columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of single draws of each judge.

    >>> draws_of(["a", "a#1", "a#2", "b#1"])
    {'a': ['a#1', 'a#2']}
    """
    draws: dict[str, list[str]] = {}
    for column in columns:
        if (match := DRAW.match(column)) and match["judge"] in columns:
            draws.setdefault(match["judge"], []).append(column)
    return draws


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
    """Compare points, if the judge's values lie inside the range of single human ratings."""
    values, people = panel.metrics[judge], panel.human
    ratings = panel.raters.get(panel.aspect)
    low, high = _range(people if ratings is None else ratings)
    scored = values[np.isfinite(values)]
    fits = (
        scored.size > 0
        and scored.min() >= low
        and scored.max() <= high
        and high - low >= 1
        and scored.max() - scored.min() > 0.5 * (high - low)
    )
    if not fits:
        return {"kappa": np.nan, "exact": np.nan, "bias": np.nan}
    both = np.isfinite(values) & np.isfinite(people)
    x, z = np.floor(values[both] + 0.5), np.floor(people[both] + 0.5)
    kappa = cohen_kappa(x, z, "quadratic").value
    return {"kappa": kappa, "exact": float((x == z).mean()), "bias": float(values[both].mean() - people[both].mean())}


def _range(values: Array) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _lengths(data: Dataset) -> pl.DataFrame | None:
    if "output" not in data.samples.columns or data.samples["output"].null_count() == data.samples.height:
        return None
    words = pl.col("output").str.count_matches(r"\S+").cast(pl.Float64).alias("words")
    return data.samples.select(*KEY, words)


def _placed(lengths: pl.DataFrame | None, panel: Panel) -> Array | None:
    if lengths is None:
        return None
    words = {(s, i): w for s, i, w in lengths.iter_rows()}
    return np.array([[words.get((s, i)) or np.nan for i in panel.inputs] for s in panel.systems], float)


def _length(panel: Panel, judge: str, size: Array | None) -> Row:
    if size is None:
        return {"length": np.nan, "length|human": np.nan}
    judged = panel.metrics[judge]
    both = np.isfinite(judged) & np.isfinite(panel.human) & np.isfinite(size)
    length, given = partial_spearman(judged[both], size[both], panel.human[both])
    return {"length": length, "length|human": given}


def partial_spearman(x: Array, y: Array, given: Array) -> tuple[float, float]:
    """Return Spearman's rho of x and y, and the partial one given the third; NaN if a variable is constant."""
    if len(x) < 4 or min(np.ptp(v) for v in (x, y, given)) == 0:
        return np.nan, np.nan
    r = np.corrcoef([average_ranks(v) for v in (x, y, given)])
    xy, xz, yz = float(r[0, 1]), float(r[0, 2]), float(r[1, 2])
    rest = (1 - xz**2) * (1 - yz**2)
    return xy, (xy - xz * yz) / float(np.sqrt(rest)) if rest > 1e-12 else np.nan


def _consistency(panel: Panel, draws: Sequence[str]) -> Row:
    if len(draws) < 2:
        return {"consistency": np.nan, "spread": np.nan}
    table = np.stack([panel.metrics[d].ravel() for d in draws])
    full = table[:, np.isfinite(table).all(axis=0)]
    if full.shape[1] < 2:
        return {"consistency": np.nan, "spread": np.nan}
    same = icc(full, persons=False)["ICC(1)"].value
    return {"consistency": same, "spread": float(full.std(axis=0, ddof=1).mean())}


def _notes(rows: list[Row], defined: set[str], panel: Panel) -> list[str]:
    notes = human_note(panel)
    if "kappa" not in defined:
        notes.append("kappa is not available: judge and annotators use different scales.")
    if "consistency" not in defined:
        notes.append(
            "the consistency of the judge is not available without single draws "
            f"({call('judge FILE', n=10, keep_draws=True)})."
        )
    if lost := sum(r["value"] for r in rows if r["quantity"] == "unscored"):
        notes.append(f"{lost} rated outputs without a score are excluded; they do not count as 0.")
    return notes
