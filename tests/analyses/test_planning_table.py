"""Planning: power grows, targets are met or said not to be, and the simulation looks like the data."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, same_rows, upside_down, with_metrics

from nlgauge.analyses.agreement.chance import chance
from nlgauge.analyses.design.planning import describe, plan
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.stats.design.planning import simulate_pair
from nlgauge.stats.design.simulate import Noise, SimulationParams, human_scores, metric_scores

FEW = {"trials": 30, "draws": 39}


def pair(noise: tuple[float, float] = (0.3, 4.0), **sizes: int):  # type: ignore[no-untyped-def]
    return noisy_panel(noise=noise, **sizes)


def test_a_large_difference_is_found_with_more_systems_and_the_size_is_named() -> None:
    table = plan(pair(), measure="global/pearson", axis="systems", **FEW)
    assert table.rows[-1]["power"] >= 0.8
    assert all(r["power"] < 0.8 for r in table.rows[:-1])
    assert f"About {table.rows[-1]['systems']} systems" in table.answers[0]


def test_equally_strong_metrics_are_told_apart_at_the_level_of_the_test_only() -> None:
    rng = np.random.default_rng(0)
    noise, other = Noise.draw(12, 60, rng), Noise.draw(12, 60, rng)
    params = SimulationParams(N=12, M=60)
    twin = metric_scores(params, Noise(noise.system_h, other.system_m, noise.rho, noise.cell_h, other.cell_m))
    panel = panel_of(human_scores(params, noise), {"a": metric_scores(params, noise), "b": twin})
    fitted = describe(panel, Measure.parse("item/pearson"))
    assert abs(fitted.first.mu_rho - fitted.second.mu_rho) < 0.1
    table = plan(panel, measure="system/pearson", sizes=[60], trials=60, draws=39)
    assert table.rows[0]["power"] < 0.5
    assert "is not reached" in table.answers[0]


@pytest.mark.parametrize("measure", ["system/pearson", "global/pearson", "item/kendall", "input/kendall"])
def test_the_simulation_has_about_the_difference_of_the_data(measure: str) -> None:
    panel = pair((0.5, 2.0), systems=16, inputs=60)
    chosen = Measure.parse(measure)
    seen = evaluate(panel.stacked(), panel.human, [chosen]).value[:, 0]
    fit = describe(panel, chosen)
    drawn = []
    for seed in np.random.SeedSequence(0).spawn(60):
        x1, x2, z = simulate_pair(fit, np.random.default_rng(seed))
        drawn.append(evaluate(np.stack([x1, x2]), z, [chosen]).value[:, 0])
    found = np.mean(drawn, axis=0)
    assert found[0] - found[1] == pytest.approx(seen[0] - seen[1], abs=0.1)


def test_hard_and_easy_inputs_do_not_matter_at_input_level() -> None:
    panel = pair()
    shift = np.random.default_rng(3).normal(0, 5, panel.n_inputs)
    moved = panel_of(panel.human + shift, {k: v + 2 * shift for k, v in panel.metrics.items()})
    chosen = Measure.parse("input/kendall")
    one, two = describe(panel, chosen), describe(moved, chosen)
    assert one.first.mu_rho == pytest.approx(two.first.mu_rho)
    assert one.params.within_m == pytest.approx(two.params.within_m)


def test_noisier_raters_are_less_reliable_and_their_noise_is_taken_out() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, (10, 1)) + rng.normal(0, 1, (10, 200))
    cube = truth + rng.normal(0, 1.0, (3, 10, 200))
    metrics = {"a": truth + rng.normal(0, 1, truth.shape), "b": truth + rng.normal(0, 2, truth.shape)}
    fit = describe(panel_of(cube.mean(axis=0), metrics, raters=cube), Measure.parse("item/pearson"), "raters")
    assert fit.params.within_h == pytest.approx(1.0, abs=0.05)  # without the 1/3 of variance that three raters leave
    assert fit.first.mu_rho == pytest.approx(np.sqrt(0.5), abs=0.03)  # with the truth, not with the noisy mean
    assert fit.raters is not None
    spread = fit.params.sigma_h**2 + 1.0
    assert fit.raters.reliability == pytest.approx(spread / (spread + 1.0), abs=0.02)


def test_seed_and_sign() -> None:
    panel = pair()
    options = {"measure": "system/pearson", "sizes": [20], **FEW}
    table = plan(panel, **options)
    assert same_rows(table, plan(panel, **options))
    assert same_rows(table, plan(upside_down(panel, "m1"), **options))


def test_progress_counts_the_sizes() -> None:
    seen: list[tuple[int, int]] = []
    plan(pair(), sizes=[8, 16], trials=3, draws=19, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_mistakes_are_named() -> None:
    with pytest.raises(NlgaugeError, match="requires two metrics"):
        plan(noisy_panel())
    with pytest.raises(NameUnknown, match="axis must be inputs"):
        plan(pair(), axis="human")  # type: ignore[arg-type]
    with pytest.raises(NlgaugeError, match="between 0 and 1"):
        plan(pair(), power=80)
    with pytest.raises(NeedsMissing, match="with 4 systems no test"):
        plan(pair(systems=4))
    with pytest.raises(NeedsMissing, match="at least two annotators"):
        plan(pair(raters=1), axis="raters")
    flat = pair()
    with pytest.raises(NeedsMissing, match="too small for planning"):
        plan(with_metrics(flat, {"a": flat.metrics["m0"], "b": np.ones_like(flat.human)}))


def test_chance_of_acc_eq_is_half_of_the_untied_pairs() -> None:
    rng = np.random.default_rng(0)
    human = rng.integers(1, 4, (10, 200)).astype(float)
    row = by(chance(panel_of(human, {"same": human}), measures=["global/acc-eq"], draws=100), "measure")[
        "global/acc-eq"
    ]
    _, counts = np.unique(human, return_counts=True)
    n = human.size
    tied = sum(c * (c - 1) for c in counts) / (n * (n - 1))
    assert row["value"] == pytest.approx((1 - tied) / 2, abs=0.005)
    assert (row["metrics_above"], row["of"]) == (1, 1)


def test_chance_of_spa_is_below_that_of_a_coherent_metric() -> None:
    rows = by(chance(noisy_panel(), draws=60), "measure")
    assert rows["system/spa"]["value"] == pytest.approx(0.5, abs=0.1)
    assert same_rows(chance(noisy_panel(), draws=20, seed=1), chance(noisy_panel(), draws=20, seed=1))
