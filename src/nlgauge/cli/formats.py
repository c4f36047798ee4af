"""Which files can be read, and what becomes of them; written from the readers themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from nlgauge.table import Row


def command(format: o.Format = "table", out: o.Out = None) -> None:
    """Which files can be read: every format, what becomes people's ratings, what becomes scores of metrics and judges.

    [bold]Examples[/bold]

      nlgauge formats

      nlgauge formats -f md -o formats.md
    """
    from nlgauge.table import Table

    notes = [
        "a file is known by what is in it; --reader NAME chooses a format, --reader table reads it as a plain table",
        "in logs of evaluation tools --human NAME and --metric NAME say whose a judgement is",
    ]
    o.show([Table("formats", format_rows(), notes=notes)], format, out)


def format_rows() -> list[Row]:
    """One row per reader, by name, and the plain table last."""
    from nlgauge import registry
    from nlgauge.data.readers import TABLE, Takes

    known = [(name, registry.get("reader", name)) for name in registry.names("reader")]
    found = [(name, getattr(reader, "takes", Takes(_first_line(reader)))) for name, reader in known]
    return [
        {"format": name, "files": takes.files, "people": takes.people, "scores": takes.scores, "tested with": takes.tested or "–"}
        for name, takes in [*found, ("table", TABLE)]
    ]  # fmt: skip


def _first_line(reader: object) -> str:
    """A plugin's reader may say no more of itself than its docstring."""
    return (reader.__doc__ or "").strip().partition("\n")[0]
