"""Is a panel of judges better than the best single judge, and which cheap one?

Every judge, all of them by majority and by weights, and the best panel within the budget, chosen on one part of the
labelled rows and held against people on the other; how alike the judges' errors are; how differently they rank
systems.

[bold]Examples[/bold]

  nlgauge jury judged.csv --metrics gpt,llama,qwen

  nlgauge jury judged.csv --cost gpt=2.5,llama=0.3,qwen=0.2 --budget 1

  nlgauge jury scores.csv --measure global/pearson -f json
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NlgaugeError
from nlgauge.session import Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    cost: Annotated[list[str] | None, o.choice("--cost", "What each judge costs: gpt-4o=2.5,small=0.1; else from "
                                               "columns such as 'gpt-4o cost' or the store, else 1 each.")] = None,
    budget: Annotated[float | None, o.choice("--budget", "The most that the chosen panel may cost.")] = None,
    size: Annotated[int, o.choice("--size", "The most judges of the chosen panel.", min=2)] = 5,
    measure: Annotated[str | None, o.choice("--measure", "Of pass and fail a figure (kappa by default), of scores a "
                                                         "measure such as input/kendall.")] = None,
    people_pass_from: o.PeoplePassFrom = None,
    judge_pass_from: o.JudgePassFrom = None,
    cluster: o.Cluster = None,
    family: o.Family = None,
    prices: Annotated[Path | None, o.choice("--prices", "JSON with prices of a million tokens, for judges in the "
                                                        "store.")] = None,
    level: Annotated[float, o.choice("--level", "Share inside the intervals.", min=0.5, max=0.9999)] = 0.95,
) -> list[Table]:  # fmt: skip
    pick = pick.clustered(cluster).with_family(family)
    limits = {"people_pass_from": people_pass_from, "judge_pass_from": judge_pass_from, "level": level}
    tables = pick.each(
        "jury", cost=o.listed(cost), budget=budget, size=size, measure=measure, prices=prices, **limits
    )  # fmt: skip
    tables += pick.each("jury-errors", **limits)
    try:
        return tables + pick.each("complementarity")
    except NlgaugeError as error:  # one system: there is nothing to rank
        o.tell([f"rankings of systems are not compared: {error}"])
        return tables
