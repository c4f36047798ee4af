"""Which biases has a judge that people do not have? Place, length, layout, own family, leniency, spread, halo.

Each check shows the judge's effect, what following people would explain of it, and the difference with its
interval; 'found' holds the false-alarm rate over all checks of a judge.

[bold]Examples[/bold]

  nlgauge bias judged.csv

  nlgauge bias judged.csv --metrics gpt-4o --family "gpt-*=gpt-4o"

  nlgauge bias judged.csv -o bias.svg
"""

from __future__ import annotations

from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    family: Annotated[list[str] | None, o.choice("--family", "Systems of the judge's own family: \"gpt-*=gpt-4o\" "
                                                             "(systems=judge).")] = None,
    reliability: Annotated[float | None, o.choice("--reliability", "Of people's ratings, where each output was rated "
                                                  "once and you know it.", min=0.01, max=1.0)] = None,
    cluster: o.Cluster = None,
    level: Annotated[float, o.choice("--level", "Share of data sets in which a judge without bias raises no alarm.",
                                     min=0.5, max=0.9999)] = 0.95,
) -> list[Table]:  # fmt: skip
    pick = pick.clustered(cluster)
    return pick.each("bias", family=family, reliability=reliability, level=level)
