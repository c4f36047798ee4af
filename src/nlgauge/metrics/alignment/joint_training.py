"""Train the layers that read a claim and its evidence together, on text without labels: `nlgauge train joint`.

Every step makes its own claims, which follow from the seed and the number of the step; so a training that was stopped
goes on as if it had not been, also with another number of steps before the rate falls, and the same plan gives the same
bytes on one machine. One thread.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import _words
from nlgauge.metrics.alignment.claim_errors import ClaimParts
from nlgauge.metrics.alignment.claims import Claim, claims
from nlgauge.metrics.alignment.construct import Document
from nlgauge.metrics.alignment.joint import EVIDENCE, JointWeights, joined, joint_model
from nlgauge.metrics.alignment.training import LAST, auc
from nlgauge.metrics.alignment.training_rows import HELD_OUT, LIGHT, Tell, read_documents
from nlgauge.models.embeddings import Embeddings
from nlgauge.models.encoder import DEFAULT, encoder
from nlgauge.models.loading import check_ready, fingerprint
from nlgauge.writing import write_whole

PART = 4  # claims of like length that go through the layers together
WARM = 60  # steps in which the rate grows
FALL = 0.25  # of the steps, the last ones, in which it falls to nothing
HELD = 25  # batches of claims to measure on
HEADS = 10.0  # times the rate, for the outputs and the marks of the sides
SURE = 0.95  # what a label of 1 asks for; damage is not always wrong, nor a source always enough


@dataclass(frozen=True)
class JointPlan:
    """All that decides the result."""

    seed: int = 0
    steps: int = 2000
    batch: int = 16  # claims of a step
    rate: float = 1.5e-4
    layers: int = 4  # of the encoder, from the top
    encoder: str = DEFAULT
    infiller: str = ""  # a language model that writes some of the errors, as smollm2

    def __post_init__(self) -> None:
        if min(self.steps, self.batch, self.layers) < 1:
            raise NlgaugeError("steps, batch and layers must be 1 or more.")


@dataclass
class ClaimReader:
    """Claims of documents, as tensors: ids with their evidence, labels, weights."""

    documents: Sequence[Document]
    vectors: Embeddings
    layer: int
    parts: ClaimParts

    def __post_init__(self) -> None:
        self._like: dict[int, list[list[int]]] = {}

    def like(self, d: int) -> list[list[int]]:
        """Of each sentence of a document: its sentences, those most like it first (by the mean of their states)."""
        if d not in self._like:
            found = self.vectors.of(self.documents[d], self.layer)
            means = np.stack([e.mean() for e in found])
            means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
            near = means @ means.T
            np.fill_diagonal(near, 2.0)
            self._like[d] = np.argsort(-near, axis=1, kind="stable").tolist()
        return self._like[d]

    def claims(self, seed: Sequence[int], count: int) -> list[Claim]:
        return claims(self.documents, self.parts, self.like, seed, count)

    def tensors(self, made: Sequence[Claim]) -> tuple[Any, Any, Any, Any, Any]:
        """Ids, sides, mask, labels of the tokens, their weights; padded."""
        import torch

        of = self.vectors.encoder
        texts = list(dict.fromkeys(t for c in made for t in (c.text, *c.evidence)))
        pieces = dict(zip(texts, of.pieces(texts), strict=True))
        read = [joined(of, pieces[c.text].ids, [pieces[e].ids for e in c.evidence]) for c in made]
        width = max(len(row) for row, _ in read)
        ids = torch.full((len(made), width), of.pad, dtype=torch.long)
        sides = torch.zeros(len(made), width, dtype=torch.long)
        mask = torch.full((len(made), 1, 1, width), float("-inf"))
        labels, weights = (torch.zeros(len(made), width) for _ in range(2))
        for k, (row, of_row) in enumerate(read):
            ids[k, : len(row)], sides[k, : len(row)] = torch.tensor(row), torch.tensor(of_row)
            mask[k, ..., : len(row)] = 0
            wanted, weight = _labels(made[k], pieces[made[k].text])
            n = min(len(wanted), len(row) - of.prefix)
            at = slice(of.prefix, of.prefix + n)
            labels[k, at], weights[k, at] = torch.from_numpy(wanted[:n]), torch.from_numpy(weight[:n])
        return ids, sides, mask, labels, weights


def _labels(claim: Claim, pieces: Any) -> tuple[Any, Any]:
    """The label of each token, that of its word, and its weight: little for stop words and marks, none if unknown."""
    starts, place = [], 0
    for word in claim.text.split():
        place = claim.text.index(word, place)
        starts.append(place)
        place += len(word)
    wanted = np.array(claim.labels, np.float32)[np.searchsorted(starts, pieces.starts, side="right") - 1]
    begins, ends, content = _words(claim.text)
    word = np.searchsorted(begins, pieces.starts, side="right") - 1
    counts = (word >= 0) & (pieces.ends <= np.append(ends, 0)[word]) & np.append(content, False)[word]
    # A negation or a pronoun is a stop word, and what is wrong with the claim.
    weight = np.where(counts | (wanted == 0), 1.0, LIGHT)
    unknown = np.isnan(wanted)
    return np.where(unknown, 0, wanted), np.where(unknown, 0, weight).astype(np.float32)


def train_joint(
    text: str | Path, out: str | Path, plan: JointPlan | None = None, *, every: int = 200,
    tell: Tell = lambda line: None,
) -> JointWeights:  # fmt: skip
    """Train an aligner that reads claim and evidence together on a file of text; the same call again goes on.

    Parameters
    ----------
    text : path
        One document a line, or JSON lines with a field 'text'.
    out : path
        Folder for checkpoints and the aligner: ctc(align='X', weights='OUT').
    plan : JointPlan, optional
        Seed, steps, claims of a step, rate, layers, encoder: all that decides the result.
    every : int, default 200
        Steps between two checkpoints.
    tell : callable
        Gets lines about the progress.

    Examples
    --------
    >>> import nlgauge as ng
    >>> ng.train_joint("articles.txt", "my-joint", ng.JointPlan(steps=500))    # doctest: +SKIP
    """
    return train(read_documents(Path(text)), Path(out), plan or JointPlan(), every=every, tell=tell)


def train(
    documents: Sequence[Document], folder: Path, plan: JointPlan, *, every: int = 200, tell: Tell = lambda line: None,
    stop_after: int | None = None,
) -> JointWeights:  # fmt: skip
    """Train in a folder: `step-N` at each checkpoint, `last` to go on from, and at the end `joint`."""
    check_ready("train joint", encoder=plan.encoder)
    import torch

    from nlgauge.metrics.alignment.construct_models import infilled

    folder.mkdir(parents=True, exist_ok=True)
    base = encoder(plan.encoder)
    held_out = max(1, round(HELD_OUT * len(documents)))
    vectors, layer = Embeddings(base), base.layers - plan.layers
    infill = infilled(plan.infiller) if plan.infiller else None
    held, data = (
        ClaimReader(some, vectors, layer, ClaimParts.of(some, infill))
        for some in (documents[:held_out], documents[held_out:])
    )
    facts: dict[str, Any] = {**asdict(plan), "encoder": fingerprint(plan.encoder), "evidence": EVIDENCE, "step": 0}
    was = torch.get_num_threads()
    torch.set_num_threads(1)  # sums of one order, so the same bytes again
    try:
        weights = JointWeights(joint_model(base, plan.layers), facts)
        optimiser = _optimiser(weights.model, plan)
        step = _resume(folder, weights, optimiser, plan, tell)
        began = time.process_time()
        while step < plan.steps:
            loss = _step(weights.model, optimiser, data, plan, step)
            step += 1
            if step % 20 == 0:
                spent = time.process_time() - began
                tell(f"step {step} of {plan.steps}: loss {loss:.4f}, {spent:.0f} s of processor time")
            if step % every == 0 or step in (plan.steps, stop_after):
                facts |= {"step": step, "held out": measured(weights.model, held, plan)}
                said = (f"{k} {v:.3f}" for k, v in facts["held out"].items())
                tell(f"step {step}, held out: {', '.join(said)}")
                weights.save(folder / f"step-{step:05d}")
                _keep(folder, weights, optimiser)
                if step == stop_after:
                    return weights
    finally:
        torch.set_num_threads(was)
    weights.save(folder / "joint")
    return weights


def _optimiser(model: Any, plan: JointPlan) -> Any:
    import torch

    groups: dict[float, list[Any]] = {1.0: [], HEADS: []}
    for name, p in model.named_parameters():
        groups[1.0 if name.startswith("layers.") else HEADS].append(p.requires_grad_(True))
    made = [{"params": of, "times": times} for times, of in groups.items()]
    return torch.optim.AdamW(made, lr=plan.rate, weight_decay=0.01)


def _step(model: Any, optimiser: Any, data: ClaimReader, plan: JointPlan, step: int) -> float:
    """One step: the claims of its number, the loss of tokens and claims, the weights moved."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits as entropy

    made = sorted(data.claims([plan.seed, step], plan.batch), key=lambda c: len(c.text) + sum(map(len, c.evidence)))
    parts = [(some, data.tensors(some)) for some in (made[at : at + PART] for at in range(0, len(made), PART))]
    total = float(sum(tensors[-1].sum() for _, tensors in parts))
    for group in optimiser.param_groups:
        group["lr"] = group["times"] * plan.rate * pace(step, plan.steps)
    optimiser.zero_grad()
    lost = 0.0
    for some, (ids, sides, mask, labels, weights) in parts:
        supported = torch.tensor([float(c.supported) for c in some])
        with torch.autocast("cpu", torch.bfloat16):
            tokens, whole = model(ids, sides, mask)
        loss = entropy(tokens, _unsure(labels), weights, reduction="sum") / total
        loss = loss + entropy(whole, _unsure(supported), reduction="sum") / len(made)
        loss.backward()  # type: ignore[no-untyped-call]
        lost += float(loss.detach())
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    return lost


def pace(step: int, steps: int) -> float:
    """The share of the rate at a step. It stands still until the last quarter: until then a training is that of any
    longer one.

    >>> [round(pace(step, 400), 2) for step in (0, 29, 59, 300, 350, 399)]
    [0.02, 0.5, 1.0, 1.0, 0.5, 0.01]
    """
    return min((step + 1) / WARM, 1.0, (steps - step) / (FALL * steps))


def _unsure(labels: Any) -> Any:
    return (1 - SURE) + (2 * SURE - 1) * labels


def measured(model: Any, held: ClaimReader, plan: JointPlan) -> dict[str, float]:
    """On claims of documents held out: AUC of tokens, of claims, and of claims with each error beside right ones."""
    import torch

    made = held.claims([plan.seed, 2**31], HELD * plan.batch)
    tokens, wanted, said = [], [], []
    for at in range(0, len(made), plan.batch):
        ids, sides, mask, labels, weights = held.tensors(made[at : at + plan.batch])
        with torch.inference_mode():
            of_tokens, of_claims = model(ids, sides, mask)
        counted = weights > 0.5
        tokens.append(of_tokens[counted].numpy())
        wanted.append(labels[counted].numpy())
        said += of_claims.tolist()
    found = {"token auc": auc(np.concatenate(wanted), np.concatenate(tokens))}
    found["claim auc"] = auc(np.array([float(c.supported) for c in made]), np.array(said))
    by_error: dict[str, list[float]] = defaultdict(list)
    for c, value in zip(made, said, strict=True):
        by_error[c.error].append(value)
    right = by_error.pop("")
    for name, values in sorted(by_error.items()):
        labels = np.array([1.0] * len(right) + [0.0] * len(values))
        found[name] = auc(labels, np.array([*right, *values]))
    return found


def _resume(folder: Path, weights: JointWeights, optimiser: Any, plan: JointPlan, tell: Tell) -> int:
    """Where a training in this folder stands: at its last checkpoint, or at the start."""
    from safetensors import safe_open

    if not (folder / LAST).exists():
        return 0
    with safe_open(folder / LAST, "pt") as file:
        was = json.loads(file.metadata()["facts"])
        kept = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
    longer = was["step"] <= (1 - FALL) * min(was["steps"], plan.steps)  # nothing depends on the number of steps yet
    if any(was.get(k) != weights.facts[k] for k in asdict(plan) if not (k == "steps" and longer)):
        raise NlgaugeError(f"{folder}: holds another training (seed {was['seed']}, {was['steps']} steps).")
    names = {id(p): name for name, p in weights.model.named_parameters()}
    weights.model.load_state_dict({k: v for k, v in kept.items() if k[:2] not in ("m.", "v.")})
    for group in optimiser.param_groups:
        for p in group["params"]:
            state = {"exp_avg": kept[f"m.{names[id(p)]}"], "exp_avg_sq": kept[f"v.{names[id(p)]}"]}
            optimiser.state[p] = {**state, "step": _number(was["step"])}
    tell(f"goes on after step {was['step']}")
    return int(was["step"])


def _number(value: int) -> Any:
    import torch

    return torch.tensor(float(value))


def _keep(folder: Path, weights: JointWeights, optimiser: Any) -> None:
    """One file, put in place at once: a training that is stopped here has either this checkpoint or the one before."""
    from safetensors.torch import save

    kept = {k: v.contiguous() for k, v in weights.model.state_dict().items()}
    for name, p in weights.model.named_parameters():
        kept[f"m.{name}"] = optimiser.state[p]["exp_avg"]
        kept[f"v.{name}"] = optimiser.state[p]["exp_avg_sq"]
    write_whole(folder / LAST, save(kept, {"facts": json.dumps(weights.facts)}))
