"""The measures study of gao2025 on sets of the paper, with few draws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from nlgauge.analyses.design.measures import measures_study
from nlgauge.datasets import load_set
from nlgauge.stats.correlation.measure import Measure

pytestmark = pytest.mark.real


def test_usr_topical_in_one_table(real_data: Path) -> None:
    data = load_set("usr-topical", real_data)
    panel = data.panel("Overall", keep_human=True, metrics=data.metrics[::2])
    table = measures_study(panel, draws=20, trials=20, redraws=2)
    assert len(table.rows) == 12
    alike = table.facts["agreement"]
    values = {
        m: [Measure.parse(m)(x if k not in panel.lower else -x, panel.human).value for k, x in panel.metrics.items()]
        for m in ("global/kendall", "system/pearson")
    }
    oracle = stats.kendalltau(*values.values()).statistic
    assert alike["global/kendall"]["system/pearson"] == pytest.approx(oracle)
    # Kendall and Spearman of one grouping are nearly one measure; two groupings are not.
    for grouping in ("system", "input", "global", "item"):
        assert alike[f"{grouping}/kendall"][f"{grouping}/spearman"] > 0.85
    assert alike["item/kendall"]["system/kendall"] < 0.6


def test_takeaways_on_scale_size_hold_on_hanna(real_data: Path) -> None:
    """Takeaways 1 to 3 of section 4.4, found there by simulation, here on people's ratings and 15 real metrics."""
    data = load_set("hanna", real_data)
    panel = data.panel("Relevance", keep_human=True, metrics=data.metrics[::5])
    rows = {row["measure"]: row for row in measures_study(panel, draws=5, trials=10, redraws=20)}
    for name in ("system/spearman", "system/kendall"):
        assert abs(rows[name]["shift_3"]) < 0.05, name
    for name in ("global/kendall", "input/kendall"):  # they rise, then fall
        assert rows[name]["shift_3"] < rows[name]["shift_5"] > rows[name]["shift_10"], name
    for name in ("system/pearson", "input/pearson", "global/pearson", "item/pearson", "item/spearman"):
        assert rows[name]["shift_3"] < rows[name]["shift_5"] < rows[name]["shift_10"], name
    assert np.mean([row["kept_3"] for row in rows.values()]) < np.mean([row["kept_10"] for row in rows.values()])
