"""Characteristics of the data that affect the agreement of metrics with human ratings (Novikova et al. 2017, section
8.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import polars as pl

from nlgauge import Dataset, Table
from nlgauge.plugins import (
    Choice,
    NameUnknown,
    NeedsMissing,
    Panel,
    Row,
    Title,
    analysis,
    counted,
    did_you_mean,
    flipped_words,
    starred,
)
from nlgauge.stats import (
    CORRECTION_WORDS,
    CORRECTIONS,
    Halves,
    Measure,
    check_words,
    compared,
    correlations,
    difference_words,
    single,
    star_words,
)
from nlgauge_papers.common import KEY, Array, Named, Outputs, Steps

TEXTS = {"output": "output words", "source": "source words", "context": "context words"}


@analysis(
    "characteristics",
    trials="mean",
    paper="novikova2017",
    takes="dataset",
    question="Which characteristics of the data affect the agreement of metrics with human ratings?",
)
def characteristics(
    choice: Choice,
    *,
    numeric_columns: str | Sequence[str] | None = None,
    measure: Named = "global/spearman",
    correction: Literal["holm", "bh", "none"] = "holm",
    draws: int = 0,
    level: float = 0.05,
    outputs: Outputs = "clustered",
    progress: Steps | None = None,
) -> Table:
    """Correlate each metric with the human ratings on outputs for which a characteristic of the data is low, and on
    those for which it is high.

    The characteristics are the number of words of the output, of the source and of the references (mean), and the
    number of references, if the data have them. Each is split at its median.

    Parameters
    ----------
    numeric_columns : str or sequence of str, optional
        Numeric columns of the data to use as further characteristics.
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.
    correction : {'holm', 'bh', 'none'}
        Correction for multiple testing over all tests of the table.
    draws : int, default 0
        Number of permutations of the check.

    Returns
    -------
    Table
        One row per characteristic, aspect and metric.

    Notes
    -----
    Section 8.2 of Novikova et al. (2017).
    """
    data, seed = choice.data, choice.seed
    chosen = single(measure, "characteristics")
    table = describe(data, [numeric_columns] if isinstance(numeric_columns, str) else list(numeric_columns or []))
    names, constant = _varying(table, data.name)
    wanted = choice.wanted
    rows: list[Row] = []
    jobs = [(aspect, name) for aspect in wanted for name in names]
    panels = {a: choice.panel(a, canonical=True) for a in wanted}
    for aspect, name in counted(jobs, progress):
        rows += _rows(panels[aspect], name, _grid(table, name, panels[aspect]), chosen, draws, outputs, seed)
    for row, p in zip(rows, CORRECTIONS[correction]([r["p"] for r in rows]).tolist(), strict=True):
        row["p_corrected"], row["significant"] = p, bool(p < level)
    return Table(
        title=Title(data.name, f"{chosen} with {data.rated_by} where a characteristic of the data is low and high"),
        rows=rows,
        shown=[
            "characteristic",
            "aspect",
            "metric",
            "cut",
            "value_low",
            "value_high",
            "n_low",
            "n_high",
            "p",
            *(["p_check"] if draws else []),
            "p_corrected",
            "significant",
        ],
        heads={"value_low": "low", "value_high": "high"},
        cells={f"value_{half}": partial(_half, half, level) for half in ("low", "high")},
        definitions={str(chosen): chosen.definition},
        method="Low: below the cut, high: at or above it; the cut is the median, or the next value where half the "
        f"outputs share the lowest one. {star_words(level, outputs, seed)}. p: {difference_words(outputs)}, absolute "
        f"correlations; {CORRECTION_WORDS[correction]} over {len(rows)} tests.{check_words(draws, seed)}",
        notes=[
            *(_about(name, panels[wanted[0]], table, chosen, outputs) for name in names),
            *([f"the same for all outputs: {', '.join(constant)}."] if constant else []),
            *flipped_words(data.lower & {r["metric"] for r in rows}),
            "The two halves differ in more than this one characteristic: a difference does not show its cause.",
        ],
        signature=f"measure:{chosen}|cut:median|aggregate:{choice.aggregate}|correction:{correction}|draws:{draws}|seed:{seed}",
    )


def _varying(table: pl.DataFrame, name: str) -> tuple[list[str], list[str]]:
    """Return the characteristics that differ between outputs, and the others."""
    names = [c for c in table.columns if c not in KEY]
    constant = [c for c in names if table[c].drop_nulls().n_unique() < 2]
    names = [c for c in names if c not in constant]
    if not names:
        raise NeedsMissing(
            "nothing differs between outputs (no texts, no references); name numeric columns with numeric_columns=….",
            data=name,
            code="constant",
        )
    return names, constant


def _half(half: str, level: float, row: Row) -> str:
    return starred(row[f"value_{half}"], row[f"p_{half}"], level)


def describe(data: Dataset, columns: Sequence[str] = ()) -> pl.DataFrame:
    """Return the keys and one column per characteristic, null where unknown."""
    samples = data.samples
    made: list[pl.Expr] = []
    for name, words in TEXTS.items():
        if samples.schema.get(name) == pl.String:
            made.append(_words(pl.col(name)).alias(words))
    if isinstance(samples.schema.get("references"), pl.List):
        each = pl.col("references").list.eval(_words(pl.element()))
        made += [each.list.mean().alias("reference words"), pl.col("references").list.len().alias("references")]
    for name in columns:
        if name not in samples.columns or not samples.schema[name].is_numeric():
            available = [c for c, kind in samples.schema.items() if kind.is_numeric()]
            raise NameUnknown(
                f"{data.name}: no numeric column '{name}'.{did_you_mean(name, available)} Numeric columns: "
                f"{', '.join(available) or 'none'}."
            )
        made.append(pl.col(name))
    result = samples.select(*KEY, *(e.cast(pl.Float64) for e in made))
    return result.select(*KEY, *(c for c in result.columns if c not in KEY and result[c].drop_nulls().len()))


def _words(text: pl.Expr) -> pl.Expr:
    return text.str.count_matches(r"\S+")


def _grid(table: pl.DataFrame, name: str, panel: Panel) -> Array:
    """Return the characteristic as an array of systems × inputs."""
    index = {(s, i): v for s, i, v in table.select(*KEY, name).iter_rows()}
    return np.array([[np.nan if (v := index.get((s, i))) is None else v for i in panel.inputs] for s in panel.systems])


def cut_of(values: Array) -> float:
    """Return the median of the known values; where that is the lowest value, the next one, so that no half is empty.

    >>> cut_of(np.array([1.0, 1.0, 1.0, 4.0]))
    4.0
    """
    available = values[np.isfinite(values)]
    middle = float(np.median(available))
    return middle if (available < middle).any() else float(available[available > middle].min())


def _rows(
    panel: Panel, name: str, values: Array, measure: Measure, draws: int, outputs: Outputs, seed: int
) -> list[Row]:
    valid = np.isfinite(values) & np.isfinite(panel.human)
    if len(np.unique(values[valid])) < 2:
        return []
    cut = cut_of(values[valid])
    halves = Halves(panel.oriented(), panel.human, valid & (values < cut), valid & (values >= cut))
    result = compared(halves, measure, outputs, draws, seed)
    return [
        {
            "characteristic": name,
            "aspect": panel.aspect,
            "metric": metric,
            "measure": str(measure),
            "cut": cut,
            "value_low": a.value,
            "value_high": b.value,
            "p_low": a.p,
            "p_high": b.p,
            "n_low": a.n,
            "n_high": b.n,
            "difference": b.value - a.value,
            "p": p,
            "p_check": check,
            "reason": a.reason or b.reason,
        }
        for metric, a, b, p, check in zip(panel.metrics, *result, strict=True)
    ]


def _about(name: str, panel: Panel, table: pl.DataFrame, measure: Measure, outputs: Outputs) -> str:
    """Return mean and range of a characteristic, and its own correlation with the ratings."""
    values = _grid(table, name, panel)
    [alone] = correlations(values[None], panel.human, measure, outputs)
    available = values[np.isfinite(values)]
    return (
        f"{name}: mean {available.mean():.1f}, from {available.min():g} to {available.max():g}; "
        f"its own correlation with {panel.aspect} is {starred(alone.value, alone.p, 0.05)}."
    )
