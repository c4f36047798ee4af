"""See which words of an output are grounded, and which are not: token scores of one sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import _options as o

if TYPE_CHECKING:
    from rich.console import RenderableType

    from nlgauge.metrics import Batch
    from nlgauge.metrics.alignment.estimate import Alignment

TEXTS = "Texts instead of a file"
NAMES = {"x": "source", "c": "context", "y": "output", "r": "reference"}
# From not grounded to grounded; cosines of this encoder family lie mostly above .3.
COLOURS = ((0.45, "bold red"), (0.6, "yellow"), (0.75, "default"), (1.01, "green"))


def command(
    file: Annotated[
        str | None, typer.Argument(help="A file with texts, a known layout, or 'example'.", metavar="[FILE]")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", help="Whose output; the first by default.")
    ] = None,
    input: Annotated[
        str | None, typer.Option("--input", help="For which input; the first by default.")
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", help="ctc(aspect='…') or align-expr(expr='mean(y>x)').")
    ] = "ctc",
    output: Annotated[str | None, typer.Option("--output", help="The output.", rich_help_panel=TEXTS)] = None,
    source: Annotated[
        str | None, typer.Option("--source", help="What it came from.", rich_help_panel=TEXTS)
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="What else is known.", rich_help_panel=TEXTS)
    ] = None,
    reference: Annotated[
        list[str] | None, typer.Option("--reference", help="May be repeated.", rich_help_panel=TEXTS)
    ] = None,
) -> None:
    """See which words of an output are grounded, and which are not: token scores of one sample.

    [bold]Examples[/bold]

      nlgauge align --output "He is a hockey fan." --source "He is an avid fan of the football team."

      nlgauge align summaries.jsonl --system M11 --input dm-test-1

      nlgauge align dialogues.csv -m "align-expr(expr='mean(y>x) * mean(r>y)')"
    """
    from rich.console import Console

    from nlgauge.errors import NlgaugeError
    from nlgauge.metrics import metric_from_spec
    from nlgauge.metrics.alignment.ctc import Aligned

    found = metric_from_spec(metric, allow_code=True)
    if not isinstance(found, Aligned):
        raise NlgaugeError(f"-m {metric}: has no token scores; use ctc or align-expr.")
    batch = (
        _typed(output, source, context, reference) if output is not None else _from_file(file, system, input)
    )
    found.ready()
    scores, aligned = found.explain(batch)
    console = Console(highlight=False)
    if not aligned[0]:
        raise NlgaugeError(f"{found}: no score ({scores.reasons[0]}).")
    for k, terms in enumerate(aligned[0]):
        for (a, b), alignment in terms.items():
            which = f" {k + 1}" if "r" in (a, *b) and len(aligned[0]) > 1 else ""
            head = f"{NAMES[a]} → {' and '.join(NAMES[f] for f in b)}{which}"
            console.print(
                f"{head}: mean {alignment.mean():.3f}, sum {alignment.sum():.2f}", style="bold", markup=False
            )
            for line in lines(alignment.words(), console.width):
                console.print(line)
    console.print(f"{found} = {scores.values[0]:.4f}", markup=False)


def _typed(output: str, source: str | None, context: str | None, reference: list[str] | None) -> Batch:
    from nlgauge.metrics import Batch

    return Batch.from_columns([output], [source], [context], [reference or []])


def _from_file(file: str | None, system: str | None, input: str | None) -> Batch:
    import polars as pl

    import nlgauge as ng
    from nlgauge.errors import NameUnknown, NlgaugeError
    from nlgauge.metrics import Batch
    from nlgauge.registry import did_you_mean

    if file is None:
        raise NlgaugeError("name a file, or give the texts with --output and --source.")
    data = ng.example() if file == "example" and not Path(file).exists() else ng.load(file)
    samples = data.samples
    for column, value in (("system", system), ("input", input)):
        if value is not None:
            if value not in samples[column].to_list():
                raise NameUnknown(
                    f"{data.name}: no {column} '{value}'.{did_you_mean(value, samples[column].unique().to_list())}"
                )
            samples = samples.filter(pl.col(column) == value)
    if not samples.height:
        raise NlgaugeError(f"{data.name}: system '{system}' has no output for input '{input}'.")
    one = samples.head(1)
    o.tell([f"{data.name}: system {one['system'][0]}, input {one['input'][0]}"])
    return Batch.of(data.where(one))


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
