"""Does a judge prefer what it is shown first? Pairwise choices in both orders."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from scipy.stats import binomtest

from nlgauge.analyses import analysis
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.table import Row, Table


@analysis("position", takes="dataset", question="Does a judge prefer what it is shown first?")
def position(data: Dataset, *, aspects: Sequence[str] | None = None) -> Table:
    """Share of choices for the first shown, and how often a pair gets the same answer in both orders."""
    votes = data.comparisons
    if votes.is_empty():
        raise NeedsMissing(
            f"{data.name}: no pairwise choices; `nlgauge judge FILE --mode pairwise` makes them."
        )
    if aspects:
        votes = votes.filter(pl.col("aspect").is_in([data.aspect(a) for a in aspects]))
    rows = [
        {"rater": rater if rater is not None else "raters without names", "who": "model" if rater in data.models else "people",
         "aspect": aspect, **_biased(part)}
        for (rater, aspect), part in votes.group_by("rater", "aspect", maintain_order=True)
    ]  # fmt: skip
    return Table(
        title=f"{data.name}: order of showing and choice",
        rows=rows,
        method="first: share of the choices that are no ties and fall on the output shown first (.5: no bias), p of a two-sided "
        "binomial test. both orders: pairs shown both ways; same: those with one answer whatever the order.",
        notes=[] if any(r["both orders"] for r in rows) else ["no pair was shown in both orders."],
        signature=f"comparisons:{len(votes)}",
    )


def _biased(part: pl.DataFrame) -> Row:
    first, second = (len(part.filter(pl.col("preferred") == side)) for side in ("first", "second"))
    clear = first + second
    same, both = _consistency(part)
    return {
        "choices": len(part), "ties": len(part) - clear, "first": first / clear if clear else float("nan"),
        "p": float(binomtest(first, clear).pvalue) if clear else float("nan"), "both orders": both,
        "same": same / both if both else float("nan"),
    }  # fmt: skip


def _consistency(part: pl.DataFrame) -> tuple[int, int]:
    """Pairs with one answer in both orders, and all pairs that were shown in both."""
    chosen = {}
    for row in part.iter_rows(named=True):
        winner = {"first": row["first"], "second": row["second"]}.get(row["preferred"], "tie")
        chosen[row["input"], row["first"], row["second"]] = winner
    twice = [k for k in chosen if k[1] < k[2] and (k[0], k[2], k[1]) in chosen]
    return sum(chosen[i, a, b] == chosen[i, b, a] for i, a, b in twice), len(twice)
