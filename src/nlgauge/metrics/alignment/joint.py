"""Estimators X and S: a sentence and the source sentences that support it best, read together by trained layers.

A sentence of a and the few sentences of b that cover its tokens best go through the encoder in one row; its upper
layers are trained (`nlgauge train joint`). X gives each token the probability that these sentences ground it, S the
probability that they support the whole sentence; as an alignment each of its tokens has that score.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.metrics.alignment.matching import chunks, maxima, sentences_of, side
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.encoder import DEFAULT, Encoded, Encoder, each_core_one_batch, encoder, equal_lengths
from nlgauge.models.loading import fingerprint
from nlgauge.models.precision import rows_as_int8, split_precision
from nlgauge.types import Array, Ids
from nlgauge.writing import write_whole

EVIDENCE = 3  # sentences of b beside a sentence of a
SCALE = ".scale"  # what 1 stands for in the rows of a matrix that is kept in whole numbers


def joint_model(of: Encoder, layers: int) -> Any:
    """An encoder whose upper layers are copies to be trained, told which words both sides have, with two outputs."""
    import copy

    import torch

    if not of.stack or not 0 < layers < of.layers:
        raise NlgaugeError(f"encoder '{of.name}': its {of.layers} layers cannot be cut to train {layers}.")
    every = of.stack[1]
    lower, upper = every[: of.layers - layers], every[of.layers - layers :]

    class JointModel(torch.nn.Module):
        """Ids of a claim and its evidence, and what each token is -> logit of each token, logit of the claim."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(copy.deepcopy(upper))
            self.side = torch.nn.Parameter(torch.zeros(4, of.dim))
            self.token = torch.nn.Linear(of.dim, 1)
            self.claim = torch.nn.Linear(of.dim, 1)
            for head in (self.token, self.claim):
                torch.nn.init.zeros_(head.weight)
                torch.nn.init.zeros_(head.bias)

        def forward(self, ids: Any, sides: Any, mask: Any = None) -> tuple[Any, Any]:
            with torch.no_grad():
                found = _through(lower, of.model.embeddings(input_ids=ids), mask)
            found = _through(self.layers, found + self.side[sides], mask).float()
            return self.token(found)[..., 0], self.claim(found[:, 0])[:, 0]

    return JointModel().eval()


def _through(layers: Any, states: Any, mask: Any) -> Any:
    for layer in layers:
        states = layer(states, mask)
        states = states[0] if isinstance(states, tuple) else states
    return states


@dataclass(frozen=True)
class JointWeights:
    """A trained model and what is known of it. Kept: PATH.safetensors, matrices in whole numbers; PATH.json."""

    model: Any
    facts: dict[str, Any]

    def save(self, path: Path) -> None:
        from safetensors.torch import save

        kept = {}
        for name, value in self.model.state_dict().items():
            if name.startswith("layers.") and value.dim() == 2:
                kept[name], kept[name + SCALE] = rows_as_int8(value)
            else:
                kept[name] = value.contiguous()
        raw = save(dict(sorted(kept.items())))
        facts = {**self.facts, "sha256": hashlib.sha256(raw).hexdigest()}
        write_whole(path.with_suffix(".safetensors"), raw)
        write_whole(path.with_suffix(".json"), json.dumps(facts, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: Path, encoder_name: str) -> JointWeights:
        """After a look whether the file is the one that was saved, for this encoder."""
        from safetensors.torch import load

        try:
            facts = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            raw = path.with_suffix(".safetensors").read_bytes()
        except OSError:
            raise NlgaugeError(f"no joint aligner at {path}: {path.name}.json and .safetensors are needed.") from None
        except json.JSONDecodeError as error:
            raise NlgaugeError(f"{path}: no readable joint aligner ({error}).") from None
        if hashlib.sha256(raw).hexdigest() != facts.get("sha256"):
            raise NlgaugeError(f"{path.with_suffix('.safetensors')}: not the weights that {path.name}.json describes.")
        base = split_precision(encoder_name)[0]
        if facts["encoder"] != fingerprint(base):
            raise NlgaugeError(
                f"{path}: trained on encoder {facts['encoder']}, not {fingerprint(base)}; train one with: nlgauge "
                "train joint --encoder …"
            )
        kept = load(raw)
        state = {
            name: value.float() * kept[name + SCALE][:, None] if name + SCALE in kept else value
            for name, value in kept.items()
            if not name.endswith(SCALE)
        }
        model = joint_model(encoder(base), int(facts["layers"]))
        model.load_state_dict(state)
        return cls(model, facts)


@lru_cache(maxsize=4)
def loaded(path: str, encoder_name: str) -> JointWeights:
    return JointWeights.load(Path(path), encoder_name)


@dataclass(frozen=True)
class Joint:
    """X (tokens) or S (sentences). `weights`: the folder of a training; none comes with the package."""

    kind: str = "X"
    weights: str = ""
    encoder: str = DEFAULT
    vectors: Embeddings | None = field(default=None, compare=False, repr=False)

    def trained(self) -> JointWeights:
        if not self.weights:
            raise NlgaugeError(
                f"align='{self.kind}': no trained layers come with the package; nlgauge train joint makes them, and "
                "weights='DIR' names their folder."
            )
        return loaded(str(Path(self.weights).expanduser() / "joint"), self.encoder)

    def fingerprint(self) -> str:
        return f"own@{self.trained().facts['sha256'][:12]}"

    def expect(self, pairs: Collection[ToAlign]) -> None:
        kept = self.vectors or embeddings(None, self.encoder)
        texts = {s for p in pairs for text in (p.a, *p.b) for _, s in parts_of(text)}
        kept.want(kept.encoder.layers, texts)

    def align(self, pairs: Sequence[ToAlign]) -> list[Alignment]:
        """One Alignment per pair, in their order."""
        kept = self.vectors or embeddings(None, self.encoder)
        found: list[Alignment | None] = [None] * len(pairs)
        order = sorted(range(len(pairs)), key=lambda i: pairs[i][1:])
        for rows in chunks(order, pairs):
            parts = {text: parts_of(text) for i in rows for text in (pairs[i].a, *pairs[i].b)}
            texts = list(dict.fromkeys(s for of in parts.values() for _, s in of))
            last = dict(zip(texts, kept.of(texts, kept.want(kept.encoder.layers, texts)), strict=True))
            read = [(i, first, s) for i in rows for first, s in parts[pairs[i].a]]
            evidence = list(self._evidence(read, pairs, parts, last))
            together = ((last[s], [last[e] for e in es]) for (_, _, s), es in zip(read, evidence, strict=True))
            scores = self._scores(kept.encoder, list(together))
            mine: dict[int, list[tuple[Any, Array]]] = {i: [] for i in rows}
            for (i, first, s), given in zip(read, scores, strict=True):
                pieces = last[s].pieces
                mine[i].append((first + np.stack([pieces.starts, pieces.ends], axis=1).reshape(-1, 2), given))
            for i in rows:
                spans, given = (np.concatenate(of) for of in zip(*mine[i], strict=True))
                found[i] = Alignment(pairs[i].a, spans, given)
        return [f for f in found if f is not None]

    def _evidence(
        self, read: list[tuple[int, int, str]], pairs: Sequence[ToAlign], parts: dict[str, Any],
        last: dict[str, Encoded],
    ) -> Iterator[list[str]]:  # fmt: skip
        before: tuple[Any, list[str], Any] | None = None
        for i, _, s in read:
            b = pairs[i][1:]
            if before is None or before[0] != b:
                texts = [t for text in pairs[i].b for _, t in parts[text] if len(last[t].tokens)]
                before = b, texts, side([last[t] for t in texts])
            _, texts, table = before
            near = maxima(last[s], table)
            yield [texts[k] for k in covering(near)] if texts and len(near) else []

    def _scores(self, of: Encoder, read: list[tuple[Encoded, list[Encoded]]]) -> list[Array]:
        """Of each sentence, beside its evidence: a score for each token; 0 where there is no evidence."""
        import torch

        model = self.trained().model
        found = [np.zeros(len(a.tokens)) for a, _ in read]
        some = [k for k, (a, b) in enumerate(read) if b and len(a.tokens)]
        rows = [joined(of, read[k][0].pieces.ids, [e.pieces.ids for e in read[k][1]]) for k in some]

        def work(batch: list[int]) -> None:
            with torch.inference_mode():
                tokens, claims = model(*(torch.tensor([rows[k][part] for k in batch]) for part in (0, 1)))
                tokens, claims = (torch.sigmoid(logits).numpy() for logits in (tokens, claims))
            for row, k in enumerate(batch):
                own = found[some[k]]
                n = min(len(own), len(rows[k][0]) - of.prefix)  # beyond, the encoder takes no more
                own[:n] = tokens[row, of.prefix : of.prefix + n] if self.kind == "X" else claims[row]

        with each_core_one_batch("cpu") as pool:
            list(pool.map(work, equal_lengths([len(ids) for ids, _ in rows])))
        return found


def parts_of(text: str) -> list[tuple[int, str]]:
    """The sentences of a text and where they begin; the text itself where it has none."""
    return [(first, text[first:last]) for first, last in sentences_of(text)] or [(0, text)]


def covering(near: Any, most: int = EVIDENCE) -> list[int]:
    """Sentences that cover a claim's tokens best together: each adds the most to the mean of the best matches.

    >>> covering(np.array([[0.9, 0.8, 0.1], [0.2, 0.1, 0.7]]), 2)
    [0, 2]
    """
    covered = np.zeros((len(near), 1))
    chosen: list[int] = []
    for _ in range(min(most, near.shape[1])):
        gain = np.maximum(near, covered).mean(axis=0)
        gain[chosen] = -1
        chosen.append(int(gain.argmax()))
        covered = np.maximum(covered, near[:, chosen[-1] :][:, :1])
    return sorted(chosen)


def joined(of: Encoder, claim: Ids, evidence: Sequence[Ids]) -> tuple[list[int], list[int]]:
    """Ids of a claim and its evidence in one row, and what each is: of the claim (0) or the evidence (2), plus 1 where
    the other side does not have it. What is longer than the encoder takes is cut at the end.
    """
    most = of.longest + of.prefix + of.suffix
    ids, sides = [*of.before, *claim.tolist(), *of.after], [0] * of.prefix
    there = {i for e in evidence for i in e.tolist()}
    sides += [int(i not in there) for i in claim.tolist()] + [0] * of.suffix
    mine = set(claim.tolist())
    for e in evidence:
        ids += [*e.tolist(), *of.after]
        sides += [2 + int(i not in mine) for i in e.tolist()] + [2] * of.suffix
    return ids[:most], sides[:most]
