"""ROUGE: the examples of the paper, several references, and text that is not English."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec


def values(spec: str, outputs: list[str], references: list[str]) -> list[float]:
    batch = Batch.from_columns(outputs, references=[references] * len(outputs))
    return metric_from_spec(spec).score(batch).values.tolist()


def test_rouge_s_is_the_example_of_lin_2004() -> None:
    """Section 5: "police killed the gunman" against three candidates, all skips allowed: .500, .167, .333."""
    outputs = ["police kill the gunman", "the gunman kill police", "the gunman police killed"]
    found = values("rouge-s(gap=None)", outputs, ["police killed the gunman"])
    assert found == pytest.approx([0.5, 1 / 6, 1 / 3])


def test_rouge_su_counts_words_where_no_pair_is_common() -> None:
    """Section 5.2: "gunman the killed police" shares no pair with the reference; ROUGE-S is 0, ROUGE-SU is not."""
    output, reference = ["gunman the killed police"], ["police killed the gunman"]
    assert values("rouge-s(gap=None)", output, reference) == [0.0]
    assert values("rouge-su(gap=None)", output, reference) == pytest.approx([4 / 10])


def test_rouge_w_is_the_example_of_lin_2004() -> None:
    """Section 4: consecutive matches win with f(k) = k²: .571 against .286, where ROUGE-L cannot tell."""
    outputs, reference = ["A B C D H I K", "A H B K C I D"], ["A B C D E F G"]
    assert values("rouge-w(weight=2.0)", outputs, reference) == pytest.approx([4 / 7, 2 / 7])
    assert values("rouge-l", outputs, reference) == pytest.approx([4 / 7, 4 / 7])


def test_rouge_l_is_the_example_of_lin_2004() -> None:
    """Section 3.1: "police kill the gunman" has LCS 3 of 4, "the gunman kill police" 2 of 4."""
    outputs = ["police kill the gunman", "the gunman kill police"]
    assert values("rouge-l", outputs, ["police killed the gunman"]) == pytest.approx([0.75, 0.5])


def test_a_gap_of_zero_makes_pairs_of_neighbours() -> None:
    outputs, references = ["a b c a b", "c a d"], ["a b d c a"]
    assert values("rouge-s(gap=0)", outputs, references) == pytest.approx(values("rouge-2", outputs, references))


def test_the_jackknife_is_the_mean_of_the_best_of_the_others() -> None:
    references = ["a b c d", "a b", "x y"]
    singly = [values("rouge-1", ["a b c"], [r])[0] for r in references]
    wanted = np.mean([max(singly[:k] + singly[k + 1 :]) for k in range(3)])
    assert values("rouge-1(references='jackknife')", ["a b c"], references) == pytest.approx([wanted])


def test_precision_and_recall_are_those_of_the_reference_with_the_best_f() -> None:
    references = ["a", "a b c d"]  # recall 1 against the first, but F is better against the second
    assert values("rouge-1(part='r')", ["a b c x y"], references) == pytest.approx([3 / 4])
    assert values("rouge-1(part='p')", ["a b c x y"], references) == pytest.approx([3 / 5])


def test_beta_weighs_recall() -> None:
    precision, recall, beta = 1 / 2, 1.0, 2.0
    wanted = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    assert values("rouge-1(beta=2.0)", ["a b"], ["a"]) == pytest.approx([wanted])


def test_other_scripts_need_another_tokenizer_and_are_not_silently_zero() -> None:
    batch = Batch.from_columns(["привет мир"], references=[["привет мир"]])
    assert metric_from_spec("rouge-1").score(batch).reasons == {0: "empty reference"}
    assert metric_from_spec("rouge-1(tokenize='words')").score(batch).values.tolist() == [1.0]


def test_a_part_that_does_not_exist_is_refused() -> None:
    with pytest.raises(NlgaugeError, match=r"part must be f, p or r. Got 'q'"):
        metric_from_spec("rouge-2(part='q')")


def test_options_that_differ_from_the_preset_are_told_in_the_signature() -> None:
    assert "beta:1.2|refs:max|tok:coco" in metric_from_spec("rouge-l(preset='e2e')").signature  # type: ignore[attr-defined]
    assert "gap:any" in metric_from_spec("rouge-s(gap=None)").signature  # type: ignore[attr-defined]
