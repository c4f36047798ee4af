"""Static word vectors that come inside a package: wordllama (MIT), read without importing it."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.errors import NeedsMissing
from nlgauge.types import Array

NEEDED = ("wordllama", "tokenizers", "safetensors")


class Vectors:
    """Unit vectors of terms: the mean over the term's pieces."""

    def __init__(self, table: Any, tokenizer: Any) -> None:
        self.table, self.tokenizer = table, tokenizer
        self.known: dict[str, Array] = {}

    def of(self, terms: Sequence[str]) -> Array:
        """Return the vectors of terms, terms × dimensions; a term without pieces has zeros."""
        return np.stack([self._one(term) for term in terms])

    def _one(self, term: str) -> Array:
        if term not in self.known:
            pieces = self.tokenizer.encode(term, add_special_tokens=False).ids
            mean = np.asarray(self.table[pieces], np.float64).mean(axis=0) if pieces else np.zeros(self.table.shape[1])
            self.known[term] = mean / (np.linalg.norm(mean) or 1.0)
        return self.known[term]


def ready(metric: str) -> None:
    """Refuse to begin without the packages that hold and read the vectors."""
    for package in NEEDED:
        if importlib.util.find_spec(package) is None:
            raise NeedsMissing(f"'{metric}' needs the extra 'vectors': pip install \"nlgauge[vectors]\"")


def static_vectors(metric: str = "static_vectors") -> Vectors:
    """Return the word vectors that come inside the package wordllama.

    Parameters
    ----------
    metric : str, optional
        Who needs them, for the error where they are not installed.

    Returns
    -------
    Vectors
        `of(terms)` gives one row of length 1 per term: the mean over its pieces, of 256 dimensions.
    """
    ready(metric)
    return _load()


@functools.cache
def _load() -> Vectors:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    result = importlib.util.find_spec("wordllama")
    folder = Path(result.origin).parent if result and result.origin else Path()
    table = load_file(folder / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    return Vectors(table, tokenizer)
