"""Agreement of raters: the coefficients of the statistics, silent raters, gaps, anonymous raters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, same_rows

import nlgauge as ng
from nlgauge.analyses.agreement.agreement import agreement, side_by_side
from nlgauge.errors import NeedsMissing
from nlgauge.stats.agreement.alpha import alpha
from nlgauge.stats.agreement.icc import icc


def test_values_are_those_of_the_statistics() -> None:
    panel = noisy_panel()
    units = panel.raters["quality"].reshape(3, -1)
    rows = by(agreement(panel, draws=50), "coefficient")
    assert rows["Krippendorff's alpha (interval)"]["value"] == pytest.approx(alpha(units, "interval").value)
    for name, form in icc(units).forms.items():
        assert rows[name]["value"] == pytest.approx(form.value)
    assert {"Fleiss' kappa", "Cohen's kappa, quadratic, mean of pairs"} <= set(rows)


def test_perfect_agreement_is_one() -> None:
    human = np.arange(12.0).reshape(3, 4) % 5
    table = agreement(panel_of(human, {}, raters=np.stack([human] * 3)), draws=20)
    assert all(r["value"] == pytest.approx(1.0) for r in table)


def test_a_rater_who_rated_other_aspects_only_does_not_count() -> None:
    panel = noisy_panel()
    cube = panel.raters["quality"]
    silent = panel_of(panel.human, {}, raters=np.concatenate([cube, np.full((2, *cube.shape[1:]), np.nan)]))
    table = agreement(silent, draws=50)
    assert same_rows(table, agreement(panel_of(panel.human, {}, raters=cube), draws=50))
    assert "raters:3" in table.signature


def test_raters_without_names_have_the_one_way_form_only() -> None:
    panel = noisy_panel()
    table = agreement(panel_of(panel.human, {}, raters=panel.raters["quality"], persons=False), draws=20)
    rows = by(table, "coefficient")
    assert np.isnan(rows["ICC(A,1)"]["value"])
    assert "annotator IDs are unknown" in rows["ICC(A,1)"]["reason"]
    assert not np.isnan(rows["ICC(1)"]["value"])


def test_named_raters_with_gaps_are_not_said_to_be_nameless() -> None:
    panel = noisy_panel()
    cube = panel.raters["quality"].copy()
    cube[0, 0, 0] = np.nan
    table = agreement(panel_of(panel.human, {}, raters=cube, persons=True), draws=20)
    rows = by(table, "coefficient")
    assert rows["ICC(A,1)"]["reason"].startswith("not every annotator rated every output")
    assert "identity" not in table.method


def test_gaps_put_the_ratings_of_an_output_side_by_side() -> None:
    units = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, 4.0], [5.0, 6.0, np.nan]])
    np.testing.assert_array_equal(side_by_side(units), [[1, 2, 3], [5, 6, 4]])


def test_one_rating_an_output_is_refused() -> None:
    with pytest.raises(NeedsMissing, match="agreement needs at least two annotators; annotator IDs are unknown"):
        agreement(noisy_panel(raters=1))


def _trials(level: str = "interval", **options):
    rng = np.random.default_rng(2)
    rows = []
    for i in range(14):
        quality, spread = rng.normal(3, 1), rng.lognormal(-0.5, 0.5)
        for epoch in range(1, 4):
            ratings = np.clip(np.rint(quality + spread * rng.normal(size=3)), 1, 5)
            rows.append({"id": f"q{i}", "epoch": epoch, **{f"annotator_{k}": v for k, v in enumerate(ratings)}})
    return rows, by(ng.agreement(ng.load(rows, name="trials"), level=level, **options), "coefficient")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_all_trials_count_and_the_inputs_are_the_clusters(level):
    rows, found = _trials(level)
    ratings = np.array([[row[f"annotator_{k}"] for row in rows] for k in range(3)])
    clusters = np.repeat(np.arange(14), 3)
    expected = {f"Krippendorff's alpha ({level})": alpha(ratings, level, clusters=clusters)}
    forms = icc(ratings, persons=False, clusters=clusters)
    expected |= {name: forms[name] for name in ("ICC(1)", "ICC(k)")}
    for name, figure in expected.items():
        row = found[name]
        assert (row["value"], row["low"], row["high"]) == pytest.approx((figure.value, figure.low, figure.high))
        assert row["n"] == 42 and row["low"] < row["value"] < row["high"]
    assert found["Fleiss' kappa"]["reason"] == "no confidence interval is computed for kappas"


def test_documents_are_clusters_of_the_numeric_coefficients():
    panel = noisy_panel()
    wide = panel_of(panel.human, {}, raters=panel.raters["quality"])
    names = tuple(str(j // 2) for j in range(wide.n_inputs))
    table = agreement(replace(wide, cluster_column="doc_id", cluster_names=names))
    assert "clusters:doc_id" in table.signature and "independent outputs" not in table.method
    plain, clustered = by(agreement(wide, draws=20), "coefficient"), by(table, "coefficient")
    assert all(row["value"] == clustered[name]["value"] or np.isnan(row["value"]) for name, row in plain.items())


def test_pairs_of_ratings_are_not_drawn_from_clusters():
    with pytest.raises(NeedsMissing, match="takes outputs as independent"):
        _trials(bootstrap="pairs")
