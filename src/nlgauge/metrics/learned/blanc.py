"""BLANC: how much a summary helps a masked language model to guess the words of the source."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Sample, Usable
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences

if TYPE_CHECKING:
    from nlgauge.models.masked import Cloze, Masked

# Letters that a token must have to be masked: a whole word, the first piece of a word, a later piece (never).
WHOLE, FIRST = 4, 2
CHUNK, STRIDE, SHARE, DECAY = 64, 32, 0.15, 0.01
RANDOM, SAME = 0.1, 0.2  # of the masked tokens a tenth becomes a random one, a tenth stays
WEIGHTS = "bert-base-uncased, or another masked language model, by name or folder"
blanc = partial(
    metric,
    family="blanc",
    needs=("source",),
    bounds=(-1.0, 1.0),
    year=2020,
    cite="vasilyev-etal-2020-fill",
    extra="neural",
    weights=WEIGHTS,
)


class Guessing(OnSamples):
    """The share of masked words of the source that are guessed with the summary only, less those without only."""

    gap: int
    model: str

    model_options = ("model",)
    undefined = "no word of the source is long enough to be masked"

    def check(self) -> None:
        if self.gap < 1:
            raise NlgaugeError(f"{self.facts.name}: gap={self.gap}; 1 masks every word at once, 6 every sixth.")

    def clozes(self, model: Masked, source: str, before: Sequence[int]) -> list[Cloze]:
        """Every sentence of the source with every gap-th word masked, in all shifts, after some ids."""
        from nlgauge.models.masked import Cloze

        longest = model.longest - len(model.begin) - len(model.end)
        found = []
        for sentence in sentences(source) or [source]:
            ids = model.plain_ids(sentence)
            half = max(1, longest // 2)
            for piece in [ids[i : i + half] for i in range(0, len(ids), half)]:
                good = maskable(model, piece)
                front = [*model.begin, *before[: longest - len(piece)]]
                gap = min(self.gap, len(piece))
                for shift in range(gap):
                    places = [i for i in good if i % gap == shift]
                    if places:
                        masked = [model.mask if i in places else t for i, t in enumerate(piece)]
                        at = tuple(len(front) + i for i in places)
                        found.append(Cloze((*front, *masked, *model.end), at, tuple(piece[i] for i in places)))
        return found

    def right(self, model: Masked, asked: Sequence[Cloze], tuned: Any = None) -> Any:
        """Whether each masked word was guessed."""
        told = model.guesses(asked, tuned)
        return np.array([a == g for c, t in zip(asked, told, strict=True) for a, g in zip(c.answers, t, strict=True)])

    def compare(self, model: Masked, sample: Sample) -> float:
        raise NotImplementedError

    def values(self, batch: Batch, found: Usable) -> list[float]:
        from nlgauge.models.masked import masked

        model = masked(self.model)
        values = [self.compare(model, s) for s in found.samples]
        room = model.longest // 2
        found.note(
            (self.facts.name == "blanc-help" and len(model.plain_ids(s.output)) > room for s in found.samples), CUT
        )
        return values


def maskable(model: Masked, ids: Sequence[int]) -> list[int]:
    """Places of words of four letters and more, and of first pieces of two; later pieces are never masked."""
    tokens = [str(t) for t in model.tokenizer.convert_ids_to_tokens(list(ids))]
    found = []
    for i, token in enumerate(tokens):
        later = i + 1 < len(tokens) and tokens[i + 1].startswith("##")
        if not token.startswith("##") and len(token.lstrip("Ġ▁")) >= (FIRST if later else WHOLE):
            found.append(i)
    return found


def gain(without: Any, with_it: Any) -> float:
    """(guessed with it only − guessed without it only) / all."""
    if not len(without):
        return float("nan")
    return float((with_it & ~without).sum() - (without & ~with_it).sum()) / len(without)


@blanc("blanc-help")
class BlancHelp(Guessing):
    """How much oftener masked words of the source are guessed after the summary than after a filler of full stops."""

    gap: int = 6
    model: str = "bert-base-uncased"

    @property
    def signature(self) -> str:
        return self.signed(gap=self.gap)

    def compare(self, model: Masked, sample: Sample) -> float:
        summary = model.plain_ids(sample.output)
        stop = (model.plain_ids(".") or [model.pad])[0]
        helped = self.right(model, self.clozes(model, sample.source, summary))
        return gain(self.right(model, self.clozes(model, sample.source, [stop] * len(summary))), helped)


@blanc("blanc-tune")
class BlancTune(Guessing):
    """How much oftener masked words of the source are guessed by a model that was tuned on the summary.

    A copy of the model is trained for each output: slow. The masks and the dropout come from the seed.
    """

    gap: int = 6
    epochs: int = 10
    rate: float = 5e-5
    seed: int = 0
    model: str = "bert-base-uncased"

    @property
    def signature(self) -> str:
        return self.signed(gap=self.gap, epochs=self.epochs, rate=self.rate, seed=self.seed)

    def compare(self, model: Masked, sample: Sample) -> float:
        asked = self.clozes(model, sample.source, [])
        if not asked:
            return float("nan")
        tuned = tune(model, sample.output, self.epochs, self.rate, self.seed)
        return gain(self.right(model, asked), self.right(model, asked, tuned))


def lessons(model: Masked, text: str, rng: np.random.Generator) -> list[tuple[list[int], list[int]]]:
    """Chunks of the text with about one token in seven masked, every maskable token once; labels are -100 elsewhere."""
    ids = model.plain_ids(text)
    found = []
    for start in range(0, len(ids), STRIDE):
        chunk = ids[start : start + CHUNK]
        places = rng.permutation(maskable(model, chunk)).tolist()
        n = max(1, int(len(chunk) * SHARE))
        for group in [places[i : i + n] for i in range(0, len(places), n)]:
            given, labels = list(chunk), [-100] * len(chunk)
            for place in group:
                labels[place] = chunk[place]
                chance = rng.random()
                new = int(rng.integers(len(model.tokenizer))) if chance < RANDOM else model.mask
                given[place] = chunk[place] if RANDOM <= chance < SAME else new
            edge = [-100] * len(model.begin), [-100] * len(model.end)
            found.append(([*model.begin, *given, *model.end], [*edge[0], *labels, *edge[1]]))
    return found


def tune(model: Masked, text: str, epochs: int, rate: float, seed: int) -> Any:
    """A copy of the model, trained on the text: AdamW, the rate falling to 0, one chunk at a time."""
    import torch

    rng = np.random.default_rng(np.random.SeedSequence(seed))
    tuned = copy.deepcopy(model.model)
    plain = [p for n, p in tuned.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    same = {id(p) for p in plain}
    decayed = [p for p in tuned.parameters() if id(p) not in same]
    groups = [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, eps=1e-8)
    steps = lessons(model, text, rng)
    total = max(1, len(steps) * epochs)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / total))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tuned.train()
        for _ in range(epochs):
            for given, labels in steps:
                optimizer.zero_grad()
                table, wanted = (torch.tensor([row], device=tuned.device) for row in (given, labels))
                tuned(input_ids=table, labels=wanted).loss.backward()
                optimizer.step()
                falling.step()
    return tuned.eval()
