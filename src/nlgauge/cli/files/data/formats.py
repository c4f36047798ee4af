"""Which files can be read: every format, what becomes people's ratings, what becomes scores of metrics and judges.

[bold]Examples[/bold]

  nlgauge data formats

  nlgauge data formats -f md -o formats.md
"""

from __future__ import annotations

from nlgauge.cli import _options as o


def command(format: o.Format = "table", out: o.Out = None) -> None:
    from nlgauge.report.listing import available

    o.show([available("formats")], format, out)
