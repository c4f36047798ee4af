"""A metric in a user's own file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, metric_from_spec

MINE = '''
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from nlgauge.metrics import Batch, Metric, Scores, metric

@metric("letters", family="mine", needs=(), year=2026, cite="")
class Letters(Metric):
    """Number of letters."""
    times: int = 1

    def score(self, batch: Batch) -> Scores:
        return Scores(np.array([len(batch.text(n)) * self.times for n in batch.output], float))
'''


def test_a_metric_in_a_file_may_have_annotations_as_strings(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    metric = metric_from_spec(f"{path}@letters(times=2)", allow_code=True)
    assert metric.score(Batch.from_columns(["abc", "de"])).values.tolist() == [6, 4]


def test_a_file_that_fails_leaves_no_half_module(tmp_path: Path) -> None:
    path = tmp_path / "broken_one.py"
    path.write_text("raise RuntimeError('no')", encoding="utf-8")
    with pytest.raises(NlgaugeError, match="your file cannot be run"):
        metric_from_spec(f"{path}@letters", allow_code=True)
    assert "nlgauge_user_broken_one" not in sys.modules
