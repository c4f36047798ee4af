"""Does a judge prefer what it is shown first? Pairwise choices in both orders."""

from __future__ import annotations

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.options import call
from nlgauge.stats.tests.two_samples import choice_test
from nlgauge.table import Row, Table, Title


@analysis("position", takes="dataset", question="Does a judge prefer what it is shown first?")
def position(choice: Choice) -> Table:
    """Compute how often a judge or annotator chooses the output shown first.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.

    Returns
    -------
    Table
        One row per annotator (or model) and aspect: share of decided choices that fall on the first output,
        two-sided p that it is 0.5, and of pairs shown in both orders the share with the same answer.

    Notes
    -----
    The choices on one input change sides together in the test; it is a binomial test where no input has two
    choices.
    """
    data = choice.data
    votes = data.comparisons
    if votes.is_empty():
        raise NeedsMissing(
            f"no pairwise choices; {call('judge FILE', mode='pairwise')} makes them.", data=data.name, code="no_choices"
        )
    if choice.aspects:
        votes = votes.filter(pl.col("aspect").is_in(choice.wanted))
    rows = [
        {
            "rater": rater if rater is not None else "raters without names",
            "who": "model" if rater in data.models else "people",
            "aspect": aspect,
            **_biased(part),
        }
        for (rater, aspect), part in votes.group_by("rater", "aspect", maintain_order=True)
    ]
    return Table(
        title=Title(data.name, "order of showing and choice"),
        rows=rows,
        method="first: share of the choices that are no ties and fall on the output shown first (.5: no bias), "
        "two-sided p: choices on one input change sides together (a binomial test where no input has two choices). "
        "both orders: pairs shown both ways; same: those with one answer whatever the order.",
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
    """Pairs with one answer in both orders, and all pairs that were shown in both."""
    chosen = {}
    for row in part.iter_rows(named=True):
        winner = {"first": row["first"], "second": row["second"]}.get(row["preferred"], "tie")
        chosen[row["input"], row["first"], row["second"]] = winner
    twice = [k for k in chosen if k[1] < k[2] and (k[0], k[2], k[1]) in chosen]
    return sum(chosen[i, a, b] == chosen[i, b, a] for i, a, b in twice), len(twice)
