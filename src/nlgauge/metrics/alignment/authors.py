"""Estimators D and R with the checkpoints published by the authors of Deng et al. (2021) in the package ctc_score.

D: RoBERTa reads a text and its context together; the states of a word's pieces are summed and a linear layer gives the
probability that the word is grounded. R: a BLEURT (BERT) reads context and text and gives one number for the text.
`weights` is one file (.ckpt, .pt, .safetensors) or the folder that ctc_score fills (D-cnndm, …), which contains one
file for each kind of text pair. Tokenizer and configuration are those of `encoder`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.digests import digest
from nlgauge.errors import NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, ToAlign
from nlgauge.models.loading import load_skeleton
from nlgauge.models.tensors import by_length, longest_input, padded, threads
from nlgauge.models.torch_weights import SUFFIXES, check_torch_weights, read_torch
from nlgauge.text.stopwords import STOP
from nlgauge.types import Ids

BASES = {"D": "roberta-large", "R": "bert-base-uncased"}  # default where encoder= is not given
MAX_PAIR_TOKENS = 512  # tokens of a pair; each text gets half of them
# Candidate files by kind of pair: two texts in b, an output or reference as b, otherwise.
FILES = {
    "both": ("fact_history_to_response",),
    "short": ("summ_to_ref", "sent_to_sent"),
    "long": ("doc_to_summ", "fact_to_response", "sent_to_sent"),
}
QUOTES = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'"})
# Clean-up of decoding in transformers 4, with which the published scores were computed.
JOINED = ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"), (" 'm", "'m"),
          (" 's", "'s"), (" 've", "'ve"), (" 're", "'re"))  # fmt: skip


def authors_files(weights: str) -> dict[str, Path]:
    """Return the authors' checkpoints by name; none where `weights` is the user's own training."""
    if not weights:
        return {}
    path = Path(weights).expanduser()
    if path.is_file():
        return {path.stem: path}
    names = {name for some in FILES.values() for name in some}
    inside = sorted(path.iterdir()) if path.is_dir() else []
    return {p.stem: p for p in inside if p.stem in names and p.suffix in (*SUFFIXES, ".safetensors")}


@dataclass(frozen=True)
class Words(Alignment):
    """Scores of words split at blanks; R gives one score for the whole text."""

    def words(self) -> Alignment:
        return self

    def content(self) -> Alignment:
        """Remove stop words; a word followed by a full stop is not a stop word, as in the original."""
        if self.whole:
            return self
        selected = np.array([token.lower() not in STOP for token in self.tokens], np.bool_)
        return Words(self.text, self.spans[selected], self.scores[selected])


@dataclass(frozen=True)
class Authors:
    """The authors' D or R. `base`: the model whose tokenizer and configuration the checkpoint was trained with."""

    kind: str
    weights: str
    base: str

    def file_for(self, pair: ToAlign) -> Path:
        """Return the checkpoint that scores a pair, which depends on the texts of b."""
        files = authors_files(self.weights)
        if len(files) == 1:
            return next(iter(files.values()))
        names = FILES["both" if len(pair.b) > 1 else "short" if pair.whole else "long"]
        for name in names:
            if name in files:
                return files[name]
        raise NlgaugeError(
            f"weights='{self.weights}': no {' or '.join(names)} there for these texts; found {', '.join(files)}."
        )

    def fingerprint(self) -> str:
        """Return name and hash of each file, after checking that they may be read."""
        files = authors_files(self.weights)
        if any(path.suffix != ".safetensors" for path in files.values()):
            check_torch_weights(f"align='{self.kind}', weights='{self.weights}'", "weights")
        return "+".join(f"{name}@{_hash(str(path), path.stat().st_mtime_ns)}" for name, path in files.items())

    def expect(self, pairs: Collection[ToAlign]) -> None:
        """Do nothing, because nothing is shared: each text is read together with its context."""

    def cut(self, pairs: Collection[ToAlign]) -> int:
        """Return the texts longer than half of 512 tokens; the words beyond have no score."""
        if self.kind == "R":
            return 0
        model = [loaded(str(self.file_for(p)), self.kind, self.base) for p in pairs]
        return sum(
            len(m.tokenizer(clean(p.a), verbose=False)["input_ids"]) > m.most // 2
            for m, p in zip(model, pairs, strict=True)
        )

    def align(self, pairs: Sequence[ToAlign]) -> list[Alignment]:
        """Return one Alignment per pair, in their order."""
        results: dict[int, Alignment] = {}
        by_file: dict[Path, list[int]] = {}
        for i, pair in enumerate(pairs):
            if pair.a.strip():
                by_file.setdefault(self.file_for(pair), []).append(i)
            else:
                results[i] = Words(pair.a, np.zeros((0, 2), np.int32), np.zeros(0))
        for path, rows in by_file.items():
            model = loaded(str(path), self.kind, self.base)
            # The knowledge comes before the history.
            texts = [(pairs[i].a, "\n\n\n".join(t.strip() for t in reversed(pairs[i].b))) for i in rows]
            results |= dict(zip(rows, model.align(texts), strict=True))
        return [results[i] for i in range(len(pairs))]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint with its tokenizer; `classifier`: the layer behind the model."""

    kind: str
    tokenizer: Any
    model: Any
    classifier: Any
    most: int

    def align(self, texts: Sequence[tuple[str, str]]) -> list[Alignment]:
        """Return one Alignment for each pair of text and context."""
        return self.words(texts) if self.kind == "D" else self.wholes(texts)

    def words(self, texts: Sequence[tuple[str, str]]) -> list[Alignment]:
        """Return the probability of each word (type D)."""
        import torch

        read = [self.shortened(a) for a, _ in texts]
        rows = [
            self.tokenizer(a, clean(b), truncation="only_second", max_length=self.most, return_offsets_mapping=True)
            for a, (_, b) in zip(read, texts, strict=True)
        ]
        results: list[Alignment] = []
        for (text, _), a, row, state in zip(texts, read, rows, self.run(rows), strict=True):
            parts = grouped(self.tokenizer.convert_ids_to_tokens(row["input_ids"]), row, a)
            logits = self.classifier(torch.stack([state[part].sum(dim=0) for part in parts]))
            scores = torch.softmax(logits, dim=-1)[:, 0].double().cpu().numpy()
            results.append(Words(text, spans_of(a.split(), text), scores))
        return results

    def wholes(self, texts: Sequence[tuple[str, str]]) -> list[Alignment]:
        """Return one number per text (type R) for the text as a whole, so that mean and sum equal that number."""
        rows = [self.tokenizer(b, a, truncation="longest_first", max_length=self.most) for a, b in texts]
        return [
            Words(a, np.array([[0, len(a)]], np.int32), np.array([float(self.classifier(state)[0])]), whole=True)
            for (a, _), state in zip(texts, self.run(rows), strict=True)
        ]

    def run(self, rows: Sequence[Any]) -> list[Any]:
        """Return the states of the tokens of each row (type D) or its pooled state (type R)."""
        results: dict[int, Any] = {}
        keys = [k for k in rows[0] if k != "offset_mapping"] if rows else []
        pad = int(self.tokenizer.pad_token_id or 0)
        with threads():
            for places in by_length([len(row["input_ids"]) for row in rows]):
                given = {
                    k: padded([rows[i][k] for i in places], pad if k == "input_ids" else 0, self.model.device)[0]
                    for k in keys
                }
                out = self.model(**given)
                for index, i in enumerate(places):
                    whole = out.last_hidden_state[index, : len(rows[i]["input_ids"])]
                    results[i] = (whole if self.kind == "D" else out.pooler_output[index]).clone()
        return [results[i] for i in range(len(rows))]

    def shortened(self, text: str) -> str:
        """Return the text as the original reads it: cleaned, decoded from its first 256 tokens."""
        ids = self.tokenizer(clean(text), verbose=False)["input_ids"][: self.most // 2]
        message = self.tokenizer.decode(ids, clean_up_tokenization_spaces=False)
        for old, new in JOINED:
            message = message.replace(old, new)
        for mark in (self.tokenizer.bos_token, self.tokenizer.eos_token, self.tokenizer.unk_token):
            message = message.replace(mark, "") if mark else message
        return str(message.replace("  ", " ").strip(" "))


def clean(text: str) -> str:
    """Straighten quotes, collapse blanks, lower-case."""
    return re.sub(" {2,}", " ", text.translate(QUOTES)).casefold().strip()


def grouped(tokens: Sequence[str], row: Any, text: str) -> list[list[int]]:
    """Return the positions of each word's pieces: a piece preceded by a blank begins a word.

    Where that does not give one group per word (at line breaks, on which the original fails), the pieces are matched by
    position.
    """
    kinds = row.sequence_ids(0)
    first = [i for i, kind in enumerate(kinds) if kind == 0]
    groups: list[list[int]] = []
    for i in first:
        if tokens[i].startswith(("Ġ", "▁")) or not groups:
            groups.append([])
        groups[-1].append(i)
    words = list(re.finditer(r"\S+", text))
    if len(groups) == len(words):
        return groups
    offsets = [row["offset_mapping"][i] for i in first]
    return [
        [i for i, (a, b) in zip(first, offsets, strict=True) if a < w.end() and b > w.start()] or first[:1]
        for w in words
    ]


def spans_of(words: Sequence[str], text: str) -> Ids:
    """Return where each word is in the original text, matching characters other than blanks."""
    letters = [i for i, c in enumerate(text) for _ in c.casefold() if not c.isspace()]
    result, index = [], 0
    for word in words:
        last = min(index + len(word), len(letters)) - 1
        result.append((letters[min(index, last)], letters[last] + 1))
        index += len(word)
    return np.array(result, np.int32).reshape(-1, 2)


@lru_cache(maxsize=3)
def loaded(path: str, kind: str, base: str) -> Checkpoint:
    """Load a checkpoint in its authors' layout: D `_roberta.…` (or `_model.…`) and `_classifier`, R `bert.…` and
    `dense`.
    """
    import torch
    import transformers

    made_of: Any = transformers  # classes are looked up by name, some without types
    text = f"align='{kind}', weights='{path}'"
    state = _tensors(Path(path), text)
    tokenizer, config = load_skeleton(base, "encoder")
    within, layer = (("_roberta.", "_model."), "_classifier") if kind == "D" else (("bert.",), "dense")
    start = next((w for w in within if any(k.startswith(w) for k in state)), "")
    weight, bias = state.get(f"{layer}.weight"), state.get(f"{layer}.bias")
    outputs = 2 if kind == "D" else 1
    if not start or weight is None or bias is None or tuple(weight.shape) != (outputs, config.hidden_size):
        raise NlgaugeError(
            f"{text}: no checkpoint of the authors' {kind} on a model like '{base}': {within[0]}… and {layer}.weight "
            f"of {outputs} × {config.hidden_size} are needed; found {', '.join(sorted(state)[:3])} … ({len(state)})."
        )
    model = made_of.AutoModel.from_config(config, dtype="float32")
    try:
        missing, _ = model.load_state_dict(
            {k.removeprefix(start): v for k, v in state.items() if k.startswith(start)}, strict=False
        )
    except RuntimeError as error:  # different sizes
        raise NlgaugeError(f"{text}: not of the size of '{base}' ({' '.join(str(error).split())[:200]}).") from None
    unread = ("pooler.",) if kind == "D" else ()  # D uses the words only
    counts = ("position_ids", "token_type_ids")  # no weights
    if lacking := [k for k in missing if not k.startswith(unread) and not k.endswith(counts)]:
        raise NlgaugeError(f"{text}: no weights for {', '.join(lacking[:3])} ({len(lacking)} missing).")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    linear = torch.nn.Linear(config.hidden_size, outputs)
    linear.load_state_dict({"weight": weight, "bias": bias})
    most = min(MAX_PAIR_TOKENS, longest_input(tokenizer, config))
    return Checkpoint(kind, tokenizer, model.to(device).eval(), linear.to(device).requires_grad_(False), most)


def _tensors(path: Path, said: str) -> dict[str, Any]:
    if path.suffix != ".safetensors":
        return read_torch(path, said)
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return dict(load_file(path))
    except (OSError, SafetensorError) as error:
        raise NlgaugeError(f"{said}: not a readable safetensors file ({error}).") from None


@lru_cache(maxsize=64)
def _hash(path: str, changed: int) -> str:
    return digest(Path(path)).hex()
