"""Construction steps that load a model: a paraphraser and an infiller with masks by name, as in the paper.

Both take any folder or hub name of a sequence-to-sequence model in safetensors. `smollm2` fills masks with the language
model that a package contains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from numpy.random import Generator

from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.construct import Document, Infill, Recipe, Span, changed, ending
from nlgauge.models.loading import load
from nlgauge.text.paraphrase import CANDIDATES

PARAPHRASER = "Vamsi/T5_Paraphrase_Paws"  # the paper's
INFILLER = "facebook/bart-large"  # the paper's
CAUSAL = "smollm2"  # inside a package
ADVICE = "give a folder, or omit the option to work offline."
MAX_NEW_TOKENS = 128  # new tokens


@dataclass
class TextSampler:
    """A sequence-to-sequence model that samples texts with its own random numbers."""

    name: str
    option: str

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """Load tokenizer and model once."""
        return load("seq2seq", self.name, self.option, ADVICE)

    def __call__(self, text: str, rng: Generator, count: int) -> list[str]:
        import torch

        tokenizer, model = self.loaded
        ids = tokenizer(text, return_tensors="pt", truncation=True).to(model.device)
        # generate() has no generator of its own: fork the global stream, seed it, and leave it as it was.
        with torch.random.fork_rng(devices=[]), torch.inference_mode():
            torch.manual_seed(int(rng.integers(2**31)))
            out = model.generate(
                **ids, do_sample=True, top_p=0.95, num_return_sequences=count, max_new_tokens=MAX_NEW_TOKENS
            )
        return [str(t).strip() for t in tokenizer.batch_decode(out, skip_special_tokens=True)]


@dataclass
class ModelParaphrase:
    """Return ten paraphrases by a paraphrase model."""

    name: str = PARAPHRASER
    prompt: str = "paraphrase: {}"

    def __post_init__(self) -> None:
        self.model = TextSampler(self.name, "paraphraser")

    def __call__(self, text: str, rng: Generator) -> list[str]:
        result = self.model(self.prompt.format(text), rng, CANDIDATES)
        return [message for message in result if message] or [text]


@dataclass
class ModelInfill:
    """Fill masks with a model that sees only the target (BART).

    A word of the answer counts as original if it was around the masks, in that order.
    """

    name: str = INFILLER

    def __post_init__(self) -> None:
        self.model = TextSampler(self.name, "infiller")

    def __call__(
        self, words: Sequence[str], spans: Sequence[Span], document: Document, rng: Generator
    ) -> tuple[list[str], list[int]]:
        mask = self.model.loaded[0].mask_token
        if mask is None:
            raise NlgaugeError(f"infiller='{self.name}': its tokenizer has no mask token.")
        template = masked(words, spans, mask)
        filled = self.model(" ".join(template), rng, 1)[0].split() or list(words)
        return filled, kept(template, filled)


@dataclass
class CausalInfill:
    """Fill masks from left to right with a language model that sees only the preceding words (SmolLM2, offline)."""

    name: str = CAUSAL

    @cached_property
    def loaded(self) -> tuple[Any, Any]:
        """Load tokenizer and model once."""
        return load("causal", self.name, "infiller")

    def __call__(
        self, words: Sequence[str], spans: Sequence[Span], document: Document, rng: Generator
    ) -> tuple[list[str], list[int]]:
        new: list[str] = []
        labels: list[int] = []
        place = 0
        for a, b in spans:
            old = list(words[a:b])
            new += words[place:a]
            filled = ending(old, self._next(new, len(old), rng) or old)
            labels += [1] * (a - place) + changed(old, filled)
            new += filled
            place = b
        return [*new, *words[place:]], [*labels, *[1] * (len(words) - place)]

    def _next(self, before: Sequence[str], count: int, rng: Generator) -> list[str]:
        """Generate that many following words; fewer where the model ends its line."""
        import torch

        tokenizer, model = self.loaded
        text = " ".join(before) or str(tokenizer.bos_token)
        ids = tokenizer(text, return_tensors="pt", add_special_tokens=False).to(model.device)
        with torch.random.fork_rng(devices=[]), torch.inference_mode():
            torch.manual_seed(int(rng.integers(2**31)))
            out = model.generate(
                **ids, do_sample=True, top_p=0.95, max_new_tokens=3 * count + 2, pad_token_id=model.config.eos_token_id
            )
        message = str(tokenizer.decode(out[0, ids["input_ids"].shape[1] :], skip_special_tokens=True))
        # The last word may be truncated by the limit of tokens.
        result = message.strip().split("\n")[0].split()
        return result[:count] if len(result) > count else result[:-1]


def masked(words: Sequence[str], spans: Sequence[Span], mask: str) -> list[str]:
    """Replace each span of words by the mask.

    >>> masked(["a", "b", "c", "d"], [(1, 3)], "<mask>")
    ['a', '<mask>', 'd']
    """
    results: list[str] = []
    place = 0
    for a, b in spans:
        results += [*words[place:a], mask]
        place = b
    return [*results, *words[place:]]


def kept(template: Sequence[str], filled: Sequence[str]) -> list[int]:
    """Label the words of the template 1, inserted words 0.

    >>> kept(["a", "<mask>", "d"], ["a", "x", "y", "d"])
    [1, 0, 0, 1]
    """
    labels = [0] * len(filled)
    for block in SequenceMatcher(None, template, filled, autojunk=False).get_matching_blocks():
        labels[block.b : block.b + block.size] = [1] * block.size
    return labels


def model_parts(parts: Recipe, paraphraser: str | None, infiller: str | None) -> Recipe:
    """Return the recipe with named models in place of its offline steps."""
    parts.paraphrase = ModelParaphrase(paraphraser) if paraphraser else parts.paraphrase
    parts.infill = infilled(infiller) if infiller else parts.infill
    return parts


def infilled(name: str) -> Infill:
    """Return the infiller of that name."""
    return CausalInfill() if name == CAUSAL else ModelInfill(name)
