"""How good would people find these outputs? From their labels of a few and a judge's scores of all.

The mean rating or pass rate of every system with an interval: from the labels alone, with the judge's help (PPI++),
and what the judge alone says, which is no estimate. Several systems: also their differences and ranks.

[bold]Examples[/bold]

  nlgauge estimate log.csv --labels labels.csv

  nlgauge estimate log.csv --labels labels.csv --agreement

  nlgauge estimate log.csv --judge gpt_score --cluster conversation_id

  nlgauge estimate log.csv --labels labels.csv --probability label_probability
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NeedsMissing
from nlgauge.session import Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    judge: Annotated[list[str] | None, o.choice("--judge", "Judges whose scores help; all by default. Several become "
        "one prediction.")] = None,
    method: Annotated[str, o.choice("--method", "Of differences and ranks: ppi++, ppi or labels.")] = "ppi++",
    cluster: o.Cluster = None,
    probability: Annotated[str | None, o.choice("--probability", "Column with the probability with which a row was "
        "drawn to be labelled.")] = None,
    strata: Annotated[str | None, o.choice("--strata", "Column with the stratum from which labelled rows were "
        "drawn.")] = None,
    people_pass_from: Annotated[float | None, o.choice("--people-pass-from", "The lowest rating that passes: "
        "estimate a pass rate.")] = None,
    agreement: Annotated[bool, o.choice("--agreement", "Also: how well does each metric agree with people over all "
        "outputs?")] = False,
    margin: Annotated[float | None, o.choice("--margin", "Largest difference of the judge's mean error between "
        "systems that does not matter, in units of the labels; 5% of the scale by default.")] = None,
    level: Annotated[float, o.choice("--level", "Share inside the intervals.")] = 0.95,
) -> list[Table]:  # fmt: skip
    pick = pick.clustered(cluster).declared()
    if names := o.listed(judge):
        pick = replace(pick, metrics=names)
    design = {"probability": probability, "strata": strata, "people_pass_from": people_pass_from, "level": level}
    tables = pick.each("estimate", method=method, margin=margin, **design)
    if len(pick.data.systems) > 1:
        for part in ("differences", "ranks"):
            with suppress(NeedsMissing):  # one system with labels: nothing to compare
                tables += pick.each("estimate", method=method, part=part, **design)
    if agreement:
        tables += pick.each("sparse-agreement", probability=probability, strata=strata, level=level)
    return tables
