"""Extractive question answering with probabilities, named entities of a text, and overlap of answers."""

from __future__ import annotations

import functools
import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from nlgauge.models.loading import LoadedModel, load
from nlgauge.models.tensors import longest_input, threads
from nlgauge.text.sentences import sentences

CAPITALS = "capitals"
# Runs of capitalized words (which may contain of, de, …), and numbers.
NAMES = re.compile(r"[A-Z][\w'’.-]*(?:\s+(?:(?:of|the|de|van|von|and)\s+)?[A-Z][\w'’-]*)*|\$?\d[\d,.:%]*")
ARTICLES = re.compile(r"\b(?:a|an|the)\b")
MARKS = str.maketrans("", "", string.punctuation)


class Answer(NamedTuple):
    """A span of a text, and the probability that the model gives it; '' and 0 where there is none."""

    text: str
    probability: float


class Answering(LoadedModel):
    """An extractive question-answering model by name or folder. Too long a text is read in overlapping windows."""

    kind = "qa"

    def windows(self, question: str, text: str) -> Any:
        """Tokenize question and text; a long text becomes overlapping windows."""
        room = self.longest - len(self.tokenizer(question, "", verbose=False)["input_ids"])
        return self.tokenizer(
            question,
            text,
            truncation="only_second" if room > 8 else "longest_first",
            max_length=self.longest,
            stride=max(0, min(128, room // 2)),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )

    def answer(self, question: str, text: str) -> Answer:
        """Return the most likely first and last token, each by itself as in SummaQA; over windows the most likely."""
        import torch

        given = self.windows(question, text)
        best = Answer("", 0.0)
        keys = [k for k in ("input_ids", "attention_mask", "token_type_ids") if k in given]
        with threads():
            for w, offsets in enumerate(given["offset_mapping"]):
                inside = torch.tensor([s == 1 for s in given.sequence_ids(w)])
                if not inside.any():
                    continue
                row = {k: torch.tensor([given[k][w]], device=self.model.device) for k in keys}
                out = self.model(**row)
                ends = []
                for logits in (out.start_logits, out.end_logits):
                    p = logits[0].float().softmax(-1).cpu() * inside
                    ends.append((int(p.argmax()), float(p.max())))
                (a, p), (b, q) = ends
                if p * q > best.probability:
                    best = Answer(text[offsets[a][0] : offsets[b][1]] if b >= a else "", p * q)
        return best


@functools.lru_cache(1)
def answering(name: str, option: str = "model") -> Answering:
    """Return the question-answering model with this name, which is loaded once."""
    return Answering(name, option)


def names(text: str, finder: str) -> list[tuple[int, int]]:
    """Return the positions of names and numbers: runs of capitals ('capitals'), or those of a token classifier."""
    if finder == CAPITALS:
        return [m.span() for m in NAMES.finditer(text) if not _opening(text, m)]
    tokenizer, model = load("tokens", finder, "entities")
    most = longest_input(tokenizer, model.config)
    given = tokenizer(
        text, truncation=True, max_length=most, return_overflowing_tokens=True, return_offsets_mapping=True
    )
    results: list[tuple[int, int]] = []
    before = "O"
    for ids, offsets in zip(given["input_ids"], given["offset_mapping"], strict=True):
        for label, (a, b) in zip(_labels(model, ids), offsets, strict=True):
            if b == a:
                continue  # a special token
            kind, old = label.rpartition("-")[2], before.rpartition("-")[2]
            if label != "O" and kind == old and not label.startswith("B-"):
                results[-1] = (results[-1][0], b)
            elif label != "O":
                results.append((a, b))
            before = label
    return results


def _labels(model: Any, ids: Sequence[int]) -> list[str]:
    import torch

    with threads():
        table = torch.tensor([list(ids)], device=model.device)
        best = model(input_ids=table, attention_mask=torch.ones_like(table)).logits[0].argmax(-1).tolist()
    return [str(model.config.id2label[i]) for i in best]


def _opening(text: str, found: re.Match[str]) -> bool:
    """Return whether it is a single capitalized word at the start of a sentence, which need not be a name."""
    return found.start() == 0 and " " not in found[0] and not found[0][0].isdigit() and found[0][0] != "$"


def cloze(text: str, finder: str, mark: str) -> list[tuple[str, str]]:
    """Return cloze questions with their answers: each sentence with one name masked."""
    return [(s[:a] + mark + s[b:], s[a:b]) for s in sentences(text) for a, b in names(s, finder) if s[a:b].strip()]


def plain(text: str) -> list[str]:
    """Return the words without case, punctuation and articles, as SQuAD compares answers."""
    return ARTICLES.sub(" ", text.lower().translate(MARKS)).split()


def overlap(one: str, other: str) -> float:
    """Compute the F1 of the words of two answers; two empty answers agree.

    >>> round(overlap("the Denver Broncos", "Broncos"), 3)
    0.667
    """
    a, b = plain(one), plain(other)
    if not a or not b:
        return float(a == b)
    same = sum((Counter(a) & Counter(b)).values())
    return 2 * same / (len(a) + len(b))


def mean(values: Sequence[float]) -> float:
    """Return the mean; NaN of nothing."""
    return sum(values) / len(values) if values else float("nan")
