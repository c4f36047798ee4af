"""Parts of a data set, means of systems and the square of metrics, each against scipy or a count by hand."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, frame, noisy_panel, panel_of, two_domains, upside_down, with_holes
from scipy import stats

from nlgauge import registry
from nlgauge.analyses.agreement.inter_metric import inter_metric
from nlgauge.analyses.agreement.split import split
from nlgauge.analyses.comparing.system_means import system_means
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown

# --- split


def test_split_gives_scipys_rho_and_p_of_every_part_and_marks_the_stronger_one() -> None:
    data = two_domains()
    found = split(data, by="domain", aspects=["quality"], outputs="independent")
    rows, table = by(found, "metric", "part"), frame(data)
    for domain in ("news", "chat"):
        part = table[table["domain"] == domain]
        theirs = stats.spearmanr(part["good"], part["value"])
        row = rows["good", domain]
        assert (row["value"], row["p"], row["n"]) == pytest.approx((theirs.statistic, theirs.pvalue, 80))
    assert rows["good", "news"]["stronger"] and not rows["good", "chat"]["stronger"]
    assert not any(rows[m, d]["stronger"] for m in ("flat", "back") for d in ("news", "chat"))
    assert found.text(rows["good", "news"], "value").endswith("*†")


def test_split_by_a_value_puts_all_others_together() -> None:
    data = two_domains()
    rows = by(split(data, by="domain=news", aspects=["quality"]), "metric", "part")
    assert {part for _, part in rows} == {"news", "not news"}
    whole = by(split(data, by="domain", aspects=["quality"]), "metric", "part")
    assert rows["good", "not news"]["value"] == whole["good", "chat"]["value"]
    with pytest.raises(NameUnknown, match="has no value 'sport'"):
        split(data, by="domain=sport")


def test_split_compares_parts_that_differ_in_the_last_column_only() -> None:
    rows = split(two_domains(), by=["domain", "system"], aspects=["quality"], correction="none").rows
    plain = split(two_domains(), by=["domain", "system"], aspects=["quality"], outputs="independent")
    table = by(plain, "metric", "part")
    assert len({r["part"] for r in rows}) == 4
    z = [np.arctanh(abs(table["good", f"news, {s}"]["value"])) for s in "AB"]
    spread = sum((1 + table["good", f"news, {s}"]["value"] ** 2 / 2) / 37 for s in "AB")
    p = 2 * stats.norm.sf(abs(z[0] - z[1]) / np.sqrt(spread))
    assert table["good", "news, A"]["p_raw"] == pytest.approx(p)  # A on chat plays no part in it


def test_opposite_signs_of_one_size_are_equally_strong() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(2, 60))
    x = z + rng.normal(0, 1, z.shape)
    rows = [
        {"system": "A", "input": f"{d}{i}", "part": d, "q": z[k, i], "m": x[k, i] * (1 if k else -1)}
        for k, d in enumerate("ab")
        for i in range(60)
    ]
    table = split(load(rows, human=["q"], metrics=["m"]), by="part", draws=200)
    assert all(row["p_raw"] > 0.05 and row["p_check"] > 0.05 and not row["stronger"] for row in table)


# --- system means


def test_means_spread_and_test_are_those_of_scipy() -> None:
    data = two_domains()
    rows = by(system_means(data, by="domain"), "quantity", "domain", "system")
    table = frame(data)
    a, b = (table[(table["domain"] == "news") & (table["system"] == s)]["value"] for s in "AB")
    row = rows["quality", "news", "A"]
    assert (row["value"], row["sd"], row["n"]) == pytest.approx((a.mean(), a.std(), 40))
    assert row["p"] == rows["quality", "news", "B"]["p"] == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)


def test_the_best_system_of_a_lower_is_better_metric_has_the_lowest_mean() -> None:
    data = two_domains(systems="ABC")
    rows = [r for r in system_means(data) if r["quantity"] == "back"]
    assert min(rows, key=lambda r: r["value"])["best"]
    assert sum(r["best"] for r in rows) == 1
    assert sum(np.isnan(r["p"]) for r in rows) == 1  # the best one is not tested against itself


def test_three_systems_are_corrected_by_holm() -> None:
    data = two_domains(systems="ABC")
    rows = [r for r in system_means(data, metrics=["flat"]) if r["quantity"] == "flat"]
    best = next(r for r in rows if r["best"])
    values = {s: frame(data)[frame(data)["system"] == s]["flat"] for s in "ABC"}
    raw = sorted(
        stats.ttest_ind(values[r["system"]], values[best["system"]], equal_var=False).pvalue
        for r in rows
        if not r["best"]
    )
    found = sorted(r["p"] for r in rows if not r["best"])
    assert found == pytest.approx([min(1, 2 * raw[0]), max(min(1, 2 * raw[0]), raw[1])])


# --- inter-metric


def test_the_square_of_metrics_is_scipys_and_neighbours_say_the_same() -> None:
    rng = np.random.default_rng(0)
    base, other = rng.normal(size=(2, 6, 30))
    metrics = {"a1": base, "b1": other, "a2": base + rng.normal(0, 0.1, base.shape), "b2": -other}
    table = inter_metric(panel_of(rng.normal(size=base.shape), metrics))
    values = by(table, "metric", "other")
    assert values["a1", "b2"]["value"] == pytest.approx(stats.spearmanr(base.ravel(), -other.ravel()).statistic)
    order = [m for m in dict.fromkeys(r["metric"] for r in table) if not m.startswith("human")]
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset(("a1", "a2")), frozenset(("b1", "b2"))}
    assert values["b1", "b1"]["cluster"] == values["b2", "b2"]["cluster"] != values["a1", "a1"]["cluster"]


# --- every one of them


PANELS = ["inter-metric", "quality-bins", "best-metric"]
SETS = ["split", "system-means", "disagreements", "relative-ranking", "characteristics", "ensemble"]


@pytest.mark.parametrize("name", PANELS)
def test_missing_cells_two_systems_and_lower_is_better_on_panels(name: str) -> None:
    run = registry.get("analysis", name)
    panel = with_holes(upside_down(noisy_panel(systems=2, inputs=60), "m1"))
    table = run(panel)
    assert table.kind == name and table.rows and table.method and table.signature
    str(table), table.to_latex(), table.to_json()


@pytest.mark.parametrize("name", SETS)
def test_one_aspect_two_systems_missing_cells_and_lower_is_better_on_sets(name: str) -> None:
    data = two_domains()
    holes = data.scores.with_columns(good=data.scores["good"].scatter([1, 5], [None, None]))
    data = data.with_scores(holes)
    run = registry.get("analysis", name)
    split_by = {"by": "domain"} if name in ("split", "ensemble") else {}
    table = run(data, aspects=["quality"], **split_by)
    assert table.kind == name and table.rows and table.method
    str(table), table.to_latex(), table.to_json()


@pytest.mark.parametrize("name", SETS)
def test_the_same_seed_gives_the_same_table(name: str) -> None:
    run = registry.get("analysis", name)
    split_by = {"by": "domain"} if name in ("split", "ensemble") else {}
    assert run(two_domains(), **split_by).to_json() == run(two_domains(), **split_by).to_json()
