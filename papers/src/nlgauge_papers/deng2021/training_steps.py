"""Deng et al. (2021), Figure 7 and the ablation of Appendix A.1, for a user's trainings.

Figure 7: does a higher accuracy of the alignment lead to a higher correlation with human ratings? Each checkpoint of a
training is one point: accuracy on held-out weak labels (the human token labels that the paper had for XSUM are not
available), and the correlation of the aspect of its task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nlgauge import NlgaugeError, Table
from nlgauge.metrics import metric_from_spec
from nlgauge.plugins import Row
from nlgauge_papers.deng2021.estimators import Case, Sets, correlations

FIGURE = "alignment-accuracy"
# The aspect of each task; the paper shows XSUM and Topical-Chat.
SERVES = {
    "summarization": ("consistency", ("qags-xsum", "qags-cnndm", "summeval")),
    "dialogue": ("groundedness", ("usr-topical", "usr-persona")),
    "response": ("engagingness", ("usr-topical", "usr-persona")),
    "style": ("preservation", ("yelp",)),
}


@dataclass(frozen=True)
class Checkpoint:
    """The head that a training run saved after a number of steps; `facts` holds the metadata of the run."""

    path: Path
    facts: dict[str, Any]


def checkpoints(training: Path) -> list[Checkpoint]:
    """Return the heads that a training saved, the earliest first."""
    paths = sorted(path.with_suffix("") for path in training.glob("step-*.safetensors"))
    if not paths:
        raise NlgaugeError(f"{training}: no checkpoints of a training (step-N.safetensors).")
    try:
        return [Checkpoint(path, json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))) for path in paths]
    except (OSError, ValueError) as error:
        raise NlgaugeError(f"{training}: a checkpoint without a readable description ({error}).") from None


def figure_7(sets: Sets, trainings: Sequence[Path], only: Iterable[str] = ()) -> Table:
    """Compute the accuracy on held-out weak labels and the correlation with human ratings at each checkpoint."""
    results = {training: checkpoints(training) for training in trainings}
    tasks = [heads[0].facts["task"] for heads in results.values()]
    rows: list[Row] = []
    for training, heads in results.items():
        aspect, names = SERVES[heads[0].facts["task"]]
        # Trainings of one task are identified by their folders.
        tag = f" ({training.name})" if tasks.count(heads[0].facts["task"]) > 1 else ""
        for name in (s for s in names if not only or s in only):
            rows += [_point(sets, training, head, aspect, name, tag) for head in heads]
    return Table(
        "Figure 7: accuracy of the alignment and correlation with human ratings over training steps",
        rows,
        method="accuracy and AUC over content words of damaged documents that were held out (weak labels; R: "
        "correlation with the share of aligned words); pearson, spearman: over all outputs with human ratings.",
        kind=FIGURE,
        shown=["task", "step", "accuracy", "auc", "pearson", "spearman"],
    )


def _point(sets: Sets, training: Path, head: Checkpoint, aspect: str, name: str, tag: str) -> Row:
    facts, kind = head.facts, head.facts["kind"]
    own: Any = metric_from_spec(f"ctc(aspect={aspect!r}, align={kind!r})")
    spec = f"align-expr(expr={own.expression().text!r}, align={kind!r}, weights={str(head.path)!r}, unit='word'"
    result = correlations(sets, Case("7", name, aspect, f"{spec}, stop={own.settings().stop})"), 0, 0)
    told = facts["held out"]
    return {
        "task": f"{name}, {aspect}{tag}",
        "set": name,
        "training": training.name,
        "targets": facts.get("targets") or "its own",
        "step": facts["step"],
        "accuracy": told.get("accuracy", told.get("pearson")),
        "auc": told.get("auc"),
        "pearson": result["pearson"],
        "spearman": result["spearman"],
        "label": f"{training.name}, step {facts['step']}:",
    }


def ablation(steps: Table) -> Table:
    """Compare the last checkpoint of each training (Appendix A.1: XSUM .322, with references .282)."""
    last = {row["task"]: row for row in steps}
    keys = ("targets", "training", "set", "step", "accuracy", "auc", "pearson", "spearman")
    return Table(
        "Targets of the training: pseudo-summaries or others (deng2021, Appendix A.1)",
        [{k: row[k] for k in keys} for row in last.values()],
        method="the last checkpoint of each training; its held-out labels are made as its own training was.",
    )
