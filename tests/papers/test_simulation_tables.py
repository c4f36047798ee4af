"""The two studies of gao2025 as tables: its takeaways, in few trials because trials share their noise."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import same_rows

from nlgauge.stats.design.simulate import SimulationParams
from nlgauge.stats.design.simulation_studies import scale_study
from nlgauge.table import Table
from nlgauge_papers.gao2025.simulation import relation, scale

PARAMS = SimulationParams(N=10, M=60)


def line(table: Table, measure: str) -> list[float]:
    return [r["value"] for r in table if r["measure"] == measure]


def rises(values: list[float]) -> bool:
    return bool((np.diff(values) > -1e-9).all())


def test_raising_either_capability_raises_input_and_global_and_leaves_the_other_alone() -> None:
    systems, items = relation(PARAMS, trials=10)
    for table, moved, still in ((systems, "system", "item"), (items, "item", "system")):
        for coefficient in ("pearson", "spearman", "kendall"):
            assert rises(line(table, f"input/{coefficient}")), (moved, coefficient)
            assert rises(line(table, f"global/{coefficient}")), (moved, coefficient)
        assert line(table, f"{moved}/pearson")[-1] > 0.8
        assert np.ptp(line(table, f"{still}/pearson")) < 0.05


def test_scale_size_as_in_section_4_4() -> None:
    table = scale(PARAMS, trials=20, redraws=3, scales=[(2, 2), (5, 5), (10, 10), (60, 60)])
    assert np.ptp(line(table, "system/kendall")) < 0.06
    assert np.ptp(line(table, "system/spearman")) < 0.06
    for level in ("input", "global"):
        two, five, ten, many = line(table, f"{level}/kendall")
        assert two < max(five, ten) > many  # rises, then falls
        assert rises(line(table, f"{level}/pearson"))


def test_blocks_of_trials_are_averaged_by_their_size() -> None:
    scales = [(3, 3)]
    table = scale(PARAMS, trials=13, redraws=2, scales=scales, measures=["global/pearson"], seed=5)
    ten, three = np.random.SeedSequence(5).spawn(2)
    options = {"scales": scales, "redraws": 2, "measures": scale_measures()}
    parts = [scale_study(PARAMS, ten, trials=10, **options), scale_study(PARAMS, three, trials=3, **options)]
    expected = (10 * parts[0].value[0, 0] + 3 * parts[1].value[0, 0]) / 13
    assert table.rows[0]["value"] == pytest.approx(expected)


def scale_measures():  # type: ignore[no-untyped-def]
    from nlgauge.stats.correlation.measure import Measure

    return [Measure.parse("global/pearson")]


def test_the_seed_decides_and_progress_reaches_the_end() -> None:
    seen: list[tuple[int, int]] = []
    first = relation(
        PARAMS, trials=12, grid=(0.2, 0.8), seed=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(10, 24), (12, 24), (22, 24), (24, 24)]
    assert all(
        same_rows(a, b) for a, b in zip(first, relation(PARAMS, trials=12, grid=(0.2, 0.8), seed=1), strict=True)
    )


def test_unequal_scales_name_both_sizes() -> None:
    table = scale(PARAMS, trials=2, redraws=1, scales=[(10, 3)], measures=["global/pearson"])
    row = table.rows[0]
    assert (table.line_name(row), row["metric_values"], row["human_values"]) == ("10 / 3", 10, 3)
