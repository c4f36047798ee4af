"""Position bias in pairwise comparisons: share of the output shown first, and consistency over both orders."""

from __future__ import annotations

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.options import call
from nlgauge.stats.tests.two_samples import choice_test
from nlgauge.table import Row, Table, Title


@analysis("position", takes="dataset", question="Does a judge have a position bias in pairwise comparisons?")
def position(choice: Choice) -> Table:
    """Compute how often a judge or annotator chooses the output shown first.

    Returns
    -------
    Table
        One row per annotator (or model) and aspect: share of the decided comparisons that the first output wins,
        two-sided p of the test that it is 0.5, and the share of pairs shown in both orders with the same winner.

    Notes
    -----
    Comparisons on the same input are a cluster of the sign-flip test; without clusters it is a binomial test.
    """
    data = choice.data
    votes = data.comparisons
    if votes.is_empty():
        raise NeedsMissing(
            f"there are no pairwise comparisons; {call('judge FILE', mode='pairwise')} makes them.", code="no_choices"
        )
    if choice.aspects:
        votes = votes.filter(pl.col("aspect").is_in(choice.wanted))
    rows = [
        {
            "rater": rater if rater is not None else "annotators without IDs",
            "who": "model" if rater in data.models else "human",
            "aspect": aspect,
            **_biased(part),
        }
        for (rater, aspect), part in votes.group_by("rater", "aspect", maintain_order=True)
    ]
    return Table(
        title=Title(data.name, "position bias in pairwise comparisons"),
        rows=rows,
        heads={"rater": "annotator or model", "choices": "comparisons"},
        method="first: share of the comparisons without ties that the output shown first wins (0.5: no bias); p: "
        "two-sided sign-flip test, clustered by input. both orders: number of pairs shown in both orders; same: "
        "share of "
        "them with the same winner.",
        notes=[] if any(r["both_orders"] for r in rows) else ["no pair was shown in both orders."],
        signature=f"comparisons:{len(votes)}",
    )


def _biased(part: pl.DataFrame) -> Row:
    decided = part.filter(pl.col("preferred").is_in(["first", "second"]))
    clear, first = len(decided), len(decided.filter(pl.col("preferred") == "first"))
    signs = np.where(decided["preferred"].to_numpy() == "first", 1, -1)
    same, both = _consistency(part)
    return {
        "choices": len(part),
        "ties": len(part) - clear,
        "first": first / clear if clear else float("nan"),
        "p": choice_test(signs, decided["input"].to_numpy()),
        "both_orders": both,
        "same": same / both if both else float("nan"),
    }


def _consistency(part: pl.DataFrame) -> tuple[int, int]:
    """Return the number of pairs with the same winner in both orders, and of all pairs shown in both orders."""
    chosen = {}
    for row in part.iter_rows(named=True):
        winner = {"first": row["first"], "second": row["second"]}.get(row["preferred"], "tie")
        chosen[row["input"], row["first"], row["second"]] = winner
    twice = [k for k in chosen if k[1] < k[2] and (k[0], k[2], k[1]) in chosen]
    return sum(chosen[i, a, b] == chosen[i, b, a] for i, a, b in twice), len(twice)
