"""Train an aligner on text without labels: `nlgauge train aligner`.

D learns the label of each token, R the share of aligned words of a text. Both are small heads on frozen features; the
features of the training text are computed once and stored next to the checkpoints, so that a second training takes
seconds.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.construct import TARGETS, TASKS, Document, Recipe, recipe
from nlgauge.metrics.alignment.construct_models import model_parts
from nlgauge.metrics.alignment.features import NAMES
from nlgauge.metrics.alignment.head import Head, State, adam, fresh, gradient, still
from nlgauge.metrics.alignment.training_rows import Data, Source, Tell, by_text, read_documents
from nlgauge.models.encoder import DEFAULT
from nlgauge.models.loading import check_ready, fingerprint
from nlgauge.writing import write_whole

KINDS = ("D", "R")
LAST = "last.safetensors"


@dataclass(frozen=True)
class AlignerPlan:
    """All settings that determine the result."""

    kind: str = "D"
    task: str = "summarization"
    seed: int = 0
    count: int = 2000  # examples
    steps: int = 500
    batch: int = 256
    rate: float = 2e-3
    encoder: str = DEFAULT
    targets: str = ""  # replaces the task's own targets, for example lead
    smooth: float = 0.1  # label smoothing of D: a corruption does not always introduce an error

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise NlgaugeError(
                f"kind must be 'D' (token classifier) or 'R' (regression of the aggregate); got '{self.kind}'."
            )
        if self.task not in TASKS:
            raise NlgaugeError(f"task must be one of {', '.join(TASKS)}; got '{self.task}'.")
        if self.targets and self.targets not in TARGETS:
            raise NlgaugeError(f"targets must be one of {', '.join(TARGETS)}; got '{self.targets}'.")
        if min(self.count, self.steps, self.batch) < 1:
            raise NlgaugeError("count, steps and batch must be 1 or more.")
        if not 0 <= self.smooth < 0.5:
            raise NlgaugeError(f"smooth must be at least 0 and less than 0.5; got {self.smooth:g}.")


def auc(wanted: Any, scores: Any) -> float:
    """Return the probability that an aligned token scores above an unaligned one; ties count one half."""
    positive = wanted > 0.5
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return float("nan")
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def measured(head: Head, data: Data) -> dict[str, float]:
    """Evaluate on held-out data: accuracy and AUC over content tokens (D), correlation and error (R)."""
    text = head(data.rows)
    if head.facts["kind"] == "R":
        r = float(np.corrcoef(text, data.wanted)[0, 1]) if len(text) > 2 else float("nan")
        return {"pearson": r, "error": float(np.abs(text - data.wanted).mean())}
    content = data.weight > 0.5
    text, wanted = text[content], data.wanted[content]
    share = float(wanted.mean())
    return {
        "accuracy": float(((text > 0.5) == (wanted > 0.5)).mean()),
        "auc": auc(wanted, text),
        "always": max(share, 1 - share),
    }


def train_aligner(
    text: str | Path,
    out: str | Path,
    plan: AlignerPlan | None = None,
    *,
    checkpoints: int = 8,
    features: str | Path | None = None,
    paraphraser: str | None = None,
    infiller: str | None = None,
    tell: Tell = lambda line: None,
) -> Head:
    """Train an aligner on a file of text without labels; the same call resumes an interrupted training.

    Parameters
    ----------
    text : path
        One document per line, or JSON lines with a field 'text'.
    out : path
        Folder for features, checkpoints and the aligner: ctc(align='D', weights='OUT').
    plan : AlignerPlan, optional
        Kind, task, examples, steps, encoder: all settings that determine the result.
    checkpoints : int, default 8
        Number of checkpoints with evaluation, at doubling intervals.
    features : path, optional
        Folder of the features, to share between D and R.
    paraphraser, infiller : str, optional
        Models by name in place of the offline parts.
    tell : callable
        Receives lines about the progress.

    Examples
    --------
    >>> import nlgauge as ng
    >>> train_aligner("articles.txt", "my-aligner", AlignerPlan(count=500))    # doctest: +SKIP
    """
    plan, documents = plan or AlignerPlan(), read_documents(Path(text))
    parts = None
    if paraphraser or infiller:
        parts = model_parts(recipe(documents, plan.task, plan.targets), paraphraser, infiller)
    selected = None if features is None else Path(features)
    return train(documents, Path(out), plan, checkpoints=checkpoints, tell=tell, features=selected, parts=parts)


def train(
    documents: Sequence[Document],
    folder: Path,
    plan: AlignerPlan | None = None,
    *,
    checkpoints: int = 8,
    tell: Tell = lambda line: None,
    features: Path | None = None,
    parts: Recipe | None = None,
    stop_after: int | None = None,
) -> Head:
    """Train in a folder: features, checkpoints (`step-N`), `last` to resume from, and at the end `aligner`.

    Called again with the same folder, it goes on from the last checkpoint. `stop_after` ends early, at a checkpoint.
    """
    plan = plan or AlignerPlan()
    check_ready("train aligner", encoder=plan.encoder)
    folder.mkdir(parents=True, exist_ok=True)
    made = parts or recipe(documents, plan.task, plan.targets)
    source = Source(documents, plan.task, plan.seed, plan.count, plan.encoder, made)
    data, held = source.rows(features or folder, tell)
    if plan.kind == "R":
        data, held = by_text(data), by_text(held)
    else:
        data = replace(data, wanted=plan.smooth + (1 - 2 * plan.smooth) * data.wanted)
    head, moments, step = _begin(data, folder, plan, tell)
    # At doubling intervals, because most is learned early.
    saved = {plan.steps >> k for k in range(checkpoints)}
    with _one_thread():
        while step < plan.steps:
            # A step's rows depend on its number alone, so resuming needs no generator state.
            rng = np.random.default_rng(np.random.SeedSequence([plan.seed, step]))
            chosen = data.part(rng.integers(len(data.rows), size=plan.batch))
            grad = gradient(head.state, chosen.rows, chosen.wanted, chosen.weight)
            rate = plan.rate * (0.05 + 0.95 * (1 - step / plan.steps))
            step += 1
            adam(head.state, moments, grad, step, rate)
            if step in saved:
                head.facts |= {"step": step, "held out": measured(head, held)}
                tell(
                    f"step {step} of {plan.steps}: "
                    + ", ".join(f"{k} {v:.4f}" for k, v in head.facts["held out"].items())
                )
                head.save(folder / f"step-{step:05d}")
                _keep(head, moments, folder)
                if stop_after and step >= stop_after:
                    return head
    head.save(folder / "aligner")
    return head


def _one_thread() -> AbstractContextManager[Any]:
    """Limit linear algebra to one thread: the matrices are small, and threads would wait for each other."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1)  # type: ignore[no-any-return]


def _begin(data: Data, folder: Path, plan: AlignerPlan, tell: Tell) -> tuple[Head, State, int]:
    """Return the state of a training in this folder: its last checkpoint, or the start."""
    from safetensors import safe_open

    facts = {**asdict(plan), "encoder": fingerprint(plan.encoder), "features": list(NAMES), "step": 0}
    last = folder / LAST
    if not last.exists():
        rng = np.random.default_rng(np.random.SeedSequence([plan.seed, 2**31]))
        head = Head(fresh(data.rows, rng), facts)
        return head, still(head.state), 0
    with safe_open(last, "numpy") as file:
        was = json.loads(file.metadata()["facts"])
        selected = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118 - no mapping
    if any(was.get(k) != facts[k] for k in asdict(plan)):
        raise NlgaugeError(
            f"{folder}: contains another training ({was['kind']}, {was['task']}, seed {was['seed']}); use another one."
        )
    tell(f"resumes after step {was['step']}")
    moments = {k: v for k, v in selected.items() if k[:2] in ("m.", "v.")}
    return Head({k: v for k, v in selected.items() if k not in moments}, was), moments, int(was["step"])


def _keep(head: Head, moments: State, folder: Path) -> None:
    """Replace one file atomically: a training interrupted here has this checkpoint or the previous one."""
    from safetensors.numpy import save

    write_whole(folder / LAST, save({**head.state, **moments}, {"facts": json.dumps(head.facts)}))
