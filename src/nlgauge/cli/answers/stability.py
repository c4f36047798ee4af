"""Which measure can be trusted on my data? Discriminative power and ranking consistency of all measures.

[bold]Example[/bold]

  nlgauge stability scores.csv --aspect coherence
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
    measure: o.Measures = None,
    test: Annotated[str, o.choice("--test", "permutation or williams.")] = "permutation",
    draws: Annotated[int, o.choice("--draws", "Draws of each test.")] = 1000,
    trials: Annotated[int, o.choice("--trials", "Random halves of the inputs.")] = 1000,
    profile: Annotated[str, o.choice("--profile", "As for compare.")] = "nlgauge",
) -> list[Table]:
    return pick.each("stability", measures=o.listed(measure), test=test, draws=draws, trials=trials, profile=profile)
