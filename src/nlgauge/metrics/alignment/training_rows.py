"""Training rows of an aligner: documents, examples, and features with labels, cached in files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.data.files import read_text
from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.construct import Document, Example, Recipe, examples
from nlgauge.metrics.alignment.features import NAMES, FeatureReader, pooled
from nlgauge.models.loading import fingerprint
from nlgauge.text.sentences import sentences
from nlgauge.types import Singles
from nlgauge.writing import whole

HELD_OUT = 0.15  # share of held-out documents
LIGHT = 0.25  # the weight of stop words and punctuation
Tell = Callable[[str], None]


@dataclass
class Data:
    """Rows of features, the target of each, its weight, and the example it belongs to."""

    rows: Singles
    wanted: Singles
    weight: Singles
    example: Any

    def part(self, chosen: Any) -> Data:
        """Return the chosen rows."""
        return Data(self.rows[chosen], self.wanted[chosen], self.weight[chosen], self.example[chosen])


def read_documents(path: Path) -> list[list[str]]:
    """Read one document per line (plain text), or JSON lines with a field `text`; as sentences."""
    results = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line
        if path.suffix in (".jsonl", ".ndjson") and line.strip():
            try:
                text = str(json.loads(line)["text"])
            except (json.JSONDecodeError, KeyError, TypeError):
                raise NlgaugeError(f"{path}, line {number}: expected a JSON object with a field 'text'.") from None
        if document := sentences(text):
            results.append(document)
    if len(results) < 4:
        raise NlgaugeError(
            f"{path}: {len(results)} documents; expected one per line, at least 4 (better more than 200)."
        )
    return results


def token_labels(example: Example, spans: Any) -> Any:
    """Return the label of each token: that of its word."""
    starts, place = [], 0
    for word in example.a.split():
        place = example.a.index(word, place)
        starts.append(place)
        place += len(word)
    return np.array(example.labels, np.float32)[np.searchsorted(starts, spans[:, 0], side="right") - 1]


def build(made: Sequence[Example], encoder: str, tell: Tell) -> Data:
    """Compute token features and labels of examples; stop words and punctuation have less weight."""
    rows, wanted, weight, owner = [], [], [], []
    began = time.monotonic()
    for n, (i, spans, result) in enumerate(FeatureReader(encoder).read([e.pair for e in made]), 1):
        rows.append(result)
        wanted.append(token_labels(made[i], spans))
        light = result[:, NAMES.index("stop")] + result[:, NAMES.index("mark")] > 0
        weight.append(np.where(light, LIGHT, 1.0))
        owner.append(np.full(len(result), i))
        if n % 500 == 0:
            tell(f"features: {n} of {len(made)} examples, {time.monotonic() - began:.0f} s")
    if not rows:
        raise NlgaugeError("this text gives no training example.")
    made_rows, labels, weights = (np.concatenate(v).astype(np.float32) for v in (rows, wanted, weight))
    return Data(made_rows, labels, weights, np.concatenate(owner))


def by_text(data: Data) -> Data:
    """Return the rows for R: one per text, with the share of its words that are aligned."""
    order = np.argsort(data.example, kind="stable")
    ends = np.flatnonzero(np.diff(data.example[order])) + 1
    groups = np.split(order, ends)
    rows = np.stack([pooled(data.rows[g]) for g in groups])
    share = [np.average(data.wanted[g], weights=data.weight[g]) for g in groups]
    return Data(rows, np.array(share, np.float32), np.ones(len(groups), np.float32), np.arange(len(groups)))


@dataclass(frozen=True)
class Source:
    """Everything that determines the rows: text, task, seed, number, encoder, construction steps."""

    documents: Sequence[Document]
    task: str
    seed: int
    count: int
    encoder: str
    parts: Recipe

    def key(self) -> str:
        """Return the hash of everything that determines the rows."""
        facts = [self.task, self.seed, self.count, fingerprint(self.encoder), NAMES, self.parts.names()]
        return digest([[list(document) for document in self.documents], facts]).hex()

    def rows(self, folder: Path, tell: Tell) -> tuple[Data, Data]:
        """Return the rows for training and of held-out documents, from the folder if they are cached."""
        from safetensors.numpy import load_file, save_file

        held = max(1, round(HELD_OUT * len(self.documents)))
        sides = [
            ("held", self.documents[:held], self.seed + 1, max(20, round(self.count * HELD_OUT))),
            ("train", self.documents[held:], self.seed, self.count),
        ]
        results = []
        for side, documents, seed, count in sides:
            path = folder / f"features-{side}-{self.key()}.safetensors"
            if path.exists():
                tell(f"features: using {path.name}")
                results.append(Data(**load_file(path)))
                continue
            made = list(examples(documents, self.task, seed, count, self.parts))
            tell(f"{side}: {len(made)} examples of {len(documents)} documents")
            data = build(made, self.encoder, tell)
            with whole(path) as part:
                save_file({k: np.ascontiguousarray(v) for k, v in vars(data).items()}, part)
            results.append(data)
        return results[1], results[0]
