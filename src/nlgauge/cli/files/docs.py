"""For scripts and agents: all verbs and options as one text, an agent skill, the JSON Schema of the output.

[bold]Examples[/bold]

  nlgauge docs   (llms.txt: every verb with its options and examples)

  nlgauge docs skill > SKILL.md

  nlgauge docs schema > output.schema.json   (of what every verb prints with --format json)
"""

from __future__ import annotations

from typing import Annotated

import typer

from nlgauge.cli import _options as o


def command(
    what: Annotated[str, typer.Argument(help="llms, skill, schema or columns.")] = "llms", format: o.Format = "table"
) -> None:
    from nlgauge.api.guide import docs

    text = docs(what)
    if format == "table":
        print(text, end="")
    else:
        o.done("docs", [{"name": what, "text": text}], format, [])
