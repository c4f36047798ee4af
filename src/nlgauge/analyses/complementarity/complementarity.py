"""Distances between the rankings of systems by metrics and human aspects (Colombo et al. 2023, Eq. 3 and 4, Fig. 2)."""

from __future__ import annotations

from functools import partial

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import finite_mean
from nlgauge.analyses.sides import Sides
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import number
from nlgauge.stats.ranking.rankings import RULES, Distances, Rule, rank_distances
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

SUMMARY = ("metric", "kind", "to_human", "to_metrics", "nearest", "nearest_at", "farthest", "farthest_at", "inputs")
MAX_MATRIX = 10  # the matrix is printed for at most this many rankings


@analysis(
    "complementarity",
    paper="colombo2023",
    takes="dataset",
    question="How differently do metrics and human ratings rank the systems?",
)
def complementarity(choice: Choice, *, distance: Rule = "tau-b") -> Table:
    """Compute how differently metrics and human aspects rank the systems of each input.

    Parameters
    ----------
    distance : {'tau-b', 'inversions', 'decided'}, default 'tau-b'
        Treatment of ties in the distance: `tau-b`; `inversions`, in which ties have distance 0 (Eq. 3 as written); or
        `decided`, which excludes tied pairs.

    Returns
    -------
    Table
        One row per aspect (marked H:) and metric: mean distance to the aspects and to the other metrics (Eq.
        4), nearest and farthest one. `facts["distance"]` holds all distances (Eq. 3), the matrix of Figure 2.

    Notes
    -----
    The normalized Kendall distance (1 − tau) / 2, mean over inputs: 0 for the same order of systems on every
    input, 0.5 for unrelated orders, 1 for the opposite order.

    References
    ----------
    Colombo et al. (2023), The Glass Ceiling of Automatic Evaluation in Natural Language Generation, Eq. 3 and 4,
    Figure 2.
    """
    data = choice.data
    sides = Sides.of(choice)
    if sides.panel.n_systems < 2 or len(sides.names) < 2:
        raise NeedsMissing(
            f"complementarity requires two systems and two rankings; found {sides.panel.n_systems} and "
            f"{len(sides.names)}.",
            code="too_few_systems",
        )
    found = rank_distances(sides.scores(), sides.human)
    mean = found.mean[distance]
    rows = _rows(sides, mean, found.inputs[distance])
    apart = {
        one: dict(zip(sides.names, line.tolist(), strict=True)) for one, line in zip(sides.names, mean, strict=True)
    }
    small = len(rows) <= MAX_MATRIX
    to_each = {name: partial(_distance_text, apart, name) for name in sides.names}
    return Table(
        title=Title(data.name, f"distance between the rankings of {sides.panel.n_systems} systems ({distance})"),
        rows=rows,
        shown=["metric", "to_human", "to_metrics", *to_each] if small else list(SUMMARY),
        heads={name: name for name in sides.names},
        cells={**to_each},
        facts={"distance": apart},
        definitions={
            "distance": f"mean over inputs of the normalized Kendall distance; {distance}: {RULES[distance]}",
            "to human, to metrics": "mean distance to the (other) aspects, to the (other) metrics",
        },
        method=f"{sides.panel.n_systems} systems × {sides.panel.n_inputs} inputs; an input counts for a pair if "
        "both rank at least two systems. Block means with 95% confidence intervals (jackknife over inputs).",
        notes=[*_blocks(found), *_dropped(found.inputs[distance], sides), *_notes(sides), *sides.remarks()],
        signature=sides.signature(distance=distance),
    )


def _rows(sides: Sides, mean: Array, inputs: np.ndarray) -> list[Row]:
    names, human = sides.names, sides.human
    rows: list[Row] = []
    for k, name in enumerate(names):
        others = np.arange(len(names)) != k
        away = np.where(others, mean[k], np.nan)
        row: Row = {
            "metric": name,
            "kind": "human" if human[k] else "automatic",
            "to_human": finite_mean(mean[k][others & human]),
            "to_metrics": finite_mean(mean[k][others & ~human]),
        }
        known = np.isfinite(away).any()
        near, far = (int(np.nanargmin(away)), int(np.nanargmax(away))) if known else (k, k)
        row |= {
            "nearest": names[near] if known else None,
            "nearest_at": float(away[near]),
            "farthest": names[far] if known else None,
            "farthest_at": float(away[far]),
        }
        # Over the partners with a defined distance, so that a constant metric does not affect the others.
        counted = inputs[k][others][inputs[k][others] > 0]
        row["inputs"] = int(counted.min()) if len(counted) else 0
        rows.append(row)
    return rows


def matrix(table: Table) -> tuple[list[str], list[bool], list[list[float]]]:
    """Return names, a mask of the human aspects, and the distances, from the rows of a table."""
    names = [row["metric"] for row in table]
    apart = table.facts["distance"]
    return names, [row["kind"] == "human" for row in table], [[apart[a][b] for b in names] for a in names]


def _distance_text(apart: dict[str, dict[str, float]], name: str, row: Row) -> str:
    return number(apart[row["metric"]][name])


def _blocks(found: Distances) -> list[str]:
    """Return the block means under every rule for ties, one line per block."""
    lines = []
    for block, first in found.blocks["tau-b"].items():
        each = [
            f"{rule} {number(b.value)} [{number(b.low)}, {number(b.high)}]"
            for rule in RULES
            if (b := found.blocks[rule].get(block))
        ]
        pairs = f"{first.pairs} pair" + "s" * (first.pairs != 1)
        lines.append(f"{block}, mean of {pairs}: " + ", ".join(each) + ".")
    return lines


def _dropped(inputs: np.ndarray, sides: Sides) -> list[str]:
    fewest = int(inputs.min())
    if fewest == sides.panel.n_inputs:
        return []
    i, j = np.unravel_index(int(np.argmin(inputs)), inputs.shape)
    return [
        f"up to {sides.panel.n_inputs - fewest} of {sides.panel.n_inputs} inputs have no distance for some pair (one "
        "ranking ties "
        f"all systems, or fewer than two were scored; most for {sides.names[i]} and {sides.names[j]})."
    ]


def _notes(sides: Sides) -> list[str]:
    notes = []
    if len(sides.humans) == 1:
        notes.append("there is one aspect, so there is no human–human block.")
    if not sides.panel.metrics:
        notes.append("there are no metric scores, only human rankings.")
    if sides.panel.n_systems == 2:
        notes.append(
            "with two systems each distance is 0 or 1, so the mean is the share of inputs with a reversed order."
        )
    return notes
