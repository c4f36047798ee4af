"""Where is the judge worst? Its verdicts beside people's in every part of the data that a column makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.verdicts._labelled import (
    Labelled,
    cluster_notes,
    figure_row,
    judge_verdicts,
    no_verdicts,
    people_pass,
    percent,
    share_text,
)
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.data.units import TRIAL_OF
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.number import number
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.two_by_two import CLUSTERS, FEWEST, SHARES, cell_counts, share_figures
from nlgauge.stats.tests.corrections import benjamini_hochberg
from nlgauge.stats.tests.two_shares import clustered_difference_test, fisher_exact_test
from nlgauge.table import Row, Table, Title
from nlgauge.types import Mask

Measured = Literal["agreement", "fail_recall", "pass_recall"]
WORDS = {
    "agreement": "judge and people say the same",
    "fail_recall": "of those people failed, the judge failed",
    "pass_recall": "of those people passed, the judge passed",
}
TEXTS = ("output", "source", "context", "references")
MAX_GROUPS = 30  # different values that still are groups
THIRDS = ("low", "middle", "high")


@analysis("slices", question="Where is the judge worst?", takes="dataset")
def slices(
    choice: Choice,
    *,
    aspect: str | None = None,
    slice_columns: Sequence[str] | str | None = None,
    measure: Measured = "agreement",
    people_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    false_discoveries: float = 0.05,
    level: float = 0.95,
) -> Table:
    """Find the parts of the data on which a judge is worst.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.
    aspect : str, optional
        Aspect of the human labels; may be left out where there is only one.
    slice_columns : str or sequence of str, optional
        Columns that make slices; by default all that can.
    measure : {'agreement', 'fail_recall', 'pass_recall'}, default 'agreement'
        Share to compare: `agreement`, recall on failures (`fail_recall`) or on passes (`pass_recall`).
    people_pass_from : float, optional
        Lowest human rating that counts as pass; required where there are more than two values.
    judge_pass_from : float, optional
        Lowest score of a judge that counts as pass; required where it gave more than two values.
    false_discoveries : float, default 0.05
        Largest expected share of wrong findings among all slices that are found worse (false discovery rate).
    level : float, default 0.95
        Level of the confidence intervals.

    Returns
    -------
    Table
        One row per judge and slice, the worst first: the share with its interval, the share in all other
        outputs, p, q, and whether it is found worse.

    Notes
    -----
    Columns with words or few values make a slice of each value; numbers are cut in thirds, texts by their number
    of words. p is Fisher's exact test (clusters left out in turn, where outputs share an input); q corrects it
    over all slices (Benjamini and Hochberg 1995).

    Examples
    --------
    $ nlgauge analyze slices answers.csv --slice-columns topic,language
    """
    data = choice.data
    if measure not in WORDS:
        raise NlgaugeError(f"no measure '{measure}' of slices; use {', '.join(WORDS)}.")
    panel = choice.panel(aspect, canonical=True)
    people = people_pass(panel, people_pass_from)
    chosen = [slice_columns] if isinstance(slice_columns, str) else slice_columns
    rows: list[Row] = []
    few, clustered = 0, list[str]()
    judged, refused = judge_verdicts(panel, people, None, judge_pass_from)
    for mine, passed, _ in judged:
        more, lacking = _judge_slices(mine, passed, _attributes(data, panel, mine, chosen), measure, level)
        rows += [{**row, "aspect": panel.aspect} for row in more]
        few += lacking
        clustered = cluster_notes(panel, mine.clusters)
    notes = [*people.notes, *(f"{mine.judge}: {text}" for mine, _, text in judged)]
    notes += [f"left out: {no_verdicts(refused)}"] if refused else []
    if not rows:
        few_labels = f"no slice has {FEWEST} {SHARES[measure].rows} inside and outside; more labels are needed."
        raise NeedsMissing(
            few_labels if few else " ".join(notes),
            data=data.name,
            aspect=panel.aspect,
            code="too_few_labels" if few else "not_binary",
        )
    _mark_findings(rows, false_discoveries)
    if few:
        notes.append(f"{few:,} slices with fewer than {FEWEST} {SHARES[measure].rows} inside or outside are left out.")
    worse = [_in_words(row) for row in rows if row["found"]]
    worse = worse or ["no slice is surely worse than the rest: differences like these come about by chance."]
    return Table(
        title=Title(
            data.name, f"where the judge is worst beside {panel.rated_by} on {panel.aspect} ({WORDS[measure]})"
        ),
        rows=rows,
        shown=["metric", "column", "slice", "value", "low", "high", "n", "rest", "difference", "q", "found"],
        definitions={
            "value": f"{WORDS[measure]}, in the slice",
            "rest": "the same share in all other rows",
            "q": f"p after Benjamini and Hochberg; below {number(false_discoveries, 2)} and worse than the rest "
            "is found",
        },
        method=f"{level:.0%} intervals of each slice by itself ({KINDS['lean']}); p of the slice against all "
        "other rows: " + ("whole clusters left out in turn, Student's t." if clustered else "Fisher's exact test."),
        notes=[*worse, *notes, *clustered, *people_note(panel)],
        signature=signature(panel, measure=measure, fdr=number(false_discoveries, 2)),
    )


def _judge_slices(
    mine: Labelled, judged: Mask, attributes: pl.DataFrame, measure: Measured, level: float
) -> tuple[list[Row], int]:
    """Return a row per slice of one judge, and the number of slices that are too small."""
    rows: list[Row] = []
    few = 0
    for column in attributes.columns:
        values = attributes[column].to_numpy()
        for value in dict.fromkeys(v for v in attributes[column] if v is not None):
            row = _slice(mine, judged, values == value, measure, level)
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
        f"worse where {row['column']} is {row['slice']}: {WORDS[row['measure']]} {share_text(row)}; elsewhere "
        f"{percent(row['rest'])} ({row['metric']})."
    )


def _slice(mine: Labelled, judged: Mask, inside: Mask, measure: Measured, level: float) -> Row | None:
    """One slice beside all other rows; None where there are too few of either."""
    share = SHARES[measure]
    names = mine.names

    def counts(part: Mask) -> np.ndarray:
        within = None if names is None else [n for n, there in zip(names, part, strict=True) if there]
        return cell_counts(mine.passed[part], judged[part], within)

    here, there = counts(inside).sum(axis=0), counts(~inside).sum(axis=0)
    n, other = int(share.below(here)), int(share.below(there))
    if min(n, other) < FEWEST:
        return None
    found = share_figures(counts(inside), clustered=names is not None, level=level)[measure]
    rest = float(share.value(there))
    if names is None:
        p = fisher_exact_test(int(share.over(here)), n, int(share.over(there)), other)
    else:
        p = _clustered(mine, judged, inside, share.of, share.hits)
    return {
        **figure_row(mine.judge, "", measure, found),
        "rest": rest,
        "rest_n": other,
        "difference": found.value - rest,
        "p": p,
    }


def _clustered(mine: Labelled, judged: Mask, inside: Mask, of: tuple[int, ...], hits: tuple[int, ...]) -> float:
    cell = 2 * mine.passed.astype(np.int64) + judged
    used, hit = np.isin(cell, of), np.isin(cell, hits)
    names, code = np.unique(np.asarray(mine.clusters), return_inverse=True)
    kinds = [inside & hit, inside & ~hit, ~inside & hit, ~inside & ~hit]
    table = np.stack([np.bincount(code.reshape(-1)[used & kind], minlength=len(names)) for kind in kinds], axis=1)
    sides = [(table[:, part].sum(axis=1) > 0).sum() for part in (slice(0, 2), slice(2, 4))]
    return clustered_difference_test(table.astype(np.float64)) if min(sides) >= CLUSTERS else np.nan


def _attributes(data: Dataset, panel: Panel, mine: Labelled, chosen: Sequence[str] | None) -> pl.DataFrame:
    """The columns that make slices, one row per labelled row, as words."""
    systems, inputs = mine.at
    keys = pl.DataFrame({"system": [panel.systems[k] for k in systems], "input": [panel.inputs[k] for k in inputs]})
    known = [c for c in data.samples.columns if c not in ("input", TRIAL_OF, panel.cluster_column)]
    for name in chosen or ():
        if name not in known:
            raise data.no_column(name)
    frame = keys.join(data.samples.unique(KEY, keep="first"), on=KEY, how="left", maintain_order="left")
    found: dict[str, pl.Series] = {}
    for column in chosen or known:
        values = frame[column]
        if values.dtype.is_nested():
            continue
        if values.dtype == pl.String and (column in TEXTS or values.n_unique() > MAX_GROUPS):
            if column not in TEXTS and not chosen:
                continue  # an id, or a text that is no part of the task
            words = values.str.split(" ").list.len().cast(pl.Float64)
            found[f"words in {column}"] = _thirds(words)
        elif values.dtype.is_numeric() and values.n_unique() > 10:
            found[column] = _thirds(values.cast(pl.Float64))
        else:
            found[column] = values.cast(pl.String)
    several = [s.alias(n) for n, s in found.items() if s.drop_nulls().n_unique() > 1]
    if not several:
        raise NeedsMissing(
            "no column makes slices of the labelled rows; name one with slice_columns=….",
            data=data.name,
            code="unsuited_column",
        )
    return pl.DataFrame(several)


def _thirds(values: pl.Series) -> pl.Series:
    """Low, middle and high by thirds of the labelled rows, with their ends."""
    there = values.drop_nulls().to_numpy()
    if not len(there):
        return values.cast(pl.String)
    cuts = np.unique(np.quantile(there, (1 / 3, 2 / 3)))
    tops = [f" up to {c:g}" for c in cuts[1:]] + [""]
    ends = [f"up to {cuts[0]:g}", *(f"above {c:g}{top}" for c, top in zip(cuts, tops, strict=True))]
    names = [f"{word} ({end})" for word, end in zip(THIRDS if len(cuts) == 2 else ("low", "high"), ends, strict=True)]
    place = np.searchsorted(cuts, np.nan_to_num(values.to_numpy(), nan=0.0), side="left")
    return pl.Series([None if v is None else names[k] for v, k in zip(values, place, strict=True)])
