"""Did a metric or judge get worse between two runs? A table, words, and an exit code for CI.

Exit code 1: a metric dropped by more than --fail-drop, significantly; 0: none did; 2: that cannot be told, as a
metric vanished, lost its values or has too few inputs, or the files cannot be compared.

[bold]Examples[/bold]

  nlgauge diff old.results.json new.results.json

  nlgauge diff main.results.json branch.results.json --metric my-judge --fail-drop 0.03
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    old: Annotated[Path, typer.Argument(help="results.json of the earlier run.", metavar="OLD")],
    new: Annotated[Path, typer.Argument(help="results.json of the later run.", metavar="NEW")],
    measure: Annotated[str | None, o.choice("--measure", "The gate measure of both runs; for a check.")] = None,
    metric: Annotated[list[str] | None, o.choice("--metric", "Only these metrics (a,b or repeated).")] = None,
    aspect: o.Aspects = None,
    fail_drop: Annotated[float, o.choice("--fail-drop", "Drops up to this size never fail.", min=0.0)] = 0.02,
    alpha: Annotated[float, o.choice("--alpha", "A drop is significant below this p.", min=0.0, max=1.0)] = 0.05,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:  # fmt: skip
    from nlgauge.errors import NlgaugeError
    from nlgauge.report.changes import CANNOT_TELL, compare_results, verdict_words

    table = compare_results(
        old, new, measure=measure, metrics=o.listed(metric), aspects=o.listed(aspect), fail_drop=fail_drop, alpha=alpha,
        seed=seed,
    )  # fmt: skip
    o.show([table], format, out)
    code, words = verdict_words(table, fail_drop)
    if code == CANNOT_TELL:
        raise NlgaugeError(words)
    o.tell([words])
    if code:
        raise typer.Exit(code)
