"""Views of texts as integer tokens: each distinct text is tokenized once per tokenizer.

Tokenizers, by name:

- `13a`: mteval-v13a, the default of sacrebleu; our own kernel, equal to sacrebleu's token by token
- `intl`, `zh`, `ja-mecab`, `ko-mecab`: sacrebleu's own code, `pip install "nlgauge[sacrebleu]"` (for the last two
  `"sacrebleu[ja]"`, `"sacrebleu[ko]"`)
- `char`: every character but white space
- `none`: split at white space
- `rouge`: lower-cased runs of a-z and 0-9, as rouge_score; other scripts have no tokens
- `chrf`: split at white space, then one symbol split off the end or else the start of a word, as chrF++
- `tercom`: sacrebleu's TER normalization (punctuation set apart), its own code as well
- `coco`: an approximation of the Stanford PTB tokenizer as pycocoevalcap runs it: lower-cased, punctuation dropped
- `squad`: lower-cased, without punctuation and articles
- `words`: lower-cased runs of letters, digits and _ of any script
- `meteor`: words as METEOR 1.5 splits them with `-norm`
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.kernels.tokens import characters, encode
from nlgauge.text import porter, snowball
from nlgauge.text.batch import Batch
from nlgauge.text.treebank import normalized, without_punctuation
from nlgauge.types import Codes, Ids, Ints

KERNELS = {"none": 0, "rouge": 1, "13a": 2, "chrf": 3}
SACREBLEU = {
    "intl": "tokenizer_intl.TokenizerV14International",
    "zh": "tokenizer_zh.TokenizerZh",
    "ja-mecab": "tokenizer_ja_mecab.TokenizerJaMecab",
    "ko-mecab": "tokenizer_ko_mecab.TokenizerKoMecab",
}
NAMES = (
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "rouge", "chrf", "tercom", "coco", "squad", "words",
    "meteor",
)  # fmt: skip


@dataclass(frozen=True)
class Tokens:
    """Token ids of texts: text t has `ids[start[t] : start[t] + length[t]]`, on lines `lines[…]`.

    A text of length −1 is not encoded yet.

    A snapshot: an encoder that encodes more texts makes a new one and changes nothing of the old one, which other
    threads may use. `words()` has a word for every id in `ids` (`char`: the ids are code points).
    """

    ids: Ids
    start: Ints
    length: Ints
    lines: Ids
    words: Callable[[], list[str]]  # the token of each id


def tokens(
    batch: Batch, name: str, *texts: Ints, lowercase: bool = False, stem: str | None = None, spaces: bool = False
) -> Tokens:
    """Return the token IDs of the texts with the given indices (−1 is skipped).

    With `stem='porter'` or `stem='snowball'`, return the IDs of the stems instead.

    >>> batch = Batch.from_columns(["A b, a b."])
    >>> tokens(batch, "13a", batch.output).ids.tolist()
    [0, 1, 2, 3, 1, 4]
    """
    if name not in NAMES:
        raise NameUnknown(f"no tokenizer '{name}'. Expected one of: {', '.join(NAMES)}.")
    encoder = batch.view(("tokens", name, lowercase, spaces), lambda _: TokenEncoder(name, lowercase, spaces))
    with batch.texts.lock:
        encoder.ensure(batch.texts.list(), texts, batch.view("joined", lambda _: Joined()))
        if stem is None:
            return encoder.tokens
        stems = batch.view(("stems", name, lowercase, spaces, stem), lambda _: Stems(stem))
        return stems.of(encoder.tokens)


class Vocabulary(NamedTuple):
    """The distinct tokens: `pool[ends[i]:ends[i + 1]]` are the code points of token i; `table` finds its id."""

    table: np.ndarray[Any, np.dtype[np.uint64]]
    pool: Codes
    ends: Ints
    size: int


def empty_vocabulary() -> Vocabulary:
    """Return a vocabulary without tokens."""
    return Vocabulary(np.zeros(1 << 11, np.uint64), np.empty(4096, np.uint32), np.zeros(513, np.int64), 0)


class TokenEncoder:
    """One tokenizer and its vocabulary; encodes texts on first use."""

    def __init__(self, name: str, lowercase: bool, spaces: bool) -> None:
        self.name, self.lowercase, self.spaces = name, lowercase, spaces
        self.vocabulary = empty_vocabulary()
        none = np.empty(0, np.int64)
        self.tokens = Tokens(np.empty(0, np.int32), none, none, np.empty(0, np.int32), list)

    def ensure(self, texts: list[str], asked: Iterable[Ints], joined: Joined) -> None:
        """Encode the requested texts that are not encoded yet; the caller holds the lock of the texts."""
        have = self.tokens
        size, valid = max(len(texts), 1, len(have.length)), len(have.length)  # never empty: a missing text has a length
        new = np.zeros(size + 1, np.bool_)  # the last: no text
        for numbers in asked:
            new[numbers] = True
        new[:valid] &= have.length < 0
        todo = new[:-1].nonzero()[0]
        if not len(todo) and size == valid:
            return
        start, length = np.zeros(size, np.int64), np.empty(size, np.int64)
        start[:valid], length[:valid], length[valid:] = have.start, have.length, -1
        ids, lines = have.ids, have.lines
        if len(todo):
            more, sizes, further = self._encode(joined.of(texts, todo))
            length[todo] = sizes
            start[todo] = len(ids) + sizes.cumsum() - sizes
            ids = np.append(ids, more) if len(ids) else more
            lines = np.append(lines, further) if len(lines) else further
        self.tokens = Tokens(ids, start, length, lines, partial(words_of, self.vocabulary))

    def _encode(self, asked: Joined) -> tuple[Ids, Ints, Ids]:
        if self.name in ("rouge", "char", "none", "chrf") or (self.name == "13a" and not asked.rare):
            codes, offsets = asked.code_points(self.lowercase or self.name == "rouge")  # case only
        else:
            codes, offsets = code_points(prepared(asked.texts, self.name, self.lowercase))
        if self.name == "char":
            ids, length = (codes.view(np.int32), np.diff(offsets)) if self.spaces else characters(codes, offsets)
            return ids, length, np.empty(0, np.int32)
        ids, length, lines, *grown = encode(codes, offsets, KERNELS.get(self.name, 0), *self.vocabulary)
        self.vocabulary = Vocabulary(*grown)
        return ids, length, lines


def words_of(v: Vocabulary) -> list[str]:
    """Return the tokens of a vocabulary; tokens that are added later have positions after its size."""
    text = v.pool[: v.ends[v.size]].tobytes().decode("utf-32-le", "surrogatepass")
    ends = v.ends[: v.size + 1].tolist()
    return [text[a:b] for a, b in pairwise(ends)]


class Stems:
    """Ids of stems instead of ids of tokens."""

    def __init__(self, kind: str) -> None:
        stemmers: dict[str, Callable[[str], str]] = {"porter": _porter, "rouge": _rouge_stem, "snowball": _snowball}
        self.stem = stemmers[kind]
        self.ids: dict[str, int] = {}
        self.of_word: Ids = np.empty(0, np.int32)
        self.made: tuple[Tokens, Tokens] | None = None

    def of(self, tokens: Tokens) -> Tokens:
        """Return the same texts as ids of stems; a word keeps its id while the tokens grow."""
        if self.made is None or self.made[0] is not tokens:
            words = tokens.words()[len(self.of_word) :]
            new = [self.ids.setdefault(self.stem(w), len(self.ids)) for w in words]
            self.of_word = np.append(self.of_word, np.array(new, np.int32)).astype(np.int32)
            stems = Tokens(
                self.of_word[tokens.ids], tokens.start, tokens.length, tokens.lines, partial(list, tuple(self.ids))
            )
            self.made = (tokens, stems)
        return self.made[1]


class Joined:
    """The texts encoded last, as one array: several tokenizers encode the same texts one after the other."""

    MOST = 1 << 17  # texts of which the array is kept

    def __init__(self) -> None:
        self.numbers: Ints = np.empty(0, np.int64)
        self.texts: list[str] = []
        self._made: dict[bool, tuple[Codes, Ints]] = {}
        self._rare: bool | None = None

    def of(self, texts: list[str], numbers: Ints) -> Joined:
        """Join these texts (numbers in order, each once), unless they are the ones already joined."""
        if len(numbers) != len(self.numbers) or np.count_nonzero(numbers != self.numbers):
            every = len(numbers) == len(texts)  # numbers are in order, each once
            self.numbers, self.texts = numbers, texts if every else [texts[t] for t in numbers.tolist()]
            self._made, self._rare = {}, None
        return self

    @property
    def rare(self) -> bool:
        """Whether a text may have what mteval-v13a replaces before it splits."""
        if self._rare is None:
            together = "".join(self.texts)
            self._rare = any(c in together for c in "\n&") or "<skipped>" in together.lower()
        return self._rare

    def code_points(self, lower: bool) -> tuple[Codes, Ints]:
        """Return the code points of the texts and where each text begins, computed once per case."""
        if lower in self._made:
            return self._made[lower]
        result = code_points(self.texts, lower)
        if len(self.texts) <= self.MOST:
            self._made[lower] = result
        return result


def code_points(texts: list[str], lower: bool = False) -> tuple[Codes, Ints]:
    """Return all texts in one array of code points, and the position at which each text begins."""
    joined = "".join(texts)
    plain = joined.isascii()  # then bytes are code points, and small letters are as many as capitals
    if lower and not plain:
        texts = [t.lower() for t in texts]
        joined = "".join(texts)
    elif lower:
        joined = joined.lower()
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.fromiter(map(len, texts), np.int64, len(texts)).cumsum(out=offsets[1:])
    if plain:
        return np.frombuffer(joined.encode("ascii"), np.uint8).astype(np.uint32), offsets
    return np.frombuffer(bytearray(joined.encode("utf-32-le", "surrogatepass")), np.uint32), offsets


def prepared(texts: list[str], name: str, lowercase: bool) -> list[str]:
    """Normalize the texts in the way that a tokenizer requires."""
    if name == "meteor":  # looks at capitals
        texts = [normalized(t) for t in texts]
    if lowercase or name in ("coco", "squad", "words"):
        texts = [t.lower() for t in texts]
    if name == "13a":
        return [_mteval_entities(t) for t in texts]
    if name in SACREBLEU or name == "tercom":
        split: Callable[[str], str] = _sacrebleu(name)
        return [split(t.rstrip()) for t in texts]
    if name == "coco":
        return [without_punctuation(t) for t in texts]
    if name == "squad":
        return [ARTICLES.sub(" ", t.translate(NO_PUNCTUATION)) for t in texts]
    if name == "words":
        return [" ".join(WORD.findall(t)) for t in texts]
    return texts


ARTICLES = re.compile(r"\b(a|an|the)\b")
NO_PUNCTUATION = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
WORD = re.compile(r"\w+")


def _mteval_entities(text: str) -> str:
    text = text.rstrip()
    if "<skipped>" in text:
        text = text.replace("<skipped>", "")
    if "\n" in text:
        text = text.replace("-\n", "").replace("\n", " ")
    if "&" in text:
        text = text.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    return text


@cache
def _sacrebleu(name: str) -> Callable[[str], str]:
    try:
        if name == "tercom":
            from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

            return partial(TercomTokenizer.__call__.__wrapped__, TercomTokenizer(normalized=True, case_sensitive=True))
        module, _, cls = SACREBLEU[name].partition(".")
        result = getattr(importlib.import_module(f"sacrebleu.tokenizers.{module}"), cls)
        # without its cache of 65,536 texts: ours are distinct
        return partial(result.__call__.__wrapped__, result())
    except (ImportError, RuntimeError):  # sacrebleu's own error where the dictionary of a language is missing
        package = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}.get(name, "nlgauge[sacrebleu]")
        raise NeedsMissing(f"tokenizer '{name}' needs sacrebleu: pip install \"{package}\"") from None


_porter = lru_cache(2**18)(porter.stem)
_snowball = lru_cache(2**18)(snowball.stem)


def _rouge_stem(word: str) -> str:
    """Return the Porter stem, except of words of up to three letters, as rouge_score does."""
    return _porter(word) if len(word) > 3 else word
