"""Can people agree, and how high could a metric come? ICC, alpha, kappa; the human ceiling; standing in for a
rater.

[bold]Example[/bold]

  nlgauge agree ratings.csv --rater annotator
"""

from __future__ import annotations

from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.errors import NeedsMissing
from nlgauge.session import Selection
from nlgauge.table import Table


@with_data
def command(
    pick: Selection,
    level: Annotated[
        str, o.choice("--level", "Scale of the ratings: nominal, ordinal, interval or ratio.")
    ] = "interval",
    draws: Annotated[int, o.choice("--draws", "Bootstrap draws.")] = 1000,
    bootstrap: Annotated[str, o.choice("--bootstrap", "What alpha's interval resamples: units (outputs), or "
                                                      "pairs of ratings, as the KALPHA macro does.")] = "units",
) -> list[Table]:  # fmt: skip
    tables = list(pick.each("agreement", level=level, draws=draws, bootstrap=bootstrap))
    for analysis in ("ceiling", "replacement") if pick.data.metrics else ():
        try:
            tables += pick.each(analysis)
        except NeedsMissing as error:
            o.tell([f"{analysis}: {error}"])
    return tables
