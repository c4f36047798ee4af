"""Is a judge good enough? Limits for its agreement with people; passed, failed or undecided, for CI.

Exit code 0: every interval lies above its limit; 1: one lies below after Holm correction over all limits; 3:
undecided, and the table says how many labels would decide; 2: usage or data error.

[bold]Examples[/bold]

  nlgauge gate answers.csv --min kappa=.6,tnr=.8

  nlgauge gate answers.csv --min kappa=.6 --metrics my-judge -f md     (for a pull request)

  nlgauge gate answers.csv --against main.results.json --max-drop kappa=.05

  nlgauge gate answers.csv --min kappa=.6 --looks 12     (run monthly for a year, with more labels each time)

  nlgauge gate log.csv --labels labels.csv --min pass_rate=.8     (the outputs, not the judge)

  nlgauge gate scores.csv --min input/kendall=.4 --metrics bertscore
"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection

CODES = {"passed": 0, "failed": 1, "undecided": 3}


@with_data
def command(
    pick: Selection,
    minimum: Annotated[list[str] | None, o.choice("--min", "The least value of each figure: kappa=.6,tnr=.8, "
                                                           "input/kendall=.4, pass_rate=.8 or mean=3.5.")] = None,
    against: Annotated[str | None, o.choice("--against", "An earlier run: its results.json, or its data.",
                                            metavar="FILE")] = None,
    max_drop: Annotated[list[str] | None, o.choice("--max-drop", "How far each figure may have dropped since then: "
                                                                 "kappa=.05.")] = None,
    looks: Annotated[int | None, o.choice("--looks", "Number of planned looks at a growing label set; the error rate "
                                          "holds over all of them.", min=1)] = None,
    cluster: o.Cluster = None,
    family: o.Family = None,
    people_pass_from: o.PeoplePassFrom = None,
    judge_pass_from: o.JudgePassFrom = None,
    allow_undecided: Annotated[bool, o.choice("--allow-undecided", "Exit code 0 instead of 3 where the gate is "
                                                                   "undecided.")] = False,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    from nlgauge.api.gate import gate

    table = gate(
        pick.clustered(cluster).with_family(family), _joined(minimum), against=against, max_drop=_joined(max_drop),
        looks=looks, people_pass_from=people_pass_from, judge_pass_from=judge_pass_from,
    )  # fmt: skip
    o.show([table], format, out)
    code = CODES[table.facts["verdict"]]
    if code and not (allow_undecided and code == CODES["undecided"]):
        raise typer.Exit(code)


def _joined(limits: list[str] | None) -> str | None:
    return ",".join(limits) if limits else None
