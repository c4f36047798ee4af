"""BLANC: how much a summary helps a masked language model to predict the words of the source."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.base import metric
from nlgauge.metrics.batch import Sample, Usable
from nlgauge.metrics.learned.on_samples import OnSamples
from nlgauge.models.masked import Cloze, Masked, masked
from nlgauge.models.tensors import CUT
from nlgauge.text.batch import Batch
from nlgauge.text.sentences import sentences

# Minimum letters of a masked token: a whole word, the first piece of a word, a later piece (never).
WHOLE, FIRST = 4, 2
CHUNK, STRIDE, SHARE, DECAY = 64, 32, 0.15, 0.01
SENTENCE = 100  # pieces of a sentence that are kept before the summary is shortened
RANDOM, SAME = 0.1, 0.2  # one tenth of the masked tokens becomes a random token, one tenth is unchanged
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
    """The share of masked source words predicted only with the summary, minus that predicted only without it."""

    gap: int
    model: str

    model_options = ("model",)
    undefined = "no word of the source is long enough to be masked"

    def check(self) -> None:
        if self.gap < 1:
            raise NlgaugeError(f"{self.facts.name}: gap must be at least 1 (6 masks every sixth word); got {self.gap}.")

    def clozes(self, model: Masked, source: str, summary: str = "", filler: int | None = None) -> list[Cloze]:
        """Return every sentence of the source with every gap-th word masked, in all shifts, after the summary (or as
        many fillers as it has pieces).
        """
        longest = model.longest - len(model.begin) - len(model.end)
        parts = pieces(model, summary)
        results = []
        for sentence in pieces(model, source):
            asked, before = fitted(sentence, parts, longest)
            front = [*model.begin, *(before if filler is None else [filler] * len(before))]
            for places in evenly(maskable(model, asked), len(asked), self.gap):
                masked = [model.mask if i in places else t for i, t in enumerate(asked)]
                index = tuple(len(front) + i for i in places)
                results.append(Cloze((*front, *masked, *model.end), index, tuple(asked[i] for i in places)))
        return results

    def too_long(self, model: Masked, sample: Sample) -> bool:
        """Return whether a sentence was truncated, or the summary before it."""
        longest = model.longest - len(model.begin) - len(model.end)
        before = sum(map(len, pieces(model, self.shown(sample))))
        return any(len(sentence) + before > longest for sentence in pieces(model, sample.source))

    def shown(self, sample: Sample) -> str:
        """Return the text that the model reads before each sentence."""
        return ""

    def right(self, model: Masked, asked: Sequence[Cloze], tuned: Any = None) -> Any:
        """Return whether each masked word was predicted correctly."""
        told = model.guesses(asked, tuned)
        return np.array([a == g for c, t in zip(asked, told, strict=True) for a, g in zip(c.answers, t, strict=True)])

    def compare(self, model: Masked, sample: Sample) -> float:
        """Return how much the output of a sample helps to predict masked tokens; NaN if no token can be masked."""
        raise NotImplementedError

    def values(self, batch: Batch, found: Usable) -> list[float]:
        model = masked(self.model)
        values = [self.compare(model, s) for s in found.samples]
        found.note((self.too_long(model, s) for s in found.samples), CUT)
        return values


def pieces(model: Masked, text: str) -> list[list[int]]:
    """Return the token IDs of each sentence after Unicode compatibility decomposition, as in the authors' program."""
    plain = unicodedata.normalize("NFKD", text)
    return [ids for sentence in sentences(plain) or [plain] if (ids := model.plain_ids(sentence))]


def fitted(sentence: list[int], summary: Sequence[list[int]], longest: int) -> tuple[list[int], list[int]]:
    """Return the sentence and the summary before it, truncated to the available length as in the authors' program.

    The sentence loses its end, down to 100 pieces; then the summary its last sentences. If the first sentence of the
    summary alone is too long, it loses its beginning.

    >>> fitted([7, 8], [[1, 2], [3]], 4)
    ([7, 8], [1, 2])
    """
    excess = len(sentence) + sum(map(len, summary)) - longest
    if excess <= 0:
        return sentence, list(chain.from_iterable(summary))
    sentence = sentence[: max(min(len(sentence), SENTENCE), len(sentence) - excess)][:longest]
    room = longest - len(sentence)
    selected: list[int] = []
    for part in summary:
        if len(selected) + len(part) > room:
            break
        selected += part
    return sentence, selected if selected or not summary or not room else summary[0][-room:]


def evenly(places: Sequence[int], length: int, gap: int) -> list[list[int]]:
    """Return the positions to mask together: every gap-th token, in each nonempty shift."""
    gap = min(gap, length)
    return [some for shift in range(gap) if (some := [i for i in places if i % gap == shift])]


def maskable(model: Masked, ids: Sequence[int]) -> list[int]:
    """Return positions of words of at least four letters, and of first pieces of at least two; later pieces are
    never masked.
    """
    tokens = [str(t) for t in model.tokenizer.convert_ids_to_tokens(list(ids))]
    results = []
    for i, token in enumerate(tokens):
        later = i + 1 < len(tokens) and tokens[i + 1].startswith("##")
        if not token.startswith("##") and len(token.lstrip("Ġ▁")) >= (FIRST if later else WHOLE):
            results.append(i)
    return results


def gain(without: Any, with_it: Any) -> float:
    """Compute (predicted only with it − predicted only without it) / all."""
    if not len(without):
        return float("nan")
    return float((with_it & ~without).sum() - (without & ~with_it).sum()) / len(without)


@blanc("blanc-help")
class BlancHelp(Guessing):
    """How much more often masked words of the source are predicted after the summary than after a filler of full stops.

    gap: every second word is masked, as in the current version of the authors' program; the paper has gap=6.
    """

    gap: int = 2
    model: str = "bert-base-uncased"

    @property
    def signature(self) -> str:
        return self.signed(gap=self.gap, cut="sentences")

    def shown(self, sample: Sample) -> str:
        return sample.output

    def compare(self, model: Masked, sample: Sample) -> float:
        stop = (model.plain_ids(".") or [model.pad])[0]
        helped = self.right(model, self.clozes(model, sample.source, sample.output))
        return gain(self.right(model, self.clozes(model, sample.source, sample.output, stop)), helped)


@blanc("blanc-tune")
class BlancTune(Guessing):
    """How much more often masked words of the source are predicted by a model fine-tuned on the summary.

    A copy of the model is trained for each output, which is slow. lessons: 'even' masks every gap-th word of the
    summary in all shifts, as in the current version of the authors' program; 'random' about one token in seven, as in
    the paper (with gap=6). Mask replacements, random masks and dropout depend on the seed.
    """

    gap: int = 2
    lessons: Literal["even", "random"] = "even"
    epochs: int = 10
    rate: float = 5e-5
    seed: int = 0
    model: str = "bert-base-uncased"

    @property
    def signature(self) -> str:
        return self.signed(gap=self.gap, lessons=self.lessons, epochs=self.epochs, rate=self.rate, seed=self.seed)

    def compare(self, model: Masked, sample: Sample) -> float:
        asked = self.clozes(model, sample.source)
        if not asked:
            return float("nan")
        tuned = tune(model, sample.output, self)
        return gain(self.right(model, asked), self.right(model, asked, tuned))


def lessons(model: Masked, text: str, gap: int | None, rng: np.random.Generator) -> list[tuple[list[int], list[int]]]:
    """Return chunks of the text in which every maskable token is masked once, with labels (-100 at all other tokens).

    If `gap` is a number, every gap-th token is masked, once for each offset, and the beginning of the text is repeated
    so that it is trained on as often as the rest. If `gap` is None, about one token in seven is masked at random.
    """
    ids = model.plain_ids(text)
    chunks = []
    for start in range(0, len(ids), STRIDE):
        chunks.append(ids[start : start + CHUNK])
        if gap is not None and 0 < start < CHUNK:
            chunks.append(ids[:start])
    edge = [-100] * len(model.begin), [-100] * len(model.end)
    results = []
    for chunk in chunks:
        places = maskable(model, chunk)
        if gap is not None:
            groups = evenly(places, len(chunk), gap)
        else:
            places, n = rng.permutation(places).tolist(), max(1, int(len(chunk) * SHARE))
            groups = [places[i : i + n] for i in range(0, len(places), n)]
        for group in groups:
            given, labels = list(chunk), [-100] * len(chunk)
            for place in group:
                labels[place] = chunk[place]
                chance = rng.random()
                new = int(rng.integers(len(model.tokenizer))) if chance < RANDOM else model.mask
                given[place] = chunk[place] if RANDOM <= chance < SAME else new
            results.append(([*model.begin, *given, *model.end], [*edge[0], *labels, *edge[1]]))
    return results


def tune(model: Masked, text: str, how: BlancTune) -> Any:
    """Return a copy of the model trained on the text with AdamW, a learning rate that decreases to 0, and one chunk per
    step.
    """
    import torch

    rng = np.random.default_rng(np.random.SeedSequence(how.seed))
    tuned = copy.deepcopy(model.model)
    plain = [p for n, p in tuned.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    same = {id(p) for p in plain}
    decayed = [p for p in tuned.parameters() if id(p) not in same]
    groups = [{"params": decayed, "weight_decay": DECAY}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=how.rate, eps=1e-8)
    steps = lessons(model, text, how.gap if how.lessons == "even" else None, rng)
    total = max(1, len(steps) * how.epochs)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / total))
    with torch.random.fork_rng():
        torch.manual_seed(how.seed)
        tuned.train()
        for _ in range(how.epochs):
            for given, labels in steps:
                optimizer.zero_grad()
                table, wanted = (torch.tensor([row], device=tuned.device) for row in (given, labels))
                tuned(input_ids=table, labels=wanted).loss.backward()
                optimizer.step()
                falling.step()
    return tuned.eval()
