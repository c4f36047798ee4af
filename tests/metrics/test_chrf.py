"""chrF: what sacrebleu does not compute."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

texts = st.text("ab c", min_size=1, max_size=12).filter(lambda t: bool(t.split()))


def value(spec: str, output: str, references: list[str]) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], references=[references])).values[0])


@given(texts, texts)
def test_the_torchmetrics_rules_average_f_over_all_orders(output: str, reference: str) -> None:
    def grams(items: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))

    letters = [list("".join(t.split())) for t in (output, reference)]
    words = [t.split() for t in (output, reference)]
    found = []
    for (a, b), orders in ((letters, range(1, 7)), (words, range(1, 3))):
        for n in orders:
            mine, other = grams(a, n), grams(b, n)
            hits = (mine & other).total()
            p = hits / mine.total() if mine.total() else 1e-16
            r = hits / other.total() if other.total() else 1e-16
            found.append(5 * p * r / max(4 * p + r, 1e-16))
    assert value("chrf++(preset='torchmetrics')", output, [reference]) == pytest.approx(100 * sum(found) / 8, abs=1e-9)


def test_the_best_reference_counts_and_order_of_references_does_not() -> None:
    references = ["the cat", "a dog sat", "the cat sat"]
    assert value("chrf", "the cat sat", references) == 100
    assert value("chrf", "the cut sat", references) == value("chrf", "the cut sat", references[::-1])


def test_white_space_counts_only_when_asked() -> None:
    assert value("chrf", "ab cd", ["abcd"]) == 100
    assert value("chrf(spaces=True)", "ab cd", ["abcd"]) < 100


def test_a_reference_of_blanks_is_empty_even_where_blanks_count() -> None:
    batch = Batch.from_columns(["ab", "ab"], references=[["  ", "ab"], ["  "]])
    scores = metric_from_spec("chrf++(spaces=True)").score(batch)
    assert (scores.values[0], scores.reasons) == (100, {1: "empty reference"})


def test_wrong_orders_are_refused() -> None:
    with pytest.raises(NlgaugeError, match="chars must be at least 1"):
        metric_from_spec("chrf(chars=0)")
