"""CIDEr as the paper defines it, where pycocoevalcap has only CIDEr-D."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics import Batch, metric_from_spec

texts = st.lists(st.sampled_from("a b c d e".split()), min_size=1, max_size=7).map(" ".join)
samples = st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=3)), min_size=2, max_size=6)


def cider(outputs: list[str], references: list[list[str]]) -> list[float]:
    """Vedantam et al. (2015), equations 1 to 3, times ten as in the published code."""

    def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    found = []
    for output, refs in zip(outputs, references, strict=True):
        total = 0.0
        for n in range(1, 5):

            def vector(text: str, n: int = n) -> dict[tuple[str, ...], float]:
                frequency = {
                    g: sum(any(g in grams(r, n) for r in others) for others in references) for g in grams(text, n)
                }
                return {g: c * math.log(len(references) / max(1, frequency[g])) for g, c in grams(text, n).items()}

            mine = vector(output)
            for ref in refs:
                other = vector(ref)
                norms = math.hypot(*mine.values()) * math.hypot(*other.values())
                dot = sum(v * other.get(g, 0.0) for g, v in mine.items())
                total += dot / norms / 4 if norms else 0.0
        found.append(10 * total / len(refs))
    return found


@given(samples)
def test_cider_is_the_papers_cosine(given_samples: list[tuple[str, list[str]]]) -> None:
    outputs, references = [o for o, _ in given_samples], [r for _, r in given_samples]
    ours = metric_from_spec("cider(tokenize='none')").score(Batch.from_columns(outputs, references=references))
    assert np.allclose(ours.values, cider(outputs, references), rtol=0, atol=1e-9)


def test_stems_can_stand_for_words() -> None:
    batch = Batch.from_columns(["dogs running", "x"], references=[["dog runs"], ["y z"]])
    plain, stemmed = (metric_from_spec(f"cider(stem={s})").score(batch).values[0] for s in (False, True))
    assert (plain, stemmed) == (0, pytest.approx(5))  # words and the pair agree, longer n-grams there are none


def test_cider_d_charges_length_and_repetition() -> None:
    batch = Batch.from_columns(
        ["a b c d", "a b c d a b c d a b c d", "x"], references=[["a b c d"], ["a b c d"], ["y"]]
    )
    once, thrice, _ = metric_from_spec("cider-d").score(batch).values
    assert once == pytest.approx(10)
    assert thrice < 5
