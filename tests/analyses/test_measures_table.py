"""The measures study: power and consistency are those of stability; agreement and scale against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, reordered, same_rows, upside_down, with_holes
from scipy import stats

from nlgauge.analyses.design.measures import measures_study
from nlgauge.analyses.design.stability import stability
from nlgauge.errors import NlgaugeError
from nlgauge.number import number
from nlgauge.report.figures import figure_of
from nlgauge.stats.correlation.measure import Measure

FEW = {"draws": 19, "trials": 20}
NOISE = (0.3, 0.8, 1.0, 2.0, 3.0, 9.0)


def test_the_rows_begin_with_what_stability_says_in_its_order() -> None:
    panel = noisy_panel(noise=NOISE)
    mine, theirs = measures_study(panel, **FEW, scales=3, redraws=1).rows, stability(panel, **FEW).rows
    assert [{k: row[k] for k in theirs[0]} for row in mine] == theirs


def test_agreement_is_scipys_tau_b_between_the_metrics_values() -> None:
    panel = with_holes(noisy_panel(noise=NOISE))
    table = measures_study(panel, **FEW, scales=3, redraws=1)
    names = [row["measure"] for row in table]
    values = {m: [Measure.parse(m)(x, panel.human).value for x in panel.metrics.values()] for m in names}
    for row in table:
        taus = [stats.kendalltau(values[row["measure"]], values[m]).statistic for m in names if m != row["measure"]]
        own = table.facts["agreement"][row["measure"]]
        assert [own[m] for m in names if m != row["measure"]] == pytest.approx(taus)
        assert row["agreement"] == pytest.approx(np.mean(taus))
        assert row["measure"] not in own


def test_scale_is_measured_on_scores_that_were_cut_outside() -> None:
    """With people on two levels already, cutting people to two levels by any threshold between them changes nothing."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(8, 30))
    human = (truth > 0.1).astype(float)
    panel = panel_of(human, {f"m{k}": truth + rng.normal(0, k + 1, truth.shape) for k in range(4)})
    # mean ± SD of a 0/1 score lies within (0, 1) here, or just beyond: a threshold outside makes all scores equal
    table = measures_study(
        panel, **FEW, scales=2, redraws=8, cut="human", measures=["global/pearson", "global/kendall"]
    )
    for row in table:
        assert row["kept_2"] == pytest.approx(1.0)
        assert row["shift_2"] == pytest.approx(0.0, abs=1e-12)


def test_fewer_levels_weaken_pearson_and_disturb_the_ranking_more() -> None:
    panel = noisy_panel(systems=10, inputs=60, noise=(0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    row = by(measures_study(panel, **FEW, scales=(2, 20), measures=["global/pearson"]), "measure")["global/pearson"]
    assert row["shift_2"] < row["shift_20"] < 0
    assert row["kept_2"] < row["kept_20"] <= 1


def test_shift_is_away_from_zero_whatever_the_sign_of_the_correlation() -> None:
    panel = noisy_panel(noise=NOISE)
    against = panel_of(panel.human, {k: -v for k, v in panel.metrics.items()})
    options = {**FEW, "scales": 3, "measures": ["global/pearson"], "redraws": 30}
    one, other = (measures_study(p, **options).rows[0]["shift_3"] for p in (panel, against))
    assert one < 0 and other < 0
    assert one == pytest.approx(other, abs=0.02)


def test_lower_is_better_and_the_order_of_metrics_change_no_conclusion() -> None:
    panel = noisy_panel(noise=NOISE)
    tables = [
        measures_study(p, **FEW, scales=3, redraws=2) for p in (panel, upside_down(panel, "m1"), reordered(panel))
    ]
    numbers = [{r["measure"]: round(r["agreement"], 9) for r in t} for t in tables]
    assert numbers[0] == numbers[1] == numbers[2]


def test_the_seed_alone_decides() -> None:
    panel = noisy_panel()
    assert same_rows(measures_study(panel, **FEW, seed=5), measures_study(panel, **FEW, seed=5))


def test_with_one_system_the_measures_that_exist_are_compared_and_the_others_named() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(1, 40))
    one = panel_of(np.round(truth), {f"m{k}": truth + rng.normal(0, k + 0.5, truth.shape) for k in range(4)})
    table = measures_study(one, **FEW, scales=3, redraws=2)
    assert {row["measure"].split("/")[0] for row in table} == {"global", "item"}
    assert any(note.startswith("not available: system/pearson") for note in table.notes)


def test_the_advice_names_the_first_row_and_its_numbers() -> None:
    table = measures_study(noisy_panel(noise=NOISE), **FEW, scales=(3, 5), redraws=2)
    best = table.rows[0]
    assert f"{best['measure']} is reliable" in table.answers[0]
    assert table.answers[1].startswith(
        f"{best['measure']} agrees with the rankings by the other measures at τ = {number(best['agreement'], 2)}"
    )
    assert f"its ranking agrees at τ = {number(best['kept_3'], 2)}" in table.answers[2]


def test_impossible_scales_are_refused() -> None:
    with pytest.raises(NlgaugeError, match="at least 2 levels"):
        measures_study(noisy_panel(), scales=1)
    with pytest.raises(NlgaugeError, match="cut must be both, metrics or human; got 'x'"):
        measures_study(noisy_panel(), cut="x")  # type: ignore[arg-type]


def test_the_picture_is_the_matrix_of_agreement() -> None:
    table = measures_study(noisy_panel(noise=NOISE), **FEW, scales=3, redraws=1)
    figure = figure_of(table)
    assert figure is not None
    z = np.array(figure.data[0].z, dtype=float)
    assert z.shape == (12, 12)
    assert np.diag(z).tolist() == [1.0] * 12
    assert z == pytest.approx(z.T)
    assert list(figure.data[0].x[:4]) == ["system Pearson", "system Spearman", "system Kendall", "input Pearson"]
    assert z[1, 3] == pytest.approx(table.facts["agreement"]["system/spearman"]["input/pearson"])
