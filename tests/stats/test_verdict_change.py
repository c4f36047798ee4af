"""Changes of figures of pass and fail: their value, and how often the interval holds the true change."""

from __future__ import annotations

import numpy as np
import pytest
from bench.gate import EIGHT, true_change

from nlgauge.door.limits import FIGURES
from nlgauge.stats.agreement.two_by_two import verdict_figures
from nlgauge.stats.agreement.verdict_changes import VALUES, change_of, eight_cells


@pytest.mark.parametrize("figure", [name for name in FIGURES if name in VALUES])
def test_a_change_is_the_difference_of_the_two_figures(figure: str) -> None:
    rng = np.random.default_rng(3)
    people, old, new = rng.random((3, 80)) < 0.6
    then, now = (verdict_figures(people, verdicts)[figure].value for verdicts in (old, new))
    found = change_of(eight_cells(people, old, new), figure)
    assert found.value == pytest.approx(now - then) and found.low < found.value < found.high


def test_clusters_widen_and_single_rows_do_not() -> None:
    rng = np.random.default_rng(4)
    people = np.repeat(rng.random(40) < 0.5, 5)
    old, new = (np.where(np.repeat(rng.random(40) < 0.85, 5), people, ~people) for _ in range(2))
    alone = change_of(eight_cells(people, old, new), "agreement")
    single = change_of(eight_cells(people, old, new, np.arange(200).tolist()), "agreement", clustered=True)
    clusters = change_of(
        eight_cells(people, old, new, np.repeat(np.arange(40), 5).tolist()), "agreement", clustered=True
    )
    assert single.low == pytest.approx(alone.low) and clusters.high - clusters.low > 1.5 * (alone.high - alone.low)


@pytest.mark.parametrize("world", EIGHT)
def test_the_interval_holds_the_true_change(world: str) -> None:
    rng, cells = np.random.default_rng(5), EIGHT[world]
    counts = rng.multinomial(120, cells, size=200).astype(float)
    for figure in ("kappa", "agreement"):
        truth = true_change(cells, figure)
        ends = [change_of(c[None], figure) for c in counts]
        known = [e for e in ends if not e.reason]
        assert len(known) > 100 and np.mean([e.low <= truth <= e.high for e in known]) > 0.91
