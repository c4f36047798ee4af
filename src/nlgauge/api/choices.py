"""Questions asked of choices between two outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from nlgauge.api.questions import analyse

if TYPE_CHECKING:
    from nlgauge.stats.ranking.ballots import TieModel
    from nlgauge.table import Table
    from nlgauge.types import Names


def rank(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    ties: TieModel = "davidson",
    adjust: Literal["first", "style", "none"] = "first",
    interval: Literal["sandwich", "bootstrap"] = "sandwich",
) -> Table:
    """How strong is each system by choices between two outputs, and which are told apart? Bradley-Terry.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Selection
        With choices: columns such as model_a, model_b, winner.
    aspect : str or sequence of str, optional
        All by default.
    metrics : str or sequence of str, optional
        Metrics that stand beside people, choosing the higher score; models that chose themselves always do.
    ties : {'davidson', 'rao-kupper', 'half', 'drop'}
        How ties enter the model; 'half' is half a win for each.
    adjust : {'first', 'style', 'none'}
        Adjust for the first place; for the place, length, lists, headers and bold words; for nothing.
    interval : {'sandwich', 'bootstrap'}
        Both take choices on one input together.

    Returns
    -------
    Table
        `analyse("rank-effects", …)` shows place and style, `analyse("rank-sides", …)` which pairs of systems a judge
        ranks otherwise than people, `analyse("wins", …)` the matrix of wins.

    Examples
    --------
    >>> import nlgauge as ng
    >>> pairs = [("A", "B", 0.8), ("B", "C", 0.6), ("C", "A", 0.3)]
    >>> votes = [
    ...     {"question": f"{a}{b}{k}", "model_a": a, "model_b": b, "winner": "model_a" if k < 30 * share else "model_b"}
    ...     for a, b, share in pairs for k in range(30)
    ... ]
    >>> [(row["system"], round(row["value"], 2), row["tier"]) for row in ng.rank(votes)]
    [('A', 0.73, 1), ('B', -0.29, 2), ('C', -0.44, 2)]
    """
    return analyse("rank", data, aspect, metrics, ties=ties, adjust=adjust, interval=interval)
