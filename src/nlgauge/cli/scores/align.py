"""See which words of an output are grounded, and which are not: token scores of one sample.

[bold]Examples[/bold]

  nlgauge align --output "He is a hockey fan." --source "He is an avid fan of the football team."

  nlgauge align summaries.jsonl --system M11 --input dm-test-1

  nlgauge align dialogues.csv -m "align-expr(expr='mean(y>x) * mean(r>y)')"
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nlgauge.metrics.alignment.alignments import Alignment

text = o.panel("Texts instead of a file")
# From not grounded to grounded; cosines of this encoder family lie mostly above .3.
COLOURS = ((0.45, "bold red"), (0.6, "yellow"), (0.75, "default"), (1.01, "green"))


def command(
    file: Annotated[str | None, typer.Argument(help="A file with texts, a known layout, or 'example'.",
                                               metavar="[FILE]")] = None,
    system: Annotated[str | None, typer.Option("--system", help="Whose output; the first by default.")] = None,
    input: Annotated[str | None, typer.Option("--input", help="For which input; the first by default.")] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", help="ctc(aspect='…') or "
        "align-expr(expr='mean(y>x)').")] = "ctc",
    output: Annotated[str | None, text("--output", "The output.")] = None,
    source: Annotated[str | None, text("--source", "What it came from.")] = None,
    context: Annotated[str | None, text("--context", "What else is known.")] = None,
    reference: Annotated[list[str] | None, text("--reference", "May be repeated.")] = None,
    format: o.Format = "table",
) -> None:  # fmt: skip
    from rich.console import Console

    from nlgauge.api.scores import align

    texts: dict[str, Any] = {"output": output, "source": source, "context": context, "references": reference or ()}
    found = align(file, metric, system=system, input=input, **texts)
    if found.which:
        o.tell([found.which])
    if format != "table":
        rows = [
            {"part": part.name, "token": token, "value": value, "metric": found.metric, "score": found.score}
            for part in found.parts
            for token, value in zip(part.alignment.tokens, part.alignment.scores.tolist(), strict=True)
        ]
        o.done("align", rows, format, [])
        return
    console = Console(highlight=False)
    for part in found.parts:
        mean, total = part.alignment.mean(), part.alignment.sum()
        console.print(f"{part.name}: mean {mean:.3f}, sum {total:.2f}", style="bold", markup=False)
        for line in lines(part.alignment.words(), console.width):
            console.print(line)
    if weak := [s for s in found.support if s.weak]:
        console.print(f"Content words below {found.weak:g}, and the sentence that fits theirs best", style="bold")
        for s in weak:
            console.print(", ".join(f"{word} {score:.2f}" for word, score in s.weak), style="yellow", markup=False)
            console.print(f"  {s.evidence} (fit {s.fit:.2f})", markup=False)
    elif found.support:
        console.print(f"No content word of the output is below {found.weak:g}.")
    console.print(f"{found.metric} = {found.score:.4f}", markup=False)


def lines(alignment: Alignment, width: int) -> list[RenderableType]:
    """Words over their scores, as deng2021 prints them (Table C.1): readable without colours too."""
    from rich.text import Text

    found: list[Any] = []
    above, below = Text(), Text()
    for token, score in zip(alignment.tokens, alignment.scores.tolist(), strict=True):
        room = max(len(token), 3) + 1
        if above.cell_len + room > width and above.cell_len:
            found += [above, below]
            above, below = Text(), Text()
        style = next(colour for top, colour in COLOURS if score < top)
        number = "1.0" if score >= 0.995 else f"{score:.2f}"[1:]
        above.append(token.ljust(room), style=style)
        below.append(number.ljust(room), style="dim")
    return [*found, above, below]
