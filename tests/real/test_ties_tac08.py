"""System means of TAC 2008 responsiveness: equal means must stay tied."""

from __future__ import annotations

import csv
import gzip
from fractions import Fraction

import numpy as np
import pytest

from nlgauge.stats.correlation.ties import snap

pytestmark = pytest.mark.real


def test_tac08_responsiveness_has_39_distinct_system_means(real_data):
    ratings: dict[str, list[str]] = {}
    with gzip.open(real_data / "metric_score_tables" / "TAC_08.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            ratings.setdefault(row["system__origin_col_Utterance"], []).append(row["H:resp"])
    exact = {sum(map(Fraction, values)) / len(values) for values in ratings.values()}
    means = np.array([np.mean([float(v) for v in values]) for values in ratings.values()])
    assert len(exact) == 39
    assert len(set(means.tolist())) == 44  # what plain floats make of it
    assert len(set(snap(means).tolist())) == 39
