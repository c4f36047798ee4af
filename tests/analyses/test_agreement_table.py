"""Agreement of raters: the coefficients of the statistics, silent raters, gaps, anonymous raters."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_panels import by, noisy_panel, panel_of, same_rows

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
