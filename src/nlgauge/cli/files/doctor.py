"""Check the installation: versions, extras and what each would add, tools, and where things are kept.

[bold]Examples[/bold]

  nlgauge doctor

  nlgauge doctor --format json
"""

from __future__ import annotations

from nlgauge.cli import _options as o


def command(format: o.Format = "table", out: o.Out = None) -> None:
    from nlgauge.api.installation import doctor

    o.show([doctor()], format, out)
