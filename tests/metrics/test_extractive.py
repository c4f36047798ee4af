"""Copying from the source: the example of Grusky et al. 2018 and small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.metrics import Batch, metric_from_spec

SOURCE = "on the mat the cat sat on the mat"


def value(spec: str, output: str, source: str = SOURCE) -> float:
    return float(metric_from_spec(spec).score(Batch.from_columns([output], source=[source])).values[0])


def test_coverage_and_density_of_fragments() -> None:
    """ "the cat sat on" is copied, "a" is new, "mat" is copied: 5 of 6 words; (16 + 1) / 6."""
    assert value("coverage", "the cat sat on a mat") == pytest.approx(5 / 6)
    assert value("density", "the cat sat on a mat") == pytest.approx(17 / 6)


def test_novelty_counts_new_ngrams() -> None:
    assert value("novelty", "the cat sat on a mat") == pytest.approx(2 / 5)
    assert value("novelty(order=1)", "the cat sat on a mat") == pytest.approx(1 / 6)
    assert np.isnan(value("novelty(order=4)", "the cat"))


def test_a_copy_is_covered_in_one_fragment() -> None:
    assert (value("coverage", SOURCE), value("density", SOURCE), value("novelty", SOURCE)) == (1, 9, 0)


def test_compression_is_source_words_per_output_word() -> None:
    assert value("compression", "the cat sat") == 3


def test_what_is_missing_is_said() -> None:
    batch = Batch.from_columns(["a", None, "", "a"], source=[None, "a", "a", " "])
    reasons = metric_from_spec("coverage").score(batch).reasons
    assert reasons == {0: "no source", 1: "no output", 2: "empty output", 3: "empty source"}
