"""Token F1, Levenshtein, length ratio and Jensen-Shannon against plain definitions."""

from __future__ import annotations

import re
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

words = st.lists(st.sampled_from("a the An cat Cat's b. c!? 5 é".split()), max_size=8).map(" ".join)


def value(spec: str, output: str, *references: str) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], references=[list(references)])).values[0])


def squad_tokens(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


@given(words, words)
def test_token_f1_is_squads(output: str, reference: str) -> None:
    mine, other = squad_tokens(output), squad_tokens(reference)
    found = value("token-f1", output, reference)
    if not other:
        assert np.isnan(found)
        return
    hits = (Counter(mine) & Counter(other)).total()
    wanted = 2 * hits / (len(mine) + len(other)) if hits else 0.0
    assert found == pytest.approx(wanted)


@given(words, words)
def test_f1_of_characters_counts_blanks_too(output: str, reference: str) -> None:
    found = value("token-f1(unit='char')", output, reference)
    if not reference.strip():
        assert np.isnan(found)
        return
    shared = (Counter(output.lower()) & Counter(reference.lower())).total() if output.strip() else 0
    assert found == pytest.approx(2 * shared / (len(output) + len(reference)))


def test_levenshtein_counts_words_or_characters() -> None:
    assert value("levenshtein", "a b c", "a x c d") == 0.5
    assert value("levenshtein(normalize=False)", "a b c", "a x c d") == 2
    assert value("levenshtein(unit='char', normalize=False)", "kitten", "sitting") == 3
    assert value("levenshtein(unit='char', normalize=False)", "a b", "ab") == 1
    assert value("levenshtein", "a b c", "x y z", "a b d") == pytest.approx(1 / 3)  # the nearest reference


def test_a_unit_that_does_not_exist_is_refused() -> None:
    with pytest.raises(NlgaugeError, match=r"word or char. Got 'line'"):
        metric_from_spec("levenshtein(unit='line')")


def test_the_length_ratio_is_to_the_closest_reference() -> None:
    assert value("length-ratio", "a b c", "a b", "a b c d e f g") == 1.5


@pytest.mark.parametrize("order", [1, 2])
@given(
    output=st.lists(st.sampled_from("abcd"), min_size=2, max_size=9),
    reference=st.lists(st.sampled_from("abcd"), min_size=2, max_size=9),
)
def test_js_is_scipys_divergence_in_bits(order: int, output: list[str], reference: list[str]) -> None:
    sides = [Counter(tuple(t[i : i + order]) for i in range(len(t) - order + 1)) for t in (output, reference)]
    kinds = sorted(set(sides[0]) | set(sides[1]))
    p, q = ([side[k] / side.total() for k in kinds] for side in sides)
    wanted = float(jensenshannon(p, q, base=2)) ** 2
    assert value(f"js-{order}", " ".join(output), " ".join(reference)) == pytest.approx(wanted, abs=1e-9)


def test_js_is_the_mean_over_references_and_one_where_nothing_is_shared() -> None:
    assert value("js-1", "a b", "a b", "c d") == pytest.approx(0.5)
    assert value("js-1", "", "a") == 1
    assert np.isnan(value("js-2", "a b", "a"))  # the reference has no pair


def test_js_against_the_source_needs_no_reference() -> None:
    batch = Batch.from_columns(["a b", "x", None, "a"], source=["a b", "a b", "a", None])
    scores = metric_from_spec("js-source").score(batch)
    assert scores.values[:2] == pytest.approx([0, 1])
    assert scores.reasons == {2: "no output", 3: "no source"}
