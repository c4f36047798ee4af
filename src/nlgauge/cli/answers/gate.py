"""Is a judge or metric good enough? Limits for its agreement with people; passed, failed or undecided, for CI."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection

NEEDS_FILE = True
CODES = {"passed": 0, "failed": 1, "undecided": 3}


@with_data
def command(
    pick: Selection,
    minimum: Annotated[list[str], o.choice("--min", "The least value of each figure: kappa=.6,tnr=.8 or "
                                                    "input/kendall=.4.")],
    cluster: Annotated[str | None, o.choice("--cluster", "Column whose value several rows share that are not "
                                                         "independent (a conversation).")] = None,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    """Is a judge or metric good enough? Limits for its agreement with people; passed, failed or undecided, for CI.

    Exit code 0: every interval lies above its limit; 1: one lies below; 3: undecided, a limit lies inside an interval,
    and the table says how many labels would decide; 2: something to mend.

    [bold]Examples[/bold]

      nlgauge gate answers.csv --min kappa=.6,tnr=.8

      nlgauge gate answers.csv --min kappa=.6 --metrics my-judge -f md

      nlgauge gate scores.csv --min input/kendall=.4 --metrics bertscore
    """
    from nlgauge.door.gate import gate

    pick = replace(pick, data=pick.data.clustered(cluster)) if cluster else pick
    table = gate(pick, ",".join(minimum))
    o.show([table], format, out)
    if code := CODES[table.facts["verdict"]]:
        raise typer.Exit(code)
