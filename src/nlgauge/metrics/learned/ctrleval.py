"""CTRLEval: parts of the text are masked and scored by their likelihood under an infilling model."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics.base import Facts, metric, needing
from nlgauge.metrics.batch import Sample, Usable
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.seq2seq import seq2seq
from nlgauge.models.tensors import CUT
from nlgauge.registry import did_you_mean
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences

NEEDS = {"coherence": (), "consistency": ("source",), "relevance": ("control",)}
OUTPUT, MASK = "{output}", "{mask}"


class Prompts(NamedTuple):
    """Patterns with {output} and {mask}, and for each label the words that represent it."""

    patterns: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]


@lru_cache(8)
def prompts(name: str) -> Prompts:
    """Return the prompts of a task of Ni'mah et al. (2023, Table 4), or from a JSON file of the same form."""
    shipped = json.loads(Path(__file__).with_name("ctrleval.json").read_text("utf-8"))
    if name in shipped:
        given = shipped[name]
    elif name.endswith(".json"):
        try:
            given = json.loads(Path(name).expanduser().read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise NlgaugeError(f"ctrleval: prompts='{name}': {error}") from None
    else:
        raise NameUnknown(
            f"ctrleval: no prompts '{name}'.{did_you_mean(name, shipped)} There are {', '.join(shipped)}; or a .json "
            "file with prompts and labels."
        )
    patterns = tuple(given.get("prompts") or ())
    wrong = [p for p in patterns if OUTPUT not in p or MASK not in p]
    if wrong or not patterns:
        raise NlgaugeError(f"ctrleval: prompts='{name}': each prompt has {OUTPUT} and {MASK}; got {wrong or 'none'}.")
    labels = given.get("labels") or {}
    return Prompts(patterns, {str(k): tuple(v) for k, v in labels.items()})


@metric(
    "ctrleval",
    family="ctrleval",
    needs=(),
    bounds=(-math.inf, 0.0),
    year=2022,
    cite="ke-etal-2022-ctrleval",
    extra="neural",
    weights="google/pegasus-large, or another infilling model with its mask, by name or folder",
)
class CtrlEval(OnSamples):
    """Likelihood of a masked part of the text under PEGASUS: each sentence, the prefix and the rest, or a label in a
    prompt.

    aspect: coherence (each sentence after the others), consistency (source is the prefix; each given the other) or
    relevance (control is the label; its share among all labels). prompts: those of nimah2023, Table 4 (topics, persona,
    topical, summaries), or a .json file. iwf: a file with one weight for each token id, as the authors give it for
    PEGASUS; without it all sentences weigh the same.
    """

    aspect: Literal["coherence", "consistency", "relevance"] = "coherence"
    prompts: str = "topics"
    iwf: str = ""
    mask: str = "<mask_1>"
    model: str = "google/pegasus-large"

    model_options = ("model",)

    def check(self) -> None:
        if self.aspect == "relevance" and not prompts(self.prompts).labels:
            raise NlgaugeError(
                f"ctrleval: prompts='{self.prompts}' have no labels to choose from; give a .json file with labels."
            )

    def own_facts(self, facts: Facts) -> Facts:
        return needing(facts, NEEDS[self.aspect], (0.0, 1.0) if self.aspect == "relevance" else None)

    def ready(self) -> None:
        if self.iwf and not Path(self.iwf).expanduser().is_file():
            raise NlgaugeError(f"ctrleval: iwf='{self.iwf}': no such file.")
        super().ready()

    @property
    def signature(self) -> str:
        chosen = self.prompts if self.aspect == "relevance" else None
        iwf = None if self.aspect == "relevance" else Path(self.iwf).name or "none"
        return self.signed(aspect=self.aspect, prompts=chosen, iwf=iwf, mask=self.mask)

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model = seq2seq(self.model)
        if self.aspect == "relevance":
            return self._relevance(model, found)
        asked = [self._parts(s) for s in found.samples]
        flat = [pair for parts in asked for pair in parts]
        # The authors count the end token of a sentence, but not that of prefix and continuation.
        special = self.aspect == "coherence"
        told = iter(model.told(flat, special=special))
        values, cut = [], []
        for parts in asked:
            logs, weights, long = [], [], False
            for _, target in parts:
                t = next(told)
                logs.append(float(t.logs.mean()))
                weights.append(self._weight(model, target, special))
                long |= t.cut
            total = sum(weights)
            values.append(float(np.dot(logs, weights) / total) if total > 0 else sum(logs) / len(logs))
            cut.append(long)
        found.note(cut, CUT)
        return values

    def _parts(self, sample: Sample) -> list[tuple[str, str]]:
        """Return the text with a mask, and the masked part."""
        if self.aspect == "coherence":
            result = sentences(sample.output) or [sample.output]
            return [
                (" ".join([*result[:i], self.mask, *result[i + 1 :]]), sentence) for i, sentence in enumerate(result)
            ]
        # Texts of controlled generation often repeat their prefix.
        rest = sample.output.removeprefix(sample.source).strip() or sample.output
        return [(f"{sample.source} {self.mask}", rest), (f"{self.mask} {rest}", sample.source)]

    def _weight(self, model: Any, target: str, special: bool) -> float:
        if not self.iwf:
            return 1.0
        ids, _ = model.ids(target, model.longest, special)
        weights = _iwf(self.iwf)
        if max(ids, default=0) >= len(weights):
            raise NlgaugeError(f"ctrleval: iwf='{self.iwf}' has {len(weights)} weights; the model has more token ids.")
        return float(weights[ids].max()) if ids else 0.0

    def _relevance(self, model: Any, found: Usable) -> list[float]:
        patterns, labels = prompts(self.prompts)
        names = list(labels)
        for place, sample in zip(found.places.tolist(), found.samples, strict=True):
            if sample.control not in labels:
                found.reasons[place] = f"control '{sample.control}' is none of {', '.join(names)}"
        words = len(next(iter(labels.values())))
        if any(len(w) != words for w in labels.values()):
            raise NlgaugeError(f"ctrleval: prompts='{self.prompts}': each label needs the same number of words.")
        pairs = [
            (p.replace(OUTPUT, s.output).replace(MASK, self.mask), labels[name][k])
            for s in found.samples
            for p in patterns
            for k in range(words)
            for name in names
        ]
        told = model.told(pairs, special=False)
        shape = (len(found.samples), len(patterns) * words, len(names))
        likely = np.exp([float(t.logs.mean()) for t in told]).reshape(shape)
        found.note((t.cut for t in told), CUT, [shape[1] * shape[2]] * shape[0])
        # Patterns are weighted by the total likelihood of the labels; within a pattern the labels sum to 1.
        sums = likely.sum(axis=2, keepdims=True)
        share = (likely / sums * (sums / sums.sum(axis=1, keepdims=True))).sum(axis=1)
        return [
            float(share[i, names.index(s.control)]) if s.control in labels else math.nan
            for i, s in enumerate(found.samples)
        ]


@lru_cache(2)
def _iwf(path: str) -> Any:
    try:
        return np.array([float(x) for x in Path(path).expanduser().read_text("utf-8").split()])
    except (OSError, ValueError) as error:
        raise NlgaugeError(f"ctrleval: iwf='{path}': {error}") from None
