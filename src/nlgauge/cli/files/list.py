"""What is there: metrics, measures, analyses, figures, readers, judges, the environment, texts for agents.

[bold]Examples[/bold]

  nlgauge list metrics --needs source

  nlgauge list metrics bleu chrf

  nlgauge list judges gao2025

  nlgauge list environment   (versions, extras and what each would add, tools, and where things are kept)

  nlgauge list llms   (every verb with its options and examples, as one text)

  nlgauge list skill > SKILL.md

  nlgauge list schema > output.schema.json   (of what every verb prints with --format json)
"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o
from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean
from nlgauge.table import Row
from nlgauge.terminal import wrapped

TEXTS = ("llms", "skill", "schema", "columns")
NEEDS = "Only metrics that need this: references, source, context, control, none."


def command(
    what: Annotated[
        str,
        typer.Argument(
            help="metrics, measures, analyses, figures, readers, judges, environment; llms, skill, schema or columns."
        ),
    ] = "metrics",
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Metrics of which all is shown; judges whose settings are.", metavar="[NAME]..."),
    ] = None,
    needs: Annotated[list[str] | None, typer.Option("--needs", help=NEEDS)] = None,
    family: Annotated[str | None, typer.Option("--family", help="Only metrics of this family.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Everything about each metric, not one line.")] = False,
    format: o.Format = "table",
    out: o.Out = None,
) -> None:
    from nlgauge.report.listing import KINDS, SINGULARS, available

    if what not in (known := [*KINDS, "formats", "environment", *TEXTS]) and what not in SINGULARS:
        raise NameUnknown(f"cannot list '{what}'.{did_you_mean(what, known)} There are {', '.join(known)}.")
    if what == "environment":
        from nlgauge.api.installation import doctor

        o.show([doctor()], format, out)
        return
    if what in TEXTS:
        from nlgauge.api.guide import docs

        text = docs(what)
        if format == "table":
            print(text, end="")
        else:
            o.done("docs", [{"name": what, "text": text}], format, [])
        return
    table = available(what, o.listed(needs), family, names)
    detailed = "options" in table.columns and format == "table" and out is None
    if detailed and (names or long):
        o.say([line for row in table for line in _facts(row, min(o.console().width, 100))])
    else:
        if detailed:
            table.notes[0] += "; NAME... or --long shows all about them, --needs and --family narrow the list"
        o.show([table], format, out)


def _facts(row: Row, width: int) -> list[str]:
    """All that is known of a metric, one fact a line."""
    facts = [(name, str(value)) for name, value in row.items() if name != "metric" and value not in (None, "", "–")]
    side = max(len(name) for name, _ in facts) + 4
    lines = [row["metric"]]
    for name, text in facts:
        first, *more = wrapped(text, width - side)
        lines += [f"  {name:{side - 2}}{first}", *(" " * side + line for line in more)]
    return [*lines, ""]
