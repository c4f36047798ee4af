"""Compare metric scores with people's ratings: the metrics × measures table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.table import Table

NEEDS_FILE = True


def command(
    file: o.File,
    aspect: o.Aspects = None,
    measure: o.Measures = None,
    metrics: o.Metrics = None,
    by: o.By = None,
    keep_people: o.KeepPeople = False,
    system: o.System = None,
    input: o.Input = None,
    output: o.Output = None,
    human: o.Human = None,
    metric: o.MetricColumns = None,
    rater: o.Rater = None,
    lower: o.Lower = None,
    repeats: o.Repeats = "auto",
    encoding: o.Encoding = None,
    reader: o.Reader = None,
    seed: o.Seed = 0,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """Compare metric scores with people's ratings: the metrics × measures table.

    [bold]Examples[/bold]

      nlgauge meta scores.csv

      nlgauge meta scores.csv --aspect coherence --measure input/kendall,system/pearson -o table.tex

      nlgauge meta all.csv --by dataset,system --measure global/spearman --format csv
    """
    from nlgauge.data.card import card

    data = o.load(
        file, system=system, input=input, output=output, human=o.listed(human), metrics=o.listed(metric), rater=rater,
        lower=lower, repeats=repeats, encoding=encoding, reader=reader,
    )  # fmt: skip
    o.tell(card(data, keep_people))
    tables = correlate(
        data, o.listed(aspect), o.listed(measure), o.listed(metrics), o.listed(by), keep_people, seed
    )
    o.show(tables, format, out)


def correlate(
    data: Dataset,
    aspects: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    keep_people: bool = False,
    seed: int = 0,
) -> list[Table]:
    """One table per group and aspect; rows carry the group's values."""
    from nlgauge.errors import DataError, NeedsMissing

    if not data.aspects:
        data.aspect()
    tables, refused = [], []
    for group, part in data.by(*by) if by else [({}, data)]:
        for aspect in aspects or part.aspects:
            try:
                panel = part.panel(
                    data.aspect(aspect), metrics=metrics, keep_people=keep_people or "system" in group
                )
                table = panel.correlate(measures=measures, seed=seed)
            except (NeedsMissing, DataError) as error:
                if not by:
                    raise
                refused.append(str(error))
                continue
            table.rows = [{**group, **row} for row in table.rows]
            tables.append(table)
    if refused:
        o.tell(["not computed:", *refused])
    if not tables:
        raise NeedsMissing("nothing could be computed; see the reasons above.")
    return tables
