"""What is which in my file? Every column, the role it gets and why, and the words that change it.

[bold]Examples[/bold]

  nlgauge data check ratings.csv

  nlgauge data check ratings.csv --system llm --human +stars     (what it would be with these words)

  nlgauge data check ratings.csv --format json
"""

from __future__ import annotations

from nlgauge.cli import _options as o
from nlgauge.cli._data import Columns, with_columns


@with_columns
def command(columns: Columns, format: o.Format = "table", out: o.Out = None) -> None:
    import nlgauge as ng

    o.show([ng.check(columns.file, **columns.words)], format, out)
