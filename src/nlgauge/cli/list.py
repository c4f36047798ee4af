"""What is there: metrics, measures, analyses, readers."""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    what: Annotated[str, typer.Argument(help="measures, analyses or readers.")] = "measures",
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    """What is there: measures, analyses, readers; written from the code.

    [bold]Example[/bold]

      nlgauge list measures
    """
    from nlgauge import registry
    from nlgauge.errors import NameUnknown
    from nlgauge.table import Table

    if what == "measures":
        from nlgauge.stats.measure import all_measures

        rows = [{"measure": str(m), "definition": m.definition} for m in all_measures()]
    elif what in ("analysis", "analyses"):
        found = [registry.get("analysis", name) for name in registry.names("analysis")]
        rows = [{"analysis": a.name, "question": a.question, "paper": a.paper} for a in found]
    elif what == "readers":
        found = [(name, registry.get("reader", name)) for name in registry.names("reader")]
        rows = [{"reader": name, "reads": (thing.__doc__ or "").strip().split("\n")[0]} for name, thing in found]
    else:
        raise NameUnknown(f"cannot list '{what}'.{registry.did_you_mean(what, ['measures', 'analyses', 'readers'])}")
    o.show([Table(what, rows)], format, out)
