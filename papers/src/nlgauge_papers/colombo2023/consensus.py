"""Borda and Kemeny consensus rankings of humans and of metrics, and the distance of each metric from them.

Section 2 of Colombo et al. (2023).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from nlgauge import Table
from nlgauge.plugins import Choice, NeedsMissing, Row, Sides, Title, analysis, number
from nlgauge.stats import Consensus, order_distance, system_representation

Of = Literal["systems", "inputs"]
DEFINITIONS = {
    "Borda": "share of its comparisons that a system wins, a tie counting half: the order of the rank sums of Eq. 1",
    "Kemeny": "the order that contradicts the fewest votes",
}


@analysis(
    "consensus",
    paper="colombo2023",
    takes="dataset",
    question="Which system is best by all human ratings and by all metrics together?",
)
def consensus(choice: Choice, *, of: Of = "systems", seconds: float = 20.0) -> Table:
    """Rank the systems by all aspects together and by all metrics together.

    Each aspect (or metric) has one vote per input on the order of each pair of systems.

    Parameters
    ----------
    of : {'systems', 'inputs'}
        What to rank: `systems` (Eq. 1) or `inputs` (Eq. 2).
    seconds : float, default 20.0
        Time limit in seconds of the search for the Kemeny order. A note says if the order is not proved to be optimal.

    Returns
    -------
    Table
        One row per system: its place by humans and by metrics, Borda's and Kemeny's.

    Notes
    -----
    Section 2 of Colombo et al. (2023).
    """
    data = choice.data
    sides = Sides.of(choice)
    names = _names(sides, of)
    result = _both(sides, of, seconds)
    rows: list[Row] = []
    for k, name in enumerate(names):
        row: Row = {of[:-1]: name}
        for side, c in result.items():
            row |= {
                f"{side}_borda": int(c.place[k]),
                f"{side}_kemeny": int(c.kemeny_place[k]),
                f"{side}_share": float(c.share[k]),
            }
        rows.append(row)
    first = next(iter(result))
    rows.sort(key=lambda row: (row[f"{first}_kemeny"], row[of[:-1]]))
    return Table(
        title=Title(data.name, f"consensus of {' and of '.join(result)} on the {of}"),
        rows=rows,
        heads={f"{side}_{name.lower()}": f"{side} {name}" for side in result for name in DEFINITIONS},
        definitions=DEFINITIONS,
        method=f"A vote is the order of two {of} by one aspect or metric on one "
        f"{'input' if of == 'systems' else 'system'} ({sides.panel.n_systems} systems × {sides.panel.n_inputs} "
        f"inputs, {len(sides.humans)} aspects, {len(sides.panel.metrics)} metrics); ties and missing scores are votes "
        "for neither.",
        notes=[*(_proof(side, c) for side, c in result.items()), *_between(result), *sides.remarks()],
        signature=sides.signature(of=of),
    )


@analysis(
    "consensus-distance",
    paper="colombo2023",
    takes="dataset",
    question="How far is each metric from the consensus of the human ratings and from that of the metrics?",
)
def consensus_distance(choice: Choice, *, seconds: float = 20.0) -> Table:
    """Compute the distance of each ranking of the systems to the consensus of humans and to that of the metrics.

    Parameters
    ----------
    seconds : float, default 20.0
        Time limit in seconds of the search for the Kemeny order.

    Returns
    -------
    Table
        One row per aspect (marked H:) and metric, the nearest to humans first.

    Notes
    -----
    (1 − tau-b) / 2 between the rank sums of Eq. 1 of Colombo et al. (2023) and the Kemeny consensus.
    """
    data = choice.data
    sides = Sides.of(choice)
    result = _both(sides, "systems", seconds)
    sums = system_representation(sides.scores())
    rows: list[Row] = []
    for name, human, own in zip(sides.names, sides.human, sums, strict=True):
        row: Row = {"metric": name, "kind": "human" if human else "automatic"}
        row |= {f"from_{side}": order_distance(own, c.kemeny_place) for side, c in result.items()}
        rows.append(row)
    first = f"from_{next(iter(result))}"
    rows.sort(key=lambda row: (np.nan_to_num(row[first], nan=2), row["metric"]))
    return Table(
        title=Title(data.name, "distance of each ranking of the systems from the consensus"),
        rows=rows,
        definitions={
            "distance": "(1 − tau-b) / 2 between rank sums (Eq. 1) and the Kemeny consensus; 0 the same order"
        },
        method=f"{sides.panel.n_systems} systems × {sides.panel.n_inputs} inputs; each aspect has its votes in the "
        "human consensus and each metric in that of the metrics, its own included.",
        notes=[*(_proof(side, c) for side, c in result.items()), *_between(result), *sides.remarks()],
        signature=sides.signature(),
    )


def _both(sides: Sides, of: Of, seconds: float) -> dict[str, Consensus]:
    results = {}
    for side, scores in (("human", sides.people()), ("metrics", sides.automatic())):
        if len(scores):
            results[side] = Consensus.of(scores if of == "systems" else scores.transpose(0, 2, 1), seconds=seconds)
    if len(_names(sides, of)) < 2:
        raise NeedsMissing(f"a ranking needs at least two {of}.", data=sides.panel.name, code="too_few_systems")
    return results


def _names(sides: Sides, of: Of) -> tuple[str, ...]:
    return sides.panel.systems if of == "systems" else sides.panel.inputs


def _between(found: dict[str, Consensus]) -> list[str]:
    if len(found) < 2:
        return ["no metric scores: the human consensus only."]
    people, metrics = found["human"], found["metrics"]
    return [
        f"humans and metrics: distance {number(order_distance(people.kemeny_place, metrics.kemeny_place))} between "
        f"the Kemeny orders, {number(order_distance(people.share, metrics.share))} between Borda's."
    ]


def _proof(side: str, c: Consensus) -> str:
    share = f"{side}: Kemeny's order contradicts {c.kemeny.against} of {c.votes} votes"
    if c.kemeny.exact:
        return f"{share}, the fewest possible (proved)."
    return (
        f"{share}; no order contradicts fewer than {c.kemeny.bound}, so it may be off by "
        f"{c.kemeny.against - c.kemeny.bound}."
    )
