"""Is one metric really better than another? Ranks with significance, or all pairs.

[bold]Examples[/bold]

  nlgauge compare scores.csv --aspect coherence

  nlgauge compare scores.csv --measure system/pearson --test williams --pairs -o pairs.csv
"""

from __future__ import annotations

from typing import Annotated

from nlgauge.cli import _options as o
from nlgauge.cli._data import with_data
from nlgauge.session import Selection
from nlgauge.table import Table

test_option = o.panel("The test")


@with_data
def command(
    pick: Selection,
    measure: o.Measure = "input/pairwise-accuracy",
    cluster: o.Cluster = None,
    family: o.Family = None,
    test: Annotated[str, test_option("--test", "auto (would it hold for systems and inputs like these?), or "
                                               "permutation (these very outputs), williams, bootstrap.")] = "auto",
    how: Annotated[str | None, test_option("--how", "What is swapped or resampled: both, inputs, systems (or "
                                                    "cells); asks for the permutation test.")] = None,
    draws: Annotated[int | None, test_option("--draws", "Random draws (1000; system/… with auto: 2000).")] = None,
    correction: Annotated[
        str | None,
        test_option("--correction", "For many pairs: simultaneous (default of --test auto), holm, bh or none."),
    ] = None,
    profile: Annotated[str, test_option("--profile", "nlgauge, or as nlpstats, sacrerouge, mt-metrics-eval, "
                                                     "nlgcorreval.")] = "nlgauge",
    pairs: Annotated[bool, o.output("--pairs", "All pairs instead of ranks.")] = False,
) -> list[Table]:  # fmt: skip
    return pick.clustered(cluster).with_family(family).each(
        "significance" if pairs else "ranking", measure=measure, test=test, how=how, draws=draws,
        correction=correction, profile=profile,
    )  # fmt: skip
