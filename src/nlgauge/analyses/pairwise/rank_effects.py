"""Effects of presentation order, length and formatting on pairwise comparisons."""

from __future__ import annotations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses.checklist.easy_hard_pairs import HUMAN
from nlgauge.analyses.pairwise._rankings import (
    Adjust,
    SideRanking,
    annotator_notes,
    effect_names,
    limit_to_annotators,
    method,
    rankings,
    remarks,
)
from nlgauge.analyses.pairwise._sides import sides_of
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import percent, row_interval
from nlgauge.options import option
from nlgauge.stats.ranking.ballots import TieModel
from nlgauge.stats.ranking.bradley_terry import expected_score
from nlgauge.table import Row, Table, Title

LABELS = {
    "first_place": "shown first",
    "length": "longer",
    "lists": "more list items",
    "headers": "more headings",
    "bold": "more bold text",
}


@analysis(
    "rank-effects",
    takes="dataset",
    question="Do presentation order, length and formatting affect pairwise comparisons?",
)
def rank_effects(
    choice: Choice, *, aspect: str | None = None, ties: TieModel = "davidson", adjust: Adjust = "first"
) -> Table:
    """Estimate how presentation order, length and formatting affect pairwise preferences.

    Returns
    -------
    Table
        One row per side (human votes, models) and effect: log-odds with interval and p, and the win rate against an
        output of an equally strong system.

    Notes
    -----
    Effects of style are per standard deviation of the relative difference between the two outputs.
    """
    data = choice.data
    votes = sides_of(choice, aspect, adjust == "style")
    ranked = rankings(votes, ties, adjust, "sandwich", 0)
    rows = [row for r in ranked for row in _rows(votes.aspect, r, effect_names(votes, r))]
    if not rows:
        raise NeedsMissing(
            " ".join(remarks(votes, ranked, adjust)) or f"there is no effect with {option('adjust', 'none')}."
        )
    group = ["group"] if len(ranked) > len(votes.sides) else []
    return Table(
        title=Title(data.name, f"effects of presentation order and style on {votes.aspect}"),
        rows=rows,
        shown=["side", *group, "measure", "win_chance", "value", "p", "n"],
        heads={"measure": "effect", "value": "log-odds", "win_chance": "win rate"},
        cells={
            "side": lambda r: "human votes" if r["side"] == HUMAN else r["side"],
            "measure": lambda r: LABELS[r["measure"]],
            "value": row_interval,
            "win_chance": lambda r: percent(r["win_chance"]),
        },
        method=f"{method(votes, ranked, ties, adjust, 'sandwich')} p: two-sided, not corrected for several effects.",
        definitions={
            "win rate": "probability to be preferred to an output of an equally strong system because it is shown "
            "first, "
            "or has one standard deviation more of the feature; ties count half"
        },
        notes=[*remarks(votes, ranked, adjust), *limit_to_annotators(ranked), *annotator_notes(ranked)],
        signature=f"aspect:{votes.aspect}|ties:{ties}|adjust:{adjust}",
    )


def _rows(aspect: str, r: SideRanking, names: list[str]) -> list[Row]:
    from scipy.special import stdtr

    size = len(r.systems)
    rows = []
    for k, name in enumerate(names):
        value, error = float(r.made.effects[k]), float(np.sqrt(r.covariance[size + k, size + k]))
        tested = r.tests is not None
        rows.append(
            {
                "side": r.side,
                "group": r.group,
                "aspect": aspect,
                "measure": name,
                "value": value,
                "low": value - r.factor * error if tested else float("nan"),
                "high": value + r.factor * error if tested else float("nan"),
                "p": float(2 * stdtr(r.made.freedom, -abs(value) / error)) if tested else float("nan"),
                "win_chance": float(expected_score(np.array(value), r.made.tie, r.made.ties)),
                "n": len(r.ballots),
                "reason": None if tested else f"{r.made.units} inputs",
            }
        )
    return rows
