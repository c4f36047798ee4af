"""Subgroup analysis of a judge: its verdicts compared with human labels in each slice of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.analyses.verdicts._labeled import (
    LabeledScores,
    cluster_notes,
    figure_row,
    human_pass,
    judge_verdicts,
    no_verdicts,
)
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.data.units import TRIAL_OF
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import number, percent, share_text
from nlgauge.options import option
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.two_by_two import CLUSTERS, FEWEST, SHARES, cell_counts, share_figures
from nlgauge.stats.tests.corrections import benjamini_hochberg
from nlgauge.stats.tests.two_shares import clustered_difference_test, fisher_exact_test
from nlgauge.table import Row, Table, Title
from nlgauge.types import Mask

Measured = Literal["agreement", "fail_recall", "pass_recall"]
LABELS = {"agreement": "accuracy", "fail_recall": "recall on failures", "pass_recall": "recall on passes"}
TEXTS = ("output", "source", "context", "references")
MAX_GROUPS = 30  # a text column with more distinct values makes no slices
THIRDS = ("low", "middle", "high")


@analysis("slices", question="In which slices of the data is a judge significantly worse?", takes="dataset")
def slices(
    choice: Choice,
    *,
    aspect: str | None = None,
    slice_columns: Sequence[str] | str | None = None,
    measure: Measured = "agreement",
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    false_discoveries: float = 0.05,
    level: float = 0.95,
) -> Table:
    """Find the parts of the data on which a judge is worst.

    Parameters
    ----------
    slice_columns : str or sequence of str, optional
        Columns that define the slices. Default: all suitable columns.
    measure : {'agreement', 'fail_recall', 'pass_recall'}, default 'agreement'
        Measure to compare: accuracy (`agreement`), recall on failures (`fail_recall`) or on passes (`pass_recall`).
    false_discoveries : float, default 0.05
        False discovery rate among the slices that are marked as significantly worse.

    Returns
    -------
    Table
        One row per judge and slice, the worst first: the measure with its confidence interval, its value in all other
        outputs, p, q, and whether the slice is significantly worse (`found`).

    Notes
    -----
    Categorical columns make a slice of each value; numbers are split into thirds, texts by their number of words. p is
    Fisher's exact test (a jackknife over clusters if outputs share an input); q is corrected over all slices (Benjamini
    and Hochberg 1995).

    Examples
    --------
    $ nlgauge analyze slices answers.csv --slice-columns topic,language
    """
    data = choice.data
    if measure not in LABELS:
        raise NlgaugeError(f"measure must be one of {', '.join(LABELS)}; got '{measure}'.")
    panel = choice.panel(aspect, canonical=True)
    people = human_pass(panel, human_pass_from)
    chosen = [slice_columns] if isinstance(slice_columns, str) else slice_columns
    rows: list[Row] = []
    few, clustered = 0, list[str]()
    judged, refused = judge_verdicts(panel, people, None, judge_pass_from)
    for labeled, passed, _ in judged:
        more, lacking = _judge_slices(labeled, passed, _attributes(data, panel, labeled, chosen), measure, level)
        rows += [{**row, "aspect": panel.aspect} for row in more]
        few += lacking
        clustered = cluster_notes(panel, labeled.clusters)
    notes = [*people.notes, *(f"{labeled.judge}: {text}" for labeled, _, text in judged)]
    notes += [f"excluded: {no_verdicts(refused)}"] if refused else []
    if not rows:
        few_labels = f"no slice has {FEWEST} {SHARES[measure].rows} inside and outside; label more outputs."
        raise NeedsMissing(few_labels if few else " ".join(notes), code="too_few_labels" if few else "not_binary")
    _mark_findings(rows, false_discoveries)
    if few:
        notes.append(f"{few:,} slices with fewer than {FEWEST} {SHARES[measure].rows} inside or outside are excluded.")
    worse = [_in_words(row) for row in rows if row["found"]]
    worse = worse or ["No slice is significantly worse than the other outputs."]
    return Table(
        title=Title(data.name, f"{LABELS[measure]} of the judge by slice, {panel.aspect}"),
        rows=rows,
        shown=["metric", "column", "slice", "value", "low", "high", "n", "rest", "difference", "q", "found"],
        definitions={
            "value": f"{LABELS[measure]} in the slice, compared with {reference(panel, 'labels')}",
            "rest": f"{LABELS[measure]} in all other outputs",
            "q": "p corrected by Benjamini and Hochberg; significantly worse: q below "
            f"{number(false_discoveries, 2)} and a value below `rest`",
        },
        heads={"found": "significantly worse"},
        method=f"{level:.0%} confidence interval of each slice ({KINDS['lean']}); p of the slice against all other "
        "outputs: " + ("jackknife over clusters, Student's t." if clustered else "Fisher's exact test."),
        notes=[*worse, *notes, *clustered, *human_note(panel)],
        signature=signature(panel, measure=measure, fdr=number(false_discoveries, 2)),
    )


def _judge_slices(
    labeled: LabeledScores, judged: Mask, attributes: pl.DataFrame, measure: Measured, level: float
) -> tuple[list[Row], int]:
    """Return a row per slice of one judge, and the number of slices that are too small."""
    rows: list[Row] = []
    few = 0
    for column in attributes.columns:
        values = attributes[column].to_numpy()
        for value in dict.fromkeys(v for v in attributes[column] if v is not None):
            row = _slice(labeled, judged, values == value, measure, level)
            if row is None:
                few += 1
            else:
                rows.append({**row, "column": column, "slice": str(value)})
    return rows, few


def _mark_findings(rows: list[Row], false_discoveries: float) -> None:
    """Add q and whether a slice is worse than the rest, and sort the worst first."""
    for row, q in zip(rows, benjamini_hochberg([row["p"] for row in rows]), strict=True):
        row["q"] = float(q)
        row["found"] = bool(q < false_discoveries and row["value"] < row["rest"])
    rows.sort(key=lambda row: (not row["found"], row["value"]))


def _in_words(row: Row) -> str:
    return (
        f"{row['metric']} is significantly worse where {row['column']} is {row['slice']}: {LABELS[row['measure']]} "
        f"{share_text(row)}, {percent(row['rest'])} elsewhere."
    )


def _slice(labeled: LabeledScores, judged: Mask, inside: Mask, measure: Measured, level: float) -> Row | None:
    """Compare a slice with all other outputs; None if there are too few of either."""
    share = SHARES[measure]
    names = labeled.names

    def counts(part: Mask) -> np.ndarray:
        within = None if names is None else [n for n, there in zip(names, part, strict=True) if there]
        return cell_counts(labeled.passed[part], judged[part], within)

    here, there = counts(inside).sum(axis=0), counts(~inside).sum(axis=0)
    n, other = int(share.below(here)), int(share.below(there))
    if min(n, other) < FEWEST:
        return None
    figure = share_figures(counts(inside), clustered=names is not None, level=level)[measure]
    rest = float(share.value(there))
    if names is None:
        p = fisher_exact_test(int(share.over(here)), n, int(share.over(there)), other)
    else:
        p = _clustered(labeled, judged, inside, share.of, share.hits)
    return {
        **figure_row(labeled.judge, "", measure, figure),
        "rest": rest,
        "rest_n": other,
        "difference": figure.value - rest,
        "p": p,
    }


def _clustered(labeled: LabeledScores, judged: Mask, inside: Mask, of: tuple[int, ...], hits: tuple[int, ...]) -> float:
    cell = 2 * labeled.passed.astype(np.int64) + judged
    used, hit = np.isin(cell, of), np.isin(cell, hits)
    names, code = np.unique(np.asarray(labeled.clusters), return_inverse=True)
    kinds = [inside & hit, inside & ~hit, ~inside & hit, ~inside & ~hit]
    table = np.stack([np.bincount(code.reshape(-1)[used & kind], minlength=len(names)) for kind in kinds], axis=1)
    sides = [(table[:, part].sum(axis=1) > 0).sum() for part in (slice(0, 2), slice(2, 4))]
    return clustered_difference_test(table.astype(np.float64)) if min(sides) >= CLUSTERS else np.nan


def _attributes(data: Dataset, panel: Panel, labeled: LabeledScores, chosen: Sequence[str] | None) -> pl.DataFrame:
    """Return the columns that define slices as categories, one row per labeled output."""
    systems, inputs = labeled.index
    keys = pl.DataFrame({"system": [panel.systems[k] for k in systems], "input": [panel.inputs[k] for k in inputs]})
    columns = [c for c in data.samples.columns if c not in ("input", TRIAL_OF, panel.cluster_column)]
    for name in chosen or ():
        if name not in columns:
            raise data.no_column(name)
    frame = keys.join(data.samples.unique(KEY, keep="first"), on=KEY, how="left", maintain_order="left")
    categories: dict[str, pl.Series] = {}
    for column in chosen or columns:
        values = frame[column]
        if values.dtype.is_nested():
            continue
        if values.dtype == pl.String and (column in TEXTS or values.n_unique() > MAX_GROUPS):
            if column not in TEXTS and not chosen:
                continue  # an identifier, or a text that is not part of the task
            words = values.str.split(" ").list.len().cast(pl.Float64)
            categories[f"words in {column}"] = _thirds(words)
        elif values.dtype.is_numeric() and values.n_unique() > 10:
            categories[column] = _thirds(values.cast(pl.Float64))
        else:
            categories[column] = values.cast(pl.String)
    several = [s.alias(n) for n, s in categories.items() if s.drop_nulls().n_unique() > 1]
    if not several:
        raise NeedsMissing(
            f"no column is suitable to define slices of the labeled outputs; name one with {option('slice_columns')}.",
            code="unsuited_column",
        )
    return pl.DataFrame(several)


def _thirds(values: pl.Series) -> pl.Series:
    """Split values into low, middle and high at the terciles of the labeled outputs; the names have the limits."""
    present = values.drop_nulls().to_numpy()
    if not len(present):
        return values.cast(pl.String)
    cuts = np.unique(np.quantile(present, (1 / 3, 2 / 3)))
    tops = [f" up to {c:g}" for c in cuts[1:]] + [""]
    ends = [f"up to {cuts[0]:g}", *(f"above {c:g}{top}" for c, top in zip(cuts, tops, strict=True))]
    names = [f"{word} ({end})" for word, end in zip(THIRDS if len(cuts) == 2 else ("low", "high"), ends, strict=True)]
    place = np.searchsorted(cuts, np.nan_to_num(values.to_numpy(), nan=0.0), side="left")
    return pl.Series([None if v is None else names[k] for v, k in zip(values, place, strict=True)])
